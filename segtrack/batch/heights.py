"""Heights of the ground under the vehicles of a batch."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segtrack.batch.arguments import array_of, points_of_each
from segtrack.batch.commands import BatchCommands
from segtrack.batch.fleet import Fleet
from segtrack.batch.ground import GroundLibrary
from segtrack.batch.threads import Threads
from segtrack.errors import InvalidValueError, Phrase

_TOGETHER = 64
"""Vehicles for which another thread is worth its while."""


class BatchHeights(BatchCommands):
    """Vehicles of a batch and their grounds, whose heights are sampled."""

    __slots__ = ("_grounds", "_threads")

    def __init__(self, fleet: Fleet, grounds: GroundLibrary, threads: Threads) -> None:
        """Take a fleet, its grounds, and threads to sample them."""
        super().__init__(fleet)
        self._grounds, self._threads = grounds, threads

    def height(self, x: ArrayLike, y: ArrayLike, vehicles: ArrayLike | None = None) -> NDArray[np.float64]:
        """Heights of each vehicle's ground under points of its own; -inf where there is none.

        Args:
            x: World x (n, ...) [m].
            y: World y, of the same shape [m].
            vehicles: Mask (N,) or indices (n,) of those that are asked; all if not given.

        Raises:
            InvalidValueError: Other shapes, or no such vehicle.
        """
        chosen = self._chosen(vehicles)
        return self._grounds.heights(self._fleet.terrain_of[chosen], *points_of_each(x, y, len(chosen)))

    def cell_heights(
        self,
        places: ArrayLike,
        headings: ArrayLike,
        cells: ArrayLike,
        vehicles: ArrayLike | None = None,
    ) -> NDArray[np.float64]:
        """Mean heights of each vehicle's ground in the cells of a grid, as a height scan has them.

        On a GPU they are sampled there, and the means alone come down.

        Args:
            places: World x and y of the grids' origins (n, 2) [m].
            headings: Angles from the world's to the grids' x axes, about z (n,) [rad].
            cells: Points of each cell in the grid's frame, the same for all (c, m, 2) [m].
            vehicles: Mask (N,) or indices (n,) of those that are asked; all if not given.

        Returns:
            Heights in the world (n, c) [m]; -inf where a cell has a point beside the ground, nan where a
            grid's place or heading is not finite.

        Raises:
            InvalidValueError: Other shapes, or no such vehicle.
        """
        chosen = self._chosen(vehicles)
        places = array_of("places [m]", places, (len(chosen), 2))
        headings = array_of("headings [rad]", headings, (len(chosen),))
        points = array_of("cells [m]", cells, (None, None, 2))
        if points.shape[1] == 0:
            raise InvalidValueError("cells [m]", "of a point or more each", Phrase(f"shape {points.shape}"))
        frames = np.column_stack([places, np.cos(headings), np.sin(headings)])
        unknown = ~np.isfinite(frames).all(axis=1)
        frames[unknown] = 0.0  # Kernels turn places into indices.
        grounds, means = self._fleet.terrain_of[chosen], np.empty((len(chosen), len(points)))
        reliefs, along = self._grounds.reliefs, np.moveaxis(points, 2, 0)
        parts = min(self._threads.count, max(len(chosen) // _TOGETHER, 1))
        ends = np.linspace(0, len(chosen), parts + 1).astype(int).tolist()
        spans = [slice(*span) for span in pairwise(ends)]
        sample = self._fleet.sample_cells
        self._threads.call([partial(sample, reliefs, grounds[s], frames[s], along, means[s]) for s in spans])
        means[unknown] = np.nan
        return means
