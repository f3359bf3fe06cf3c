"""Real cameras: lens, smoke, lamps and lost slices against closed forms, and who sees by them."""

import math

import pytest

pytest.importorskip("nicegui", reason='needs NiceGUI: pip install "segtrack[station]"')

from fake_station import FakeStation  # noqa: E402
from quick import some_of  # noqa: E402
from test_station_page import STATION, open_page  # noqa: E402


@pytest.fixture(scope="module")
def page(running_browser, tmp_path_factory):
    station = FakeStation(tmp_path_factory.mktemp("station"), course="parcours")
    page = open_page(running_browser, station)
    page.wait_for_function(f"{STATION}.view.course && {STATION}.state")
    page.evaluate(BENCH)
    yield page
    assert not page.complaints
    station.close()


BENCH = """async () => {
  const { THREE } = await import("nicegui-scene");
  const { Video } = await import("segtrack-station/video.js");
  const renderer = new THREE.WebGLRenderer();
  renderer.setSize(640, 360, false);
  renderer.autoClear = false;
  const video = new Video(renderer);
  const camera = new THREE.PerspectiveCamera(80, 16 / 9, 0.01, 300);
  const clear = { real: false, zoom: 1, dark: false, visibility: null, lamps: [], exposed: 1.5 };
  const wall = ({ distance, turned, colour }) => {
    const material = new THREE.MeshBasicMaterial({ color: colour, side: THREE.DoubleSide });
    const mesh = new THREE.Mesh(new THREE.PlaneGeometry(100, 100), material);
    mesh.position.z = -distance;
    mesh.rotation.y = turned ?? 0;
    return mesh;
  };
  const ball = (x, y) => {
    const material = new THREE.MeshBasicMaterial({ color: 0xffffff });
    const mesh = new THREE.Mesh(new THREE.SphereGeometry(0.05), material);
    mesh.position.set(5 * x, 5 * y, -5);
    return mesh;
  };
  let number = 0;
  window.video = video;
  /** Colours of the picture (360, 640, 4), from below. */
  window.bench = ({ balls = [], walls = [], how = {}, sky = 0, damage = 0, lamp = false }) => {
    const scene = new THREE.Scene();
    for (const [x, y] of balls) scene.add(ball(x, y));
    for (const each of walls) scene.add(wall(each));
    renderer.setClearColor(sky);
    const lamps = lamp ? [{ at: new THREE.Vector3(), to: new THREE.Vector3(0, 0, -1) }] : [];
    renderer.setViewport(0, 0, 640, 360);
    const picture = { slot: "bench", lines: 360, number: `${number++}`, damage, holds: false };
    video.draw(scene, camera, { ...clear, ...how, lamps }, picture);
    const pixels = new Uint8Array(4 * 640 * 360);
    renderer.readRenderTargetPixels(video.slots.bench.shown, 0, 0, 640, 360, pixels);
    return pixels;
  };
  window.at = (pixels, column, row) => [0, 1, 2].map((i) => pixels[4 * (640 * row + column) + i]);
  /** Centre of what is bright, in half heights from the middle. */
  window.bright = (pixels) => {
    let [sum, x, y] = [0, 0, 0];
    for (let i = 0; i < 640 * 360; i++) {
      if (pixels[4 * i] < 128) continue;
      sum++;
      x += ((i % 640) + 0.5 - 320) / 180;
      y += (Math.floor(i / 640) + 0.5 - 180) / 180;
    }
    return [x / sum, y / sum];
  };
}"""
HALF = math.tan(math.radians(40))
LENS = 0.08


@pytest.mark.parametrize("zoom", [1, 4])
@pytest.mark.parametrize("place", some_of([(0, 0), (0.8, 0.3), (-1.3, -0.7), (1.2, -0.2)], (-1.3, -0.7)))
def test_a_lens_brings_straight_ways_nearer_to_the_middle_by_the_division_model(page, place, zoom):
    x, y = place
    seen = page.evaluate(
        "([x, y, zoom]) => bright(bench({ balls: [[x, y]], how: { real: true, zoom } }))", [x, y, zoom]
    )
    distortion = LENS / zoom**2
    far = math.hypot(x, y) / HALF
    near = 2 * far / (1 + math.sqrt(1 + 4 * distortion * far**2))  # far = near / (1 - distortion near^2)
    share = near / far if far else 1.0
    assert seen == pytest.approx([share * x / HALF, share * y / HALF], abs=1.5 / 180)


@pytest.mark.parametrize("distance", some_of([0.5, 2.0, 5.0, 10.0], 0.5, 5.0))
def test_smoke_leaves_the_contrast_that_koschmieder_says_and_hides_the_sky(page, distance):
    """W. E. K. Middleton, Vision through the atmosphere (1952): contrast falls with exp(-3 d / V)."""
    colours = page.evaluate(
        """(distance) => [0x000000, 0xffffff].map((colour) =>
          at(bench({ walls: [{ distance, colour }], how: { visibility: 5 } }), 320, 180)[0])""",
        distance,
    )
    black, white = ((colour / 255) ** 2.2 for colour in colours)
    left = math.exp(-3 * distance / 5)
    assert white - black == pytest.approx(left, abs=0.01)
    assert black == pytest.approx(0.75**2.2 * (1 - left), abs=0.01)
    sky = page.evaluate("at(bench({ sky: 0x4080ff, how: { visibility: 5 } }), 320, 180)")
    assert [value / 255 for value in sky] == pytest.approx([0.75] * 3, abs=0.01)


@pytest.mark.parametrize("turned", [0, 60])
@pytest.mark.parametrize("distance", some_of([2.0, 3.0, 6.0], 2.0, 6.0))
def test_a_lamp_lights_by_inverse_square_and_cosine_and_only_its_beam(page, distance, turned):
    pixels = """([distance, turned]) => {
      const walls = [{ distance, turned, colour: 0xffffff }];
      const pixels = bench({ walls, how: { dark: true }, lamp: true });
      return [at(pixels, 320, 180)[0], at(pixels, 20, 340)[0]];
    }"""
    middle, corner = page.evaluate(pixels, [distance, math.radians(turned)])
    light = (1.5 / distance) ** 2 * math.cos(math.radians(turned))
    assert middle / 255 == pytest.approx(light ** (1 / 2.2), abs=0.015)
    assert corner <= 2
    assert page.evaluate("at(bench({ sky: 0x4080ff, how: { dark: true }, lamp: true }), 320, 180)[2]") <= 2


@pytest.mark.parametrize("distance", [2.0, 4.0])
def test_a_lamp_in_smoke_lights_on_both_ways_and_sends_some_of_its_light_back(page, distance):
    middle = page.evaluate(
        """(distance) => at(bench({ walls: [{ distance, colour: 0xffffff }], lamp: true,
          how: { dark: true, visibility: 6 } }), 320, 180)[0]""",
        distance,
    )
    left = math.exp(-3 * distance / 6)
    light = (1.5 / distance) ** 2 * left * left + 0.25 * 0.75**2.2 * (1 - left)
    assert middle / 255 == pytest.approx(light ** (1 / 2.2), abs=0.01)


def test_a_surface_near_to_a_lamp_is_no_brighter_than_a_fifth_above_daylight(page):
    near = page.evaluate("""() => {
      const walls = [{ distance: 0.3, colour: 0x808080 }];
      return at(bench({ walls, how: { dark: true }, lamp: true }), 320, 180)[0];
    }""")
    assert near / 255 == pytest.approx(0x80 / 255 * 1.2 ** (1 / 2.2), abs=0.01)


@pytest.mark.parametrize("width, height", [(1400, 400), (500, 700)])
def test_a_real_camera_has_its_own_shape_whatever_the_window_has(browser, tmp_path, width, height):
    station = FakeStation(tmp_path, course="parcours")
    page = open_page(browser, station)
    page.wait_for_function(f"{STATION}.view.course && {STATION}.state")
    page.evaluate(SETUP, {"cameras": "real"})
    told = page.evaluate(
        f"""async ([width, height]) => {{
      const station = {STATION}, {{ view }} = station;
      station.connect.on.state = () => null;
      await station.$nextTick();
      Object.assign(view, {{ size: {{ width, height }}, resized: true }});
      view.draw(station.state, performance.now());
      const gl = view.renderer.getContext();
      const [wide, tall] = [gl.drawingBufferWidth, gl.drawingBufferHeight];
      const pixels = new Uint8Array(4 * wide * tall);
      gl.readPixels(0, 0, wide, tall, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
      const black = (x, y) => [0, 1, 2].every((i) => pixels[4 * (wide * y + x) + i] === 0);
      const [xs, ys] = [[...Array(wide).keys()], [...Array(tall).keys()]];
      const columns = xs.filter((x) => ys.some((y) => !black(x, y))).length;
      const rows = ys.filter((y) => xs.some((x) => !black(x, y))).length;
      const {{ raw }} = view.video.slots.main;
      const {{ aspect }} = view.cameras.camera.front;
      return [raw.width, raw.height, columns / view.ratio, rows / view.ratio, aspect];
    }}""",
        [width, height],
    )
    wide, tall = min(width, height * 16 / 9), min(height, width * 9 / 16)
    assert told[:2] == [640, 360]
    assert told[2:4] == [4 * (wide // 4), 4 * (tall // 4)]
    assert told[4] == pytest.approx(16 / 9)
    page.context.close()
    station.close()


def test_a_lost_slice_keeps_what_was_there_before_and_no_other_does(page):
    kept = page.evaluate("""() => {
      bench({ walls: [{ distance: 2, colour: 0xff0000 }] });
      const pixels = bench({ walls: [{ distance: 2, colour: 0x00ff00 }], damage: (1 << 7) | (1 << 23) });
      const kept = [];
      for (let slice = 0; slice < 24; slice++) {
        const [column, row] = [slice % 6, Math.floor(slice / 6)];
        const [x, y] = [Math.floor((column + 0.5) * 640 / 6), 360 - Math.floor((row + 0.5) * 90)];
        if (at(pixels, x, y)[0] > 200) kept.push(slice);
      }
      return kept;
    }""")
    assert kept == [7, 23]


def test_a_lost_slice_of_a_first_picture_is_black(page):
    colours = page.evaluate("""() => {
      bench({ walls: [{ distance: 2, colour: 0xff0000 }] });
      video.forget("bench");
      const pixels = bench({ walls: [{ distance: 2, colour: 0x00ff00 }], damage: 1 });
      return [at(pixels, 50, 350), at(pixels, 320, 180)];
    }""")
    assert colours == [[0, 0, 0], [0, 255, 0]]


def test_no_picture_of_a_scene_has_blocks_of_another(browser, tmp_path):
    station = FakeStation(tmp_path, course="parcours")
    page = open_page(browser, station)
    page.wait_for_function(f"{STATION}.view.course && {STATION}.state")
    slots = page.evaluate(f"""async () => {{
      const station = {STATION}, {{ view }} = station;
      const scene = await new Promise((told) => {{
        const {{ setScene }} = view;
        view.setScene = (scene) => {{ setScene.call(view, scene); told(scene); }};
        station.connect.socket.close();
      }});
      station.connect.on.state = station.connect.on.message = () => null;
      station.status.link = {{}};
      const late = {{ ...station.state, picture: station.state.pose, pictureFrame: 1, flags: 0 }};
      const kept = [];
      const look = () => kept.push([Object.keys(view.video.slots), station.unseen]);
      const draw = (state) => {{ station.state = state; station.draw(performance.now()); look(); }};
      draw(late);
      station.setScene(scene); // The same one, with a ghost, say.
      look();
      station.setScene({{ ...scene, number: scene.number + 1 }});
      look();
      draw({{ ...late, scene: scene.number + 1 }});
      draw({{ ...late, scene: scene.number + 1, picture: new Float32Array(0), pictureFrame: 0 }});
      return kept;
    }}""")
    assert slots == [[["main"], False], [["main"], False], [[], True], [["main"], False], [[], False]]
    page.context.close()
    station.close()


def test_a_clear_picture_is_the_same_through_the_pass_and_noise_is_that_of_a_real_camera(page):
    plain, dull = page.evaluate("""() => [{}, { real: true }].map((how) => {
      const pixels = bench({ walls: [{ distance: 2, colour: 0x4080c0 }], how });
      let [sum, square] = [0, 0];
      for (let i = 0; i < 640 * 360; i++) { sum += pixels[4 * i]; square += pixels[4 * i] ** 2; }
      const mean = sum / (640 * 360);
      return [mean, Math.sqrt(Math.max(0, square / (640 * 360) - mean * mean))];
    })""")
    assert plain == pytest.approx([0x40, 0.0], abs=0.5)
    assert dull[0] == pytest.approx(0x40, abs=0.5)
    assert dull[1] == pytest.approx(0.012 * 255, rel=0.1)


PTZ = """async (orders) => {
  const { Ptz, ptzOrder } = await import("segtrack-station/ptz.js");
  const ptz = new Ptz();
  ptz.delay = orders.delay ?? 0;
  const held = new Set();
  const seen = [];
  for (let time = 0; time <= orders.until; time += 20) {
    for (const [at, down, key] of orders.keys ?? []) if (at === time) down ? held.add(key) : held.delete(key);
    ptz.ask(ptzOrder(held, []), time);
    for (const [at, ...by] of orders.drags ?? []) if (at === time) ptz.drag(...by, time);
    ptz.move(time);
    seen.push([ptz.pan, ptz.tilt, ptz.zoom]);
  }
  return seen;
}"""


def test_the_pan_tilt_zoom_camera_turns_at_its_rate_stops_at_its_limits_and_obeys_late(page):
    turned = page.evaluate(PTZ, {"keys": [[0, True, "KeyJ"], [1000, False, "KeyJ"]], "until": 2000})
    assert turned[-1] == pytest.approx([math.pi / 3, 0, 1], rel=0.03)
    ends = page.evaluate(PTZ, {"keys": [[0, True, key] for key in ("KeyL", "KeyK", "KeyO")], "until": 8000})
    assert ends[-1] == pytest.approx([-2.97, -1.05, 10])
    late = page.evaluate(PTZ, {"keys": [[0, True, "KeyJ"]], "delay": 500, "until": 1000})
    assert [pan for pan, _, _ in late[:25]] == [0] * 25
    assert late[-1][0] == pytest.approx(math.pi / 6, rel=0.06)
    home = {"keys": [[0, True, "KeyJ"], [1000, False, "KeyJ"], [1200, True, "KeyH"]], "until": 4000}
    assert page.evaluate(PTZ, home)[-1] == [0, 0, 1]
    dragged = page.evaluate(PTZ, {"drags": [[100, 0.3, -0.2, 2]], "until": 3000})
    assert dragged[-1] == pytest.approx([0.3, -0.2, 2])
    assert dragged[6][0] < 0.1  # It turns there, and does not jump.


SETUP = f"""(setup) => {{
  {STATION}.connect.on.message = () => null;
  {STATION}.receive({{ ...{STATION}.status, setup: {{ ...{STATION}.status.setup, ...setup }} }});
}}"""


def test_real_cameras_leave_the_driver_those_on_board_and_an_instructor_all(browser, tmp_path):
    station = FakeStation(tmp_path, course="parcours")
    views = f"{STATION}.views.map(({{ value }}) => value)"
    for role, expected in [("driver", ["front", "rear", "ptz"]), ("instructor", None)]:
        page = open_page(browser, station, role=role)
        page.wait_for_function(f"{STATION}.view.course && {STATION}.state")
        every = page.evaluate(views)
        assert len(every) == 6
        page.evaluate(SETUP, {"cameras": "real", "light": "dark", "visibility": 4})
        assert page.evaluate(views) == (expected or every)
        assert page.evaluate(f"{STATION}.shown.main") == ("front" if expected else "chase")
        clear = {"real": False, "dark": False, "visibility": None}
        seeing = {"real": True, "dark": True, "visibility": 4} if expected else clear
        assert page.evaluate(f"({{ ...{STATION}.seeing }})") == seeing
        if role == "instructor":  # Who has the seat sees what the driver does.
            page.evaluate(f"{STATION}.setStatus({{ ...{STATION}.status, role: 'driver' }})")
            assert page.evaluate(views) == ["front", "rear", "ptz"]
        page.evaluate(SETUP, {"cameras": None, "light": None, "visibility": None})
        assert page.evaluate(f"{STATION}.shown.main") == "chase"
        assert page.evaluate(f"({{ ...{STATION}.seeing }})") == clear
        assert not page.complaints
        page.close()
    station.close()


def test_instruments_show_the_present_while_the_picture_is_late(page):
    told = page.evaluate(f"""() => {{
      const station = {STATION};
      const tilted = new Float32Array(station.state.pose);
      const [half, now] = [Math.PI / 12, station.state];
      for (let link = 0; link < station.view.vehicle.links.length; link++) {{
        tilted.set([0, -Math.sin(half), 0, Math.cos(half)], 7 * link + 3);
      }}
      station.connect.on.state = () => null;
      const picture = new Float32Array(now.pose);
      station.state = {{ ...now, picture, pictureFrame: 1, pose: tilted, damage: 0 }};
      station.draw(performance.now());
      const {{ x, y, z }} = station.view.cameras.ahead;
      return [document.querySelector("[data-hud=pitch]").textContent, [x, y, z]];
    }}""")
    assert told[0] == "nose up 30°"
    assert abs(told[1][2]) < 0.05  # The picture is level, as it was before.


def test_a_link_without_a_picture_leaves_the_canvas_and_brings_the_instruments(page):
    told = page.evaluate(f"""async () => {{
      const station = {STATION};
      station.connect.on.state = () => null;
      const now = {{ ...station.state, picture: new Float32Array(0), pictureFrame: 0, damage: 0 }};
      const level = new Float32Array(now.pose), tilted = new Float32Array(now.pose);
      const half = Math.PI / 9;
      for (let link = 0; link < station.view.vehicle.links.length; link++) {{
        level.set([0, 0, 0, 1], 7 * link + 3);
        tilted.set([0, -Math.sin(half), 0, Math.cos(half)], 7 * link + 3);
      }}
      const pictures = [];
      for (const [pose, flags] of [[level, 0], [tilted, 1 | 256], [tilted, 0]]) {{
        station.take({{ ...now, pose, flags }});
        station.draw(performance.now());
        const pitch = document.querySelector("[data-hud=pitch]").textContent;
        pictures.push([station.view.canvas.toDataURL(), pitch, station.stopped]);
        await station.$nextTick();
        pictures.at(-1).push(document.querySelector(".st-unseen")?.textContent ?? "");
      }}
      return pictures;
    }}""")
    (level, *first), (unseen, *second), (tilted, *third) = told
    assert first == ["nose up 0°", False, ""]
    assert second == ["nose up 40°", True, "The link has brought no picture yet"]
    assert third == ["nose up 40°", False, ""]
    assert level == unseen != tilted


def test_cameras_and_lamps_stand_on_a_vehicle_whose_body_carries_nothing(browser, tmp_path):
    station = FakeStation(tmp_path, vehicle="m113")
    page = open_page(browser, station)
    page.wait_for_function(f"{STATION}.view.course && {STATION}.state && {STATION}.view.fitted")
    places = page.evaluate(f"""() => {{
      const {{ cameras, vehicle }} = {STATION}.view;
      const lamps = cameras.lamps(vehicle.body).map(({{ at }}) => at);
      const cabins = ["front", "rear", "ptz"].map((view) => cameras.camera[view].position);
      const inverse = vehicle.body.clone().invert();
      return [...lamps, ...cabins].map((at) => at.clone().applyMatrix4(inverse).toArray());
    }}""")
    assert all(-6 < x < 6 and -2 < y < 2 and 0 < z < 4 for x, y, z in places), places
    assert not page.complaints
    page.context.close()
    station.close()
