"""Fraction of a vehicle's weight that its belts carry on flat ground."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from segtrack import terrain
from segtrack.description import VehicleDescription, warn_of_low_shapes
from segtrack.geometry import GRAVITY
from segtrack.world import World

_SETTLING, _READ = 0.9, 0.1
"""Time before the loads are read, and time over which their mean is taken [s]."""


def belt_share(vehicle: VehicleDescription) -> float:
    """Measure the fraction of a vehicle's weight on its belts at rest on flat ground [-], flippers at 0.

    The native engine lets it settle for a second. The rest is on other shapes of its body.

    Raises:
        SegtrackError: The native engine cannot build it, or it diverges.
    """
    shares = []
    with _without_warning(), World(engine="native") as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle(vehicle, track_model="compliant")
        world.run(_SETTLING)
        until = world.time + _READ
        while world.time < until:
            world.step()
            loads = [np.sum(track.read_grousers().load) for track in robot.tracks.values()]
            shares.append(float(np.sum(loads)) / (robot.mass * GRAVITY))
    return float(np.mean(shares))


@contextmanager
def _without_warning() -> Iterator[None]:
    """Context that suppresses the warning of low shapes, which callers of this module expect."""

    def is_other(record: logging.LogRecord) -> bool:
        return record.funcName != warn_of_low_shapes.__name__

    logger = logging.getLogger("segtrack")
    logger.addFilter(is_other)
    try:
        yield
    finally:
        logger.removeFilter(is_other)
