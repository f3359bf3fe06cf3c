"""Randomised loads, gravity, ground, flippers and pushes, each with its closed form."""

import math

import numpy as np
import pytest
from env_actions import FORWARD, STILL, robot_of
from scenes import environment
from scipy import stats

from segtrack.description import load_vehicle, vehicle_links
from segtrack.envs import VectorEnvironment
from segtrack.errors import InvalidValueError, UnknownNameError
from segtrack.terrain import find_soil

GIVEN = {"engine": "native", "time_step": 0.004}
LINKS = vehicle_links(load_vehicle("quince"))


def weight_on_ground(env):
    """Sum of the normal forces [N] of a robot that has come to rest."""
    for _ in range(30):
        env.step(STILL)
    return robot_of(env).model.read_contacts().normal_forces.sum()


@pytest.mark.parametrize("gravity", [1.62, 9.81, 15.0])
def test_gravity_is_what_a_robot_falls_by_and_weighs(gravity):
    with environment("RoughTerrain", kind="waves", gravity=gravity, **GIVEN) as env:
        env.reset(seed=0)
        assert weight_on_ground(env) == pytest.approx(LINKS.mass * gravity, rel=1e-3)
        robot_of(env).reset_base_pose((0.0, 0.0, 5.0))
        env.step(STILL)
        assert env.view.motion.velocity[0] == pytest.approx([0.0, 0.0, -gravity * 0.05], abs=2e-3 * gravity)


def test_a_payload_weighs_and_lies_where_it_says():
    place = 0.1, -0.05, 0.2
    load = dict(zip(("payload_x", "payload_y", "payload_z"), place, strict=True))
    with environment("RoughTerrain", kind="waves", payload=1.5, **load, **GIVEN) as env:
        env.reset(seed=0)
        robot = robot_of(env)
        assert robot.mass == pytest.approx(2.5 * LINKS.mass)
        bodies = robot.bodies()
        center = bodies.masses @ bodies.positions / bodies.masses.sum() - robot.state.position
        env.reset(seed=0, options={"payload": 0.0})
        bodies = robot.bodies()
        bare = bodies.masses @ bodies.positions / bodies.masses.sum() - robot.state.position
        assert center == pytest.approx((bare + 1.5 * np.array(place)) / 2.5, abs=1e-6)
        env.reset(seed=0)
        assert weight_on_ground(env) == pytest.approx(2.5 * LINKS.mass * 9.81, rel=1e-3)


def test_the_bodys_inertia_is_scaled_about_its_centre():
    """A floating robot is turned by a moment; M t (1 / w - 1 / w') is what was added to its inertia."""
    rates, arm, force = [], 0.2, 20.0
    with environment("RoughTerrain", kind="waves", gravity=0.0, **GIVEN) as env:
        for inertia in (0.5, 1.0, 3.0):
            env.reset(seed=0, options={"inertia": inertia})
            robot = robot_of(env)
            robot.reset_base_pose((0.0, 0.0, 5.0))
            bodies = robot.bodies()
            x, y, z = bodies.masses @ bodies.positions / bodies.masses.sum()
            robot.apply_force((0.0, force, 0.0), (x + arm, y, z))
            env.step(STILL)
            rates.append(env.view.motion.angular_velocity[0, 2])
    inverse = arm * force * 0.05 / np.array(rates)
    own = LINKS.body.inertia[2, 2]
    assert np.diff(inverse) == pytest.approx([0.5 * own, 2.0 * own], rel=0.02)


def test_a_push_changes_the_momentum_by_the_mass_times_its_speed():
    with environment("RoughTerrain", gravity=0.0, push=0.7, push_interval=0.05, payload=0.5, **GIVEN) as env:
        env.reset(seed=0)
        robot_of(env).reset_base_pose((0.0, 0.0, 5.0))
        before, directions = np.zeros(3), []
        for _ in range(40):
            env.step(STILL)
            bodies = robot_of(env).bodies()
            gained = bodies.masses @ bodies.velocities - before
            before = bodies.masses @ bodies.velocities
            assert np.linalg.norm(gained) == pytest.approx(0.7 * 1.5 * LINKS.mass, rel=1e-3)
            assert abs(gained[2]) < 1e-3
            directions.append(math.atan2(gained[1], gained[0]))
            robot_of(env).reset_base_pose((0.0, 0.0, 5.0))
            before = np.zeros(3)
    assert stats.kstest(directions, stats.uniform(-math.pi, 2 * math.pi).cdf).pvalue > 1e-3


def test_pushes_come_at_random_as_often_as_they_say():
    env = VectorEnvironment("Drive", 20, push=1e-6, push_interval=0.2, time_limit=100.0, time_step=0.005)
    env.reset(seed=0)
    drawn = [env._episodes.pushes(np.arange(20)) for _ in range(200)]
    env.close()
    pushed = np.array([np.zeros(20) if each is None else np.hypot(*each[:, :2].T) for each in drawn]) > 0
    assert abs(pushed.mean() - 0.25) < 5 * math.sqrt(0.25 * 0.75 / pushed.size)
    gaps = np.diff(np.flatnonzero(pushed.T.ravel()))
    assert abs(np.mean(gaps == 1) - 0.25) < 5 * math.sqrt(0.25 * 0.75 / len(gaps))


def test_a_push_ends_with_its_step():
    with environment("RoughTerrain", gravity=0.0, push=0.5, push_interval=0.05, **GIVEN) as env:
        env.reset(seed=0)
        robot_of(env).reset_base_pose((0.0, 0.0, 5.0))
        env.step(STILL)
        env._episode._pushes[:] = 0.0, 5.0
        speeds = [(env.step(STILL), env.view.motion.velocity[0])[1] for _ in range(2)]
        assert np.linalg.norm(speeds[0]) > 0.3
        assert speeds[1] == pytest.approx(speeds[0], abs=1e-3)


def test_the_friction_of_ground_and_sides_multiplies_that_of_tracks():
    def end_of(**friction):
        with environment("StepClimb", **friction, **GIVEN) as env:
            env.reset(seed=0)
            said = [env.step(FORWARD)[0] for _ in range(12)]
            return np.array(said), robot_of(env).model.state.frictions[0]

    sides = np.array([track.side == "left" for track in load_vehicle("quince").mounted_tracks()])
    for one, other in (
        ({"friction": 0.6, "ground_friction": 0.5}, {"friction": 0.3}),
        ({"friction": 0.6, "friction_left": 0.5, "friction_right": 0.5}, {"friction": 0.3}),
    ):
        np.testing.assert_array_equal(end_of(**one)[0], end_of(**other)[0])
    frictions = end_of(friction=0.6, friction_left=0.5, friction_right=2.0)[1]
    np.testing.assert_array_equal(frictions, np.where(sides, 0.3, 1.2))


def test_courses_of_a_library_get_other_ground_too():
    env = VectorEnvironment("Traverse", 2, kind="ramp", time_step=0.004)
    given = {"ground_friction": np.array([1.0, 0.4])}
    env.reset(seed=0, options=given)
    first, second = env.batch.terrain_index
    assert env.batch.terrains[first].friction == 1.0 and env.batch.terrains[second].friction == 0.4
    assert first < 440 <= second
    env.reset(seed=0)
    assert (env.batch.terrain_index < 440).all()
    env.close()


def test_soil_is_what_the_robot_sinks_into():
    heights = []
    for soil in ("course", "dry sand"):
        with environment("Drive", soil=soil, **GIVEN) as env:
            env.reset(seed=0)
            for _ in range(20):
                env.step(STILL)
            heights.append(env.view.motion.position[0, 2])
            assert env._episode.courses[0].terrain.soil == (None if soil == "course" else find_soil(soil))
    assert heights[1] < heights[0] - 0.001


@pytest.mark.parametrize("engine", ["native", "pybullet"])
def test_flippers_are_as_strong_as_they_say(engine):
    """Pressed against the ground under a heavy robot they stall at their torque."""
    torque = load_vehicle("quince").flippers["front_left"].max_torque
    with environment("Drive", engine=engine, winding=0.0) as env:
        for factor in (0.1, 0.2):
            env.reset(seed=0, options={"flipper_torque": factor})
            for _ in range(30):
                env.step(np.array([0.0, 0.0, -1.0, -1.0], np.float32))
            torques = np.abs(env.view.motion.flipper_torques)
            assert torques.max() == pytest.approx(factor * torque, rel=1e-3)


@pytest.mark.parametrize("track_model", ["segments", "chain"])
def test_what_no_vehicle_file_can_say_is_refused_elsewhere(track_model):
    with environment("StepClimb", track_model=track_model, payload=0.5) as env:
        with pytest.raises(InvalidValueError) as error:
            env.reset(seed=0)
    expected = "payload must be 0 but for belts compliant or surface in the engine native, got 0.5"
    assert str(error.value) == expected


def test_soil_under_pybullets_own_contacts_is_refused():
    pytest.importorskip("pybullet")
    with environment("Drive", engine="pybullet", soil="dry sand") as env:
        with pytest.raises(InvalidValueError, match="^soil must be 'course' with PyBullet's own contacts"):
            env.reset(seed=0)


def test_vehicles_without_flippers_have_none_of_their_parameters():
    quince = load_vehicle("quince")
    ahead = {name: flipper for name, flipper in quince.flippers.items() if flipper.tip_direction == "front"}
    with environment("Drive", vehicle=quince.model_copy(update={"flippers": ahead})) as env:
        assert {"flipper_torque", "initial_flippers_front"} <= set(env.parameters)
        assert "initial_flippers_rear" not in env.parameters
        env.reset(seed=0)
    with pytest.raises(UnknownNameError, match="Drive got an unexpected keyword argument 'flipper_torque'"):
        environment("Drive", vehicle="bunker", flipper_torque=0.5).__enter__()
