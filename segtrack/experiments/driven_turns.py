"""Turns at constant belt speeds, simulated one by one on flat ground, or from planar friction alone.

Every turn starts from the same state, so that results do not depend on who simulates which. It is measured
over `MEASURED`, once the faster belt has run as far as it lies on the ground.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.description import VehicleDescription
from segtrack.engine import EngineName, resolve
from segtrack.geometry import balance_friction, uniform_tracks
from segtrack.robot import RobotState
from segtrack.terrain import Plane
from segtrack.world import World

Array = NDArray[np.float64]
MEASURED = 1.0
"""Time over which a turn is measured [s]."""
_SETTLE, _SAMPLE = 0.3, 0.1
"""Time before it, besides the belts' way, and between two readings [s]."""
_POINTS = (40, 5)
"""Along and across a track under uniform pressure: yaw rates are within 0.2 % of those of many more."""


@dataclass(frozen=True, eq=False)
class DrivenTurns:
    """Results of n turns.

    Attributes:
        yaw_rate: Yaw rate, to the left positive (n,) [rad/s].
        tracks: Ground speeds of the left and of the right track (n, 2) [m/s].
        simulated: Total simulated time [s]; 0 without a simulator.
        elapsed: Total wall time [s].
    """

    yaw_rate: Array
    tracks: Array
    simulated: float = 0.0
    elapsed: float = 0.0


def drive_turns(
    vehicle: VehicleDescription, belts: Array, track_model: str, engine: EngineName | None = None
) -> DrivenTurns:
    """Simulate turns one by one, each from the start.

    Args:
        vehicle: Vehicle to drive.
        belts: Speeds of the left and the right belts (n, 2) [m/s].
        track_model: Name of a track model.
        engine: native or pybullet; by default the one that runs the track model.

    Raises:
        UnknownNameError: No such track model or engine.
        InvalidValueError: An engine that does not run the track model, or a body without tracks on a side.
        DivergedError: The simulation broke down.
    """
    name, model = resolve(engine, track_model)
    length, sides = vehicle.contact_length, np.array(vehicle.require_track_offsets())
    rates, forward, elapsed, simulated = [], [], 0.0, 0.0
    with World(engine=name) as world:
        world.add_terrain(Plane())
        robot = world.add_vehicle(vehicle, track_model=model)
        for left, right in belts.tolist():
            world.reset()
            robot.set_belt_speed(left, right)
            fastest = max(abs(left), abs(right))
            states = []
            pieces = [_SETTLE + (length / fastest if fastest else 0.0)]
            for piece in pieces + [_SAMPLE] * round(MEASURED / _SAMPLE):
                world.run(piece)
                states.append(robot.state)
                simulated += piece
                elapsed += piece / world.real_time_factor
            yaws = np.unwrap([state.yaw for state in states])
            rates.append(float(yaws[-1] - yaws[0]) / MEASURED)
            forward.append(_forward_speed(states))
    yaw_rate = np.array(rates)
    return DrivenTurns(yaw_rate, np.array(forward)[:, None] - yaw_rate[:, None] * sides, simulated, elapsed)


def uniform_turns(vehicle: VehicleDescription, belts: Array) -> DrivenTurns:
    """Compute turns by planar friction under uniform pressure on the tracks, without a simulator.

    Args:
        vehicle: Vehicle; its gauge, contact length, track width and friction are used.
        belts: Speeds of the left and the right belts (n, 2) [m/s].

    Raises:
        InvalidValueError: A body without tracks on a side.
    """
    length, sides = vehicle.contact_length, np.array(vehicle.require_track_offsets())
    first = next(iter(vehicle.tracks.values()))
    friction = (first.contact.friction, first.contact.friction * first.contact.lateral_ratio)
    gauge = float(sides[0] - sides[1])
    motions = [
        balance_friction(uniform_tracks(length, first.width, gauge, friction, left, right, _POINTS))
        for left, right in belts.tolist()
    ]
    rates = np.array([motion.yaw_rate for motion in motions])
    forward = np.array([motion.velocity[0] for motion in motions])
    return DrivenTurns(rates, forward[:, None] - rates[:, None] * np.array([gauge / 2, -gauge / 2]))


def _forward_speed(states: Sequence[RobotState]) -> float:
    """Mean speed along the heading, which is taken midway between samples [m/s]."""
    yaws = np.unwrap([state.yaw for state in states])
    steps = np.diff([state.position[:2] for state in states], axis=0)
    middles = (yaws[1:] + yaws[:-1]) / 2
    return float((steps[:, 0] @ np.cos(middles) + steps[:, 1] @ np.sin(middles)) / MEASURED)
