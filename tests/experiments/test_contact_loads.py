"""How vehicles stand: loads against weight, belts against commands, a watched ride against a circle."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scenes import GRAVITY, on_plane

import segtrack
from segtrack.errors import InvalidValueError
from segtrack.experiments.contact_loads import ContactLoads, Ride, contact_loads, watch

both = pytest.mark.parametrize("track_model", ["segments", "chain"])


def some_loads(normal_force: float) -> ContactLoads:
    return ContactLoads(
        points=np.array([[1.0, 2.0, 0.0]]),
        normal_forces=np.array([normal_force]),
        directions=np.array([[2.0, 0.0, 0.1]]),
        belt_speeds=np.array([0.1]),
        friction=np.array([[0.5, 0.4]]),
    )


@both
def test_loads_carry_the_weight_under_the_centre_of_mass(track_model: str) -> None:
    world, robot = on_plane("packbot", track_model=track_model)
    with world:
        ride = watch(world, robot, 0.5)
    ((_, loads),) = ride.windows(len(ride.loads))
    assert loads.normal_forces.sum() == pytest.approx(24.0 * GRAVITY, rel=0.01)
    middle = loads.normal_forces @ loads.points[:, :2] / loads.normal_forces.sum()
    assert middle == pytest.approx([0.0, 0.0], abs=3e-3)
    assert (np.abs(np.abs(loads.points[:, 1]) - 0.2225) <= 0.0375 + 1e-6).all()


@both
def test_faces_run_as_their_belts_are_told(track_model: str) -> None:
    world, robot = on_plane("packbot", track_model=track_model)
    with world:
        robot.set_belt_speed(-0.1, 0.2)
        world.run(0.6)
        ride = watch(world, robot, 0.5)
    ((_, loads),) = ride.windows(len(ride.loads))
    left = loads.points[:, 1] > 0
    for side, speed in ((left, -0.1), (~left, 0.2)):
        mean = np.average(loads.belt_speeds[side], weights=loads.normal_forces[side])
        assert mean == pytest.approx(speed, rel=0.03)
    assert loads.directions == pytest.approx(np.tile([1.0, 0.0, 0.0], (len(left), 1)), abs=0.02)
    assert (loads.friction == 0.6).all()


def test_both_edges_of_a_turning_chain_run_alike() -> None:
    """Faces run as their belt does, however fast the vehicle turns: 38 deg/s are 0.05 m/s over a shoe."""
    world, robot = on_plane("packbot", track_model="chain")
    with world:
        robot.set_belt_speed(-0.2, 0.2)
        world.run(1.0)
        ride = watch(world, robot, 0.5)
    ((_, loads),) = ride.windows(len(ride.loads))
    for side, speed in ((1, -0.2), (-1, 0.2)):
        for outer in (True, False):
            there = (loads.points[:, 1] * side > 0) & ((np.abs(loads.points[:, 1]) > 0.2225) == outer)
            mean = np.average(loads.belt_speeds[there], weights=loads.normal_forces[there])
            assert mean == pytest.approx(speed, abs=0.006)


def test_tips_on_an_arc_are_faster_than_their_belt() -> None:
    """Quince's raised flippers touch with grousers on an arc, whose tips are 16 mm further out."""
    vehicle = segtrack.load_vehicle("quince")
    with segtrack.World() as world:
        world.add_terrain(segtrack.terrain.Plane())
        robot = world.add_vehicle(vehicle, flippers=dict.fromkeys(vehicle.flippers, 1.0))
        robot.set_belt_speed(0.2, 0.2)
        world.run(0.6)
        ride = watch(world, robot, 0.5)
    ((_, loads),) = ride.windows(len(ride.loads))
    outer = np.abs(loads.points[:, 1]) > 0.187
    assert outer.any()
    speeds = np.average(loads.belt_speeds[outer], weights=loads.normal_forces[outer])
    assert speeds == pytest.approx(0.2 * (0.075 + 0.016) / 0.075, rel=0.02)


def test_a_robot_in_the_air_has_no_loads() -> None:
    with segtrack.World() as world:
        robot = world.add_vehicle("packbot")
        with pytest.raises(InvalidValueError) as caught:
            contact_loads(robot)
    assert str(caught.value) == "contacts of packbot must be at least one, got none"


def test_a_hull_on_the_ground_is_refused() -> None:
    vehicle = segtrack.load_vehicle("packbot")
    fat = vehicle.model_copy(update={"body": vehicle.body.model_copy(update={"size": (0.5, 0.3, 0.3)})})
    world, robot = on_plane(fat)
    with world, pytest.raises(InvalidValueError) as caught:
        contact_loads(robot)
    assert str(caught.value) == "contacts of packbot must be of tracks alone, got one of body"


def test_instants_are_pooled_with_their_share() -> None:
    joined = ContactLoads.joined([some_loads(2.0), some_loads(4.0)], 0.5)
    assert joined.normal_forces == pytest.approx([1.0, 2.0])
    planar = joined.planar((0.5, 0.5))
    assert planar.points == pytest.approx(np.array([[0.5, 1.5]] * 2))
    assert planar.directions == pytest.approx(np.array([[1.0, 0.0]] * 2))
    assert planar.friction == pytest.approx(np.array([[0.5, 0.4]] * 2))


def test_a_ride_on_a_circle_has_the_circle_s_twist() -> None:
    rate, radius, count = 0.7, 2.0, 20
    time = np.linspace(0.0, 0.4, count + 1)
    yaw = rate * time + 0.3
    zeros, ones = np.zeros(count + 1), np.ones(count + 1)
    rotations = np.stack(
        [
            np.stack([np.cos(yaw), -np.sin(yaw), zeros], axis=1),
            np.stack([np.sin(yaw), np.cos(yaw), zeros], axis=1),
            np.stack([zeros, zeros, ones], axis=1),
        ],
        axis=1,
    )
    positions = radius * np.stack([np.sin(yaw), -np.cos(yaw), zeros], axis=1)
    ride = Ride(time, positions, rotations, tuple(some_loads(float(i)) for i in range(count)), 1.0)
    assert ride.twists((0.0, 0.0, 0.1)) == pytest.approx(
        np.tile([rate * radius, 0.0, rate], (count, 1)), rel=1e-4, abs=1e-9
    )
    # A point 0.5 m to the left, on a smaller circle.
    assert ride.twists((0.0, 0.5, 0.0))[:, 0] == pytest.approx(
        np.full(count, rate * (radius - 0.5)), rel=1e-4
    )
    windows = ride.windows(8)
    assert [loads.normal_forces.sum() for _, loads in windows] == pytest.approx([3.5, 11.5, 17.5])
    turned = math.atan2(windows[0][0][1, 0], windows[0][0][0, 0])
    assert turned == pytest.approx(rate * 0.08 + 0.3, abs=rate * 0.02)
