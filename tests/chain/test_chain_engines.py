"""Vehicles on link chains on rigid flat ground, in either engine, against closed forms."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from scenes import GRAVITY, tilt

import segtrack
from segtrack import terrain
from segtrack.robot import Robot

FRICTION = 0.6


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("pybullet", marks=pytest.mark.pybullet),
        pytest.param("native", marks=pytest.mark.slow),
    ],
)
def settled(request: pytest.FixtureRequest) -> Iterator[tuple[segtrack.World, Robot, object]]:
    """A robot at rest on flat ground, and the state to go back to.

    The native engine's kernels take half a minute to compile, once; PyBullet's are shared by quick tests.
    """
    with segtrack.World(engine=request.param) as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle("packbot", track_model="chain")
        world.settle()
        yield world, robot, world.save()


@pytest.fixture
def standing(settled) -> tuple[segtrack.World, Robot]:
    """The same world and robot, at rest again."""
    world, robot, snapshot = settled
    tilt(world, 0.0)
    world.restore(snapshot)
    return world, robot


def test_a_settled_vehicle_is_carried_by_the_ground(standing) -> None:
    """In the mean: what is left of its swinging is within the tolerance of each of its bodies."""
    world, robot = standing
    carried = []
    for _ in range(50):
        world.step()
        carried.append(sum(track.read_chain().ground_force.sum() for track in robot.tracks.values()))
    assert np.mean(carried) == pytest.approx(robot.mass * GRAVITY, rel=1e-2)


def test_a_vehicle_drives_as_fast_as_its_belts(standing) -> None:
    world, robot = standing
    robot.set_belt_speed(0.3, 0.3)
    world.run(0.5)
    start, travel = robot.state.position[0], robot.tracks["left"].travel
    world.run(1.0)
    driven = robot.state.position[0] - start
    assert driven / (robot.tracks["left"].travel - travel) == pytest.approx(1.0, abs=0.01)
    assert robot.tracks["left"].speed == pytest.approx(0.3, rel=0.01)


@pytest.mark.parametrize(("offset_deg", "slides"), [(-1.0, False), (1.0, True)])
def test_held_chains_slide_at_the_friction_angle(standing, offset_deg: float, slides: bool) -> None:
    world, robot = standing
    tilt(world, math.degrees(math.atan(FRICTION)) + offset_deg)
    world.run(1.0)
    start = robot.state.position[0]
    world.run(0.25)
    moved = start - robot.state.position[0]
    assert (moved > 0.03) == slides
    assert slides or abs(moved) < 2e-5


@pytest.mark.parametrize("one", [1, np.float32(1.0), np.int64(1)])
def test_friction_may_be_any_kind_of_number(standing, one) -> None:
    """Beside a track whose friction is a float, turning on the spot."""
    world, robot = standing
    yaws, saved = [], world.save()
    for friction in (1.0, one):
        world.restore(saved)
        robot.tracks["left"].set_friction(1.0)
        robot.tracks["right"].set_friction(friction)
        robot.set_belt_speed(left=-0.3, right=0.3)
        world.run(0.2)
        yaws.append(robot.state.yaw)
    for track in robot.tracks.values():
        track.set_friction(FRICTION)
    assert yaws[1] == yaws[0] > 0.02
