"""A triangular ridge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.terrain.base import Terrain
from segtrack.terrain.checks import check_finite, check_positive
from segtrack.terrain.floor import floor, mound
from segtrack.terrain.solids import Solid


@dataclass(frozen=True, kw_only=True)
class Ridge(Terrain):
    """A ridge of two equal slopes across the path.

    Attributes:
        height: Height of the crest [m].
        length: Extent of its base along x [m].
        distance: World x where it begins [m].
        width: Extent along y, centred on y = 0 [m].
    """

    height: float
    length: float
    distance: float
    width: float = 10.0

    def __post_init__(self) -> None:
        """Refuse what is no length."""
        super().__post_init__()
        check_positive(self, "height", "m")
        check_positive(self, "length", "m")
        check_finite(self, "distance", "m")
        check_positive(self, "width", "m")

    def solids(self) -> tuple[Solid, ...]:
        """Return the floor, and both slopes as one prism."""
        start, crest, end = self.x_breaks()
        return (*floor(), mound(((start, 0.0), (crest, self.height), (end, 0.0)), self.width))

    def x_breaks(self) -> tuple[float, float, float]:
        """Return the two feet and the crest between them [m]."""
        return (self.distance, self.distance + self.length / 2, self.distance + self.length)

    def _sample(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        crest = self.x_breaks()[1]
        height = self.height * (1 - np.abs(x - crest) / (self.length / 2))
        return np.where(np.abs(y) <= self.width / 2, np.maximum(height, 0.0), 0.0)
