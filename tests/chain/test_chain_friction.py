"""Friction of chains while commands change: never more than its coefficient times what the ground bears."""

from __future__ import annotations

import math

import numpy as np
import pytest

import segtrack
from segtrack import terrain
from segtrack.engine import EngineName
from segtrack.robot import Robot
from segtrack.terrain import Soil

GRAVITY, WINDOW = 9.81, 0.02
ENGINES = ["native", pytest.param("pybullet", marks=pytest.mark.pybullet)]


def momentum_of(robot: Robot, engine: EngineName) -> np.ndarray:
    """Momentum of a vehicle in the world (3,), with that of idlers that slide in it [kg m/s]."""
    model, bodies = robot.model, robot.bodies()
    chains = model.chains if engine == "native" else [track.belt.chain for track in model.tracks]
    slides = sum(chain.wheels.slide_momenta.sum(axis=0) for chain in chains)
    return np.asarray(bodies.masses @ bodies.velocities + slides)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("ground", ["rigid", "soil"])
@pytest.mark.parametrize(
    ("vehicle", "friction", "step"),
    [
        ("packbot", 0.1, 1e-3),
        *(
            pytest.param(name, friction, step, marks=pytest.mark.slow)
            for name in ("packbot", "quince", "maxxii")
            for friction in (0.1, 0.6)
            for step in (1e-3, 2e-3, 4e-3)
        ),
    ],
)
def test_no_window_of_20_ms_gains_more_than_coulomb_friction_gives(
    vehicle: str, friction: float, step: float, ground: str, engine: EngineName
) -> None:
    """dPx <= mu (M g dt + dPz) on flat ground, under random commands, each of 1 to 50 ms.

    Soil without cohesion is sheared off at tan(phi), whatever damps the shoes along it.
    """
    soil = Soil.linear(1e7, 0.0, math.atan(friction), 1e3) if ground == "soil" else None
    rng, heights = np.random.default_rng(3), []
    with segtrack.World(engine=engine, time_step=step) as world:
        world.add_terrain(terrain.Plane(soil=soil))
        robot = world.add_vehicle(vehicle, track_model="chain")
        for track in robot.tracks.values():
            track.set_friction(friction)
        world.run(0.6)
        left = 0
        for _ in range(round(0.8 / step)):
            if left <= 0:
                robot.set_belt_speed(*rng.uniform(-1.0, 1.0, 2))
                left = max(1, round(rng.uniform(1e-3, 0.05) / step))
            left -= 1
            heights.append(momentum_of(robot, engine))
            world.step()
        mass = robot.bodies().masses.sum()
    momenta, count = np.array(heights), round(WINDOW / step)
    gained = momenta[count:] - momenta[:-count]
    beyond = np.hypot(gained[:, 0], gained[:, 1]) - friction * (mass * GRAVITY * WINDOW + gained[:, 2])
    assert beyond.max() <= 0.01 * friction * mass * GRAVITY * WINDOW
    assert beyond.max() >= -0.1 * friction * mass * GRAVITY * WINDOW  # It slips.
