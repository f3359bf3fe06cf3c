"""Robots brought to rest where they stand, by dynamic relaxation (see `segtrack.settling`)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from segtrack.engine import Bodies, Engine
from segtrack.errors import InvalidValueError, Phrase, finite
from segtrack.robot import Robot
from segtrack.settling import SettleResult, settle


def settle_robots(
    engine: Engine, robots: Sequence[Robot], gravity: Sequence[float], tolerance: float, max_time: float
) -> SettleResult:
    """Bring all robots of an engine to rest, their belts held.

    Args:
        engine: Of the robots.
        robots: All there are.
        gravity: In the world (3,) [m/s^2].
        tolerance: See `World.settle`.
        max_time: Simulated time after which to give up [s].

    Raises:
        InvalidValueError: There is no robot or no gravity, or a number is not positive.
        DivergedError: A robot is no longer finite, or absurdly fast.
    """
    for name, value in (("tolerance", tolerance), ("max_time [s]", max_time)):
        if finite(name, value) <= 0:
            raise InvalidValueError(name, "greater than 0", value)
    if not robots or gravity[2] >= 0:
        got = Phrase("no robot" if not robots else f"a gravity of {-gravity[2]:g} m/s^2")
        raise InvalidValueError("world that settles", "one with robots, and gravity downwards", got)
    boxes = [np.array(robot.bounds()) for robot in robots]
    commands = [(track, track.command) for robot in robots for track in robot.tracks.values()]
    for track, _ in commands:
        track.set_speed(0.0)
    try:
        return settle(
            engine.advance,
            lambda: _bodies_of(robots),
            time_step=engine.time_step,
            gravity=gravity,
            weight=math.hypot(*gravity) * min(robot.mass for robot in robots),
            length=max(float(np.max(high - low)) for low, high in boxes),
            tolerance=tolerance,
            max_time=max_time,
        )
    finally:
        for track, command in commands:
            track.set_speed(command)


def _bodies_of(robots: Sequence[Robot]) -> Bodies:
    each = [robot.model.bodies() for robot in robots]
    return Bodies(
        np.concatenate([bodies.masses for bodies in each]),
        np.concatenate([bodies.positions for bodies in each]),
        np.concatenate([bodies.velocities for bodies in each]),
        sum(bodies.kinetic_energy for bodies in each),
    )
