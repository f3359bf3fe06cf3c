"""Ground as kernels read it: convex solids as planes and edges, and grids of heights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.ground.polyhedra import polyhedra
from segtrack.terrain import Heightfield, Terrain
from segtrack.terrain.soil import Soil, SoilConstants
from segtrack.terrain.solids import HeightGrid

RIGID = -1
"""In place of the row of a soil: there is none."""


class Ground(NamedTuple):
    """All solids of all terrains, in the world. S of them are convex, G are grids of heights.

    Attributes:
        planes: Outward normal and offset of the convex solids' faces (S, faces, 4): a point is
            inside where normal . point < offset for all of them. Those that look up come first.
        faces: How many faces each has (S,).
        bounds: Least x, y, z and greatest x, y, z of the convex solids, then of the grids (S + G, 6) [m].
        friction: Of the convex solids, then of the grids (S + G,) [-].
        solid_soils: The row of each convex solid's soil (S,), or `RIGID`.
        edges: Both ends of the convex solids' edges (E, 6) [m].
        edge_friction: Of the solids to which they belong (E,) [-].
        edge_starts: Where the edges of each convex solid begin, and where the last end (S + 1,).
        heights: Of all grids' points, the y index runs fastest (H,) [m].
        point_soils: The row of the soil at each of these points (H,), or `RIGID`.
        grid_starts: Where each grid's points begin (G,).
        grid_shapes: Points along x and along y (G, 2).
        grid_origins: x and y of each grid's first point (G, 2) [m].
        cells: Distance between neighbouring points of each grid (G,) [m].
        soils: `SoilConstants`, a row each (T, 11).
    """

    planes: NDArray[np.float64]
    faces: NDArray[np.intp]
    bounds: NDArray[np.float64]
    friction: NDArray[np.float64]
    solid_soils: NDArray[np.intp]
    edges: NDArray[np.float64]
    edge_friction: NDArray[np.float64]
    edge_starts: NDArray[np.intp]
    heights: NDArray[np.float64]
    point_soils: NDArray[np.intp]
    grid_starts: NDArray[np.intp]
    grid_shapes: NDArray[np.intp]
    grid_origins: NDArray[np.float64]
    cells: NDArray[np.float64]
    soils: NDArray[np.float64]


def pack_ground(terrains: Sequence[Terrain]) -> Ground:
    """Lay out terrains for kernels.

    Raises:
        InvalidValueError: A mesh with a piece that is not closed and convex.
    """
    rows: dict[Soil, int] = {}

    def row_of(soil: Soil | None) -> int:
        return RIGID if soil is None else rows.setdefault(soil, len(rows))

    bodies, body_friction, body_soils = [], [], []
    grids, grid_friction, point_soils = [], [], []
    for terrain in terrains:
        for solid in terrain.solids():
            if isinstance(solid, HeightGrid):
                at_points = terrain.soils if isinstance(terrain, Heightfield) else None
                if at_points is None:
                    points = np.full(solid.heights.size, row_of(terrain.soil), dtype=np.intp)
                else:
                    points = np.array([row_of(soil) for soil in at_points.ravel().tolist()], dtype=np.intp)
                grids.append(solid)
                grid_friction.append(terrain.friction)
                point_soils.append(points)
            else:
                for body in polyhedra(solid):
                    bodies.append(body)
                    body_friction.append(terrain.friction)
                    body_soils.append(row_of(terrain.soil))

    width = max((len(body.planes) for body in bodies), default=0)
    planes = np.zeros((len(bodies), width, 4))
    for i, body in enumerate(bodies):
        planes[i, : len(body.planes)] = body.planes
    sizes = [grid.heights.size for grid in grids]
    shapes = np.array([grid.heights.shape for grid in grids], dtype=np.intp).reshape(-1, 2)
    cells = np.array([grid.cell for grid in grids], dtype=float)
    centers = np.array([grid.center_in_world for grid in grids], dtype=float).reshape(-1, 2)
    origins = centers - cells[:, None] * (shapes - 1) / 2
    ends = origins + cells[:, None] * (shapes - 1)
    grid_bounds = [
        (*origin, -math.inf, *end, grid.heights.max())
        for grid, origin, end in zip(grids, origins, ends, strict=True)
    ]
    return Ground(
        planes,
        np.array([len(body.planes) for body in bodies], dtype=np.intp),
        np.array([body.bounds for body in bodies] + grid_bounds, dtype=float).reshape(-1, 6),
        np.array(body_friction + grid_friction, dtype=float),
        np.array(body_soils, dtype=np.intp),
        np.concatenate([np.zeros((0, 6)), *(body.edges for body in bodies)]),
        np.repeat(np.array(body_friction, dtype=float), [len(body.edges) for body in bodies]),
        np.cumsum([0, *(len(body.edges) for body in bodies)], dtype=np.intp),
        np.concatenate([np.zeros(0), *(grid.heights.ravel() for grid in grids)]),
        np.concatenate([np.zeros(0, dtype=np.intp), *point_soils]),
        np.cumsum([0, *sizes], dtype=np.intp)[:-1],
        shapes,
        origins,
        cells,
        np.array([soil.constants for soil in rows], dtype=float).reshape(-1, len(SoilConstants._fields)),
    )
