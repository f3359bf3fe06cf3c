"""Terrain in an MjSpec, for what MuJoCo collides: hulls, arms, loose bodies. Belts have it from `ground`."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from segtrack.geometry import Box, Cylinder, Hull, quaternion_of, rotation_of
from segtrack.ground import polyhedra
from segtrack.mujoco.spec import add_hull
from segtrack.native import HULL_FRICTION
from segtrack.terrain import HalfSpace, HeightGrid, Prism, Solid, Terrain, TriangleMesh

_Z_TO_Y = rotation_of((-np.pi / 2, 0.0, 0.0))
"""Quarter turn about x that turns z, the axis of MuJoCo's cylinders, to y, that of ours."""
_REACH = 50.0
"""Distance from a plane's point to the edges that are shown [m]; it is endless."""
_THINNEST = 1e-3
"""Least thickness of a heightfield from its lowest point to its highest [m]."""
_BASE = 1.0
"""Thickness of a heightfield below its lowest point [m]."""
_PRIORITY = 2
"""MuJoCo takes the friction of the geom with the higher priority, and hulls have 1."""


def add_terrain(spec: Any, terrain: Terrain, name: str) -> None:
    """Add the solids of a terrain to an MjSpec, with the friction that it has with hulls.

    The cells of a `HeightGrid` whose diagonals do not rise are cut the other way.

    Args:
        spec: The MjSpec.
        terrain: The terrain.
        name: Text before the names of its geoms.

    Raises:
        InvalidValueError: A mesh with a piece that is not closed and convex.
    """
    for i, solid in enumerate(terrain.solids()):
        for k, geom in enumerate(_geoms(spec, solid, f"{name}_{i}")):
            geom.name = f"{name}_{i}_{k}"
            geom.friction[0], geom.priority = HULL_FRICTION * terrain.friction, _PRIORITY


def _geoms(spec: Any, solid: Solid, name: str) -> list[Any]:
    """Geoms of a solid."""
    if isinstance(solid, TriangleMesh):
        pieces = polyhedra([solid])
        corners = [np.unique(piece.edges.reshape(-1, 3), axis=0) for piece in pieces]
        return [_hull(spec, f"{name}_{k}", own) for k, own in enumerate(corners)]
    if isinstance(solid, Hull | Prism):
        return [_hull(spec, name, (solid.hull if isinstance(solid, Prism) else solid).points)]
    geom = spec.worldbody.add_geom()
    match solid:
        case Box(size, center, quaternion):
            geom.type, geom.size, geom.pos = mujoco.mjtGeom.mjGEOM_BOX, np.array(size) / 2, center
            geom.quat = _real_first(quaternion)
        case Cylinder(radius, length, center, quaternion):
            geom.type, geom.size = mujoco.mjtGeom.mjGEOM_CYLINDER, (radius, length / 2, 0.0)
            turn = np.zeros(9)
            mujoco.mju_quat2Mat(turn, np.array(_real_first(quaternion)))
            geom.pos, geom.quat = center, _real_first(quaternion_of(turn.reshape(3, 3) @ _Z_TO_Y))
        case HalfSpace(point):
            geom.type, geom.size = mujoco.mjtGeom.mjGEOM_PLANE, (_REACH, _REACH, 1.0)
            geom.pos, geom.quat = point, _real_first(solid.turn.as_quat().tolist())
        case HeightGrid():
            _fill_field(spec, geom, name, solid)
    return [geom]


def _hull(spec: Any, name: str, points: NDArray[np.float64]) -> Any:
    geom = spec.worldbody.add_geom()
    add_hull(spec, geom, name, points)
    return geom


def _fill_field(spec: Any, geom: Any, name: str, grid: HeightGrid) -> None:
    """Make a geom a heightfield."""
    low, points = float(grid.heights.min()), np.array(grid.heights.shape)
    top = max(float(np.ptp(grid.heights)), _THINNEST)
    half_x, half_y = (grid.spacing * (points - 1) / 2).tolist()
    spec.add_hfield(
        name=name,
        nrow=int(points[1]),
        ncol=int(points[0]),
        size=(half_x, half_y, top, _BASE),
        userdata=((grid.heights - low) / top).T.ravel(),
    )
    geom.type, geom.hfieldname = mujoco.mjtGeom.mjGEOM_HFIELD, name
    geom.pos = (*grid.center_in_world, low)


def _real_first(quaternion: Any) -> tuple[float, float, float, float]:
    """Quaternion (x, y, z, w) as MuJoCo writes it, (w, x, y, z)."""
    x, y, z, w = quaternion
    return w, x, y, z
