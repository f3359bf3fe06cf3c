"""The operator's page in Firefox, against a station without a simulation."""

import io
import json

import numpy as np
import pytest

pytest.importorskip("nicegui", reason='needs NiceGUI: pip install "segtrack[station]"')

from browser import until  # noqa: E402
from fake_station import FakeStation  # noqa: E402
from firefox import Page, firefox  # noqa: E402
from matplotlib import image  # noqa: E402
from test_station_page import STATION, asked  # noqa: E402

TABS = ("Exercises", "Trial", "People", "Replay", "Keys", "Setup")


@pytest.fixture(scope="module")
def station(tmp_path_factory):
    station = FakeStation(tmp_path_factory.mktemp("station"))
    yield station
    station.close()


@pytest.fixture(scope="module")
def browser():
    with firefox() as browser:
        yield browser


def open_page(browser, station, query="?role=driver&name=page"):
    page = Page(browser)
    page.goto(f"{station.url}/{query}")
    return page


def says(page, title):
    until(lambda: page.text(".st-banner strong") == title)


@pytest.fixture(scope="module")
def driver_page(browser, station):
    page = open_page(browser, station)
    page.wait("document.querySelector('.st-hud [data-hud=time]')?.textContent")
    yield page
    assert not page.complaints
    page.close()


@pytest.fixture
def page(driver_page, station):
    """The driver's page, with nothing held and nothing said."""
    driver_page.send("browsingContext.activate")
    driver_page.evaluate("document.activeElement.blur()")
    until(lambda: station.driver is not None and station.controls is not None)
    says(driver_page, "You drive")
    station.forget()
    return driver_page


@pytest.fixture
def newcomer(browser, station, driver_page):
    """A second page, of somebody who has never been there."""
    page = open_page(browser, station, query="")
    yield page
    assert not page.complaints
    page.close()


def until_keys(station, *keys):
    until(lambda: station.controls.keys == keys)


def test_the_page_draws_the_course_and_the_vehicle(page, browser):
    if not browser.draws:
        pytest.skip("Firefox draws WebGL on a display alone: apt install xvfb")
    x, y, width, height = page.box("canvas")
    box = {"x": x + width / 4, "y": y + height / 4, "width": width / 2, "height": height / 2}

    def drawn():
        pixels = image.imread(io.BytesIO(page.screenshot(**box)), format="png")[..., :3]
        red, green, blue = np.moveaxis(pixels, -1, 0)
        orange = (red > 1.4 * green) & (green > 1.5 * blue)  # The vehicle's body.
        colours = np.unique((15 * pixels).astype(int).reshape(-1, 3), axis=0)
        return len(colours) > 10 and orange.sum() > 100

    until(drawn)


def test_the_dark_is_dark_but_for_the_vehicle_s_lamps(page, browser):
    if not browser.draws:
        pytest.skip("Firefox draws WebGL on a display alone: apt install xvfb")
    x, y, width, height = page.box("canvas")
    sky = {"x": x + 0.4 * width, "y": y + 0.05 * height, "width": 40, "height": 20}
    ahead = {"x": x + 0.4 * width, "y": y + 0.55 * height, "width": 0.2 * width, "height": 0.2 * height}

    def brightness(box):
        return image.imread(io.BytesIO(page.screenshot(**box)), format="png")[..., :3].mean()

    def see(light, cameras):  # As a status would say; the next one says otherwise.
        page.evaluate(f"""(() => {{
          const {{ status, connect }} = {STATION};
          window.told ??= connect.on.message;
          connect.on.message = () => null;
          Object.assign(status.setup, {{ light: {light}, cameras: {cameras} }});
          {STATION}.setSeeing();
        }})()""")

    until(lambda: brightness(sky) > 0.3)
    see("'dark'", "'real'")
    until(lambda: brightness(sky) < 0.1 < 0.2 < brightness(ahead))
    see("null", "null")
    until(lambda: brightness(sky) > 0.3)
    page.evaluate(f"{STATION}.connect.on.message = window.told")


def test_a_browser_that_draws_no_webgl_is_told_so_and_drives_nothing(browser, station, driver_page):
    driving = station.driver
    page = Page(browser)
    page.before_scripts("() => { HTMLCanvasElement.prototype.getContext = () => null; }")
    page.goto(station.url)
    says(page, "No picture")
    assert page.text(".st-entry") is None
    assert page.evaluate(f"{STATION}.connect === undefined") and station.driver == driving
    page.click("button", "Dark")
    page.wait(f"{STATION}.dark")
    assert all("WebGL" in complaint for complaint in page.complaints), page.complaints
    page.close()


def test_a_key_drives_and_its_release_stops(page, station):
    page.key("KeyW", "keyDown")
    until_keys(station, "KeyW")
    page.wait("!document.querySelector('[data-hud=command-left]').textContent.includes('0.00')")
    page.key("KeyW", "keyUp")
    until_keys(station)
    page.wait("document.querySelector('[data-hud=command-left]').textContent === '0.00 m/s'")
    assert station.position > 0


def test_space_stops_and_enter_releases(page, station):
    page.key("Space")
    says(page, "Emergency stop")
    assert station.e_stop
    page.key("Enter")
    says(page, "You drive")
    assert not station.e_stop


def test_space_stops_after_a_button_was_clicked(page, station):
    page.click("button", "Loads")
    page.wait("document.activeElement === document.body")
    page.key("Space")
    says(page, "Emergency stop")
    page.click("button", "Release stop")
    says(page, "You drive")
    page.click("button", "Loads")


def test_what_is_typed_into_a_field_drives_nothing(page, station):
    page.click("spinbutton", "Seed")
    page.key("KeyW", "keyDown")
    held = station.controls.seq
    until(lambda: station.controls.seq > held + 2)
    assert station.controls.keys == ()
    page.key("KeyW", "keyUp")


@pytest.mark.parametrize(
    ("kind", "title"), [("tab", "Page is hidden"), ("window", "Page has lost the focus")]
)
def test_who_looks_at_something_else_lets_go_of_everything(page, station, kind, title):
    page.key("KeyW", "keyDown")
    until_keys(station, "KeyW")
    with page.behind(kind):
        until(lambda: not station.controls.visible)
        says(page, title)
        assert station.controls.keys == ()
    until(lambda: station.controls.visible)
    assert station.controls.keys == ()
    page.key("KeyW", "keyUp")
    says(page, "You drive")


@pytest.mark.parametrize("kind", ["mouse", "touch"])
def test_a_touch_stick_drives_while_it_is_held(page, station, kind):
    page.click("button", "Touch sticks")
    page.wait("document.querySelector('.st-stick-left')")
    x, y, width, height = page.box(".st-stick-left")
    x, y = x + width // 2, y + height // 2
    page.point({"type": "pointerMove", "x": x, "y": y}, {"type": "pointerDown", "button": 0}, kind=kind)
    until(lambda: station.controls.dead_man)
    page.point({"type": "pointerMove", "x": x, "y": y - height}, kind=kind)
    until(lambda: station.controls.touch == pytest.approx((0, -1, 0, 0), abs=0.05))
    page.point({"type": "pointerUp", "button": 0}, kind=kind)
    until(lambda: station.controls.touch == (0, 0, 0, 0) and not station.controls.dead_man)
    page.click("button", "Touch sticks")


def test_all_panels_open(page, station):
    for tab in TABS:
        page.click("tab", tab)
        page.wait(
            f"{STATION}.tab === '{tab.lower()}' && document.querySelector('.st-panel').children.length > 1"
        )
    assert not page.complaints


def test_keys_have_labels_and_what_a_key_types_is_learned(page):
    page.click("tab", "Keys")
    labels = "[...document.querySelectorAll('.st-keys dt')].map((each) => each.textContent)"
    page.wait("document.querySelectorAll('.st-keys dt').length > 10")
    assert not page.evaluate("navigator.keyboard?.getLayoutMap !== undefined")
    shown = page.evaluate(labels)
    assert all(shown) and {"W, ↑", "Space", "Enter"} <= set(shown), shown
    page.evaluate("void dispatchEvent(new KeyboardEvent('keydown', { code: 'KeyW', key: 'z' }))")
    page.wait(f"{labels}.includes('Z, ↑')")
    page.evaluate("void dispatchEvent(new KeyboardEvent('keyup', { code: 'KeyW', key: 'z' }))")
    page.evaluate("void dispatchEvent(new KeyboardEvent('keydown', { code: 'KeyW', key: 'w' }))")
    page.evaluate("void dispatchEvent(new KeyboardEvent('keyup', { code: 'KeyW', key: 'w' }))")
    page.click("tab", "Setup")


def test_who_enters_says_a_name_once(newcomer):
    newcomer.wait("document.activeElement?.matches('.st-entry input')")
    newcomer.write("Ann")
    newcomer.click("button", "Look on")
    says(newcomer, "You look on")
    assert newcomer.evaluate(f"{STATION}.status.clients.at(-1).name") == "Ann"
    newcomer.reload()
    says(newcomer, "You look on")
    assert newcomer.text(".st-entry") is None


def test_the_lesson_shows_the_keys_to_press(page, station):
    status = {"trial": None, "run": "ready"}
    page.evaluate(
        f"""((more) => {{
          const {{ status }} = {STATION};
          {STATION}.connect.on.message = () => null;
          {STATION}.receive({{ ...status, ...more }});
        }})({json.dumps(status)})"""
    )
    page.click("button", "Begin the first lesson")
    until(lambda: asked(station, "exercise"))
    page.evaluate(f"void ({STATION}.lesson.look = () => false)")
    caps = "[...document.querySelectorAll('.st-caps kbd')].map((each) => each.textContent)"
    shown = {}
    for step in range(9):
        page.evaluate(f"{STATION}.lesson.number = {step}")
        page.wait(f"document.querySelector('.st-lesson .st-hint').textContent.includes({step + 1})")
        shown[page.evaluate(f"{STATION}.lesson.step.name")] = page.evaluate(caps)
    assert shown["forward"] == ["W", "↑"] and shown["stop"] == ["Space"] and shown["release"] == ["Enter"]
    assert [name for name, labels in shown.items() if not all(labels)] == []
    page.click("button", "Leave the lesson")
    page.evaluate(f"void ({STATION}.connect.on.message = {STATION}.receive)")


def test_the_page_speaks_the_language_that_the_browser_asks_for(station):
    with firefox(**{"intl.accept_languages": "de-DE,de,en"}) as browser:
        page = open_page(browser, station, "?role=onlooker&name=Ann")
        says(page, "Sie sehen zu")
        assert page.evaluate("document.documentElement.lang") == "de"
        assert page.text(".st-estop") == "NOT-HALT"
        assert not page.complaints
