"""Chains that roll down a slope freely: teeth that lean enough take no more of the work than a drum would."""

from __future__ import annotations

import math

import numpy as np
import pytest
from quick import some_of

import segtrack
from segtrack import terrain
from segtrack.description import VehicleDescription, load_vehicle
from segtrack.description.chain import ChainSpec, track_design
from segtrack.robot import Robot

GRAVITY = 9.81
TOOTHED = ["packbot", "maxxii", "quince", "tapered", "trapezoidal", "triangular", "example_rover"]


def driven_by(vehicle: VehicleDescription, **wheel: dict[str, float]) -> VehicleDescription:
    """The vehicle with another drum or sprocket."""
    chain = ChainSpec.model_validate((vehicle.chain or ChainSpec()).model_dump(exclude_unset=True) | wheel)
    return vehicle.model_copy(update={"chain": chain})


def free_pressure_angle(vehicle: VehicleDescription) -> float:
    """Lean of flanks past which bushings turn about their neighbours, see `Sprocket.for_pitch` [rad]."""
    track = next(iter(vehicle.mounted_tracks()))
    design = track_design(track.name, track.spec)
    sprocket = design.running_gear.sprocket
    return math.pi / sprocket.count + sprocket.bushing_radius / design.chain.shoe.pitch


def kinetic_energy(robot: Robot) -> float:
    """That of links, shoes and wheels, with the drives' rotors [J]."""
    chains = robot.model.chains
    turning = sum(chain.arrays.running_gear.wheels.inertias @ chain.wheels.speeds**2 / 2 for chain in chains)
    return float(robot.bodies().kinetic_energy + turning)


def share_kept(vehicle: VehicleDescription, slope_deg: float) -> float:
    """Kinetic energy gained in 0.6 s over the work of the weight, with the drives let go."""
    angle = math.radians(slope_deg)
    down = GRAVITY * np.array((math.sin(angle), 0.0, -math.cos(angle)))
    with segtrack.World(engine="native", time_step=1e-3) as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle(vehicle, track_model="chain")
        robot.set_throttle(0.0, 0.0)
        world.run(0.4)
        world.set_gravity(tuple(down.tolist()))
        world.run(0.1)
        bodies, begin = robot.bodies(), kinetic_energy(robot)
        world.run(0.6)
        work = bodies.masses @ (robot.bodies().positions - bodies.positions) @ down
        return (kinetic_energy(robot) - begin) / float(work)


@pytest.mark.parametrize("slope_deg", some_of([5.0, 20.0], 5.0))
@pytest.mark.parametrize("name", some_of(TOOTHED, "triangular"))
def test_teeth_that_lean_enough_let_go_of_bushings_as_a_drum_does(name: str, slope_deg: float) -> None:
    """A bushing comes and leaves on a circle about the next one's: steeper flanks squeeze it."""
    vehicle = load_vehicle(name)
    leaning = {"pressure_angle": free_pressure_angle(vehicle)}
    kept = share_kept(driven_by(vehicle, sprocket=leaning), slope_deg)
    assert 0.85 < kept < 1.0
    assert kept > share_kept(driven_by(vehicle, drum={}), slope_deg) - 0.05
