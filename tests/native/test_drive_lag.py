"""The lag of a drive: a closed form in both engines, states that come back to the bit, and no lag at all."""

import math

import numpy as np
import pytest
from scenes import vary

from segtrack.description import DriveSpec, load_vehicle
from segtrack.engine import DriveController, follow_command
from segtrack.world import World

LAG = 0.05
SPEED = 0.4
STRONG = {"max_force": 1e5, "max_speed": 1.0, "self_locking": False, "lag": LAG}
ENGINES = [
    ("native", "compliant"),
    ("pybullet", "segments"),
    ("pybullet", "compliant"),
    pytest.param("native", "chain", marks=pytest.mark.slow),
    pytest.param("pybullet", "chain", marks=pytest.mark.slow),
]
TOLERANCES = {"compliant": 1e-12, "chain": 1e-12, "segments": 2e-4}
"""Of a belt's speed [m/s]; PyBullet's solver leaves joint motors short of their target, in proportion to
their force."""


def lagging_belt(engine, track_model):
    """A belt of a conveyor, bolted to the world, with a strong drive that lags; its world."""
    if engine == "pybullet":
        pytest.importorskip("pybullet")
    world = World(engine=engine)
    robot = world.add_vehicle(vary("conveyor", drive=STRONG), track_model=track_model)
    return world, robot.tracks["belt"]


def test_steps_of_any_length_follow_the_exponential_exactly():
    """lag * y' = c - y from y = 0 has y = c (1 - exp(-t / lag))."""
    for count in (1, 7, 200):
        reference = 0.0
        for _ in range(count):
            reference = follow_command(reference, SPEED, math.exp(-0.1 / count / LAG))
        assert reference == pytest.approx(SPEED * (1 - math.exp(-0.1 / LAG)), rel=1e-12)


def test_a_lagging_command_arrives():
    """So that a self-locking drive that is told to stand holds its belt in the end."""
    drive = DriveController(DriveSpec(max_force=100.0, max_speed=1.0, self_locking=True, lag=LAG))
    drive.command = SPEED
    for _ in range(1000):
        drive.update_command(0.001)
    assert (drive.reference, drive.target) == (SPEED, SPEED)
    drive.command = 0.0
    for _ in range(1000):
        drive.update_command(0.001)
    assert (drive.reference, drive.holding) == (0.0, True)


def test_a_drive_without_lag_aims_at_the_very_command():
    for command in (0.3, -0.3, 0.0, -0.0, 1e-12):
        followed = follow_command(0.7, command, 0.0)
        assert followed == command and math.copysign(1.0, followed) == math.copysign(1.0, command)
    assert all(track.spec.drive.lag == 0.0 for track in load_vehicle("quince").mounted_tracks())


@pytest.mark.parametrize(("engine", "track_model"), ENGINES)
def test_the_belt_of_a_strong_drive_follows_the_exponential(engine, track_model):
    world, belt = lagging_belt(engine, track_model)
    with world:
        belt.set_speed(SPEED)
        times, speeds = [], []
        for _ in range(6):
            world.run(0.02)
            # PyBullet's belts are as they were before the latest step.
            times.append(world.time - (world.time_step if engine == "pybullet" else 0.0))
            speeds.append(belt.speed)
    expected = SPEED * (1 - np.exp(-np.array(times) / LAG))
    assert speeds == pytest.approx(expected, abs=TOLERANCES[track_model])


@pytest.mark.parametrize(("engine", "track_model"), ENGINES[:3])
def test_a_speed_that_is_told_after_pedals_is_followed_from_that_of_the_belt(engine, track_model):
    """speed = command + (own - command) exp(-t / lag), own being what the throttle has reached."""
    world, belt = lagging_belt(engine, track_model)
    with world:
        belt.set_speed(SPEED)
        world.run(0.02)
        belt.set_throttle(1.0)
        world.run(0.1)
        own = belt.speed
        belt.set_speed(SPEED)
        world.run(0.02)
        elapsed, speed = 0.02 - (world.time_step if engine == "pybullet" else 0.0), belt.speed
    assert own == pytest.approx(1.0, abs=TOLERANCES[track_model])
    expected = SPEED + (own - SPEED) * math.exp(-elapsed / LAG)
    assert speed == pytest.approx(expected, abs=2 * TOLERANCES[track_model])


@pytest.mark.parametrize(("engine", "track_model"), ENGINES)
def test_a_lag_half_way_comes_back_to_the_bit(engine, track_model):
    world, belt = lagging_belt(engine, track_model)
    with world:
        belt.set_speed(SPEED)
        world.run(0.03)
        saved = world.save()
        ends = []
        for _ in range(2):
            world.run(0.03)
            ends.append(belt.state)
            world.restore(saved)
        assert ends[0] == ends[1]
        assert 0.0 < ends[0].speed < SPEED


@pytest.mark.parametrize(("engine", "track_model"), ENGINES[:2])
def test_a_vehicle_that_is_put_down_at_rest_has_no_command_on_its_way(engine, track_model):
    world, belt = lagging_belt(engine, track_model)
    with world:
        belt.set_speed(SPEED)
        world.run(0.05)
        belt.set_speed(0.0)
        world.robots[0].reset_base_pose((0.0, 0.0, 1.0))
        world.advance(2)
        assert belt.speed == pytest.approx(0.0, abs=SPEED * TOLERANCES[track_model])
