"""What picture, instruments and sounds tell a driver: gates, height, tilt, slip and impacts."""

import pytest

pytest.importorskip("nicegui", reason='needs NiceGUI: pip install "segtrack[station]"')

from fake_station import FakeStation  # noqa: E402
from test_station_page import STATION, open_page  # noqa: E402


@pytest.fixture(scope="module")
def page(running_browser, tmp_path_factory):
    station = FakeStation(tmp_path_factory.mktemp("station"), course="parcours")
    page = open_page(running_browser, station)
    page.wait_for_function(f"{STATION}.view.course && {STATION}.state")
    yield page
    assert not page.complaints
    station.close()


def test_gates_have_their_numbers_and_the_last_is_the_goal(page):
    labels = f"{STATION}.view.course.labels.map(({{ written }}) => written)"
    assert page.evaluate(labels) == ["1 false", "2, 4 false", "3 false", "Goal false"]
    marked = f"({STATION}.view.course.mark(3), {labels})"  # At once: a status marks anew.
    assert page.evaluate(marked) == ["1 false", "2, 4 true", "3 false", "Goal false"]


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


HEARD = f"""async ([speed, force, slip, jolt, flags, seconds]) => {{
  const {{ heardOf }} = await import("segtrack-station/sound.js");
  const {{ hud, state }} = {STATION};
  const readings = new Float32Array(state.readings);
  for (const side of ["left", "right"]) for (const belt of hud.index[side].all) {{
    readings[belt.speed] = readings[belt.command] = speed;
    readings[belt.force] = force;
    readings[belt.slip] = slip;
  }}
  let before = null, heard;
  [0, 0, jolt * seconds ** 2].reduce((place, moved, i) => {{
    const pose = new Float32Array(state.pose);
    pose[2] = place + moved;
    const now = {{ ...state, readings, pose, flags, time: i * seconds, realTimeFactor: 1 }};
    heard = heardOf(now, before, hud.index);
    before = {{ scene: now.scene, time: now.time, pose, heard }};
    return pose[2];
  }}, 0);
  return heard;
}}"""


def test_motors_slip_and_impacts_are_heard_and_nothing_in_a_stop_or_after_a_gap(page):
    def heard(speed=0.0, force=0.0, slip=0.0, jolt=0.0, flags=0, seconds=1 / 32):
        return page.evaluate(HEARD, [speed, force, slip, jolt, flags, seconds])

    rest, slow, fast = heard(), heard(0.2, 20), heard(0.5, 60)
    assert (rest["hum"], rest["slip"], rest["impact"]) == (0, 0, 0)
    assert 0 < slow["hum"] < fast["hum"] <= 1 and rest["pitch"] < slow["pitch"] < fast["pitch"]
    assert heard(0.3, 20, slip=0.2)["slip"] == 0 < heard(0.3, 20, slip=-0.6)["slip"] < 1
    assert heard(jolt=4)["impact"] == 0 < heard(jolt=12)["impact"] < heard(jolt=100)["impact"] == 1
    assert heard(0.5, 60, 0.9, 100, flags=1) == heard(flags=1)
    assert heard(jolt=100, seconds=0.5)["impact"] == 0


SPY = """() => {
  window.spied = { gains: [], rumbles: [] };
  const { AudioParam } = window;
  AudioParam.prototype.setTargetAtTime = function (value) { window.spied.gains.push(value); return this; };
  const playEffect = (kind, effect) => { window.spied.rumbles.push({ kind, ...effect }); };
  const buttons = Array.from({ length: 17 }, () => ({ pressed: false, value: 0 }));
  const axes = [0, 0, 0, 0];
  const pad = { id: "pad", index: 0, connected: true, mapping: "standard", axes, buttons };
  window.pads = [{ ...pad, vibrationActuator: { playEffect } }];
}"""


def test_sound_begins_with_a_key_is_off_by_another_and_an_impact_shakes_the_pad(page):
    page.evaluate(SPY)
    page.keyboard.press("KeyL")
    page.wait_for_function("window.spied.gains.length > 4")
    page.evaluate(f"{STATION}.sound.thump(0.8, 1)")
    rumble = page.evaluate("window.spied.rumbles[0]")
    assert rumble == {"kind": "dual-rumble", "duration": 120, "strongMagnitude": 0.8, "weakMagnitude": 0.4}
    page.keyboard.press("KeyM")
    page.wait_for_function("window.spied.gains.slice(-2).every((gain) => gain === 0)")
    assert page.get_by_label("Sound and rumble").get_attribute("aria-pressed") == "false"
    assert page.evaluate("localStorage.getItem('segtrack-sound')") == "off"
    page.keyboard.press("KeyM")
    page.wait_for_function("localStorage.getItem('segtrack-sound') === 'on'")
