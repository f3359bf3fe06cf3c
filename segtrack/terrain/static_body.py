"""Solids at any pose: what a course is built of, or a static body of somebody's own program."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import InvalidValueError
from segtrack.terrain.base import Terrain
from segtrack.terrain.columns import Column, column_of
from segtrack.terrain.solids import Box, Cylinder, HalfSpace, Hull, Solid

_ROUNDING = 12
"""Decimals of a break [m]; faces of two solids that are in one place give one."""


@dataclass(frozen=True, kw_only=True)
class StaticBody(Terrain):
    """Convex solids at any pose; no floor around them.

    Its height is that of the highest solid there, even if there is room beneath.

    Attributes:
        parts: `Box`, `Cylinder`, `HalfSpace` or `Hull` of `segtrack.terrain.solids`, at least one.
        name: By which its owner knows it.
    """

    parts: tuple[Solid, ...]
    name: str = "static body"

    def __post_init__(self) -> None:
        """Refuse what are no convex solids."""
        super().__post_init__()
        parts = tuple(self.parts) if isinstance(self.parts, Iterable) else ()
        if not parts or not all(isinstance(part, Box | Cylinder | HalfSpace | Hull) for part in parts):
            raise InvalidValueError("StaticBody.parts", "at least one convex solid", self.parts)
        object.__setattr__(self, "parts", parts)

    def solids(self) -> tuple[Solid, ...]:
        """Return the solids."""
        return self.parts

    @cached_property
    def _columns(self) -> tuple[Column, ...]:
        return tuple(
            column_of(part) for part in self.parts if isinstance(part, Box | Cylinder | HalfSpace | Hull)
        )

    def x_breaks(self) -> tuple[float, ...]:
        """Return the corners of each solid in y = 0 [m]; where two solids meet is none."""
        corners = np.concatenate([column.corners() for column in self._columns])
        return tuple(np.unique(np.round(corners, _ROUNDING)).tolist())

    def _sample(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        height = np.full(x.size, -math.inf)
        for column in self._columns:
            low, high = column.span(x.ravel(), y.ravel())
            height = np.maximum(height, np.where(low <= high, high, -math.inf))
        return height.reshape(x.shape)
