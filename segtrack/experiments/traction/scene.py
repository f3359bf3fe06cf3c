"""The scene of all of it: a vehicle on flat ground, under gravity that may lean."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from segtrack.engine import EngineName
from segtrack.experiments.traction.results import GRAVITY
from segtrack.robot import Robot
from segtrack.terrain import Plane
from segtrack.world import World, resolve

SPEED = 0.3
"""Commanded belt speed [m/s]."""
SAMPLE = 0.002
"""Time between two samples [s]."""
REST = 0.4
"""Time that the vehicle stands before it drives [s]."""
SPIN_UP = 0.8
"""Time that it drives before it is measured [s]."""
RAMP = 0.5
"""Time in which a slope or a hitch's speed comes to its value [s]."""


@contextmanager
def standing(
    vehicle: str, track_model: str | None, engine: EngineName | None
) -> Iterator[tuple[World, Robot]]:
    """A vehicle that has come to rest on flat ground."""
    engine, track_model = resolve(engine, track_model)
    with World(engine=engine) as world:
        world.add_terrain(Plane())
        robot = world.add_vehicle(vehicle, track_model=track_model)
        world.run(REST)
        yield world, robot


def lean(world: World, slope: float) -> None:
    """Let gravity lean backwards, as on a slope [rad]."""
    world.set_gravity((-GRAVITY * math.sin(slope), 0.0, -GRAVITY * math.cos(slope)))


def mean_travel(robot: Robot) -> float:
    """Belt travel, mean over the tracks [m]."""
    return float(np.mean([track.travel for track in robot.tracks.values()]))


def total_force(robot: Robot) -> float:
    """Force of all drives together [N]."""
    return sum(track.force for track in robot.tracks.values())
