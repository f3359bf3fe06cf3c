"""The parts of the environments, each against an oracle of its own."""

import math
from collections import deque
from types import SimpleNamespace

import gymnasium
import numpy as np
import pybullet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scenes import GRAVITY, environment

import segtrack
from segtrack import terrain
from segtrack.envs import Curriculum, Scan, TaskState
from segtrack.envs.parameters import Number, WordChoice, sample_values
from segtrack.envs.policies import Network, NetworkOrigin, RandomPolicy, ScriptedPolicy
from segtrack.envs.rewards import TERMS
from segtrack.envs.task import Path, PathPoint, straight
from segtrack.errors import DisconnectedError, InvalidValueError, UnknownNameError

FORWARD = np.array([1.0, 1.0, 0.0, 0.0], np.float32)
STILL = np.zeros(4, np.float32)
NAN, INF = math.nan, math.inf
BODY_MASS, GROUSERS, FLIPPER_GROUSERS, GROUSER_HEIGHT = 20.8, 40, 22, 0.016
"""Of Quince, as its file says."""


@pytest.fixture(scope="module")
def flat():
    """Drive on flat ground, straight ahead."""
    with environment("Drive", winding=0.0) as env:
        yield env


def robot_of(env):
    return env._episode_world.robot


# The path.


@given(start=st.floats(-3, 3), length=st.floats(0.1, 5), x=st.floats(-9, 9), y=st.floats(-2, 2))
def test_on_a_straight_path_progress_is_x_and_lateral_is_y(start, length, x, y):
    path = straight(start, start + length)
    progress, lateral, heading = path.locate(x, y)
    assert path.length == pytest.approx(length)
    assert progress == pytest.approx(min(max(x - start, 0.0), length), abs=1e-12)
    assert (lateral, heading) == (pytest.approx(y, abs=1e-12), 0.0)


BENT = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 1.0], [3.0, 1.0]])


@given(turn=st.floats(-math.pi, math.pi), on=st.floats(0.05, 0.95), aside=st.floats(-0.3, 0.3))
@pytest.mark.parametrize("segment", [0, 1, 2])
def test_a_path_locates_what_lies_beside_it_wherever_it_leads(segment, turn, on, aside):
    """Straight aside of a point on a segment, and nearer to it than to the others."""
    start, end = BENT[segment : segment + 2]
    step = (end - start) / np.linalg.norm(end - start)
    point = start + on * (end - start) + aside * np.array([-step[1], step[0]])
    before = np.linalg.norm(np.diff(BENT[: segment + 1], axis=0), axis=1).sum()
    turning = np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
    progress, lateral, heading = Path(BENT @ turning).locate(*point @ turning)
    if math.dist(Path(BENT @ turning).at(progress), point @ turning) > abs(aside) - 1e-9:
        assert progress == pytest.approx(before + on * np.linalg.norm(end - start), abs=1e-9)
        assert lateral == pytest.approx(aside, abs=1e-9)
        direction = math.atan2(step[1], step[0]) + turn
        assert math.remainder(heading - direction, math.tau) == pytest.approx(0.0, abs=1e-9)


@given(x=st.floats(-1, 4), y=st.floats(-2, 3))
def test_a_path_locates_the_nearest_of_its_points(x, y):
    path = Path(BENT)
    progress, lateral, _ = path.locate(x, y)
    scanned = min(math.dist((x, y), path.at(p)) for p in np.linspace(0.0, path.length, 801))
    found = math.dist((x, y), path.at(progress))
    assert found <= scanned + 1e-9 and scanned <= found + path.length / 800
    assert abs(lateral) <= found + 1e-9


@pytest.mark.parametrize("side", [1, -1])
@given(angle=st.floats(0.01, 3.0), offset=st.floats(-0.5, 0.5))
def test_on_an_arc_progress_is_radius_times_angle(side, angle, offset):
    """An arc of radius 1.5 m that turns left (side 1) or right; `offset` is towards its centre."""
    radius, turns = 1.5, np.linspace(0.0, 3.0 + 1e-9, 3001)
    path = Path(np.stack((radius * np.sin(turns), side * radius * (1 - np.cos(turns))), axis=1))
    x, y = (radius - offset) * math.sin(angle), side * (radius - (radius - offset) * math.cos(angle))
    progress, lateral, heading = path.locate(x, y)
    assert path.length == pytest.approx(3.0 * radius, rel=1e-6)
    assert progress == pytest.approx(radius * angle, abs=2e-3)
    assert lateral == pytest.approx(side * offset, abs=1e-5)
    assert heading == pytest.approx(side * angle, abs=1.1e-3)
    assert path.at(radius * angle) == pytest.approx(
        (radius * math.sin(angle), side * radius * (1 - math.cos(angle))), abs=1e-5
    )


def test_a_path_ends_at_its_ends():
    path = Path(np.array([[1.0, 1.0], [1.0, 3.0]]))
    assert path.at(-1.0) == (1.0, 1.0) and path.at(5.0) == (1.0, 3.0) and path.at(0.5) == (1.0, 1.5)
    assert path.locate(0.0, 2.5) == PathPoint(1.5, 1.0, math.pi / 2)


# What is drawn.


def test_numbers_are_drawn_evenly_from_their_range():
    number, rng = Number(0.0, -1.0, 1.0, "m", "place"), np.random.default_rng(0)
    drawn = np.array([number.sample((-0.2, 0.6), rng) for _ in range(4000)])
    counts = np.histogram(drawn, bins=8, range=(-0.2, 0.6))[0]
    assert counts.sum() == 4000
    assert np.abs(counts - 500).max() < 5 * math.sqrt(500)


def test_whole_numbers_are_drawn_evenly_with_both_ends():
    number, rng = Number(4, 1, 12, "-", "count", whole=True), np.random.default_rng(0)
    drawn = [number.sample(number.check("count", (2, 5.0)), rng) for _ in range(4000)]
    assert {type(value) for value in drawn} == {int}
    values, counts = np.unique(drawn, return_counts=True)
    assert values.tolist() == [2, 3, 4, 5]
    assert np.abs(counts - 1000).max() < 5 * math.sqrt(1000)


def test_words_are_drawn_evenly():
    choice, rng = WordChoice(("a", "b", "c"), ("a", "b", "c", "d"), "which"), np.random.default_rng(0)
    words, counts = np.unique([choice.sample(choice.default, rng) for _ in range(3000)], return_counts=True)
    assert words.tolist() == ["a", "b", "c"]
    assert np.abs(counts - 1000).max() < 5 * math.sqrt(1000)


def test_what_is_fixed_is_not_drawn_and_what_is_drawn_repeats_with_its_seed():
    parameters = {
        "size": Number(0.5, 0.0, 1.0, "m", "size"),
        "place": Number(0.0, -1.0, 1.0, "m", "place"),
        "kind": WordChoice("a", ("a", "b"), "which"),
        "friction": Number(None, 0.0, 2.0, "-", "friction"),
    }
    drawn = [
        sample_values(parameters, {"place": (-1.0, 1.0), "kind": ("a", "b")}, np.random.default_rng(seed))
        for seed in (1, 1, 2)
    ]
    assert drawn[0] == drawn[1] != drawn[2]
    assert all(values["size"] == 0.5 and values["friction"] is None for values in drawn)


# The curriculum.


class Fake(gymnasium.Env):
    """Episodes of one step, whose success a function of the difficulty tells."""

    observation_space = gymnasium.spaces.Box(0, 1)
    action_space = gymnasium.spaces.Box(0, 1)

    def __init__(self, succeeds):
        self.task = SimpleNamespace(difficulty="height", name="Fake")
        self.parameters = {
            "height": Number(0.2, 0.0, 1.0, "m", "height"),
            "kind": WordChoice("a", ("a", "b"), "which"),
        }
        self.succeeds, self.ranges = succeeds, []

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.ranges.append(options["height"])
        self.drawn = sample_values(self.parameters, options, self.np_random)
        return np.zeros(1), {"parameters": self.drawn}

    def step(self, action):
        info = {"parameters": self.drawn, "success": self.succeeds(self.drawn["height"])}
        return np.zeros(1), 0.0, info["success"], not info["success"], info


def levels_over(succeeds, episodes, **given):
    fake = Fake(succeeds)
    env = Curriculum(fake, 0.1, 0.5, **{"step": 0.1, "window": 5, **given})
    levels = []
    env.reset(seed=0)
    for _ in range(episodes):
        *_, info = env.step(np.zeros(1))
        levels.append(info["level"])
        _, info = env.reset()
        assert info["level"] == levels[-1] == env.level
    return fake.ranges, levels


def test_a_curriculum_draws_in_turn_from_everything_and_from_the_hardest():
    ranges, levels = levels_over(lambda height: True, 60)
    for number, (low, high) in enumerate(ranges):
        level = levels[number - 1] if number else 0.2
        assert high == level
        assert low == (pytest.approx(level - 0.1) if number % 2 == 0 else 0.1)


def test_a_curriculum_rises_with_success_up_to_the_hardest():
    _, levels = levels_over(lambda height: True, 100)
    assert levels == sorted(levels)
    assert np.unique(levels) == pytest.approx([0.2, 0.3, 0.4, 0.5])
    assert levels[:4] == [0.2] * 4 and levels[4] == pytest.approx(0.3)  # five episodes are the window
    assert levels[-1] == 0.5


def test_a_curriculum_stays_where_there_is_too_little_success():
    assert set(levels_over(lambda height: False, 60)[1]) == {0.2}
    stuck = levels_over(lambda height: height < 0.3, 200)[1]
    assert max(stuck) == pytest.approx(0.4) or max(stuck) == pytest.approx(0.3)
    assert max(stuck) < 0.5


@pytest.mark.parametrize("threshold, window, needed", [(0.7, 10, 7), (0.6, 5, 3), (1.0, 3, 3)])
def test_a_curriculum_rises_from_its_threshold_on(threshold, window, needed):
    """At so many successes among the last `window` episodes, and not at one fewer."""
    for successes in (needed - 1, needed):
        outcomes = iter([True] * successes + [False] * (window - successes))
        fake = Fake(lambda height, outcomes=outcomes: next(outcomes))
        env = Curriculum(fake, 0.1, 0.5, step=0.1, threshold=threshold, window=window)
        for _ in range(window):
            assert env.level == 0.2
            env.reset(options={"height": 0.15})
            env.step(np.zeros(1))
        assert env.level == pytest.approx(0.3 if successes == needed else 0.2)


@pytest.mark.parametrize("given, first", [(0.35, 0.35), (9.0, 0.5), (0.0, 0.1)])
def test_a_curriculum_begins_where_it_is_told(given, first):
    assert Curriculum(Fake(lambda height: True), 0.1, 0.5, step=0.1, level=given).level == first


def test_a_curriculum_of_whole_numbers_in_parts_is_refused_when_it_is_made():
    fake = Fake(lambda height: True)
    fake.parameters["stairs"] = Number(4, 1, 12, "-", "number of risers", whole=True)
    with pytest.raises(InvalidValueError):
        Curriculum(fake, 1, 4, step=0.5, parameter="stairs")


def test_easy_episodes_do_not_count_for_the_level():
    """Whoever manages only what lies a step below the level and further down never rises beyond it."""
    fake = Fake(lambda height: True)
    env = Curriculum(fake, 0.1, 0.9, step=0.1, window=3)
    env.level = 0.5
    for _ in range(20):
        env.reset(options={"height": 0.3})
        env.step(np.zeros(1))
    assert env.level == 0.5
    assert fake.ranges == [0.3] * 20
    for _ in range(3):
        env.reset(options={"height": 0.45})
        env.step(np.zeros(1))
    assert env.level == pytest.approx(0.6)


@pytest.mark.parametrize(
    "given, kind, message",
    [
        ({"parameter": "depth"}, UnknownNameError, "no number to vary in Fake 'depth'; there are: height"),
        ({"parameter": "kind"}, UnknownNameError, "no number to vary in Fake 'kind'; there are: height"),
        ({"easiest": 0.6}, InvalidValueError,
         "curriculum of height [m] must be a range (low, high) with low <= high, got (0.6, 0.5)"),
        ({"hardest": 2.0}, InvalidValueError, "curriculum of height [m] must be from 0 to 1, got 2.0"),
        ({"step": 0.0}, InvalidValueError, "curriculum step must be greater than 0, got 0.0"),
        ({"step": NAN}, InvalidValueError, "curriculum step must be a finite number, got nan"),
        ({"level": NAN}, InvalidValueError, "curriculum level must be a finite number, got nan"),
        ({"threshold": 0}, InvalidValueError,
         "curriculum threshold must be above 0 and at most 1, got 0"),
        ({"threshold": 1.1}, InvalidValueError,
         "curriculum threshold must be above 0 and at most 1, got 1.1"),
        ({"window": 0}, InvalidValueError, "curriculum window must be at least 1, got 0"),
    ],
)  # fmt: skip
def test_curricula_that_cannot_be_are_refused(given, kind, message):
    with pytest.raises(kind) as error:
        Curriculum(Fake(lambda height: True), **{"easiest": 0.1, "hardest": 0.5, "step": 0.1, **given})
    assert str(error.value) == message


def test_a_curriculum_sets_the_step_that_the_robot_meets(climb):
    env = Curriculum(climb, 0.1, 0.3, step=0.05)
    for number in range(6):
        _, info = env.reset(seed=number)
        height = info["parameters"]["height"]
        assert 0.1 <= height <= info["level"] == pytest.approx(0.15)
        assert climb.task_state.course.terrain.height == height


# Observations.


def scan_of(env, observation):
    """The height scan as (rows, columns)."""
    return env.sensors.part(observation, "height_scan").reshape(env.scan.rows, env.scan.columns)


def test_a_cell_of_the_height_scan_is_the_share_of_it_that_lies_on_the_step(climb):
    observation, _ = climb.reset(seed=0, options={"height": 0.3})
    x, _, z = robot_of(climb).state.position
    scan, length = scan_of(climb, observation), (climb.scan.x_max - climb.scan.x_min) / climb.scan.rows
    rear = x + climb.scan.x_min + length * np.arange(climb.scan.rows)
    share = np.clip((rear + length) / length, 0.0, 1.0)[:, None]
    full = np.broadcast_to((share == 0) | (share == 1), scan.shape)
    expected = np.broadcast_to(0.3 * share - z, scan.shape)
    assert np.count_nonzero(share == 1) >= 2 and np.count_nonzero(share == 0) >= 10
    np.testing.assert_allclose(scan[full], expected[full], atol=1e-6)
    # Four samples along a cell tell its share to half their distance.
    np.testing.assert_allclose(scan, expected, atol=0.3 / 8 + 1e-6)


@pytest.mark.parametrize("yaw", [0.6, -1.3, 2.8])
def test_the_height_scan_looks_in_the_heading_frame(yaw):
    """Against points that are turned one by one, as complex numbers, over a step field."""
    scan = Scan(x_min=-0.5, x_max=1.5, rows=7, half_width=0.45, columns=5, samples=(3, 2))
    placed = {"initial_yaw": yaw, "initial_y": 0.2, "initial_x": 0.2}
    with environment("RoughTerrain", kind="step_field", scan=scan, **placed) as env:
        env.reset(seed=4)
        robot_of(env).reset_base_pose((0.9, 0.2, 0.5), pybullet.getQuaternionFromEuler((0.3, -0.2, yaw)))
        state = robot_of(env).state
        entries = env.sensors.read(TaskState.of(state, *env.task_state[1:7]))
        field = env.task_state.course.terrain
    expected = []
    for row in range(7):
        for column in range(5):
            heights = []
            for i in range(3):
                for j in range(2):
                    ahead = -0.5 + 2.0 / 7 * (row + (i + 0.5) / 3)
                    left = -0.45 + 0.9 / 5 * (column + (j + 0.5) / 2)
                    point = complex(0.9, 0.2) + complex(ahead, left) * complex(math.cos(yaw), math.sin(yaw))
                    heights.append(float(field.height_at(point.real, point.imag)))
            expected.append(sum(heights) / 6 - state.position[2])
    assert len(set(np.round(expected, 6))) > 15
    np.testing.assert_allclose(entries[:35], expected, atol=1e-9)


def test_velocities_and_attitude_are_those_of_the_body_in_its_own_frame(climb):
    """In the air, set to any velocity, against PyBullet's own matrix of the orientation."""
    climb.reset(seed=0)
    robot, client = robot_of(climb), climb._episode_world.world.client
    for roll, pitch, yaw in [(0.0, 0.0, 0.0), (0.4, -0.7, 2.0), (-1.2, 0.5, -2.5), (3.0, 0.1, 1.0)]:
        quaternion = pybullet.getQuaternionFromEuler((roll, -pitch, yaw))
        robot.reset_base_pose((0.0, 0.0, 2.0), quaternion)
        client.resetBaseVelocity(robot.model.body_id, (0.3, -0.2, 0.1), (0.5, 1.0, -0.7))
        task_state = TaskState.of(robot.state, *climb.task_state[1:7])
        seen = climb.sensors.form(climb.sensors.read(task_state))
        rotation = np.array(pybullet.getMatrixFromQuaternion(quaternion)).reshape(3, 3)
        part = climb.sensors.part
        np.testing.assert_allclose(part(seen, "velocity"), (0.3, -0.2, 0.1) @ rotation, atol=1e-6)
        np.testing.assert_allclose(part(seen, "angular_velocity"), (0.5, 1.0, -0.7) @ rotation, atol=1e-6)
        np.testing.assert_allclose(part(seen, "attitude"), (roll, pitch), atol=1e-6)
        # Nose up is a body axis that rises.
        assert math.sin(part(seen, "attitude")[1]) == pytest.approx(rotation[2, 0], abs=1e-6)


@pytest.mark.parametrize("yaw", [0.0, math.pi / 2, -2.0])
def test_a_robot_that_drives_straight_sees_its_belt_speed_ahead_whatever_its_heading(flat, yaw, monkeypatch):
    monkeypatch.setattr(type(flat.task), "corridor", 10.0)
    flat.reset(seed=0, options={"initial_yaw": yaw})
    for _ in range(30):
        observation, *_ = flat.step(FORWARD)
    part = flat.sensors.part
    ahead, left, up = part(observation, "velocity")
    assert ahead == pytest.approx(0.3, rel=0.05)
    assert abs(left) < 0.02 and abs(up) < 0.1
    np.testing.assert_allclose(part(observation, "belt_speed"), [0.3, 0.3], rtol=0.02)
    state = robot_of(flat).state
    x, y, _ = state.position
    way = 0.3 * 29 * 0.05
    assert (x, y) == pytest.approx((way * math.cos(yaw), way * math.sin(yaw)), abs=0.06)
    lateral, heading = part(observation, "path_error")
    assert lateral == pytest.approx(y, abs=1e-6)
    assert heading == pytest.approx(-state.yaw, abs=1e-5)
    progress = min(max(x, 0.0), 3.0)
    assert part(observation, "to_go") == pytest.approx([3.0 - progress], abs=1e-6)
    # The point half a metre on along the path, seen from the robot.
    seen = complex(progress + 0.5 - x, -y) * complex(math.cos(state.yaw), -math.sin(state.yaw))
    np.testing.assert_allclose(part(observation, "next_point"), (seen.real, seen.imag), atol=1e-6)


def test_belts_that_run_against_each_other_turn_a_robot_without_flippers_left():
    with environment("Drive", vehicle="packbot", winding=0.0) as env:
        env.reset(seed=0)
        for _ in range(20):
            observation, *_ = env.step(np.array([-1.0, 1.0]))
        part, yaw = env.sensors.part, robot_of(env).state.yaw
        assert [p.name for p in env.sensors.parts if p.name.startswith("flipper")] == []
        assert 0.2 < yaw < 1.5
        # A mean rate over a second, and that of the moment.
        assert part(observation, "angular_velocity")[2] == pytest.approx(yaw, rel=0.5)
        assert part(observation, "path_error")[1] == pytest.approx(-yaw, abs=1e-5)
        np.testing.assert_allclose(part(observation, "belt_speed"), [-0.3, 0.3], rtol=0.05)


def test_belt_forces_and_speeds_are_those_of_a_sides_tracks(climb):
    climb.reset(seed=0)
    for _ in range(30):
        observation, *_ = climb.step(np.array([1.0, 0.5, 0.3, -0.2]))
    tracks = robot_of(climb).tracks
    for number, side in enumerate(("left", "right")):
        own = [side, f"front_{side}_belt", f"rear_{side}_belt"]
        force = climb.sensors.part(observation, "belt_force")[number]
        speed = climb.sensors.part(observation, "belt_speed")[number]
        assert force == pytest.approx(sum(tracks[name].force for name in own), rel=1e-5)
        assert speed == pytest.approx(sum(tracks[name].speed for name in own) / 3, rel=1e-5)
    assert force != 0.0
    assert climb.sensors.part(observation, "last_action") == pytest.approx([1.0, 0.5, 0.3, -0.2])


@pytest.mark.parametrize(
    "flippers, action, turned",
    [
        ("pairs", [0, 0, 1, 0], [1, 1, 0, 0]),
        ("pairs", [0, 0, 0, 1], [0, 0, 1, 1]),
        ("each", [0, 0, 1, 0, 0, 0], [1, 0, 0, 0]),
        ("each", [0, 0, 0, 0, 0, 0.5], [0, 0, 0, 0.5]),
    ],
)
def test_an_action_turns_the_flippers_that_it_names_tips_up(flippers, action, turned):
    """At 1 they turn at their fastest, 1 rad/s. A raised one's centre of mass is above its hinge."""
    with environment(flippers=flippers) as env:
        env.reset(seed=0)
        robot = robot_of(env)
        robot.reset_base_pose((-1.0, 0.0, 3.0))
        for _ in range(8):
            observation, *_ = env.step(np.array(action, np.float32))
        # While it falls freely, nothing but the motors turns them.
        angles = env.sensors.part(observation, "flipper_angle")
        speeds = env.sensors.part(observation, "flipper_speed")
        client, model = env._episode_world.world.client, robot.model
        links = [flipper._joint for flipper in model.flippers]
        poses = [client.getLinkState(model.body_id, n, computeForwardKinematics=1) for n in links]
        body = model.body_motion().rotation
    arms = np.array([np.subtract(pose[0], pose[4]) for pose in poses]) @ body
    assert tuple(robot.flippers) == ("front_left", "front_right", "rear_left", "rear_right")
    np.testing.assert_allclose(angles, 0.4 * np.array(turned), atol=0.02)
    np.testing.assert_allclose(speeds, turned, atol=0.05)
    rises = arms[:, 2] / np.hypot(arms[:, 0], arms[:, 2])
    np.testing.assert_allclose(rises, np.sin(angles), atol=0.01)


def test_dict_and_flat_hold_the_same_values():
    with environment(observation="flat") as flat, environment(observation="dict") as named:
        seen, by_name = flat.reset(seed=3)[0], named.reset(seed=3)[0]
        for action in np.random.default_rng(0).uniform(-1, 1, (10, 4)):
            assert seen in flat.observation_space and by_name in named.observation_space
            np.testing.assert_array_equal(named.sensors.flat(by_name), seen)
            assert list(by_name) == [part.name for part in flat.sensors.parts]
            for part in flat.sensors.parts:
                np.testing.assert_array_equal(by_name[part.name], flat.sensors.part(seen, part.name))
                np.testing.assert_array_equal(by_name[part.name], named.sensors.part(by_name, part.name))
                assert by_name[part.name].shape == (len(part.labels),)
            seen, by_name = flat.step(action)[0], named.step(action)[0]
        assert len(flat.sensors.entries) == len(seen) == len(set(flat.sensors.entries))


def test_the_table_of_entries_has_each_part_with_its_unit_and_range(climb):
    lines = climb.sensors.table().splitlines()[2:]
    assert len(lines) == len(climb.sensors.parts)
    by_name = {line.split(" | ")[0].removeprefix("| "): line for line in lines}
    assert by_name["velocity"] == "| velocity | x, y, z | m/s | -2 to 2 | body |"
    assert by_name["height_scan"] == "| height_scan | 54 cells | m | -1 to 1 | heading |"
    assert by_name["belt_force"] == "| belt_force | left, right | N | -1500 to 1500 | track |"
    assert by_name["attitude"] == (
        "| attitude | roll, pitch | rad | -3.142 to 3.142; -1.571 to 1.571 | world |"
    )


def test_an_observation_is_clipped_to_its_space(climb):
    low, high = climb.sensors.limits
    for entries, expected in ((low - 9.0, low), (high + 9.0, high)):
        np.testing.assert_array_equal(climb.sensors.form(entries), expected)
    assert climb.sensors.form(np.full(len(low), -np.inf)) in climb.observation_space


# Randomisation.


def test_sensor_noise_has_the_standard_deviation_that_it_says(climb):
    clean, _ = climb.reset(seed=0)
    low, high = climb.sensors.limits
    seen = np.array([climb.reset(seed=s, options={"sensor_noise": 0.02})[0] for s in range(150)])
    known = np.array([entry.startswith("last_action") for entry in climb.sensors.entries])
    assert (seen[:, known] == clean[known]).all()
    inner = (np.minimum(clean - low, high - clean) > 5 * 0.02 * (high - low) / 2) & ~known
    assert inner.sum() > 50
    errors = ((seen - clean) / ((high - low) / 2))[:, inner]
    count = errors.size
    assert errors.std() == pytest.approx(0.02, rel=5 / math.sqrt(2 * count))
    assert errors.mean() == pytest.approx(0.0, abs=5 * 0.02 / math.sqrt(count))
    spread = errors.std(axis=0)
    assert 0.02 * 0.7 < spread.min() and spread.max() < 0.02 * 1.3
    alike = np.corrcoef(errors.T) - np.eye(errors.shape[1])
    assert np.abs(alike).max() < 5.5 / math.sqrt(150)


@pytest.mark.parametrize("delay", [1, 3])
def test_a_delay_is_as_many_actions_of_nothing_first(climb, delay):
    actions = np.random.default_rng(0).uniform(-1, 1, (12, 4)).astype(np.float32)

    def poses(given, options):
        climb.reset(seed=0, options=options)
        told = []
        for action in given:
            observation, *_ = climb.step(action)
            told.append((robot_of(climb).state, climb.sensors.part(observation, "belt_force").tolist()))
        return told, climb.sensors.part(observation, "last_action")

    late, last = poses(actions, {"action_delay": delay})
    assert late == poses([*[STILL] * delay, *actions[:-delay]], {})[0]
    np.testing.assert_array_equal(last, actions[-1])


@pytest.mark.parametrize("friction, holds", [(0.2, False), (0.3, False), (0.6, True)])
def test_a_robot_slides_down_a_slope_that_is_steeper_than_its_friction(friction, holds):
    """Belts held: it accelerates at g (sin s - friction cos s), or stands."""
    slope = 0.4
    with environment("Drive", slope=slope, winding=0.0, friction=friction) as env:
        env.reset(seed=0)
        robot = robot_of(env)
        orientation = pybullet.getQuaternionFromEuler((0.0, -slope, 0.0))
        height = 1.4 * math.tan(slope)  # of the slope at x = 2.4, which begins at 1
        robot.reset_base_pose((2.4, 0.0, height + 0.0915 / math.cos(slope)), orientation)
        speeds = []
        for step in range(12):
            env.step(STILL)
            if step in (3, 11):
                forward = env.task_state.forward
                speeds.append(-float(np.dot(robot.state.velocity, forward)))
    if holds:
        assert abs(speeds[1]) < 0.01
    else:
        expected = GRAVITY * (math.sin(slope) - friction * math.cos(slope))
        assert (speeds[1] - speeds[0]) / 0.4 == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("factor", [0.1, 1.0, 2.5])
def test_belt_drives_exert_so_many_times_their_force(factor):
    """At the start of a sprint to 0.5 m/s, in steps of 10 ms, each drive gives all that it can."""
    with environment(control_frequency=100, belt_speed=0.5, drive_force=factor) as env:
        env.reset(seed=0)
        robot_of(env).reset_base_pose((-1.0, 0.0, 1.0))
        reached = []
        for _ in range(3):
            env.step(FORWARD)
            reached.append([track.force for track in robot_of(env).tracks.values()])
        limits = [track.model.drive.limit for track in robot_of(env).tracks.values()]
    assert limits == pytest.approx([500.0 * factor] * 6)
    if factor == 0.1:
        assert np.max(reached, axis=0) == pytest.approx([50.0] * 6)
    assert np.abs(reached).max() <= 500.0 * factor * (1 + 1e-6)


def center_of_mass(env):
    """Mass [kg] and centre of mass of a level robot, in its body frame (3,) [m]."""
    client, robot = env._episode_world.world.client, robot_of(env)
    robot.reset_base_pose((0.0, 0.0, 0.0))
    body = robot.model.body_id
    numbers = range(-1, client.getNumJoints(body))
    masses = np.array([client.getDynamicsInfo(body, n)[0] for n in numbers])
    points = [client.getBasePositionAndOrientation(body)[0]]
    points += [client.getLinkState(body, n, computeForwardKinematics=1)[0] for n in numbers[1:]]
    return masses.sum(), masses @ np.array(points) / masses.sum()


def test_mass_and_centre_of_mass_change_by_the_bodys_share(climb):
    climb.reset(seed=0)
    mass, center = center_of_mass(climb)
    climb.reset(seed=0, options={"mass": 1.25})
    assert robot_of(climb).mass == pytest.approx(mass + 0.25 * BODY_MASS)
    offset = (0.1, -0.05, 0.08)
    options = dict(zip(("center_of_mass_x", "center_of_mass_y", "center_of_mass_z"), offset, strict=True))
    climb.reset(seed=0, options=options)
    same, moved = center_of_mass(climb)
    assert same == pytest.approx(mass)
    np.testing.assert_allclose(moved - center, BODY_MASS / mass * np.array(offset), atol=1e-6)
    climb.reset(seed=0)
    assert robot_of(climb).mass == pytest.approx(mass)


@pytest.mark.parametrize("count, height", [(1.0, 1.0), (0.5, 0.5), (0.3, 2.0), (1.25, 1.0)])
def test_grousers_change_in_number_and_height(climb, count, height):
    climb.reset(seed=0, options={"grouser_count": count, "grouser_height": height})
    for name, track in robot_of(climb).tracks.items():
        grousers = track.spec.grousers
        before = FLIPPER_GROUSERS if name.endswith("belt") else GROUSERS
        assert grousers.count == round(before * count)
        assert grousers.shape.trapezoid.height == pytest.approx(GROUSER_HEIGHT * height)
        assert track.model.belt.period == pytest.approx(track.spec.belt_path.perimeter / grousers.count)


def test_the_start_moves_with_its_parameters(climb):
    climb.reset(seed=0)
    x, y, z = robot_of(climb).state.position
    climb.reset(seed=0, options={"initial_x": -0.15, "initial_y": 0.2, "initial_yaw": 0.5})
    state = robot_of(climb).state
    assert state.position[:2] == pytest.approx((x - 0.15, y + 0.2), abs=1e-6)
    assert (state.roll, state.pitch, state.yaw) == pytest.approx((0.0, 0.0, 0.5), abs=1e-6)
    assert 0.075 + GROUSER_HEIGHT < state.position[2] < 0.075 + GROUSER_HEIGHT + 0.01
    assert (x, y) == pytest.approx((-0.3 - (0.2675 + 0.195 + 0.075 + GROUSER_HEIGHT), 0.0), abs=2e-3)


# The reward.


def test_reward_weights_of_the_constructor_are_what_counts():
    nothing = dict.fromkeys(TERMS, 0.0)
    with environment(reward=nothing) as zero, environment(reward={**nothing, "time": 1.0}) as timed:
        zero.reset(seed=0), timed.reset(seed=0)
        assert zero.step(FORWARD)[1] == 0.0
        assert timed.step(FORWARD)[1] == pytest.approx(-0.05)


# Learnt policies.


def some_network():
    rng = np.random.default_rng(0)
    sizes = (6, 8, 5, 3)
    layers = list(zip(sizes[1:], sizes[:-1], strict=True))
    return Network(
        NetworkOrigin(
            "StepClimb", "quince", tuple("abcdef"), ("left", "right", "front"), 0.3, 0.05, (-1.0, 1.0, 0.5)
        ),
        rng.uniform(-3, -1, 6).astype(np.float32),
        rng.uniform(1, 3, 6).astype(np.float32),
        tuple(rng.normal(size=layer).astype(np.float32) for layer in layers),
        tuple(rng.normal(size=rows).astype(np.float32) for rows, _ in layers),
    )


def by_hand(network, observation):
    """The same network, number by number."""
    values = [
        2 * (float(x) - float(low)) / (float(high) - float(low)) - 1
        for x, low, high in zip(observation, network.low, network.high, strict=True)
    ]
    last = len(network.weights) - 1
    for number, (weight, bias) in enumerate(zip(network.weights, network.biases, strict=True)):
        sums = [
            sum(float(w) * v for w, v in zip(row, values, strict=True)) + float(b)
            for row, b in zip(weight, bias, strict=True)
        ]
        values = [math.tanh(v) for v in sums] if number < last else [min(max(v, -1.0), 1.0) for v in sums]
    return values


def test_a_network_computes_what_its_layers_say():
    network, rng = some_network(), np.random.default_rng(1)
    for _ in range(50):
        observation = rng.uniform(-3, 3, 6).astype(np.float32)
        action = network(observation)
        assert action.dtype == np.float32
        np.testing.assert_allclose(action, by_hand(network, observation), atol=2e-6)


def test_a_network_comes_back_from_its_file_as_it_was(tmp_path):
    network, path = some_network(), tmp_path / "policy.npz"
    network.save(path)
    again = Network.load(path)
    assert again.origin == network.origin
    for one, other in zip(
        (network.low, network.high, *network.weights, *network.biases),
        (again.low, again.high, *again.weights, *again.biases),
        strict=True,
    ):
        assert one.dtype == other.dtype and one.tobytes() == other.tobytes()
    assert [file.name for file in tmp_path.iterdir()] == ["policy.npz"]
    observation = np.linspace(-1, 1, 6, dtype=np.float32)
    assert network(observation).tobytes() == again(observation).tobytes()


# Policies by hand.


def test_the_scripted_policy_climbs_a_step_of_24_cm(climb):
    observation, info = climb.reset(seed=0, options={"height": 0.24})
    policy, over = ScriptedPolicy(climb), False
    while not over:
        action = policy.act(observation)
        assert action in climb.action_space
        observation, _, terminated, truncated, info = climb.step(action)
        over = terminated or truncated
    assert info["success"]
    assert robot_of(climb).state.position[2] > 0.24


def test_full_speed_without_flippers_does_not_climb_a_step_of_30_cm(climb):
    """What the scripted policy is measured against."""
    climb.reset(seed=0, options={"height": 0.3})
    infos = deque(maxlen=1)
    for _ in range(120):
        *_, info = climb.step(FORWARD)
        infos.append(info)
        if info["outcome"] != "running":
            break
    assert not infos[-1]["success"]


def test_the_random_policy_acts_anywhere_in_the_space_and_again_with_its_seed(climb):
    def drawn(seed):
        policy = RandomPolicy(climb, seed)
        return np.array([policy.act(None) for _ in range(500)])

    actions = drawn(1)
    assert all(action in climb.action_space for action in actions)
    np.testing.assert_array_equal(actions, drawn(1))
    assert not np.array_equal(actions, drawn(2))
    assert np.abs(actions.mean(axis=0)).max() < 5 / math.sqrt(3 * 500)
    assert (actions.min(axis=0) < -0.95).all() and (actions.max(axis=0) > 0.95).all()


# What a world and its tracks offer for resetting.


@pytest.fixture
def world():
    with segtrack.World("coarse", resettable=False) as opened:
        yield opened


def test_a_robot_is_put_just_above_the_ground_under_it(world):
    world.add_terrain(terrain.Step(height=0.25, distance=0.0))
    robot = world.add_vehicle("quince", position=(-2.0, 0.0), flippers={"front_left": 0.4})
    world.run(0.1)
    for x, y, yaw, ground in [(2.0, 0.3, 0.7, 0.25), (-3.0, -1.0, -2.0, 0.0), (-0.3, 0.0, 0.0, 0.25)]:
        world.client.resetBaseVelocity(robot.model.body_id, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
        world.place_on_terrain(robot, x, y, yaw)
        state = robot.state
        assert state.position[:2] == pytest.approx((x, y))
        assert (state.roll, state.pitch, state.yaw) == pytest.approx((0.0, 0.0, yaw), abs=1e-6)
        assert robot.bounds()[0][2] == pytest.approx(ground, abs=1e-6)
        assert state.velocity == pytest.approx((0, 0, 0)) == state.angular_velocity
        assert robot.flippers["front_left"].angle == pytest.approx(0.4, abs=0.05)


@pytest.mark.parametrize(
    "at, message",
    [
        ((NAN, 0.0), "position [m] must be 2 finite numbers, got (nan, 0.0)"),
        ((0.0, "left"), "position [m] must be 2 finite numbers, got (0.0, 'left')"),
        ((0.0, 0.0, INF), "yaw [rad] must be a finite number, got inf"),
        ((9.0, 0.0), "position [m] must be given with a height where terrain has none to sample, "
         "got (9.0, 0.0)"),
    ],
)  # fmt: skip
def test_a_robot_is_put_nowhere_that_is_no_place(world, at, message):
    world.add_terrain(terrain.Heightfield(heights=np.zeros((5, 5)), spacing=1.0))
    robot = world.add_vehicle("packbot")
    before = robot.state
    with pytest.raises(InvalidValueError) as error:
        world.place_on_terrain(robot, *at)
    assert str(error.value) == message
    assert robot.state == before


def test_cleared_terrain_is_gone_and_another_can_take_its_place(world):
    robot = world.add_vehicle("packbot", position=(0.0, 0.0, 1.0))
    bare = world.save()
    for ground in (terrain.Step(height=0.2, distance=-5.0), terrain.Plane()):
        bodies = world.add_terrain(ground)
        assert world.client.getNumBodies() == 1 + len(bodies)
        assert float(world.height(0.0, 0.0)) == float(ground.height_at(0.0))
        world.place_on_terrain(robot, 0.0, 0.0)
        world.run(0.2)
        assert robot.bounds()[0][2] == pytest.approx(float(ground.height_at(0.0)), abs=0.01)
        world.clear_terrain()
        assert (world.client.getNumBodies(), world.terrains) == (1, [])
        assert float(world.height(0.0, 0.0)) == -math.inf
        world.restore(bare)
        assert world.time == 0.0
    world.clear_terrain()  # of nothing


def test_nothing_is_put_or_cleared_in_a_world_that_is_gone():
    with segtrack.World("coarse") as world:
        robot = world.add_vehicle("packbot")
    for attempt, what in (
        (world.clear_terrain, "clear terrain"),
        (lambda: world.place_on_terrain(robot, 0.0, 0.0), "place packbot"),
        (lambda: robot.tracks["left"].set_friction(0.5), "set the friction of left"),
    ):
        with pytest.raises(DisconnectedError) as error:
            attempt()
        assert str(error.value) == f"{what}: the physics client is disconnected"


def test_a_tracks_friction_and_drive_are_set_and_no_other_tracks(world):
    robot = world.add_vehicle("quince")
    left, right = robot.tracks["left"], robot.tracks["right"]
    left.set_friction(0.9)
    left.scale_drive(0.5)
    left.scale_drive(0.25)  # of the description's, not of what was before
    for track, friction, force in ((left, 0.9, 125.0), (right, 0.6, 500.0)):
        joints = track.model.belt.track_joints
        infos = [world.client.getDynamicsInfo(joints.body, link) for link in joints.joints]
        assert {info[1] for info in infos} == {friction}
        assert {info[6:8] for info in infos} == {(0.0, 0.0)}
        assert track.model.drive.spec.stall_force == force
        assert track.model.drive.spec.top_speed == 0.5


@pytest.mark.parametrize(
    "command, message",
    [
        (lambda t: t.set_friction(-0.1), "friction of left must be at least 0, got -0.1"),
        (lambda t: t.set_friction(NAN), "friction of left must be a finite number, got nan"),
        (lambda t: t.set_friction("high"), "friction of left must be a finite number, got 'high'"),
        (lambda t: t.scale_drive(0), "drive force factor of left must be greater than 0, got 0"),
        (lambda t: t.scale_drive(-1.0), "drive force factor of left must be greater than 0, got -1.0"),
        (lambda t: t.scale_drive(INF), "drive force factor of left must be a finite number, got inf"),
    ],
)
def test_frictions_and_drives_that_cannot_be_are_refused(world, command, message):
    robot = world.add_vehicle("packbot")
    track = robot.tracks["left"]
    before = track.model.drive.spec
    with pytest.raises(InvalidValueError) as error:
        command(track)
    assert str(error.value) == message
    assert track.model.drive.spec == before
