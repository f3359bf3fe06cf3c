"""Vehicles of a world that come near each other, where their engine lacks contact between them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from segtrack.engine.vehicle import VehicleModel


class NearVehicles:
    """Pairs of vehicles whose boxes overlap, each warned of once."""

    def __init__(self, outcome: str) -> None:
        """Begin without pairs; `outcome` says in the warning what they will do, and why."""
        self._outcome = outcome
        self._pairs: set[tuple[int, int]] = set()

    def forget(self) -> None:
        """Warn of all pairs anew."""
        self._pairs = set()

    def look(self, vehicles: Sequence[VehicleModel], time: float) -> None:
        """Warn of vehicles whose boxes have come to overlap.

        Args:
            vehicles: All of the world.
            time: Simulated time [s].
        """
        boxes = [np.array(vehicle.bounds()) for vehicle in vehicles]
        near = {
            (i, j)
            for (i, one), (j, other) in combinations(enumerate(boxes), 2)
            if np.all(one[0] <= other[1]) and np.all(other[0] <= one[1])
        }
        for pair in sorted(near - self._pairs):
            logging.getLogger("segtrack").warning(
                "segtrack: %s and %s come near each other at %.2f s and will %s",
                *(f"vehicle {k + 1} ({vehicles[k].description.name})" for k in pair),
                time,
                self._outcome,
            )
        self._pairs = near
