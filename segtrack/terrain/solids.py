"""Solids in the world that terrains consist of, and functions that make those on flat ground."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from segtrack.geometry import UPRIGHT, Box, Cylinder, Hull, Quaternion, Vector


@dataclass(frozen=True)
class HalfSpace:
    """Half-space below a plane.

    Attributes:
        point_in_world: Point of the plane [m].
        normal: Unit vector out of the ground.
    """

    point_in_world: Vector = (0.0, 0.0, 0.0)
    normal: Vector = (0.0, 0.0, 1.0)

    @property
    def turn(self) -> Rotation:
        """Rotation by which z becomes the normal."""
        return Rotation.align_vectors([self.normal], [(0.0, 0.0, 1.0)])[0]


@dataclass(frozen=True)
class Prism:
    """Convex polygon in the x-z plane, extruded along y and centred on y = 0.

    Attributes:
        outline: World x and z of the polygon's corners [m], counterclockwise
            with x to the right and z up.
        width: Extent along y [m].
    """

    outline: tuple[tuple[float, float], ...]
    width: float

    @property
    def hull(self) -> Hull:
        """Convex hull of its corners."""
        return Hull(tuple((x, y, z) for y in (-self.width / 2, self.width / 2) for x, z in self.outline))


@dataclass(frozen=True, eq=False)
class HeightGrid:
    """Height grid of square cells, two triangles each.

    A cell's triangles meet along the line from its corner at (larger x,
    smaller y) to its corner at (smaller x, larger y), or along the other one.

    Attributes:
        heights: Heights of the grid points [m], shape (points along x, points
            along y), read-only.
        spacing: Distance between neighbouring points, along x and along y [m].
        center_in_world: World x and y of the grid's centre [m].
        rising: True for the line from the corner of smaller x and y to that of larger x and y.
    """

    heights: NDArray[np.float64]
    spacing: float
    center_in_world: tuple[float, float]
    rising: bool = False

    @property
    def runs(self) -> tuple[NDArray[np.float64], float]:
        """Heights and spacing [m], both backwards along x where the diagonals rise.

        From there they fall, so that whoever reads a grid knows of one kind of cells.
        """
        return (self.heights[::-1], -self.spacing) if self.rising else (self.heights, self.spacing)


@dataclass(frozen=True)
class TriangleMesh:
    """Triangle mesh from a file, at a pose in the world.

    Attributes:
        file: OBJ or STL file, absolute.
        scale: Factor from the file's unit to metres.
        position_in_world: World position of the file's origin [m].
        quaternion_mesh_to_world: Rotation from the file's axes to the world's, (x, y, z, w).
    """

    file: Path
    scale: float
    position_in_world: Vector
    quaternion_mesh_to_world: Quaternion


ConvexSolid: TypeAlias = Box | HalfSpace | Cylinder | Prism | Hull
Solid: TypeAlias = ConvexSolid | HeightGrid | TriangleMesh

__all__ = [
    "UPRIGHT",
    "Box",
    "ConvexSolid",
    "Cylinder",
    "HalfSpace",
    "HeightGrid",
    "Hull",
    "Prism",
    "Quaternion",
    "Solid",
    "TriangleMesh",
    "Vector",
]


FLOOR_REACH = 50.0
"""Distance from the world's origin to the floor's edges [m]."""

FLOOR_DEPTH = 1.0
"""Thickness of a floor [m]; boxes on it are sunk half as deep."""

ROOT_DEPTH = 0.05
"""Depth to which sloping flanks run on below the ground [m]."""


def floor() -> tuple[Solid, ...]:
    """Return flat ground at z = 0, as every terrain with a floor builds it.

    A box: that of `Plane`, which is endless, is built as a wide one in Bullet, too, which keeps a single
    contact point for a flat grouser on a plane, always at the same corner, where a box makes four.
    """
    return (floor_piece(-FLOOR_REACH, FLOOR_REACH),)


def floor_piece(x_min: float, x_max: float, top: float = 0.0, depth: float = FLOOR_DEPTH) -> Box:
    """Return flat ground from world x `x_min` to `x_max` [m], over the floor's whole width."""
    return block(x_min, x_max, -FLOOR_REACH, FLOOR_REACH, top, depth)


def standing(x_min: float, x_max: float, width: float, top: float, root: float) -> Box:
    """Return a block across y = 0, from `root` below the ground to `top` above it [m]."""
    return block(x_min, x_max, -width / 2, width / 2, top, top + root)


def turned(
    center: tuple[float, float], size: tuple[float, float], yaw: float, top: float, root: float
) -> Box:
    """Return an upright box around a place in plan, of a length and width [m], rotated by a yaw [rad]."""
    depth = top + root
    turn = (0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2))
    return Box((*size, depth), (*center, top - depth / 2), turn)


def block(x_min: float, x_max: float, y_min: float, y_max: float, top: float, depth: float) -> Box:
    """Return an upright box between two x and two y, from `top` down by `depth` [m]."""
    return Box(
        size=(x_max - x_min, y_max - y_min, depth),
        center=((x_min + x_max) / 2, (y_min + y_max) / 2, top - depth / 2),
    )


def mound(outline: Sequence[tuple[float, float]], width: float, root: float = ROOT_DEPTH) -> Prism:
    """Return a convex mound across y = 0; its flanks continue below the ground.

    Args:
        outline: World x and z of its corners above ground from front to back [m]; the
            first and the last have z = 0.
        width: Extent along y [m].
        root: Depth to which it reaches below the ground [m], upright below the flanks' ends.

    Returns:
        The mound.
    """
    outline = tuple(dict.fromkeys(outline))  # A top of no length is one corner.
    front = run_on(outline[1], outline[0])
    back = run_on(outline[-2], outline[-1])
    upper = tuple(reversed(outline[1:-1]))
    if root <= ROOT_DEPTH:
        return Prism((front, back, *upper), width)
    return Prism(((front[0], -root), (back[0], -root), back, *upper, front), width)


def run_on(upper: tuple[float, float], lower: tuple[float, float]) -> tuple[float, float]:
    """Extend a flank from `upper` to `lower` below the ground, and return its end: x and z [m]."""
    beyond = ROOT_DEPTH / (upper[1] - lower[1])
    return (lower[0] + beyond * (lower[0] - upper[0]), lower[1] - ROOT_DEPTH)
