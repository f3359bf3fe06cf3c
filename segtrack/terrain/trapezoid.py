"""A trapezoid above the ground and one below it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import InvalidValueError
from segtrack.terrain.base import Terrain
from segtrack.terrain.checks import check_finite, check_not_negative, check_positive
from segtrack.terrain.floor import FLOOR_DEPTH, FLOOR_REACH, floor, floor_piece, mound, run_on
from segtrack.terrain.solids import Prism, Solid

BANK_REACH = 10.0
"""How far the ground goes on before and behind a ditch and the origin [m].

Bullet rounds a hull's corners to a ten-thousandth of its extent, so not as far as a floor does.
"""


@dataclass(frozen=True, kw_only=True)
class TrapezoidBarrier(Terrain):
    """Two equal slopes with a flat top between them, across the path.

    Attributes:
        height: Height of the top [m].
        top_length: Extent of the top along x [m]; with none, it is a `Ridge`.
        bottom_length: Extent of the base along x [m], longer than the top.
        distance: World x where it begins [m].
        width: Extent along y, centred on y = 0 [m].
    """

    height: float
    top_length: float
    bottom_length: float
    distance: float
    width: float = 10.0

    def __post_init__(self) -> None:
        """Refuse what is no length, and overhanging slopes."""
        super().__post_init__()
        check_positive(self, "height", "m")
        check_positive(self, "top_length", "m")
        check_positive(self, "bottom_length", "m")
        if self.bottom_length <= self.top_length:
            expected = f"longer than the top length of {self.top_length} [m]"
            raise InvalidValueError("TrapezoidBarrier.bottom_length", expected, self.bottom_length)
        check_finite(self, "distance", "m")
        check_positive(self, "width", "m")

    def solids(self) -> tuple[Solid, ...]:
        """Return the floor, and slopes and top as one prism."""
        start, near, far, end = self.x_breaks()
        outline = ((start, 0.0), (near, self.height), (far, self.height), (end, 0.0))
        return (*floor(), mound(outline, self.width))

    def x_breaks(self) -> tuple[float, ...]:
        """Return feet and tops of the two slopes [m]."""
        return _breaks(self.distance, self.bottom_length, self.top_length)

    def _sample(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        height = np.interp(x, self.x_breaks(), (0.0, self.height, self.height, 0.0))
        return np.where(np.abs(y) <= self.width / 2, height, 0.0)


@dataclass(frozen=True, kw_only=True)
class TrapezoidDitch(Terrain):
    """A ditch with two equal sloping sides across the whole floor.

    Attributes:
        depth: Depth of the bottom [m].
        top_length: Extent of the opening along x [m].
        bottom_length: Extent of the bottom along x [m], shorter than the
            opening; 0 makes a V.
        distance: World x where it begins [m].
    """

    depth: float
    top_length: float
    bottom_length: float
    distance: float

    def __post_init__(self) -> None:
        """Refuse what is no length, and overhanging sides."""
        super().__post_init__()
        check_positive(self, "depth", "m")
        check_positive(self, "top_length", "m")
        check_not_negative(self, "bottom_length", "m")
        if self.bottom_length >= self.top_length:
            expected = f"shorter than the top length of {self.top_length} [m]"
            raise InvalidValueError("TrapezoidDitch.bottom_length", expected, self.bottom_length)
        check_finite(self, "distance", "m")

    def solids(self) -> tuple[Solid, ...]:
        """Return the two banks, each with its ground as one prism, and the bottom."""
        start, near, far, end = self.x_breaks()
        bottom = -self.depth - FLOOR_DEPTH
        before, behind = min(start, 0.0) - BANK_REACH, max(end, 0.0) + BANK_REACH
        near_root = run_on((start, 0.0), (near, -self.depth))
        far_root = run_on((end, 0.0), (far, -self.depth))
        near_bank = ((before, bottom), (near_root[0], bottom), near_root, (start, 0.0), (before, 0.0))
        far_bank = ((far_root[0], bottom), (behind, bottom), (behind, 0.0), (end, 0.0), far_root)
        return (
            Prism(near_bank, 2 * FLOOR_REACH),
            Prism(far_bank, 2 * FLOOR_REACH),
            floor_piece(start, end, top=-self.depth),
        )

    def x_breaks(self) -> tuple[float, ...]:
        """Return tops and feet of the two sides [m]."""
        return _breaks(self.distance, self.top_length, self.bottom_length)

    def _sample(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.interp(x, self.x_breaks(), (0.0, -self.depth, -self.depth, 0.0))


def _breaks(start: float, outer: float, inner: float) -> tuple[float, float, float, float]:
    """Return the corners of a symmetric trapezoid that begins at `start` [m]."""
    run = (outer - inner) / 2
    return (start, start + run, start + run + inner, start + outer)
