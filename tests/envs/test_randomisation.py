"""Randomised noise, delay, friction, drives, masses, grousers and starts, each with its closed form."""

import math

import numpy as np
import pybullet
import pytest
from env_actions import FORWARD, STILL, robot_of
from scenes import GRAVITY, environment

from segtrack.description import load_vehicle
from segtrack.envs.parameters import spread
from segtrack.errors import InvalidValueError

BODY_MASS, GROUSERS, FLIPPER_GROUSERS, GROUSER_HEIGHT = 20.8, 40, 22, 0.016
"""Of Quince, as its file says."""


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


def test_tracks_of_differing_friction_are_not_spread_about_one_of_theirs():
    quince = load_vehicle("quince")
    assert spread(quince, {"mass": 1.1})["friction"] == (0.5, 0.7)
    left = quince.tracks["left"]
    slick = left.model_copy(update={"contact": left.contact.model_copy(update={"friction": 0.3})})
    mixed = quince.model_copy(update={"tracks": {**quince.tracks, "left": slick}})
    with pytest.raises(InvalidValueError) as error:
        spread(mixed, {"mass": 1.1})
    expected = "friction must be given for quince: its tracks have 0.3 and 0.6, got None"
    assert str(error.value) == expected
    assert spread(mixed, {"friction": (0.2, 0.4)})["friction"] == (0.2, 0.4)


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
    with environment(control_frequency=100, belt_speed=0.5, drive_force=factor, engine="pybullet") as env:
        env.reset(seed=0)
        robot_of(env).reset_base_pose((-1.0, 0.0, 1.0))
        reached = []
        for _ in range(3):
            env.step(FORWARD)
            reached.append([track.force for track in robot_of(env).tracks.values()])
        limits = [track.drive.limit for track in robot_of(env).model.tracks]
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


def test_mass_and_centre_of_mass_change_by_the_bodys_share(climb_in_pybullet):
    climb = climb_in_pybullet
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
def test_grousers_change_in_number_and_height(climb_in_pybullet, count, height):
    climb = climb_in_pybullet
    climb.reset(seed=0, options={"grouser_count": count, "grouser_height": height})
    for track in robot_of(climb).model.tracks:
        spec, name = track.mounted.spec, track.mounted.name
        grousers = spec.grousers
        before = FLIPPER_GROUSERS if name.endswith("belt") else GROUSERS
        assert grousers.count == round(before * count)
        assert grousers.shape.trapezoid.height == pytest.approx(GROUSER_HEIGHT * height)
        assert track.belt.period == pytest.approx(spec.belt_path.perimeter / grousers.count)


def test_the_start_moves_with_its_parameters(climb):
    climb.reset(seed=0)
    x, y, z = robot_of(climb).state.position
    climb.reset(seed=0, options={"initial_x": -0.15, "initial_y": 0.2, "initial_yaw": 0.5})
    state = robot_of(climb).state
    assert state.position[:2] == pytest.approx((x - 0.15, y + 0.2), abs=1e-6)
    assert (state.roll, state.pitch, state.yaw) == pytest.approx((0.0, 0.0, 0.5), abs=1e-6)
    assert 0.075 + GROUSER_HEIGHT < state.position[2] < 0.075 + GROUSER_HEIGHT + 0.01
    assert (x, y) == pytest.approx((-0.3 - (0.2675 + 0.195 + 0.075 + GROUSER_HEIGHT), 0.0), abs=2e-3)


def test_what_a_task_spreads_is_added_and_gives_way_to_what_is_given():
    own = {"initial_yaw": (-0.5, 0.5), "initial_flippers_front": (0.0, 1.0), "friction": 0.4}
    assert spread(load_vehicle("quince"), {"initial_yaw": 0.1}, own) == {
        "initial_x": (-0.1, 0.1),
        "initial_y": (-0.1, 0.1),
        "initial_yaw": 0.1,
        "initial_flippers_front": (0.0, 1.0),
        "friction": 0.4,
    }
    assert "initial_flippers_front" not in spread(load_vehicle("packbot"), {}, own)
