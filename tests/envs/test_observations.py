"""Observations and actions: frames, scans, sides, and the spaces that they are of."""

import math

import numpy as np
import pybullet
import pytest
from env_actions import FORWARD, robot_of
from env_views import view_now
from scenes import environment

from segtrack.envs import Scan


@pytest.fixture(scope="module")
def flat():
    """Drive on flat ground, straight ahead."""
    with environment("Drive", winding=0.0) as env:
        yield env


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
        entries = env.sensors.read(view_now(env))[0]
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


def test_velocities_and_attitude_are_those_of_the_body_in_its_own_frame(climb_in_pybullet):
    """In the air, set to any velocity, against PyBullet's own matrix of the orientation."""
    climb = climb_in_pybullet
    climb.reset(seed=0)
    robot, client = robot_of(climb), climb._episode_world.world.client
    for roll, pitch, yaw in [(0.0, 0.0, 0.0), (0.4, -0.7, 2.0), (-1.2, 0.5, -2.5), (3.0, 0.1, 1.0)]:
        quaternion = pybullet.getQuaternionFromEuler((roll, -pitch, yaw))
        robot.reset_base_pose((0.0, 0.0, 2.0), quaternion)
        client.resetBaseVelocity(robot.model.body_id, (0.3, -0.2, 0.1), (0.5, 1.0, -0.7))
        seen = climb.sensors.form(climb.sensors.clip(climb.sensors.read(view_now(climb))[0]))
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
    with environment(flippers=flippers, engine="pybullet") as env:
        env.reset(seed=0)
        robot = robot_of(env)
        robot.reset_base_pose((-1.0, 0.0, 3.0))
        for _ in range(8):
            observation, *_ = env.step(np.array(action, np.float32))
        # While it falls freely, nothing but the motors turns them.
        angles = env.sensors.part(observation, "flipper_angle")
        speeds = env.sensors.part(observation, "flipper_speed")
        client, model = env._episode_world.world.client, robot.model
        links = [flipper.joint for flipper in model.flippers]
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
        np.testing.assert_array_equal(climb.sensors.clip(entries), expected)
    assert climb.sensors.clip(np.full(len(low), -np.inf)) in climb.observation_space
