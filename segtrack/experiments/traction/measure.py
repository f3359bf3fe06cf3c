"""Driving straight, and sliding down."""

from __future__ import annotations

import math

import numpy as np

from segtrack.engine import EngineName
from segtrack.experiments.chain_history import has_chains
from segtrack.experiments.traction.results import GRAVITY, SLIDING, Slide, SteadyDrive
from segtrack.experiments.traction.scene import (
    RAMP,
    REST,
    SAMPLE,
    SPEED,
    SPIN_UP,
    lean,
    mean_travel,
    standing,
    total_force,
)

TILT_RATE = math.radians(1.0)
"""At which a slope grows steeper [rad/s]."""


def drive_steadily(
    vehicle: str,
    track_model: str | None = None,
    *,
    engine: EngineName | None = None,
    slope: float = 0.0,
    seconds: float = 1.5,
) -> SteadyDrive:
    """Drive straight at `SPEED` and write it down.

    Args:
        vehicle: Bundled name or path of a vehicle file.
        track_model: How tracks are built; the engine's default if not given.
        engine: What simulates it; what runs the track model if not given.
        slope: That is driven up [rad].
        seconds: Written down [s].
    """
    with standing(vehicle, track_model, engine) as (world, robot):
        lean(world, slope)
        robot.set_belt_speed(SPEED, SPEED)
        world.run(SPIN_UP)
        begin, travel = robot.state.position[0], mean_travel(robot)
        speeds, forces, elapsed = [], [], 0.0
        for _ in range(round(seconds / SAMPLE)):
            world.run(SAMPLE)
            elapsed += SAMPLE / world.real_time_factor
            speeds.append(robot.state.velocity[0])
            forces.append(total_force(robot))
        way = robot.state.position[0] - begin
        return SteadyDrive(
            time=SAMPLE * np.arange(1.0, len(speeds) + 1.0),
            speed=np.array(speeds),
            force=np.array(forces),
            slip=1.0 - way / (mean_travel(robot) - travel),
            slope=slope,
            weight=robot.mass * GRAVITY,
            real_time_factor=len(speeds) * SAMPLE / elapsed,
            design=next(iter(robot.tracks.values())).chain_design if has_chains(robot) else None,
        )


def slide_down(
    vehicle: str,
    track_model: str | None = None,
    *,
    engine: EngineName | None = None,
    begin: float,
    end: float,
    rate: float = TILT_RATE,
) -> Slide:
    """Brake the belts and let the slope grow until the vehicle slides away.

    Args:
        vehicle: Bundled name or path of a vehicle file.
        track_model: How tracks are built; the engine's default if not given.
        engine: What simulates it; what runs the track model if not given.
        begin: Slope at the beginning [rad].
        end: Largest slope [rad].
        rate: At which it grows [rad/s].
    """
    with standing(vehicle, track_model, engine) as (world, robot):
        for slope in np.linspace(0.0, begin, 50):
            lean(world, slope)
            world.run(RAMP / 50)
        world.run(REST)
        start, rows = robot.state.position[0], []
        for slope in np.arange(begin, end, rate * SAMPLE):
            lean(world, slope)
            world.run(SAMPLE)
            rows.append((slope, -robot.state.velocity[0], start - robot.state.position[0]))
            if rows[-1][1] > 10 * SLIDING:
                break
        return Slide(*np.array(rows).T)
