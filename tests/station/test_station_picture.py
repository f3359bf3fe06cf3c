"""What the picture and the instruments tell a driver: gates, height above the ground, tilt and slip."""

import pytest

pytest.importorskip("nicegui", reason='needs NiceGUI: pip install "segtrack[station]"')

from browser import chromium  # noqa: E402
from fake_station import FakeStation  # noqa: E402
from test_station_page import STATION, open_page  # noqa: E402


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    station = FakeStation(tmp_path_factory.mktemp("station"), course="parcours")
    page = open_page(browser, station)
    page.wait_for_function(f"{STATION}.view.course && {STATION}.state")
    yield page
    assert not page.complaints
    station.close()


def test_gates_have_their_numbers_and_the_last_is_the_goal(page):
    labels = f"{STATION}.view.course.labels.map(({{ written }}) => written)"
    assert page.evaluate(labels) == ["1 false", "2, 4 false", "3 false", "Goal false"]
    page.evaluate(f"{STATION}.view.course.mark(3)")
    assert page.evaluate(labels) == ["1 false", "2, 4 true", "3 false", "Goal false"]


BRIGHTNESS = f"""(lift) => {{
  const {{ view, state }} = {STATION};
  const {{ renderer, cameras }} = view;
  const pose = new Float32Array(state.pose);
  for (let i = 2; i < 7 * view.vehicle.links.length; i += 7) pose[i] += lift;
  const {{ casters }} = view.ground.material.uniforms;
  const draw = (count) => {{
    view.casters.length = count;
    view.vehicle.pose(pose);
    view.cameras.fit(view.vehicle.reach(), view.vehicle.box());
    view.vehicle.object.visible = view.course.object.visible = false;
    view.cameras.follow(view.vehicle.body, 0);
    view.shade();
    view.render("overhead", 0, 0, view.size.width, view.size.height);
    const gl = renderer.getContext();
    const pixel = new Uint8Array(4);
    const [x, y] = [gl.drawingBufferWidth / 2, gl.drawingBufferHeight / 2];
    gl.readPixels(x, y, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    view.vehicle.object.visible = view.course.object.visible = true;
    return pixel[0];
  }};
  const all = [...view.casters];
  const dark = draw(all.length);
  const light = draw(0);
  view.casters.push(...all);
  return dark / light;
}}"""


def test_the_ground_is_darker_below_the_vehicle_and_less_so_the_higher_it_is(page):
    shares = [page.evaluate(BRIGHTNESS, lift) for lift in (0.0, 0.1, 0.4, 1.5)]
    assert shares == sorted(shares)
    assert shares[0] < 0.75 and shares[-1] > 0.97


WARNING = f"""([tilt, slip, command, seconds]) => {{
  const {{ hud, state }} = {STATION};
  const readings = new Float32Array(state.readings);
  for (const side of ["left", "right"]) {{
    readings[hud.index[side].main.slip] = slip;
    readings[hud.index[side].main.command] = command;
  }}
  hud.slippedSince = Infinity;
  hud.tilt = tilt;
  for (const time of [10, 10 + seconds]) hud.warn({{ readings, time }});
  const {{ warning, rim }} = hud.parts;
  return [warning.textContent, warning.className.split(" ")[1], rim.getAttribute("class").split(" ")[1]];
}}"""


@pytest.mark.parametrize(
    ("so", "told"),
    [
        ((5, 0.0, 0.3, 1), ["", "", ""]),
        ((26, 0.0, 0.3, 1), ["Tilt: 26°", "st-amber", "st-amber"]),
        ((41, 0.9, 0.3, 1), ["Tilt: 41°, it may fall", "st-red", "st-red"]),
        ((5, 0.6, 0.3, 0.6), ["Belts slip", "st-amber", ""]),
        ((5, -0.6, -0.3, 0.6), ["Belts slip", "st-amber", ""]),
        ((5, 0.6, 0.3, 0.4), ["", "", ""]),
        ((5, 0.9, 0.01, 1), ["", "", ""]),
        ((5, float("nan"), 0.3, 1), ["", "", ""]),
    ],
)
def test_tilt_and_slip_are_told_in_words_and_not_by_chance(page, so, told):
    assert page.evaluate(WARNING, so) == told
