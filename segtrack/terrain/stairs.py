"""A flight of stairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.terrain.base import Terrain
from segtrack.terrain.checks import check_count, check_finite, check_positive
from segtrack.terrain.floor import floor, standing
from segtrack.terrain.solids import Solid


@dataclass(frozen=True, kw_only=True)
class Stairs(Terrain):
    """Stairs up to a landing, and down again behind it or a drop.

    Attributes:
        riser: Height of one stair [m].
        tread: Depth of one stair along x [m].
        count: Number of risers; the landing is `count * riser` high.
        distance: World x of the first riser [m].
        landing: Extent of the landing along x, from the last riser on [m].
        down: Whether as many stairs lead down again behind the landing.
        width: Extent along y, centred on y = 0 [m].
    """

    riser: float
    tread: float
    count: int
    distance: float
    landing: float = 2.0
    down: bool = False
    width: float = 10.0

    def __post_init__(self) -> None:
        """Refuse what is no length and no count."""
        super().__post_init__()
        check_positive(self, "riser", "m")
        check_positive(self, "tread", "m")
        check_count(self, "count")
        check_finite(self, "distance", "m")
        check_positive(self, "landing", "m")
        check_positive(self, "width", "m")

    def _layers(self) -> list[tuple[float, float, float]]:
        """Return x_min, x_max and top of each stair's layer, which lies across all stairs above it [m]."""
        end = self.distance + (self.count - 1) * self.tread + self.landing
        return [
            (
                self.distance + below * self.tread,
                end + (self.count - 1 - below) * self.tread if self.down else end,
                (below + 1) * self.riser,
            )
            for below in range(self.count)
        ]

    def solids(self) -> tuple[Solid, ...]:
        """Return the floor and one block a stair, each standing through those below it."""
        return (*floor(), *(standing(x_min, x_max, self.width, top) for x_min, x_max, top in self._layers()))

    def x_breaks(self) -> tuple[float, ...]:
        """Return every riser [m]."""
        return tuple(sorted({x for x_min, x_max, _ in self._layers() for x in (x_min, x_max)}))

    def _sample(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        height = np.zeros(x.shape)
        for x_min, x_max, top in self._layers():
            height[(x >= x_min) & (x <= x_max) & (np.abs(y) <= self.width / 2)] = top
        return height
