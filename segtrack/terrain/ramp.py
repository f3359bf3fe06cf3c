"""A ramp up to a plateau."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import InvalidValueError
from segtrack.terrain.base import Terrain
from segtrack.terrain.checks import check_finite, check_positive
from segtrack.terrain.floor import floor, mound
from segtrack.terrain.solids import Solid


@dataclass(frozen=True, kw_only=True)
class Ramp(Terrain):
    """A slope that rises to a plateau, behind which the ground drops to the floor.

    Attributes:
        slope: Angle of the slope [rad], between 0 and pi/2.
        length: Extent of the slope along x, not along its surface [m].
        distance: World x of its foot [m].
        plateau: Extent of the plateau along x [m].
        width: Extent along y, centred on y = 0 [m].
    """

    slope: float
    length: float
    distance: float
    plateau: float = 3.0
    width: float = 10.0

    def __post_init__(self) -> None:
        """Refuse what is no length, and slopes that are flat or upright (or given in degrees)."""
        super().__post_init__()
        check_positive(self, "slope", "rad")
        if self.slope >= math.pi / 2:
            raise InvalidValueError("Ramp.slope", "less than pi/2 [rad]", self.slope)
        check_positive(self, "length", "m")
        check_finite(self, "distance", "m")
        check_positive(self, "plateau", "m")
        check_positive(self, "width", "m")

    @property
    def rise(self) -> float:
        """Height of the plateau [m]."""
        return self.length * math.tan(self.slope)

    def solids(self) -> tuple[Solid, ...]:
        """Return the floor, and slope and plateau as one prism."""
        foot, top, end = self.x_breaks()
        outline = ((foot, 0.0), (top, self.rise), (end, self.rise), (end, 0.0))
        return (*floor(), mound(outline, self.width))

    def x_breaks(self) -> tuple[float, float, float]:
        """Return foot and top of the slope, and the end of the plateau [m]."""
        top = self.distance + self.length
        return (self.distance, top, top + self.plateau)

    def _sample(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        foot, _, end = self.x_breaks()
        height = np.minimum((x - foot) * math.tan(self.slope), self.rise)
        return np.where((x >= foot) & (x <= end) & (np.abs(y) <= self.width / 2), height, 0.0)
