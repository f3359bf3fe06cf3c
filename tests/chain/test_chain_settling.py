"""Vehicles that come to rest, on link chains and on segments, and those that cannot."""

from __future__ import annotations

import math

import numpy as np
import pytest
from chain_vehicles import SHOES, chain_of
from scenes import GRAVITY

import segtrack
from segtrack import terrain
from segtrack.chain import kinetic_energy
from segtrack.errors import InvalidValueError

pytestmark = pytest.mark.pybullet


@pytest.mark.parametrize(
    ("vehicle", "track_model"), [("packbot", "chain"), ("packbot", "segments"), ("quince", "segments")]
)
def test_a_settled_vehicle_stands_still_within_the_tolerance(vehicle: str, track_model: str) -> None:
    tolerance = 1e-3
    with segtrack.World() as world:
        world.add_terrain(terrain.Plane())
        angles = {"front_left": 0.5, "front_right": 0.5} if vehicle == "quince" else None
        robot = world.add_vehicle(vehicle, track_model=track_model, flippers=angles)
        low, high = map(np.array, robot.bounds())
        rest = world.settle(tolerance)
        assert world.time == 0.0
        weight = robot.mass * GRAVITY
        assert rest.converged
        assert 0 < rest.time < 10
        assert rest.max_residual_force <= tolerance * weight
        assert rest.kinetic_energy <= tolerance**2 * weight * np.max(high - low)
        own = robot.mass / 2 * np.square(robot.state.velocity).sum()
        assert own <= tolerance**2 * weight * np.max(high - low)
        if track_model == "chain":
            shoes = sum(
                kinetic_energy(chain.design.chain, chain.state)
                for chain in (chain_of(robot, name) for name in robot.tracks)
            )
            assert shoes <= rest.kinetic_energy
        start = np.array(robot.state.position)
        world.run(0.2)
        assert np.linalg.norm(np.array(robot.state.position) - start) < 1e-4


def test_a_vehicle_that_has_no_time_to_settle_says_so() -> None:
    with segtrack.World() as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle("packbot", track_model="chain", position=(0, 0, 0.3))
        rest = world.settle(max_time=0.02)
        assert not rest.converged
        assert 0.02 <= rest.time < 0.1
        assert rest.max_residual_force > 0.1 * robot.mass * GRAVITY / SHOES


@pytest.mark.parametrize(
    ("gravity", "vehicles", "given", "message"),
    [
        (GRAVITY, 0, {}, "world that settles must be one with robots, and gravity downwards, got no robot"),
        (
            0.0,
            1,
            {},
            "world that settles must be one with robots, and gravity downwards, got a gravity of 0 m/s^2",
        ),
        (GRAVITY, 1, {"tolerance": -1e-3}, "tolerance must be greater than 0, got -0.001"),
        (GRAVITY, 1, {"tolerance": math.nan}, "tolerance must be a finite number, got nan"),
        (GRAVITY, 1, {"max_time": 0.0}, "max_time [s] must be greater than 0, got 0.0"),
    ],
)
def test_what_cannot_settle_is_refused(gravity: float, vehicles: int, given: dict, message: str) -> None:
    with segtrack.World(gravity=gravity) as world:
        for _ in range(vehicles):
            world.add_vehicle("packbot", position=(0, 0, 1))
        with pytest.raises(InvalidValueError) as error:
            world.settle(**given)
        assert str(error.value) == message


def test_what_slides_on_ice_is_not_at_rest_while_drainage_holds_it() -> None:
    """At the speed at which drainage takes what gravity gives, the slope's pull is not balanced."""
    with segtrack.World() as world:
        world.add_terrain(terrain.Ramp(slope=0.3, length=20.0, distance=-10.0, friction=0.0))
        robot = world.add_vehicle("packbot")
        rest = world.settle(max_time=2.0)
        body = world.client.getDynamicsInfo(robot.model.body_id, -1)[0]
        assert not rest.converged
        assert rest.max_residual_force == pytest.approx(body * GRAVITY * math.sin(0.3), rel=0.1)
