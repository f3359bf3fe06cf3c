"""Starts of episodes: attitude, speed, flippers, place on the path, time that is over."""

import math

import numpy as np
import pytest
from env_actions import STILL
from scenes import environment

from segtrack import Batch, World, terrain
from segtrack.envs import VectorEnvironment
from segtrack.errors import InvalidValueError

GIVEN = {"time_step": 0.004}


def test_a_robot_starts_with_flippers_attitude_and_speed_as_told():
    start = {"initial_flippers_front": 0.7, "initial_flippers_rear": -0.2, "initial_roll": 0.1}
    start |= {"initial_pitch": 0.25, "initial_speed": 0.3, "initial_yaw": 0.4}
    with environment("StepClimb", **start, **GIVEN) as env:
        env.reset(seed=0)
        view = env.view
        assert view.motion.flipper_angles[0] == pytest.approx([0.7, 0.7, -0.2, -0.2])
        assert [view.roll[0], view.pitch[0], view.yaw[0]] == pytest.approx([0.1, 0.25, 0.4])
        assert view.motion.velocity[0] == pytest.approx(0.3 * view.forward[0])
        assert view.motion.belt_speeds[0] == pytest.approx([0.3] * 6)
        assert (view.motion.belt_travels == 0.0).all() and env.view.time[0] == 0.0


@pytest.mark.parametrize("engine", ["native", "pybullet"])
@pytest.mark.parametrize("slope", [0.0, 0.3])
def test_a_leaning_robot_just_clears_the_ground(engine, slope):
    """Parallel to a slope it is as near to it as one on level ground is upright."""
    with World(engine=engine) as world:
        world.add_terrain(terrain.Ramp(slope=slope, length=10.0, distance=-5.0) if slope else terrain.Plane())
        robot = world.add_vehicle("quince", track_model="compliant" if engine == "native" else "segments")
        world.place_on_terrain(robot, 0.0, 0.0, pitch=slope, roll=1e-9)
        x, y, z = robot.state.position
        distance = (z - world.height(x, y).item()) * math.cos(slope)
        world.clear_terrain()
        world.add_terrain(terrain.Plane())
        world.place_on_terrain(robot, 0.0, 0.0)
        assert distance == pytest.approx(robot.state.position[2], abs=2e-3)


def test_a_batch_leans_and_moves_as_a_world_does():
    ground = terrain.Waves(heights=(0.1, 0.2, 0.1), lengths=(0.6, 0.5, 0.7), distance=-0.6, width=4.0)
    with Batch("quince", 2, terrain=ground) as batch, World(engine="native") as world:
        world.add_terrain(ground)
        robot = world.add_vehicle("quince", track_model="compliant")
        robot.flippers["front_left"].place(0.5)
        world.place_on_terrain(robot, 0.1, -0.1, 0.3, roll=-0.2, pitch=0.3)
        robot.set_velocity(0.2)
        given = {
            "x": 0.1,
            "y": -0.1,
            "yaw": 0.3,
            "roll": [0.0, -0.2],
            "pitch": [0.0, 0.3],
            "speed": [0.0, 0.2],
        }
        batch.reset(**given, flippers={"front_left": [0.0, 0.5]})
        for _ in range(2):
            assert batch.state.position[1] == pytest.approx(robot.state.position, abs=1e-9)
            assert batch.state.velocity[1] == pytest.approx(robot.state.velocity, abs=1e-9)
            world.run(0.1), batch.run(0.1)
        with pytest.raises(InvalidValueError, match="pitch"):
            batch.reset(pitch=math.nan)


def test_half_way_up_a_ramp_a_robot_stands_along_it():
    with environment("Drive", slope=0.3, winding=0.0, initial_progress=0.7, friction=1.0, **GIVEN) as env:
        env.reset(seed=0)
        view = env.view
        assert view.progress[0] == pytest.approx(0.7 * 3.0)
        assert view.pitch[0] == pytest.approx(0.3, abs=0.01)
        start = view.motion.position[0]
        for _ in range(10):
            env.step(STILL)
        assert env.view.pitch[0] == pytest.approx(0.3, abs=0.03)
        assert np.linalg.norm(env.view.motion.position[0] - start) < 0.03


def test_within_a_winding_path_a_robot_heads_along_it():
    with environment("Drive", winding=0.8, initial_progress=(0.2, 0.8), initial_y=0.1, **GIVEN) as env:
        for seed in range(4):
            env.reset(seed=seed)
            assert env.view.heading_error[0] == pytest.approx(0.0, abs=0.06)
            assert env.view.lateral[0] == pytest.approx(0.1, abs=0.01)


def test_a_random_phase_spreads_the_ends_of_first_episodes_alone():
    env = VectorEnvironment("Drive", 40, time_limit=1.0, time_step=0.005, autoreset_mode="SameStep")
    env.reset(seed=0, options={"initial_time": (0.0, 1.0)})
    begun = env.view.time
    assert begun.min() < 0.15 and begun.max() > 0.8 and len(np.unique(begun)) > 10
    ends = np.zeros(40, int)
    for k in range(40):
        *_, truncated, _ = env.step(np.zeros(env.action_space.shape, np.float32))
        first = truncated & (ends == 0)
        ends[first] = k + 1
        again = truncated & ~first
        assert (k + 1 - ends[again] == 20).all()
    np.testing.assert_array_equal(ends, np.maximum(20 - np.round(begun / 0.05), 1))
    env.close()
