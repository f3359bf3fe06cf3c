"""Ground for replays: where it rises against closed forms, and mistakes in its files."""

import math

import numpy as np
import pytest

from segtrack.courses import load_course
from segtrack.errors import FileAccessError, InvalidValueError, TerrainFileError, UnknownNameError
from segtrack.logs.mapping import load_terrain, parse_terrain
from segtrack.logs.replay import ReplaySettings
from segtrack.terrain import Step, profile

STEP = "terrain: [{step: {height: 0.12, length: 3.0}, place: {x: 1.0}, width: 2.4}]"
RAMP = "terrain: [{ramp: {slope_deg: 20, length: 1.0, top_length: 1.0}, place: {x: 0.5}}]"


def test_a_bare_step_rises_at_its_face_by_its_height():
    terrain = parse_terrain(STEP, "mine")
    assert terrain.obstacle.x == pytest.approx(1.0, abs=1e-6)
    assert terrain.obstacle.height == pytest.approx(0.12)
    x = np.linspace(-1.0, 5.0, 1201)
    assert np.max([t.height_at(x) for t in terrain.terrains], axis=0) == pytest.approx(
        Step(height=0.12, distance=1.0, length=3.0).height_at(x)
    )


def test_a_ramp_rises_from_its_foot_to_its_top():
    obstacle = parse_terrain(RAMP, "mine").obstacle
    assert obstacle.x == pytest.approx(0.5, abs=1e-5)
    assert obstacle.height == pytest.approx(math.sin(math.radians(20.0)))


def test_stairs_rise_by_one_step_first():
    stairs = load_terrain("stairs").obstacle
    outline = profile(load_course("stairs").terrains[1], 0.7, 2.0)
    assert stairs.height == pytest.approx(outline.z[outline.x > stairs.x + 1e-3][0])


def test_level_ground_has_no_obstacle():
    assert parse_terrain("friction: 0.5", "mine").obstacle is None


def test_walls_are_no_obstacle():
    lane = "lanes: [{width: 1.2, walls: {height: 0.3}, pieces: [{flat: {length: 2.0}}]}]"
    assert parse_terrain(lane, "mine").obstacle is None


def test_a_course_is_taken_from_its_start_and_at_its_setting():
    terrain = load_terrain("okada-step", 0.12)
    course = load_course("okada-step", 0.12)
    assert (terrain.obstacle.x, terrain.obstacle.height) == pytest.approx((1.6, 0.12))
    assert terrain.start == course.start
    assert terrain.terrains == course.terrains
    assert (terrain.name, terrain.setting, terrain.text) == ("okada-step", 0.12, course.source)
    assert terrain.sha256 != load_terrain("okada-step").sha256


def test_a_hash_is_of_the_ground_not_of_how_it_is_written():
    sha256 = parse_terrain(
        "friction: 0.5\nterrain: [{step: {height: 0.1, length: 2}, place: {x: 1}}]", "a"
    ).sha256
    same = (
        "# a note\nterrain: [{place: {x: 1.0}, name: edge, step: {length: 2, height: 0.1}}]\nfriction: 0.50"
    )
    assert parse_terrain(same, "b").sha256 == sha256
    assert parse_terrain(same.replace("0.1}", "0.12}"), "b").sha256 != sha256
    assert parse_terrain("{}", "a").sha256 == parse_terrain("friction: 1", "a").sha256
    course = load_terrain("okada-step")
    assert parse_terrain(f"# a note\n{course.text}", "okada-step").sha256 == course.sha256


def test_points_go_on_until_the_first_one_meets_the_face():
    """A point on the ground and one above the step meet nothing."""
    obstacle = parse_terrain(STEP, "mine").obstacle
    points = np.array([[0.9, 0.0], [0.3, 0.05], [0.5, 0.119], [0.95, 0.2]])
    assert obstacle.distance(points) == pytest.approx(0.5, abs=1e-6)
    assert obstacle.distance(points[[0, 3]]) == math.inf


def test_points_go_on_until_the_first_one_meets_the_slope():
    obstacle = parse_terrain(RAMP, "mine").obstacle
    points = np.array([[0.3, 0.1], [0.4, 0.2]])
    expected = 0.5 + np.array([0.1, 0.2]) / math.tan(math.radians(20.0)) - points[:, 0]
    for point, distance in zip(points, expected, strict=True):
        assert obstacle.distance(point[None]) == pytest.approx(distance, abs=1e-3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "terrain: [{stp: {height: 0.12}, place: {x: 100}}]\nfriction: -1",
            "mine.yaml:1: terrain[0].place.x must be at most 50, got 100\n"
            "mine.yaml:1: terrain[0].stp is not a key that segtrack knows; did you mean step?\n"
            "mine.yaml:2: friction must be at least 0, got -1",
        ),
        (
            "terrain: [{flat: {length: 20.0}, place: {x: 40}}]",
            "mine.yaml: lanes and terrain must be on the floor, which reaches 50 m from the origin, got 60 m",
        ),
        ("", "mine.yaml: must be a mapping of keys, got None"),
        (
            "title: Mine\ngates: 3",
            "mine.yaml: description is missing\n"
            "mine.yaml: must have start where it has no lanes\n"
            "mine.yaml:2: gates must be a list, got 3",
        ),
    ],
)
def test_all_mistakes_of_a_terrain_file_are_said_at_once(text, message, tmp_path):
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(TerrainFileError) as error:
        load_terrain(tmp_path / "mine.yaml")
    assert str(error.value) == message


def test_a_terrain_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(UnknownNameError, match="^no terrain 'step'; there are: confined-space, "):
        load_terrain("step")
    with pytest.raises(FileAccessError):
        load_terrain(tmp_path / "none.yaml")


def test_a_setting_of_ground_without_one_is_refused():
    with pytest.raises(InvalidValueError) as error:
        parse_terrain(STEP, "mine", 0.2)
    assert str(error.value) == "setting of terrain mine must be left out: it has none, got 0.2"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"engine": "ode"}, "no engine 'ode'; there are: pybullet, native, mujoco"),
        ({"frame": "map"}, "no frame 'map'; there are: log, terrain"),
        ({"event": "crest"}, "no event 'crest'; there are: touch, start"),
        ({"event": math.nan}, "event [s] must be a finite number, got nan"),
        ({"time_step": 0.0}, "time_step [s] must be positive, got 0.0"),
        ({"sample_time": 0.0015}, "sample_time [s] must be a multiple of the time step of 0.001, got 0.0015"),
        (
            {"flippers": {"front_left": math.inf}},
            "angle of flipper front_left [rad] must be a finite number, got inf",
        ),
    ],
)
def test_settings_that_cannot_be_are_refused(given, message):
    with pytest.raises((InvalidValueError, UnknownNameError)) as error:
        ReplaySettings("quince", "okada-step", **given)
    assert str(error.value) == message


def test_settings_load_what_they_name_and_choose_the_native_engine():
    scene = ReplaySettings("quince", "okada-step", setting=0.16).load()
    assert (scene.vehicle.name, scene.terrain.obstacle.height) == ("quince", pytest.approx(0.16))
    assert (scene.engine, scene.track_model) == ("native", "compliant")
    with pytest.raises(UnknownNameError) as error:
        ReplaySettings("maxxii", "okada-step", flippers={"front": 0.1}).load()
    assert str(error.value) == "no flipper of maxxii 'front'; there are: none"
