"""A gap in the ground."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.terrain.base import Terrain
from segtrack.terrain.checks import check_finite, check_positive
from segtrack.terrain.floor import FLOOR_DEPTH, FLOOR_REACH, floor_piece
from segtrack.terrain.solids import Solid


@dataclass(frozen=True, kw_only=True)
class Gap(Terrain):
    """A trench with upright walls across the whole floor.

    Attributes:
        length: Distance between the walls along x, to be bridged [m].
        distance: World x of the near wall [m].
        depth: Depth of the trench's flat bottom [m].
    """

    length: float
    distance: float
    depth: float = 1.0

    def __post_init__(self) -> None:
        """Refuse what is no length."""
        super().__post_init__()
        check_positive(self, "length", "m")
        check_finite(self, "distance", "m")
        check_positive(self, "depth", "m")

    def solids(self) -> tuple[Solid, ...]:
        """Return the ground before and behind the gap, and its bottom, which runs on below them."""
        near, far = self.x_breaks()
        before, behind = min(near, 0.0) - FLOOR_REACH, max(far, 0.0) + FLOOR_REACH
        return (
            floor_piece(before, near, depth=self.depth + FLOOR_DEPTH),
            floor_piece(far, behind, depth=self.depth + FLOOR_DEPTH),
            floor_piece(near - FLOOR_DEPTH, far + FLOOR_DEPTH, top=-self.depth),
        )

    def x_breaks(self) -> tuple[float, float]:
        """Return the two walls [m]."""
        return (self.distance, self.distance + self.length)

    def _sample(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        near, far = self.x_breaks()
        return np.where((x > near) & (x < far), -self.depth, 0.0)
