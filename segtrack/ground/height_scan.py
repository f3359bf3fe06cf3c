"""Heights of the ground under many points of many grounds, sampled in one call."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.geometry import Box, Cylinder, Hull
from segtrack.ground.depth import height_in_cell
from segtrack.kernels import Packed, compiled, entry, item
from segtrack.terrain import (
    ON_FACE,
    UPRIGHT_PART,
    ConvexSolid,
    HalfSpace,
    HalfSpaces,
    Heightfield,
    HeightGrid,
    Mesh,
    Prism,
    RoundColumn,
    Terrain,
    TriangleMesh,
    column_of,
)

BOX, POLYHEDRON, CYLINDER = 0, 1, 2
"""Kinds of solids: an upright box at any yaw; faces; a cylinder's mantle between the faces of its ends."""
_MARGIN = 1e-9
"""Distance from a solid from which on it is looked past for certain [m]."""


class Relief(NamedTuple):
    """Upper surface of one terrain: S convex solids, the highest ones first, or a grid of heights.

    Attributes:
        bounds: Least x and y, greatest x and y, and top of the solids, with a margin (S, 5) [m].
        kinds: Kind of each solid (S,).
        shapes: Numbers of each solid (S, 7): a box's x and y, reach along its axes and top [m], cosine and
            sine of its yaw; a cylinder's centre [m], axis and radius [m].
        faces: Outward normals and offsets of the solids' faces (F, 4); a box has none here.
        face_starts: Indices at which the faces of each solid begin, and the last end (S + 1,).
        level: Height where there is no solid [m].
        heights: Heights of a grid's points (points along x, points along y) [m]; without a grid (0, 0).
        spacing: Distance between neighbouring points of the grid; negative where they run backwards along x,
            see `HeightGrid.runs` [m].
        center_x: World x of its centre [m].
        center_y: World y of its centre [m].
    """

    bounds: NDArray[np.float64]
    kinds: NDArray[np.intp]
    shapes: NDArray[np.float64]
    faces: NDArray[np.float64]
    face_starts: NDArray[np.intp]
    level: float
    heights: NDArray[np.float64]
    spacing: float
    center_x: float
    center_y: float


def pack_relief(terrain: Terrain) -> Relief:
    """Lay out the heights of a terrain for kernels.

    Raises:
        InvalidValueError: A mesh, which has no heights.
    """
    if isinstance(terrain, Mesh):
        terrain.x_breaks()
    solids = terrain.solids()
    rows = [_row(solid) for solid in solids if not isinstance(solid, HeightGrid | TriangleMesh)]
    rows.sort(key=lambda row: -row.top)
    faces = [row.faces for row in rows]
    grid = solids[0] if isinstance(terrain, Heightfield) else None
    heights, spacing, center = np.zeros((0, 0)), 0.0, (0.0, 0.0)
    if isinstance(grid, HeightGrid):
        own, spacing = grid.runs
        heights, center = np.array(own, order="C"), grid.center_in_world
    return Relief(
        np.array([(*row.low, *row.high, row.top) for row in rows], dtype=float).reshape(-1, 5)
        + (-_MARGIN, -_MARGIN, _MARGIN, _MARGIN, _MARGIN),
        np.array([row.kind for row in rows], dtype=np.intp),
        np.array([row.shape for row in rows], dtype=float).reshape(-1, 7),
        np.concatenate([np.zeros((0, 4)), *faces]),
        np.cumsum([0, *map(len, faces)], dtype=np.intp),
        float(terrain.level_ground),
        heights,
        float(spacing),
        float(center[0]),
        float(center[1]),
    )


class _Row(NamedTuple):
    """One solid; its attributes as in `Relief`, and least and greatest x and y (2,) [m]."""

    kind: int
    low: Iterable[float]
    high: Iterable[float]
    top: float
    shape: tuple[float, ...] = (0.0,) * 7
    faces: NDArray[np.float64] = np.zeros((0, 4))


def _row(solid: ConvexSolid) -> _Row:
    """Lay out one solid."""
    if isinstance(solid, Box) and solid.quaternion[:2] == (0.0, 0.0):
        (length, width, height), (x, y, z) = solid.size, solid.center
        half_x, half_y, top = length / 2, width / 2, z + height / 2
        cosine, sine, reach_x, reach_y = 1.0, 0.0, half_x, half_y
        if solid.quaternion[2]:
            yaw = 2 * math.atan2(*solid.quaternion[2:])
            cosine, sine, reach_x = float(np.cos(yaw)), float(np.sin(yaw)), math.hypot(half_x, half_y)
            reach_y = reach_x
        shape = x, y, half_x + ON_FACE, half_y + ON_FACE, top, cosine, sine
        return _Row(BOX, (x - reach_x, y - reach_y), (x + reach_x, y + reach_y), top, shape)
    column = column_of(solid)
    spaces = column.ends if isinstance(column, RoundColumn) else column
    assert isinstance(spaces, HalfSpaces)
    faces = np.column_stack([spaces.normals, spaces.offsets])
    match solid:
        case HalfSpace(point, normal):
            top = point[2] if normal == (0.0, 0.0, 1.0) else math.inf
            return _Row(POLYHEDRON, (-math.inf,) * 2, (math.inf,) * 2, top, faces=faces)
        case Cylinder(radius, length, center):
            axis = spaces.normals[0]
            reach = np.abs(axis) * length / 2 + radius * np.sqrt(np.maximum(1 - axis**2, 0.0))
            low, high = (center - reach).tolist(), (center + reach).tolist()
            return _Row(CYLINDER, low[:2], high[:2], high[2], (*center, *axis.tolist(), radius), faces)
        case Box(size, center):
            reach = np.abs(spaces.normals[:3]).T @ size / 2
            low, high = center - reach, center + reach
        case Prism() | Hull():
            points = (solid.hull if isinstance(solid, Prism) else solid).points
            low, high = points.min(axis=0), points.max(axis=0)
    return _Row(POLYHEDRON, low[:2].tolist(), high[:2].tolist(), float(high[2]), faces=faces)


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
    heights, spacing = relief.heights, abs(relief.spacing)
    if relief.spacing < 0.0:
        x = 2.0 * relief.center_x - x
    i = _grid_cell(x, relief.center_x, spacing, heights.shape[0])
    j = _grid_cell(y, relief.center_y, spacing, heights.shape[1])
    if i < 0 or j < 0:
        return -math.inf
    u = (x - _grid_line(i, relief.center_x, spacing, heights.shape[0])) / spacing
    v = (y - _grid_line(j, relief.center_y, spacing, heights.shape[1])) / spacing
    near, along_x, along_y, far = heights[i, j], heights[i + 1, j], heights[i, j + 1], heights[i + 1, j + 1]
    return height_in_cell(near, along_x, along_y, far, u, v)[0]


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
