"""One step up, as in Table IV of Okada et al. 2020."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.terrain.base import Terrain
from segtrack.terrain.checks import check_finite, check_positive
from segtrack.terrain.floor import floor, standing
from segtrack.terrain.solids import Solid


@dataclass(frozen=True, kw_only=True)
class Step(Terrain):
    """A block on flat ground.

    Attributes:
        height: Height of the step [m].
        distance: World x of its front face [m].
        length: Extent of its top along x [m].
        width: Extent along y, centred on y = 0 [m].
    """

    height: float
    distance: float
    length: float = 10.0
    width: float = 10.0

    def __post_init__(self) -> None:
        """Refuse what is no length."""
        super().__post_init__()
        check_positive(self, "height", "m")
        check_finite(self, "distance", "m")
        check_positive(self, "length", "m")
        check_positive(self, "width", "m")

    def solids(self) -> tuple[Solid, ...]:
        """Return the floor and the block."""
        return (*floor(), standing(*self.x_breaks(), self.width, self.height))

    def x_breaks(self) -> tuple[float, float]:
        """Return the front and the back face [m]."""
        return (self.distance, self.distance + self.length)

    def _sample(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        front, back = self.x_breaks()
        return np.where((x >= front) & (x <= back) & (np.abs(y) <= self.width / 2), self.height, 0.0)
