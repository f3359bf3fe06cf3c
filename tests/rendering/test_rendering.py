"""Pictures and films: what is drawn is where it is, in both engines, and a film survives how it ends."""

import json
import subprocess
import sys

import imageio_ffmpeg
import numpy as np
import pytest

from segtrack import World, terrain
from segtrack.description import load_vehicle
from segtrack.errors import FileAccessError, InvalidValueError, UnknownNameError
from segtrack.geometry import inner_outline, outer_outline
from segtrack.rendering import (
    Camera,
    Film,
    PosedVehicle,
    VehicleLook,
    box,
    free_body,
    ground_mesh,
    join_films,
    look_of,
    part_points,
    read_pose,
)
from segtrack.rendering.mesh import _DEEP, COLOURS, ball, prism, ring, wheel
from segtrack.reproduce.films import film_table, measure_films

SMALL = (96, 64)
COLOUR = (200.0, 100.0, 50.0)


@pytest.fixture(scope="module")
def native():
    with World(engine="native") as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle("quince")
        world.run(0.1)
        yield world, robot


def frames_of(path):
    reader = imageio_ffmpeg.read_frames(str(path))
    about = next(reader)
    shape = (*about["size"][::-1], 3)
    return about, [np.frombuffer(frame, np.uint8).reshape(shape) for frame in reader]


def volume_and_closure(mesh):
    """Volume by the divergence theorem, and the sum of the area vectors: 0 if it is closed."""
    a, b, c = (mesh.points[mesh.triangles[:, i]] for i in range(3))
    areas = np.cross(b - a, c - a) / 2
    return np.sum(a * areas) / 3, np.abs(areas.sum(axis=0)).max()


QUINCE = load_vehicle("quince").tracks["left"]
OUTLINES = outer_outline(QUINCE.belt_path), inner_outline(QUINCE.belt_path, 0.01)
HEIGHTS = np.random.default_rng(1).random((5, 4))


@pytest.mark.parametrize(
    "mesh, volume",
    [
        (box((0.1, 0.2, 0.3), COLOUR), 8 * 0.1 * 0.2 * 0.3),
        (prism([(0, 0), (2, 0), (0, 1)], -1, 2, COLOUR), 3.0),
        (wheel(0.5, 2.0, COLOUR, COLOUR), 12 * np.sin(np.pi / 12) * 0.5**2 * 2.0),
        (ring(*OUTLINES, 0.17, COLOUR), QUINCE.belt_path.perimeter * 0.01 * 0.17 - np.pi * 0.01**2 * 0.17),
        (ground_mesh([terrain.Heightfield(heights=HEIGHTS, spacing=0.5)]), None),
        (ground_mesh([terrain.HalfRound(radius=0.2, distance=1.0)]), None),
        (ball(1.0, COLOUR), None),
    ],
    ids=["box", "prism", "wheel", "ring", "heightfield", "half-round", "ball"],
)
def test_meshes_are_closed_and_face_outwards(mesh, volume):
    found, gap = volume_and_closure(mesh)
    assert gap < 1e-9
    assert found > 0 if volume is None else found == pytest.approx(volume, rel=2e-3)


def test_a_heightfields_mesh_holds_what_lies_under_its_surface():
    mesh = ground_mesh([terrain.Heightfield(heights=HEIGHTS, spacing=0.5)])
    low = HEIGHTS.min() - _DEEP
    halves = [HEIGHTS[:-1, :-1] + HEIGHTS[1:, :-1] + HEIGHTS[:-1, 1:]]
    halves += [HEIGHTS[1:, 1:] + HEIGHTS[1:, :-1] + HEIGHTS[:-1, 1:]]
    expected = sum(np.sum(three / 3 - low) for three in halves) * 0.5**2 / 2
    assert volume_and_closure(mesh)[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    "engine, model", [("native", "compliant"), ("pybullet", "segments"), ("pybullet", "chain")]
)
def test_what_is_drawn_is_where_the_engine_has_it(engine, model):
    """The meshes' outermost points against the box around the engine's own bodies."""
    with World(engine=engine) as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle("packbot", track_model=model, yaw=0.4)
        world.run(0.05)
        points = look_of(robot).points(read_pose(robot))
        low, high = robot.bounds()
    # PyBullet's boxes are up to 20 mm wider than what is in them, and a chain's points are its plates'.
    np.testing.assert_allclose(points.min(axis=0), low, atol=0.001 if engine == "native" else 0.025)
    np.testing.assert_allclose(points.max(axis=0), high, atol=0.001 if engine == "native" else 0.025)


def test_one_pitch_of_travel_shows_the_same_grousers_and_half_of_one_others(native):
    _, robot = native
    look = look_of(robot)
    part = next(part for part in look.parts if getattr(part.place, "track", None) == 0)
    travels, pitch = robot.model.state.travels, robot.tracks["left"].spec.pitch
    start, seen = travels[0, 0], {}
    for fraction in (0, 0.5, 1):
        travels[0, 0] = start + fraction * pitch
        points = part_points(look, part, read_pose(robot))
        seen[fraction] = {tuple(point) for point in np.round(points, 6) + 0.0}
    travels[0, 0] = start
    assert len(seen[0]) > 28 and seen[0] == seen[1]
    assert not seen[0] & seen[0.5]


@pytest.mark.parametrize(
    "vehicle, model",
    [
        ("quince", "compliant"),
        pytest.param("packbot", "chain", marks=pytest.mark.slow),
        ("example_rover", "surface"),
    ],
)
def test_a_vehicle_from_its_json_and_its_flat_pose_gives_the_same_picture(vehicle, model):
    """Without a world: what a recording or a page has of it."""
    with World(engine="native") as world:
        robot = world.add_vehicle(vehicle, track_model=model, position=(0, 0, 1), yaw=0.3)
        robot.set_belt_speed(0.3, -0.2)
        world.run(0.05)
        live, flat = Camera(robot, size=SMALL).take(), read_pose(robot).flat()
        text = json.dumps(look_of(robot).as_json(), allow_nan=False)
    look = VehicleLook.from_json(json.loads(text))
    assert len(flat) == look.size
    np.testing.assert_array_equal(look.pose(flat).flat(), flat)
    np.testing.assert_array_equal(Camera(PosedVehicle(look, look.pose(flat)), size=SMALL).take(), live)


@pytest.mark.parametrize(
    "engine, vehicle, model",
    [
        ("native", "quince", "compliant"),
        pytest.param("native", "packbot", "chain", marks=pytest.mark.slow),  # To be compiled.
        ("pybullet", "quince", "smooth"),
        ("pybullet", "packbot", "chain"),
    ],
)
def test_a_pose_holds_links_travels_and_shoes(engine, vehicle, model):
    """Against what the robot says of each by itself, a chain's loads and contacts included."""
    if engine == "pybullet":
        pytest.importorskip("pybullet")
    with World(engine=engine) as world:
        robot = world.add_vehicle(vehicle, track_model=model, position=(0, 0, 1))
        robot.set_belt_speed(0.3, -0.2)
        robot.set_flippers(**dict.fromkeys(robot.flippers, 0.5))
        world.run(0.02)
        pose, tracks = read_pose(robot), list(robot.tracks.values())
        state, look = robot.state, look_of(robot)
        chains = [track.read_chain() for track in tracks if track.has_chain]
        parents, travels = [t.parent_motion() for t in tracks], [t.travel for t in tracks]
    np.testing.assert_allclose(pose.links[0], [*state.position, *state.orientation], atol=1e-12)
    np.testing.assert_array_equal(pose.travels, travels)
    for track, parent in zip(look.tracks, parents, strict=True):
        np.testing.assert_allclose(pose.links[track.link, :3], parent.position, atol=1e-12)
    places = [points for chain in chains for points in (chain.positions, chain.wheels)]
    assert look.bodies == len(pose.bodies)
    np.testing.assert_array_equal(pose.bodies[:, :3], np.concatenate([np.empty((0, 3)), *places]))


def test_a_box_covers_the_pixels_that_its_size_and_the_scale_say(native):
    _, robot = native
    camera = Camera(robot, size=(320, 180))
    target, half = robot.state.position, 0.1
    alone, cube = camera.take(), box((half, half, half), COLOUR)
    body = free_body(cube, lambda: ((target[0], -3.0, target[2]), (0, 0, 0, 1)))
    seen = Camera(robot, size=(320, 180), bodies=[body]).take()
    red = np.any(seen != alone, axis=2)
    assert red.sum() == pytest.approx((2 * half * camera.scale) ** 2, rel=0.05)
    rows, columns = np.nonzero(red)
    assert (rows.mean(), columns.mean()) == pytest.approx((89.5, 159.5), abs=0.6)


def test_what_is_nearer_hides_what_is_farther(native):
    """A wall behind the robot leaves it as it is, one before it hides it; in each view."""
    _, robot = native
    for view, axis, sign in (("side", 1, 1), ("top", 2, -1)):
        pictures = []
        for place in (2.0, -2.0):
            at = np.zeros(3)
            at[axis] = sign * place
            mesh = box((5, 0.1, 5) if axis == 1 else (5, 5, 0.1), COLOUR)
            wall = free_body(mesh, lambda at=at: (at, (0, 0, 0, 1)))
            pictures.append(Camera(robot, view=view, size=SMALL, bodies=[wall]).take())
        behind, before = pictures
        assert len(np.unique(before.reshape(-1, 3), axis=0)) == 1
        assert len(np.unique(behind.reshape(-1, 3), axis=0)) > 3


def test_chase_view_turns_with_the_robot(native):
    """Its silhouette stays, where that of the oblique view changes; only the light comes from elsewhere."""
    _, robot = native
    position = robot.state.position
    seen = {view: [] for view in ("chase", "oblique")}
    for yaw in (0.0, 1.1):
        robot.reset_base_pose(position, (0.0, 0.0, np.sin(yaw / 2), np.cos(yaw / 2)))
        for view, silhouettes in seen.items():
            picture = Camera(robot, view=view, size=SMALL).take()
            silhouettes.append((picture != picture[:, :1]).any(axis=2))  # The sky has a colour a row.
    robot.reset_base_pose(position)
    changed = {view: (before != after).mean() for view, (before, after) in seen.items()}
    assert changed["chase"] < 1e-3 < 0.05 < changed["oblique"]


def test_the_side_view_cuts_the_ground_off_beside_the_robot():
    """A bank that is higher than the robot, nearer to the eye than it, does not hide it."""
    with World(engine="native") as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle("packbot")
        heights = np.zeros((9, 9))
        heights[:, :2] = 2.0  # At y of -4 and -3.
        field = terrain.Heightfield(heights=heights, spacing=1.0)
        flat = Camera(robot, world.terrains, size=SMALL).take()
        banked = Camera(robot, [terrain.Plane(), field], size=SMALL).take()
    np.testing.assert_array_equal(flat[:32], banked[:32])


def test_above_the_ground_is_sky_and_below_it_is_ground(native):
    world, robot = native
    picture = Camera(robot, world.terrains, size=SMALL).take().astype(int)
    assert np.abs(picture[0] - COLOURS["sky"]).max() <= 2
    assert np.all(picture[-1, :, 0] > picture[-1, :, 2])  # Warmer than the sky, as the floor's colour is.


@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_a_film_has_a_frame_for_each_period_of_simulated_time(native, tmp_path, suffix):
    world, robot = native
    path = tmp_path / "made" / f"film{suffix}"
    with Film(path, robot, world.terrains, frame_rate=50.0, size=SMALL) as film:
        for time in (3.0, 3.01, 3.02, 3.1):  # The last one stands for four.
            film.take(time)
    about, frames = frames_of(path)
    assert (about["fps"], len(frames), frames[0].shape) == (50.0, 6, (64, 96, 3))
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_two_films_become_one_in_which_the_shorter_one_stands_still(native, tmp_path, suffix):
    world, robot = native
    parts = [tmp_path / "a.mp4", tmp_path / "b.mp4"]
    for part, count in zip(parts, (3, 5), strict=True):
        with Film(part, robot, world.terrains, frame_rate=10.0, size=SMALL) as film:
            for i in range(count):
                film.take(0.1 * i)
    _, joined = frames_of(join_films(tmp_path / f"both{suffix}", *parts))
    left, right = (np.array(frames_of(part)[1], dtype=float) for part in parts)
    assert [frame.shape for frame in joined] == [(64, 192, 3)] * 5
    expected = np.concatenate([left[[0, 1, 2, 2, 2]], right], axis=2)
    assert np.abs(np.array(joined) - expected).mean() < 4.0  # Compressed again.


def test_a_film_that_an_error_ends_keeps_its_frames(native, tmp_path):
    world, robot = native
    with pytest.raises(KeyboardInterrupt), Film(tmp_path / "film.mp4", robot, size=SMALL) as film:
        film.take(0.0)
        film.take(0.04)
        raise KeyboardInterrupt
    assert len(frames_of(tmp_path / "film.mp4")[1]) == 2
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.slow
def test_a_film_whose_process_is_killed_keeps_its_frames(tmp_path):
    program = (
        "import os, signal, segtrack; from segtrack.rendering import Film\n"
        "robot = segtrack.World(engine='native').add_vehicle('packbot', position=(0, 0, 1))\n"
        f"film = Film('film.mp4', robot, size={SMALL})\n"
        "film.take(0.0); film.take(1.0); os.kill(os.getpid(), signal.SIGKILL)"
    )
    # Returns once ffmpeg, which has the same standard error, is done.
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (-9, "")
    assert len(frames_of(tmp_path / "film.mp4")[1]) == 26
    assert len(list(tmp_path.iterdir())) == 1


def test_a_film_without_frames_leaves_nothing(native, tmp_path):
    Film(tmp_path / "folder" / "film.mp4", native[1], size=SMALL).close()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "given, kind, message",
    [
        ({"path": "film.avi"}, InvalidValueError, "record must be a file of .mp4 or .gif, got 'film.avi'"),
        ({"view": "left"}, UnknownNameError, "no view 'left'; there are: side, top, oblique, chase"),
        ({"size": (321, 180)}, InvalidValueError,
         "size of a picture [pixels] must be two even numbers from 64 to 4096, got '321x180'"),
        ({"size": (320, 5000)}, InvalidValueError,
         "size of a picture [pixels] must be two even numbers from 64 to 4096, got '320x5000'"),
        ({"frame_rate": 0}, InvalidValueError, "frame rate [1/s] must be above 0, up to 1000, got 0"),
        ({"frame_rate": np.nan}, InvalidValueError, "frame rate [1/s] must be a finite number, got nan"),
        ({"path": "/dev/null/film.mp4"}, FileAccessError, "cannot write to /dev/null: File exists"),
    ],
)  # fmt: skip
def test_a_film_that_cannot_be_is_refused_at_once(native, given, kind, message):
    with pytest.raises(kind) as error:
        Film(**{"path": "film.mp4", "robot": native[1], **given})
    assert str(error.value) == message


def test_a_folder_is_no_film(native, tmp_path):
    (tmp_path / "film.mp4").mkdir()
    with pytest.raises(FileAccessError) as error:
        Film(tmp_path / "film.mp4", native[1])
    assert str(error.value) == f"cannot write to {tmp_path / 'film.mp4'}: Is a directory"


def test_links_of_a_urdf_are_drawn_where_their_joints_are():
    """The rover's mast and camera, turned by a right angle about the mast's axis in PyBullet."""
    with World(engine="pybullet") as world:
        robot = world.add_vehicle("example_rover", position=(0, 0, 0.5))
        mast = robot.model.links["mast"]
        look = look_of(robot)
        links, pose = look.parts[:3], read_pose(robot)
        before = np.concatenate([part_points(look, link, pose) for link in links])
        world.client.resetJointState(robot.model.body_id, mast, np.pi / 2)
        pose = read_pose(robot)
        after = np.concatenate([part_points(look, link, pose) for link in links])
        axis = np.array(world.client.getLinkState(robot.model.body_id, mast)[4])
    turned = axis + (before - axis) @ np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]])
    body = len(links[0].mesh.points)
    np.testing.assert_allclose(after, np.concatenate([before[:body], turned[body:]]), atol=1e-6)
    assert np.abs(after - before).max() > 0.03


@pytest.mark.slow
def test_what_a_film_costs_is_measured_beside_the_climb_without_one():
    climb = {"vehicle": "packbot", "step": 0.02, "speed": 1.0, "track_model": "compliant"}
    (cost,) = measure_films(rounds=1, climbs=(climb,))
    assert len(cost.without) == len(cost.filmed) == 1
    assert cost.ratio == pytest.approx(sum(cost.filmed) / sum(cost.without))
    added = cost.filmed[0] - cost.without[0]
    assert cost.record()["frame_time"] == pytest.approx(added / (25 * cost.simulated))
    assert film_table((cost,)).row_count == 1


def test_no_rounds_measure_nothing():
    with pytest.raises(InvalidValueError) as error:
        measure_films(rounds=0)
    assert str(error.value) == "rounds must be at least 1, got 0"


def test_the_scale_does_not_depend_on_how_a_robot_stands():
    with World(engine="native") as world:
        robot = world.add_vehicle("quince", position=(0, 0, 1))
        scale = Camera(robot, view="top").scale
        robot.reset_base_pose((0, 0, 1), (0.1, 0.2, 0.5, 0.8))
        assert Camera(robot, view="top").scale == pytest.approx(scale)
