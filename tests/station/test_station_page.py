"""The operator's page in a browser, against a station without a simulation."""

import time

import numpy as np
import pytest

pytest.importorskip("nicegui", reason='needs NiceGUI: pip install "segtrack[station]"')

from browser import PADS, PATIENCE, SELDOM, until  # noqa: E402
from fake_station import FakeStation  # noqa: E402
from page_layout import LAYOUT  # noqa: E402
from quick import some_of  # noqa: E402

import segtrack  # noqa: E402
from segtrack import terrain  # noqa: E402
from segtrack.recording import Recording  # noqa: E402
from segtrack.rendering import look_of, read_pose  # noqa: E402
from segtrack.station.protocol import Flag, StateMessage  # noqa: E402

STATION = "getElement(Number(document.querySelector('.st-station').id.slice(1)))"
"""The page's component, in JavaScript."""
LAPTOP, TABLET = {"width": 1280, "height": 720}, {"width": 820, "height": 1180}


@pytest.fixture(scope="module")
def station(tmp_path_factory):
    folder = tmp_path_factory.mktemp("station")
    station = FakeStation(folder)
    yield station
    station.close()


def open_page(browser, station, role="driver", in_real_time=False, **options):
    """A new client's page, and what it loads and complains about; drawn as often as it may be, or seldom."""
    context = browser.new_context(**{"viewport": LAPTOP, "color_scheme": "light"} | options)
    context.add_init_script(PADS if in_real_time else PADS + SELDOM)
    page = context.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    page.loaded, page.complaints = [], []
    page.on("request", lambda request: page.loaded.append(request.url))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("console", lambda m: page.complaints.append(m.text) if m.type == "error" else None)
    page.goto(f"{station.url}/?role={role}&name=page")
    page.wait_for_function("document.querySelector('.st-hud [data-hud=time]')?.textContent")
    page.wait_for_function(f"!{STATION}.view.resized")  # Drawn once, in the size that the page has.
    if not in_real_time:
        page.evaluate(f"{STATION}.view.adapt = () => null")  # It would be drawn coarser.
    return page


@pytest.fixture(scope="module")
def driver_page(running_browser, station):
    page = open_page(running_browser, station)
    yield page
    assert not page.complaints


@pytest.fixture
def page(driver_page, station):
    """The driver's page, with nothing held and nothing said."""
    driver_page.evaluate("document.activeElement.blur(); window.pads = []")
    until(lambda: station.driver is not None and station.controls is not None)
    station.forget()
    yield driver_page


def banner(page):
    return page.locator(".st-banner strong").text_content()


def says(page, title):
    page.wait_for_function(
        "title => document.querySelector('.st-banner strong').textContent === title", arg=title
    )


def asked(station, kind):
    return [message for message in station.asked if message.type == kind]


def test_the_page_loads_from_the_station_alone(page, station):
    here = station.url.removeprefix("http://")
    assert {url.split("://")[1][: len(here)] for url in page.loaded if not url.startswith("data:")} == {here}


def test_a_key_drives_and_its_release_stops(page, station):
    page.keyboard.down("KeyW")
    until(lambda: station.controls.keys == ("KeyW",))
    until(lambda: "0.00" not in page.locator("[data-hud=command-left]").text_content())
    page.keyboard.up("KeyW")
    until(lambda: station.controls.keys == ())
    page.wait_for_function("document.querySelector('[data-hud=command-left]').textContent === '0.00 m/s'")
    stopped = station.position
    time.sleep(0.1)
    assert station.position == stopped > 0


def test_what_is_typed_into_a_field_drives_nothing(page, station):
    page.get_by_label("Seed").fill("7")
    page.get_by_label("Seed").press("ArrowUp")
    page.keyboard.down("KeyW")
    held = station.controls.seq
    until(lambda: station.controls.seq > held + 2)
    assert station.controls.keys == ()
    page.keyboard.up("KeyW")


def focus_a_button(page):
    page.get_by_role("button", name="Loads").click(click_count=2)


def choose_with_the_mouse(page):
    page.get_by_label("View").click()
    page.get_by_role("option", name="Chase").click()


def choose_with_keys(page):
    page.get_by_label("View").focus()
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    page.evaluate(f"{STATION}.main = 'chase'")


def let_a_program_click(page):
    """As voice control and screen readers do; a field of text has the focus."""
    page.get_by_label("Seed").focus()
    page.get_by_role("button", name="Loads").evaluate("(button) => { button.click(); button.click(); }")


def close_a_menu_without_a_choice(page):
    page.get_by_label("View").click()
    page.get_by_role("option", name="Chase").wait_for()
    page.keyboard.press("Escape")


def enter_a_number(page):
    page.get_by_label("Seed").fill("7")
    page.get_by_label("Seed").press("Enter")


@pytest.mark.parametrize(
    "use",
    [
        focus_a_button,
        let_a_program_click,
        choose_with_the_mouse,
        choose_with_keys,
        close_a_menu_without_a_choice,
        enter_a_number,
    ],
)
def test_space_stops_after(page, station, use):
    use(page)
    page.wait_for_function("document.activeElement === document.body")
    page.keyboard.press("Space")
    says(page, "Emergency stop")
    page.get_by_role("button", name="Release stop").click()
    says(page, "You drive")


def test_a_field_that_is_gone_on_to_from_a_menu_keeps_the_focus(page):
    """However long a busy browser takes to take it from the menu."""
    page.get_by_label("View").click()
    page.get_by_role("option", name="Chase").wait_for()
    has_it = page.evaluate(
        """async () => {
          const field = document.querySelector("[aria-label='Seed']");
          document.querySelector("[role=option]").click();
          field.focus();
          await new Promise((later) => setTimeout(later, 50));
          return document.activeElement === field;
        }"""
    )
    page.evaluate("document.activeElement.blur()")
    assert has_it


def test_a_field_that_is_clicked_is_typed_into(browser, station, page):
    """One of Quasar's, and a plain one of the table of links."""
    instructor = open_page(browser, station, role="instructor")
    for tab, label in (("Setup", "Seed"), ("People", "picture delay [ms]")):
        instructor.get_by_role("tab", name=tab).click()
        field = instructor.get_by_label(label)
        field.click()
        instructor.wait_for_timeout(50)  # In which the focus would be taken.
        instructor.keyboard.type("7")
        assert "7" in field.input_value()


def test_text_that_is_marked_beyond_its_field_is_typed_over(page):
    """The pointer goes down in the field, and up beside it."""
    field = page.get_by_label("Seed")
    field.fill("345")
    box = field.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] - 40, box["y"] - 60, steps=4)
    page.mouse.up()
    page.wait_for_timeout(50)  # In which the focus would be taken.
    page.keyboard.type("7")
    assert "7" in field.input_value()


def test_a_key_of_an_input_method_ends_nothing(page):
    """Enter takes a word and Escape leaves it; the key comes up when the word is there."""
    page.get_by_label("Seed").focus()
    kept = page.evaluate(
        """async () => {
          const field = document.activeElement, kept = [];
          for (const [code, isComposing] of [["Enter", true], ["Escape", true], ["Enter", false]]) {
            const press = { code, bubbles: true };
            field.dispatchEvent(new KeyboardEvent("keydown", { ...press, isComposing }));
            field.dispatchEvent(new KeyboardEvent("keyup", press));
            await new Promise((later) => setTimeout(later, 50));
            kept.push(document.activeElement === field);
          }
          return kept;
        }"""
    )
    assert kept == [True, True, False]


def test_a_key_that_is_held_while_a_field_gets_the_focus_is_let_go(page, station):
    page.keyboard.down("KeyW")
    until(lambda: station.controls.keys == ("KeyW",))
    page.get_by_label("Seed").focus()
    until(lambda: station.controls.keys == ())
    page.keyboard.up("KeyW")


def test_the_command_key_lets_go_of_everything(page, station):
    for name in ("MetaLeft", "KeyR"):
        page.keyboard.down("KeyW")
        until(lambda: station.controls.keys == ("KeyW",))
        page.evaluate("code => dispatchEvent(new KeyboardEvent('keydown', { code, metaKey: true }))", name)
        until(lambda: station.controls.keys == ())
        page.keyboard.up("KeyW")


PAD = """({ index, axes, pressed }) => {
  const buttons = Array.from({ length: 17 }, (_, i) => ({ pressed: pressed.includes(i) }));
  window.pads[index] = { connected: true, id: "pad", mapping: "standard", index, axes, buttons };
}"""


def hold(page, *pressed, axes=(0, 0, 0, 0), index=0):
    """Hold buttons and sticks of a pad, which is there from then on."""
    page.evaluate(PAD, {"index": index, "axes": axes, "pressed": pressed})


def held_buttons(station):
    return [i for i, pressed in enumerate(station.controls.buttons) if pressed]


def test_a_gamepad_drives_and_its_loss_stops_and_is_said(page, station):
    hold(page)
    until(lambda: page.locator(".st-banner span").text_content() == "pad")
    hold(page, 0, 6, axes=(0.25, -1, 0, 0.5))
    until(lambda: station.controls.axes == (0.25, -1.0, 0.0, 0.5))
    assert held_buttons(station) == [0, 6]
    page.evaluate("window.pads = [null]; window.dispatchEvent(new Event('gamepaddisconnected'))")
    until(lambda: station.controls.axes == (0.0, 0.0, 0.0, 0.0) and not any(station.controls.buttons))
    says(page, "Gamepad lost")
    page.keyboard.press("KeyX")
    says(page, "You drive")


def test_a_lost_gamepad_is_said_until_a_button_of_another_is_pressed(page, station):
    hold(page)
    hold(page, index=1)
    until(lambda: page.evaluate(f"{STATION}.inputs.pad.pad?.index") == 0)
    page.evaluate("window.pads[0] = null")
    says(page, "Gamepad lost")
    hold(page, 6, index=1)
    says(page, "You drive")
    until(lambda: held_buttons(station) == [6])
    hold(page, index=1)
    page.evaluate("window.pads = []")
    says(page, "Gamepad lost")
    page.keyboard.press("KeyX")


def test_a_gamepad_that_is_held_while_the_focus_comes_back_waits_until_it_is_let_go(page, station):
    hold(page)
    until(lambda: page.evaluate(f"!{STATION}.inputs.pad.waits.includes(true)"))
    hold(page, 6, axes=(0, -1, 0, 0))
    until(lambda: held_buttons(station) == [6])
    page.evaluate("window.dispatchEvent(new Event('blur')); window.dispatchEvent(new Event('focus'))")
    until(lambda: station.controls.axes == (0, 0, 0, 0) and not held_buttons(station))
    hold(page, 1, 6, axes=(0, -1, 0, 0))
    until(lambda: held_buttons(station) == [1])
    hold(page)
    until(lambda: page.evaluate(f"!{STATION}.inputs.pad.waits.includes(true)"))
    hold(page, 6, axes=(0, -1, 0, 0))
    until(lambda: held_buttons(station) == [6] and station.controls.axes == (0, -1, 0, 0))
    page.get_by_role("button", name="Release stop").click()
    page.evaluate("window.pads = []")
    page.keyboard.press("KeyX")


def test_losing_the_focus_lets_go_of_everything_and_is_said(page, station):
    page.keyboard.down("KeyW")
    until(lambda: station.controls.keys == ("KeyW",))
    page.evaluate("document.hasFocus = () => false; window.dispatchEvent(new Event('blur'))")
    until(lambda: station.controls.keys == () and not station.controls.visible)
    says(page, "Page has lost the focus")
    page.evaluate("delete document.hasFocus; window.dispatchEvent(new Event('focus'))")
    until(lambda: station.controls.visible)
    assert station.controls.keys == ()
    page.keyboard.up("KeyW")
    says(page, "You drive")


def test_a_hidden_page_lets_go_of_everything_and_says_so(page, station):
    change = "document.dispatchEvent(new Event('visibilitychange'))"
    hidden = "{ value: 'hidden', configurable: true }"
    page.evaluate(f"Object.defineProperty(document, 'visibilityState', {hidden}); {change}")
    until(lambda: not station.controls.visible)
    says(page, "Page is hidden")
    page.evaluate(f"delete document.visibilityState; {change}")
    says(page, "You drive")


def test_the_emergency_stop_latches_until_another_button_releases_it(page, station):
    page.get_by_role("button", name="E-STOP").dblclick()
    page.keyboard.press("Space")
    until(lambda: [message.on for message in asked(station, "e_stop")] == [True, True])
    says(page, "Emergency stop")
    assert station.e_stop
    page.keyboard.down("KeyW")
    until(lambda: station.controls.keys == ("KeyW",))
    assert page.locator("[data-hud=command-left]").text_content() == "0.00 m/s"
    page.keyboard.up("KeyW")
    page.get_by_role("button", name="Release stop").click()
    says(page, "You drive")
    assert not station.e_stop


def test_a_touch_stick_drives_while_a_finger_is_on_it(page, station):
    page.get_by_role("button", name="Touch sticks").click()
    box = page.locator(".st-stick-left").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    until(lambda: station.controls.dead_man)
    page.mouse.move(x, y - box["height"])
    until(lambda: station.controls.touch == (0.0, -1.0, 0.0, 0.0))
    page.mouse.up()
    until(lambda: station.controls.touch == (0.0, 0.0, 0.0, 0.0) and not station.controls.dead_man)
    page.get_by_role("button", name="Touch sticks").click()


def test_what_is_chosen_is_what_is_asked_for(page, station):
    page.get_by_label("Friction [-]").fill("0.6")
    page.get_by_label("Seed").fill("7")
    page.get_by_role("button", name="Apply").click()
    until(lambda: asked(station, "configure"))
    setup = asked(station, "configure")[0].setup
    assert (setup.vehicle, setup.course, setup.friction, setup.payload, setup.seed) == (
        "quince",
        "okada-step",
        0.6,
        0,
        7,
    )


def choose(page, label, option):
    """Choose the first such option of a menu."""
    page.get_by_label(label).click()
    page.get_by_role("option", name=option).first.click()


def test_a_menu_is_placed_however_late_it_is_drawn(browser, station):
    """Timers of the menu that run out before its first frame leave it without a place, out of sight."""
    page = open_page(browser, station)
    page.evaluate(
        """() => {
          const later = window.setTimeout;
          window.setTimeout = (run, delay, ...given) =>
            later(run, [10, 300].includes(delay) ? 0 : delay, ...given);
          const style = document.body.appendChild(document.createElement("style"));
          style.textContent = ".q-menu { max-width: 0 !important; border: 0 }";
          const shown = ({ target }) => target.matches(".q-menu") && style.remove();
          document.addEventListener("transitionstart", shown);
        }"""
    )
    choose(page, "View", "Rear")
    assert page.evaluate(f"{STATION}.main") == "rear"
    assert not page.complaints


def test_conditions_of_seeing_are_chosen_with_the_setup(page, station):
    for cameras, light, visibility, expected in (
        ("the vehicle's own", "dark, own lamps", "2.5", ("real", "dark", 2.5)),
        ("any view", "daylight", "", (None, None, None)),
    ):
        station.forget()
        choose(page, "Cameras", cameras)
        choose(page, "Lighting", light)
        page.get_by_label("Visibility [m]").fill(visibility)
        page.get_by_role("button", name="Apply").click()
        until(lambda: asked(station, "configure"))
        setup = asked(station, "configure")[0].setup
        assert (setup.cameras, setup.light, setup.visibility) == expected
        page.wait_for_function(f"{STATION}.seeing.real === {str(expected[0] == 'real').lower()}")


def test_what_is_replayed_is_what_was_recorded(page, station):
    page.get_by_role("tab", name="Replay").click()
    page.get_by_label("Recording").click()
    page.get_by_role("option", name="run").click()
    page.get_by_role("button", name="Open").click()
    says(page, "Replay")
    release = page.get_by_role("button", name="Release stop")
    assert not release.is_visible()
    page.keyboard.press("Space")
    says(page, "Emergency stop")
    release.click()
    says(page, "Replay")
    page.locator(".q-slider").click()
    until(lambda: [message.action for message in asked(station, "replay")] == ["open", "seek"])
    time = asked(station, "replay")[1].time
    assert time == pytest.approx(0.25, abs=0.01)
    page.wait_for_function(
        "t => Math.abs(STATION.state.time - t) < 1e-6".replace("STATION", STATION), arg=time
    )
    shown = page.evaluate(f"[...{STATION}.state.pose]")
    assert np.array_equal(shown, Recording.open(station.recording).poses_at(time).astype(np.float32))
    page.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_function(f"{STATION}.state.time > 0.499")
    page.get_by_role("button", name="Close").click()
    says(page, "Paused")
    page.get_by_role("button", name="Start").click()
    says(page, "You drive")
    page.get_by_role("tab", name="Setup").click()


def test_a_second_client_looks_on_and_an_instructor_takes_over(page, station, browser):
    second = open_page(browser, station, role="onlooker")
    says(second, "You look on")
    assert second.locator(".st-banner span").text_content() == "page drives."
    for button in ("Reset", "E-STOP"):
        assert second.get_by_role("button", name=button).is_disabled()
    driving = station.driver
    second.keyboard.down("KeyW")
    second.get_by_role("tab", name="People").click()
    second.get_by_role("button", name="Come in as instructor").click()
    says(second, "Instructor")
    assert station.driver == driving and station.controls.keys == ()
    second.get_by_role("button", name="Take over").click()
    says(second, "You drive")
    says(page, "You look on")
    page.keyboard.down("KeyS")
    time.sleep(0.1)
    assert station.controls.keys == ()
    page.keyboard.up("KeyS")
    second.context.close()
    until(lambda: station.driver is None)
    page.get_by_role("button", name="Drive", exact=True).click()
    says(page, "You drive")


def test_a_lost_connection_is_said_and_comes_back(page, station):
    page.evaluate(
        """() => {
            const title = document.querySelector(".st-banner strong");
            window.said = [];
            const watching = { characterData: true, childList: true, subtree: true };
            new MutationObserver(() => window.said.push(title.textContent)).observe(title, watching);
        }"""
    )
    page.evaluate(f"{STATION}.connect.socket.close()")
    page.wait_for_function("window.said.includes('No connection')")
    says(page, "You drive")


def test_a_page_goes_on_after_5_s_without_a_network(page):
    """NiceGUI would load it anew after three, and ask for what was typed once more."""
    page.get_by_label("Seed").fill("11")
    page.evaluate(
        """() => {
          window.same = true;
          window.socket.io.reconnectionDelay(5000);
          window.socket.io.randomizationFactor(0);
          window.socket.io.engine.close();
        }"""
    )
    page.wait_for_function("!window.socket.connected")
    page.wait_for_function("window.socket.connected && window.did_handshake")
    time.sleep(0.3)
    assert (page.evaluate("window.same"), page.get_by_label("Seed").input_value()) == (True, "11")


def test_silence_of_the_station_is_said_and_ends_with_its_next_word(page, station):
    socket = page.evaluate_handle(f"{STATION}.connect.socket")
    with station.silence():
        says(page, "No connection")
        page.wait_for_function("document.querySelector('[data-hud=delay]').textContent === '–'")
    says(page, "You drive")
    assert page.evaluate(f"socket => socket === {STATION}.connect.socket", socket)


def test_a_connection_that_is_silent_for_5_s_is_opened_anew(page, station):
    socket = page.evaluate_handle(f"{STATION}.connect.socket")
    with station.silence():
        says(page, "No connection")
        page.evaluate(f"{STATION}.connect.heard -= 4000")
        page.wait_for_function(f"socket => socket !== {STATION}.connect.socket", arg=socket)
    says(page, "You drive")


CORNERS = """async ({ look, flat }) => {
    const { THREE } = await import("nicegui-scene");
    const { Vehicle } = await import("segtrack-station/vehicle.js");
    const { arraysOf } = await import("segtrack-station/meshes.js");
    const vehicle = new Vehicle(look), corners = [], matrix = new THREE.Matrix4();
    vehicle.pose(flat);
    vehicle.meshes.forEach((mesh, part) => {
        const { points } = arraysOf(look.parts[part].mesh);
        for (let copy = 0; copy < (mesh.count ?? 1); copy++) {
            if (mesh.isInstancedMesh) mesh.getMatrixAt(copy, matrix);
            else matrix.identity();
            matrix.premultiply(mesh.matrixWorld);
            for (let i = 0; i < points.length; i += 3) {
                corners.push(...new THREE.Vector3().fromArray(points, i).applyMatrix4(matrix));
            }
        }
    });
    return corners;
}"""


@pytest.mark.parametrize("track_model", ["compliant", pytest.param("chain", marks=pytest.mark.slow)])
def test_the_page_poses_a_vehicle_as_pictures_and_films_do(page, track_model):
    with segtrack.World(engine="native") as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle("quince", track_model=track_model)
        look, flat = look_of(robot), read_pose(robot).flat()
    generator = np.random.default_rng(1)
    links, travels = 7 * len(look.links), len(look.tracks)
    flat[:links] += 0.3 * generator.normal(size=links)
    for quaternion in flat[:links].reshape(-1, 7)[:, 3:]:
        quaternion /= np.linalg.norm(quaternion)
    flat[links : links + travels] = generator.uniform(-3, 3, travels)
    shown = page.evaluate(CORNERS, {"look": look.as_json(), "flat": flat.tolist()})
    assert np.reshape(shown, (-1, 3)) == pytest.approx(look.points(look.pose(flat)), abs=1e-6)


def test_a_state_is_read_as_it_was_sent(page):
    numbers = np.random.default_rng(0).normal(size=42).astype(np.float32)
    state = StateMessage(
        3, 7, Flag.E_STOP | Flag.GHOST, 1.5, 2.5, 3.5, 4.5, 0.5, 0.25, 8.0, 0.125,
        numbers[:8], numbers[8:12], numbers[12:18], numbers[18:].reshape(-1, 6), numbers[:5], 6, 0b11,
    )  # fmt: skip
    read = page.evaluate(
        """async (bytes) => {
            const { readState } = await import("segtrack-station/state.js");
            const state = readState(new Uint8Array(bytes).buffer);
            const names = ["picture", "pose", "ghost", "readings", "contacts"];
            for (const name of names) state[name] = [...state[name]];
            return state;
        }""",
        list(state.pack()),
    )
    assert np.array_equal(read.pop("picture"), numbers[:5])
    assert (read.pop("pictureFrame"), read.pop("damage")) == (6, 0b11)
    arrays = {name: read.pop(name) for name in ("pose", "ghost", "readings", "contacts")}
    assert np.array_equal(np.concatenate(list(arrays.values())), numbers)
    assert [len(array) for array in arrays.values()] == [8, 4, 6, 24]
    assert list(read.values()) == [3, 7, 9, 1.5, 2.5, 3.5, 4.5, 0.5, 0.25, 8.0, 0.125]


TRIAL = {
    "operator": "page",
    "done": 1,
    "repetitions": 10,
    "failures": 0,
    "void": 0,
    "rate": None,
    "events": [],
}
TRIAL |= {"over": False, "expert_fraction": None, "confidence": None}


@pytest.mark.parametrize("dark", some_of([False, True], True), ids=["light", "dark"])
@pytest.mark.parametrize("size", [LAPTOP, TABLET], ids=["laptop", "tablet"])
def test_all_words_are_in_their_place_and_readable(page, station, size, dark):
    page.set_viewport_size(size)
    if dark:
        page.get_by_role("button", name="Dark").click()
    page.evaluate(f"trial => {STATION}.connect.on.message({{ ...{STATION}.status, trial }})", TRIAL)
    page.evaluate(f"() => {{ {STATION}.connect.on.message = () => null; }}")
    time.sleep(0.4)  # Quasar's colours take 0.3 s to change.
    page.evaluate(f"{STATION}.panel = true")  # On a tablet a trial closes what lies over the picture.
    try:
        for tab in ("Trial", "People", "Replay", "Keys", "Setup"):
            page.get_by_role("tab", name=tab).click()
            wrong = page.evaluate(LAYOUT)
            assert wrong == {"faint": [], "cut": [], "outside": [], "overlaps": False}, tab
    finally:
        page.evaluate(f"() => {{ {STATION}.connect.on.message = {STATION}.receive; }}")
        page.set_viewport_size(LAPTOP)
        if dark:
            page.get_by_role("button", name="Light").click()


BODY_PIXELS = """cut => {
  const { view, state } = STATION;
  const gl = view.renderer.getContext(), whole = view.clearSight;
  if (!cut) view.clearSight = () => (view.ground.material.uniforms.clearing.value = 0);
  view.draw(state, performance.now());
  view.clearSight = whole;
  const [x, y] = [gl.drawingBufferWidth, gl.drawingBufferHeight], pixels = new Uint8Array(4 * x * y);
  gl.readPixels(0, 0, x, y, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
  let count = 0;
  for (let i = 0; i < pixels.length; i += 4) {
    count += pixels[i] > 1.4 * pixels[i + 1] && pixels[i + 1] > 1.5 * pixels[i + 2];
  }
  return count;
}""".replace("STATION", STATION)
"""Number of the body's orange pixels with the sight cleared, or not."""


def test_the_vehicle_is_seen_through_the_wall_behind_it_by_the_chasing_camera_alone(browser, tmp_path):
    station = FakeStation(tmp_path)  # Nobody has driven off from the wall at the start.
    page = open_page(browser, station)
    for view, cleared in (("chase", True), ("front", False)):
        page.evaluate(f"view => ({STATION}.main = view)", view)
        page.wait_for_function(f"view => {STATION}.view.shown.main === view", arg=view)
        hidden, seen = (page.evaluate(BODY_PIXELS, cut) for cut in (False, True))
        assert seen > 1.1 * hidden > 0 if cleared else seen == hidden, (view, hidden, seen)
    page.context.close()
    station.close()


def test_space_stops_for_an_instructor_who_does_not_drive_and_not_for_an_onlooker(browser, station, page):
    for role, stops in (("onlooker", False), ("instructor", True)):
        other = open_page(browser, station, role)
        other.evaluate("document.activeElement.blur()")
        station.forget()
        other.keyboard.press("Space")
        if stops:
            says(page, "Emergency stop")
            page.get_by_role("button", name="Release stop").click()
        assert bool(asked(station, "e_stop")) == stops
        other.context.close()


def test_load_arrows_that_are_missing_are_told(browser, station):
    page = open_page(browser, station)
    page.wait_for_function(f"{STATION}.state")
    page.get_by_role("button", name="Loads").click()
    legend = page.locator(".st-legend")
    legend.get_by_text("longest arrow 100 N").wait_for()
    page.evaluate(f"""() => {{
      const {{ on }} = {STATION}.connect, show = on.state;
      on.state = (state) => show({{ ...state, flags: state.flags & ~16, contacts: new Float32Array(0) }});
    }}""")
    legend.get_by_text("No arrows: no time is left for loads, or there are none").wait_for()
    page.get_by_role("button", name="Loads").click()
    assert legend.count() == 0
    page.context.close()


def test_a_slow_simulation_is_said(page, station):
    station.change_pace()
    says(page, "Slower than real time")
    station.change_pace()
    says(page, "You drive")
