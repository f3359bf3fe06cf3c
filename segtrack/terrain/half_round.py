"""A half-round across the path."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.terrain.base import Terrain
from segtrack.terrain.checks import check_finite, check_positive
from segtrack.terrain.floor import floor
from segtrack.terrain.solids import Cylinder, Solid


@dataclass(frozen=True, kw_only=True)
class HalfRound(Terrain):
    """A lying cylinder, half of it above flat ground.

    Attributes:
        radius: Radius, and height above the ground [m].
        distance: World x where it begins, a radius before its axis [m].
        width: Extent along y, centred on y = 0 [m].
    """

    radius: float
    distance: float
    width: float = 10.0

    def __post_init__(self) -> None:
        """Refuse what is no length."""
        super().__post_init__()
        check_positive(self, "radius", "m")
        check_finite(self, "distance", "m")
        check_positive(self, "width", "m")

    def solids(self) -> tuple[Solid, ...]:
        """Return the floor and the whole cylinder, turned from z to y."""
        half_turn = math.sqrt(0.5)
        center = (self.distance + self.radius, 0.0, 0.0)
        return (*floor(), Cylinder(center, self.radius, self.width, (-half_turn, 0.0, 0.0, half_turn)))

    def x_breaks(self) -> tuple[float, float]:
        """Return where it leaves the ground and comes back to it [m]."""
        return (self.distance, self.distance + 2 * self.radius)

    def _sample(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        from_axis = x - (self.distance + self.radius)
        height = np.sqrt(np.maximum(self.radius**2 - from_axis**2, 0.0))
        return np.where(np.abs(y) <= self.width / 2, height, 0.0)
