"""Terrain as a triangle mesh."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.spatial.transform import Rotation

from segtrack.rendering.materials import COLOURS, Colour
from segtrack.rendering.mesh import ColouredMesh, box, coloured, convex, from_file, join, of_solid, prism
from segtrack.terrain import Terrain
from segtrack.terrain.solids import (
    FLOOR_DEPTH,
    FLOOR_REACH,
    UPRIGHT,
    Box,
    Cylinder,
    HalfSpace,
    HeightGrid,
    Hull,
    Prism,
    Solid,
)

_RISE, _FULL_RISE = 1e-4, 0.04
"""Heights above the floor at which an obstacle begins, and has its full colour [m]."""
_SIDE = 1e-4
"""Faces are sides, or level, if their normal's vertical part differs so little from 0, or 1."""
_DEEP = 100.0
"""Depth by which floors are drawn lower than they are [m], so that a cut shows ground to the edge."""


def ground_mesh(terrains: Iterable[Terrain]) -> ColouredMesh:
    """Return all surfaces of terrains in the world, closed ones from outside; their floors reach far down."""
    meshes = []
    for terrain in terrains:
        soft = terrain.soil is not None or getattr(terrain, "soils", None) is not None
        for solid in terrain.solids():
            meshes.append(mesh := _mesh(solid, COLOURS["soil" if soft else "floor"]))
            if not soft:
                _paint_obstacle(mesh)
            lowest = mesh.points[:, 2].min()
            if _is_upright(solid) and lowest <= -FLOOR_DEPTH / 2:
                mesh.points[mesh.points[:, 2] <= lowest + 1e-6, 2] -= _DEEP
    return join(meshes)


def _paint_obstacle(mesh: ColouredMesh) -> None:
    """Colour what rises above the floor's level, slopes that fall below it and what is level below them.

    The first centimetres have a mixed colour, by their height, so that smooth ground has no seams.
    """
    heights, upright = mesh.points[:, 2][mesh.triangles], np.abs(mesh.normals()[:, 2])
    if mesh.points[:, 2].max() > _RISE:
        off = heights.max(axis=1)
    else:
        is_floor = (upright < _SIDE) | (upright > 1 - _SIDE) & (heights.max(axis=1) > -_RISE)
        off = np.where(is_floor, 0.0, -heights.min(axis=1))
    share = np.clip(off / _FULL_RISE, 0.0, 1.0)[:, None]
    floor, obstacle = np.array(COLOURS["floor"]), np.array(COLOURS["obstacle"])
    mesh.colours[:] = floor + (obstacle - floor) * share


def _is_upright(solid: Solid) -> bool:
    """Whether a solid's lower side is level."""
    upright_box = isinstance(solid, Box) and solid.quaternion == UPRIGHT
    return upright_box or isinstance(solid, Prism)


def _mesh(solid: Solid, colour: Colour) -> ColouredMesh:
    match solid:
        case Box(_, center, quaternion) | Cylinder(_, _, center, quaternion):
            return of_solid(solid, colour).moved(Rotation.from_quat(quaternion).as_matrix(), center)
        case HalfSpace(point, normal):
            half = (FLOOR_REACH, FLOOR_REACH, FLOOR_DEPTH / 2)
            turn = Rotation.align_vectors([normal], [(0.0, 0.0, 1.0)])[0].as_matrix()
            return box(half, colour).moved(turn, point - turn @ (0.0, 0.0, FLOOR_DEPTH / 2))
        case Hull():
            return convex(solid.points, colour)
        case Prism(outline, width):
            return prism(outline, -width / 2, width / 2, colour)
        case HeightGrid():
            return _grid(solid, colour)
        case _:
            surface = from_file(str(solid.file), (solid.scale,) * 3, colour)
            turn = Rotation.from_quat(solid.quaternion_mesh_to_world).as_matrix()
            return surface.moved(turn, solid.position_in_world)


def _grid(grid: HeightGrid, colour: Colour) -> ColouredMesh:
    """A heightfield, closed below so that it can be cut."""
    nx, ny = grid.heights.shape
    x = grid.center_in_world[0] + grid.spacing * (np.arange(nx) - (nx - 1) / 2)
    y = grid.center_in_world[1] + grid.spacing * (np.arange(ny) - (ny - 1) / 2)
    top = np.stack([*np.meshgrid(x, y, indexing="ij"), grid.heights], axis=-1).reshape(-1, 3)
    bottom = top.copy()
    bottom[:, 2] = grid.heights.min() - _DEEP
    index = np.arange(nx * ny).reshape(nx, ny)
    a, b, c, d = index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]
    upper = [(a, b, d), (b, c, d)]
    rim = np.concatenate([index[:-1, 0], index[-1, :-1], index[:0:-1, -1], index[0, :0:-1]])
    after, below = np.roll(rim, -1), nx * ny
    faces = [np.stack([corner.ravel() for corner in three], axis=1) for three in upper]
    faces.append(np.stack([rim, rim + below, after + below], axis=1))
    faces.append(np.stack([rim, after + below, after], axis=1))
    low = index[[0, 0, -1, -1], [0, -1, -1, 0]] + below
    faces.append(np.array([low[[0, 1, 2]], low[[0, 2, 3]]]))
    return coloured(np.concatenate([top, bottom]), np.concatenate(faces), colour)
