"""GPU kernel that samples mean terrain heights in the cells of grids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import cuda
from numpy.typing import NDArray

from segtrack.batch.gpu_functions import gpu_function
from segtrack.ground import Relief, grid_height, highest, place_in_world

_place_in_world = gpu_function(place_in_world)
_grid_height = gpu_function(grid_height)
_highest = gpu_function(highest)


class JoinedReliefs(NamedTuple):
    """All reliefs concatenated in one set of arrays; fields that are missing here are as in `Relief`.

    Attributes:
        heights: Heights of all grid points, grid after grid, row by row (h,) [m].
        grids: Numbers of points of each grid along x and along y (n, 2).
        numbers: Level, spacing and centre (x, y) of each grid (n, 4) [m].
        spans: First and end row of each relief in `bounds` (`kinds` and `shapes`, too), `faces`,
            `face_starts` and `heights` (n, 4, 2).
        solids: Integers from 0 on, as many as any relief has solids.
    """

    bounds: NDArray[np.float64]
    kinds: NDArray[np.intp]
    shapes: NDArray[np.float64]
    faces: NDArray[np.float64]
    face_starts: NDArray[np.intp]
    heights: NDArray[np.float64]
    grids: NDArray[np.intp]
    numbers: NDArray[np.float64]
    spans: NDArray[np.intp]
    solids: NDArray[np.int32]


def join_reliefs(reliefs: Sequence[Relief]) -> JoinedReliefs:
    """Concatenate reliefs; one object given several times is stored once."""
    distinct = {id(relief): relief for relief in reliefs}
    parts, rows = list(distinct.values()), {key: k for k, key in enumerate(distinct)}
    order = [rows[id(relief)] for relief in reliefs]
    lengths = np.array([[len(p.bounds), len(p.faces), len(p.face_starts), p.heights.size] for p in parts])
    ends = lengths.cumsum(axis=0)
    return JoinedReliefs(
        np.concatenate([part.bounds for part in parts]),
        np.concatenate([part.kinds for part in parts]),
        np.concatenate([part.shapes for part in parts]),
        np.concatenate([part.faces for part in parts]),
        np.concatenate([part.face_starts for part in parts]),
        np.concatenate([part.heights.ravel() for part in parts]),
        np.array([part.heights.shape for part in parts], dtype=np.intp)[order],
        np.array([(p.level, p.spacing, p.center_x, p.center_y) for p in parts])[order],
        np.stack([ends - lengths, ends], axis=2)[order].astype(np.intp),
        np.arange(lengths[:, 0].max(), dtype=np.int32),
    )


@cuda.jit
def sample_cells(
    joined: JoinedReliefs,
    indices: NDArray[np.intp],
    frames: NDArray[np.float64],
    ahead: NDArray[np.float64],
    left: NDArray[np.float64],
    means: NDArray[np.float64],
) -> None:
    """Write the mean height of one cell per thread; arguments as in `height_scan.sample_cells`."""
    thread: int = cuda.grid(1)  # type: ignore[call-arg]
    count, each = ahead.shape
    i, c = thread // count, thread % count
    if i < len(indices):
        relief, total = _relief_view(joined, indices[i]), 0.0
        for k in range(each):
            x, y = _place_in_world(frames[i], ahead[c, k], left[c, k])
            if len(relief.heights) > 0:
                total += _grid_height(relief, x, y)
            else:
                total += _highest(relief, joined.solids, len(relief.kinds), x, y)
        means[i, c] = total / each


@cuda.jit(device=True)
def _relief_view(joined: JoinedReliefs, index: int) -> Relief:
    """View of one relief in the concatenated ones."""
    spans, numbers = joined.spans[index], joined.numbers[index]
    first, last = spans[0, 0], spans[0, 1]
    return Relief(
        joined.bounds[first:last],
        joined.kinds[first:last],
        joined.shapes[first:last],
        joined.faces[spans[1, 0] : spans[1, 1]],
        joined.face_starts[spans[2, 0] : spans[2, 1]],
        numbers[0],
        joined.heights[spans[3, 0] : spans[3, 1]].reshape(joined.grids[index, 0], joined.grids[index, 1]),
        numbers[1],
        numbers[2],
        numbers[3],
    )
