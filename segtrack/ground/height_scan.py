"""Heights of the ground under many points of many grounds, sampled in one call."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segtrack.ground.relief import BOX, CYLINDER, Relief
from segtrack.kernels import Packed, compiled, entry, item
from segtrack.terrain import ON_FACE, UPRIGHT_PART

_TOGETHER = 8
"""Neighbouring points for which what is near is listed once: those of a height scan's cell."""


def sample_reliefs(
    reliefs: Packed, indices: NDArray[np.intp], x: NDArray[np.float64], y: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Sample heights under points of several grounds each.

    Args:
        reliefs: Packed `Relief` of each ground.
        indices: Index of the ground of each row of points (n,).
        x: World x (n, ...) [m].
        y: World y, of the same shape [m].

    Returns:
        Heights of the same shape [m], as `Terrain.height_at`.
    """
    heights = np.empty(x.shape)
    if x.size:
        rows = [np.ascontiguousarray(points).reshape(len(indices), -1) for points in (x, y, heights)]
        _sample_all(reliefs, indices, *rows, _lists(reliefs, indices))
    return heights


def sample_cells(
    reliefs: Packed,
    indices: NDArray[np.intp],
    frames: NDArray[np.float64],
    cells: NDArray[np.float64],
    means: NDArray[np.float64],
) -> None:
    """Write mean heights in the cells of grids, each somewhere on one of several grounds, somehow turned.

    Args:
        reliefs: Packed `Relief` of each ground.
        indices: Index of the ground of each grid (n,).
        frames: Origin of each grid in the world [m], cosine and sine of its heading (n, 4).
        cells: Points along x and along y of a grid's frame, of each cell (2, c, m) [m].
        means: Mean heights [m], added in the order of the points, are written here (n, c).
    """
    if means.size:
        points, near = np.empty((3, cells[0].size)), _lists(reliefs, indices)
        _sample_grids(reliefs, indices, frames, *np.ascontiguousarray(cells), means, points, near)


def _lists(reliefs: Packed, indices: NDArray[np.intp]) -> NDArray[np.int32]:
    """Room for lists of solids (3, s), of which the first row counts up."""
    grounds: Any = reliefs.items
    size = max(len(grounds[index].kinds) for index in set(indices.tolist()))
    near = np.empty((3, size), dtype=np.int32)
    near[0] = np.arange(size)
    return near


@entry
def _sample_all(
    reliefs: Packed,
    indices: NDArray[np.intp],
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    heights: NDArray[np.float64],
    near: NDArray[np.int32],
) -> None:
    """Write heights (n, k) [m]; the first row of `near` (3, s) counts up, the others are written over."""
    for i in range(len(indices)):
        _sample_row(item(reliefs, indices[i]), x[i], y[i], heights[i], near)


@entry
def _sample_grids(
    reliefs: Packed,
    indices: NDArray[np.intp],
    frames: NDArray[np.float64],
    ahead: NDArray[np.float64],
    left: NDArray[np.float64],
    means: NDArray[np.float64],
    points: NDArray[np.float64],
    near: NDArray[np.int32],
) -> None:
    """Write means of cells (n, c), as `sample_cells`; `points` (3, c m) and `near` are written over."""
    count, each = ahead.shape
    for i in range(len(indices)):
        for c in range(count):
            for k in range(each):
                x, y = place_in_world(frames[i], ahead[c, k], left[c, k])
                points[0, c * each + k], points[1, c * each + k] = x, y
        _sample_row(item(reliefs, indices[i]), points[0], points[1], points[2], near)
        for c in range(count):
            total = 0.0
            for k in range(each):
                total += points[2, c * each + k]
            means[i, c] = total / each


@compiled
def place_in_world(frame: NDArray[np.float64], ahead: float, left: float) -> tuple[float, float]:
    """World x and y of a point of a frame (4,), as of `sample_cells` [m]."""
    cosine, sine = frame[2], frame[3]
    return cosine * ahead - sine * left + frame[0], sine * ahead + cosine * left + frame[1]


@compiled
def _sample_row(
    relief: Relief,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    heights: NDArray[np.float64],
    near: NDArray[np.int32],
) -> None:
    """Write heights under points of one ground (k,) [m]."""
    points = len(x)
    if len(relief.heights) > 0:
        for k in range(points):
            heights[k] = grid_height(relief, x[k], y[k])
        return
    around = _list_near(relief.bounds, near[0], len(relief.kinds), x, y, 0, points, near[1])
    for first in range(0, points, _TOGETHER):
        last = min(first + _TOGETHER, points)
        count = _list_near(relief.bounds, near[1], around, x, y, first, last, near[2])
        for k in range(first, last):
            heights[k] = highest(relief, near[2], count, x[k], y[k])


@compiled
def _list_near(
    bounds: NDArray[np.float64],
    candidates: NDArray[np.int32],
    count: int,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    first: int,
    last: int,
    found: NDArray[np.int32],
) -> int:
    """List those of so many candidates, in their order, that points from `first` to before `last` may be on.

    Returns:
        Number of them.
    """
    low_x, low_y, high_x, high_y = math.inf, math.inf, -math.inf, -math.inf
    for k in range(first, last):
        low_x, high_x = min(low_x, x[k]), max(high_x, x[k])
        low_y, high_y = min(low_y, y[k]), max(high_y, y[k])
    listed = 0
    for c in range(count):
        solid = candidates[c]
        if (
            bounds[solid, 0] <= high_x
            and bounds[solid, 2] >= low_x
            and bounds[solid, 1] <= high_y
            and bounds[solid, 3] >= low_y
        ):
            found[listed] = solid
            listed += 1
    return listed


@compiled
def highest(relief: Relief, near: NDArray[np.int32], count: int, x: float, y: float) -> float:
    """Height of the highest of so many solids, of which the higher ones come first [m]."""
    height = -math.inf
    for k in range(count):
        solid = near[k]
        if height >= relief.bounds[solid, 4]:
            break
        if relief.kinds[solid] == BOX:
            height = max(height, _box_height(relief.shapes[solid], x, y))
        else:
            height = max(height, _column_height(relief, solid, x, y))
    return relief.level if height == -math.inf else height


@compiled
def _box_height(box: NDArray[np.float64], x: float, y: float) -> float:
    """Top of an upright box, or -inf beside it [m]."""
    along, across = x - box[0], y - box[1]
    cosine, sine = box[5], box[6]
    if sine != 0.0:
        along, across = cosine * along + sine * across, cosine * across - sine * along
    return box[4] if abs(along) <= box[2] and abs(across) <= box[3] else -math.inf


@compiled
def _column_height(relief: Relief, solid: int, x: float, y: float) -> float:
    """Upper end of the vertical line through a polyhedron or a cylinder, or -inf beside it [m]."""
    low, high = -math.inf, math.inf
    for f in range(relief.face_starts[solid], relief.face_starts[solid + 1]):
        up = relief.faces[f, 2]
        room = relief.faces[f, 3] - (relief.faces[f, 0] * x + relief.faces[f, 1] * y)
        if up > UPRIGHT_PART:
            high = min(high, room / up)
        elif up < -UPRIGHT_PART:
            low = max(low, room / up)
        elif room < -ON_FACE:
            return -math.inf
    if relief.kinds[solid] == CYLINDER:
        shape = relief.shapes[solid]
        axis_x, axis_y, axis_z, radius = shape[3], shape[4], shape[5], shape[6]
        away_x, away_y = x - shape[0], y - shape[1]
        along = away_x * axis_x + away_y * axis_y
        # From the axis's line, at the centre's height; and how that changes with the height.
        across_x, across_y, across_z = away_x - along * axis_x, away_y - along * axis_y, -along * axis_z
        rise_x, rise_y, rise_z = -axis_z * axis_x, -axis_z * axis_y, 1.0 - axis_z * axis_z
        a = rise_x * rise_x + rise_y * rise_y + rise_z * rise_z
        b = across_x * rise_x + across_y * rise_y + across_z * rise_z
        c = across_x * across_x + across_y * across_y + across_z * across_z - radius * radius
        if a < UPRIGHT_PART:
            if c > 2 * radius * ON_FACE:
                return -math.inf
        else:
            if b * b < a * c:
                return -math.inf
            root = math.sqrt(b * b - a * c)
            low, high = max(low, shape[2] + (-b - root) / a), min(high, shape[2] + (-b + root) / a)
    return high if low <= high else -math.inf


@compiled
def grid_height(relief: Relief, x: float, y: float) -> float:
    """Height of the triangle of a grid at a place, or -inf beside the grid [m]."""
    heights, spacing = relief.heights, relief.spacing
    i = _grid_cell(x, relief.center_x, spacing, heights.shape[0])
    j = _grid_cell(y, relief.center_y, spacing, heights.shape[1])
    if i < 0 or j < 0:
        return -math.inf
    u = (x - _grid_line(i, relief.center_x, spacing, heights.shape[0])) / spacing
    v = (y - _grid_line(j, relief.center_y, spacing, heights.shape[1])) / spacing
    near, along_x, along_y, far = heights[i, j], heights[i + 1, j], heights[i, j + 1], heights[i + 1, j + 1]
    if u + v <= 1:
        return near + u * (along_x - near) + v * (along_y - near)
    return far + (1 - u) * (along_y - far) + (1 - v) * (along_x - far)


@compiled
def _grid_line(i: int, center: float, spacing: float, points: int) -> float:
    """World x or y of a grid line [m]."""
    return center + spacing * (i - (points - 1) / 2)


@compiled
def _grid_cell(place: float, center: float, spacing: float, points: int) -> int:
    """Index of the cell that a place along x or y is in, or -1 beside the grid."""
    first = _grid_line(0, center, spacing, points)
    if not first <= place <= _grid_line(points - 1, center, spacing, points):
        return -1
    cell = min(max(int((place - first) / spacing), 0), points - 2)
    while cell > 0 and _grid_line(cell, center, spacing, points) > place:
        cell -= 1
    while cell < points - 2 and _grid_line(cell + 1, center, spacing, points) <= place:
        cell += 1
    return cell
