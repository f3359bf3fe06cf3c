"""A random step field, as response robots are tested on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from segtrack.terrain.base import Terrain
from segtrack.terrain.checks import check_count, check_finite, check_positive
from segtrack.terrain.floor import FLOOR_DEPTH, block, floor
from segtrack.terrain.solids import Solid


@dataclass(frozen=True, kw_only=True)
class StepField(Terrain):
    """A grid of square posts of random height on flat ground, centred on y = 0.

    Attributes:
        max_height: Heights are uniform between 0 and this [m].
        cell: Edge of a post [m].
        rows: Number of posts along x.
        columns: Number of posts along y.
        distance: World x where the field begins [m].
        seed: Seed of the heights; equal seeds make equal fields.
    """

    max_height: float
    cell: float
    rows: int
    columns: int
    distance: float
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what is no length and no count."""
        super().__post_init__()
        check_positive(self, "max_height", "m")
        check_positive(self, "cell", "m")
        check_count(self, "rows")
        check_count(self, "columns")
        check_finite(self, "distance", "m")
        check_count(self, "seed", least=0)

    @cached_property
    def heights(self) -> NDArray[np.float64]:
        """Heights of the posts [m], shape (rows, columns), read-only."""
        heights = np.random.default_rng(self.seed).uniform(0.0, self.max_height, (self.rows, self.columns))
        heights.flags.writeable = False
        return heights

    @cached_property
    def _x_edges(self) -> NDArray[np.float64]:
        return np.asarray(self.distance + self.cell * np.arange(self.rows + 1), dtype=float)

    @cached_property
    def _y_edges(self) -> NDArray[np.float64]:
        return np.asarray(self.cell * (np.arange(self.columns + 1) - self.columns / 2), dtype=float)

    def solids(self) -> tuple[Solid, ...]:
        """Return the floor and the posts, sunk into it."""
        x, y = self._x_edges.tolist(), self._y_edges.tolist()
        return (
            *floor(),
            *(
                block(x[row], x[row + 1], y[column], y[column + 1], top, top + FLOOR_DEPTH / 2)
                for (row, column), top in np.ndenumerate(self.heights)
            ),
        )

    def x_breaks(self) -> tuple[float, ...]:
        """Return the faces between the rows [m]."""
        return tuple(self._x_edges.tolist())

    def _sample(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        framed = np.pad(self.heights, 1)
        height = np.zeros(x.shape)
        for row_side in ("left", "right"):  # on a face the two sides are two posts
            row = np.searchsorted(self._x_edges, x, side=row_side)
            for column_side in ("left", "right"):
                column = np.searchsorted(self._y_edges, y, side=column_side)
                height = np.maximum(height, framed[row, column])
        return height
