"""A drive's rotor turns `gear_ratio` times as fast as the sprocket, one way or the other, or across it."""

from __future__ import annotations

import numpy as np
import pytest
from chain_vehicles import parsed

import segtrack
from segtrack.native.chain_vehicle import ChainVehicle


def pitching_momentum(vehicle: ChainVehicle, rotor: float) -> tuple[float, float]:
    """Angular momentum about the body's y axis, of a vehicle of one link that floats, and its belts' share.

    Args:
        vehicle: The vehicle.
        rotor: Momentum of each rotor on its link, per belt speed [kg m].
    """
    vehicle.place_links()
    work, tree = vehicle._work, vehicle.arrays.tree
    turn, spin = work.rotations[0], work.angular_velocities[0]
    momentum = turn @ tree.inertias[0] @ turn.T @ spin
    bodies, axle, belts = vehicle.bodies(), turn[:, 1], 0.0
    middle = bodies.masses @ bodies.positions / bodies.masses.sum()
    momentum += np.cross(bodies.positions - middle, bodies.masses[:, None] * bodies.velocities).sum(axis=0)
    for chain in vehicle.chains:
        state, shoe, gear = chain.state, chain.design.chain.shoe, chain.design.running_gear
        momentum += np.einsum("nij,j,nj->i", state.rotations, shoe.inertia, state.angular_velocities_body)
        own = np.array([wheel.inertia for wheel in gear.wheels])
        own[gear.driven] -= 5.0 * gear.sprocket.pitch_radius**2
        belts += float(own @ chain.wheels.speeds) + rotor * chain.speed
    momentum += belts * axle
    return float(momentum @ axle), belts


@pytest.mark.parametrize("ratio", [None, 3.0, pytest.param(-3.0, marks=pytest.mark.slow)])
def test_angular_momentum_is_kept_as_chains_start(ratio: float | None) -> None:
    """Afloat, about the axle: body, shoes, wheels and rotors, whatever way these turn."""
    drive = {"reflected_mass": 5.0, "max_force": 300.0, "max_speed": 2.6}
    drive |= {} if ratio is None else {"gear_ratio": ratio}
    vehicle = parsed(
        "packbot", *(((*side, "drive"), drive) for side in (("tracks", "left"), ("tracks", "right")))
    )
    with segtrack.World(engine="native", gravity=0.0) as world:
        robot = world.add_vehicle(vehicle, track_model="chain", position=(0.0, 0.0, 1.0))
        design = robot.model.chains[0].design
        rotor = 0.0
        if ratio is not None:
            rotor = 5.0 * design.running_gear.sprocket.pitch_radius**2 / design.pitch_radius / ratio
        robot.set_belt_speed(1.0, 1.0)
        world.run(0.3)
        left, belts = pitching_momentum(robot.model, rotor)
        body = robot.state.angular_velocity[1]
    shoes = 2 * 2 * 2.0 * (np.pi * 0.077**2 + 4 * 0.255 * 0.077) / (2 * np.pi * 0.077 + 4 * 0.255)
    assert abs(left) < 3e-3 * shoes
    assert body < -0.3  # It pitches against them [rad/s].
    if ratio is not None:
        assert abs(2 * rotor) > 0.15 * shoes and np.sign(belts) == np.sign(ratio)
