"""Upper surfaces of the ground, laid out for kernels that sample heights.

`Ground` has what contacts need, where a cylinder is a prism of many sides. Heights follow from the solids
themselves, by the same operations in the same order as in `segtrack.terrain`, and are equal to the bit to
`Terrain.height_at` but for cylinders, whose roots round otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.geometry import Box, Cylinder, Hull
from segtrack.terrain import (
    ON_FACE,
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
        spacing: Distance between neighbouring points of the grid [m].
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
        heights, spacing, center = np.array(grid.heights, order="C"), grid.spacing, grid.center_in_world
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
