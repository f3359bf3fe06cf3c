"""Solids that a terrain consists of, free of any physics engine.

All poses are of the solid's centre in the world frame; quaternions are
(x, y, z, w); lengths are in metres.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = tuple[float, float, float]
Quaternion: TypeAlias = tuple[float, float, float, float]

UPRIGHT: Quaternion = (0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Box:
    """A cuboid.

    Attributes:
        center_in_world: Centre [m].
        half_extents: Half of each edge, along the box's own axes [m].
        quaternion_box_to_world: Orientation of the box's axes.
    """

    center_in_world: Vector
    half_extents: Vector
    quaternion_box_to_world: Quaternion = UPRIGHT


@dataclass(frozen=True)
class HalfSpace:
    """Everything on one side of a plane.

    Attributes:
        point_in_world: A point of the plane [m].
        normal: Unit vector out of the ground.
    """

    point_in_world: Vector = (0.0, 0.0, 0.0)
    normal: Vector = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Cylinder:
    """A round cylinder about its own z axis.

    Attributes:
        center_in_world: Centre [m].
        radius: Radius [m].
        length: Length along the axis [m].
        quaternion_cylinder_to_world: Orientation of the cylinder's axes.
    """

    center_in_world: Vector
    radius: float
    length: float
    quaternion_cylinder_to_world: Quaternion = UPRIGHT


@dataclass(frozen=True)
class Prism:
    """A convex polygon in the x-z plane, drawn out along y and centred on y = 0.

    Attributes:
        outline: World x and z of the polygon's corners [m], counterclockwise
            with x to the right and z up.
        width: Extent along y [m].
    """

    outline: tuple[tuple[float, float], ...]
    width: float


@dataclass(frozen=True, eq=False)
class Hull:
    """The convex hull of points.

    Attributes:
        points: In the world (n, 3), not all in one plane [m].
    """

    points: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HeightGrid:
    """A surface over a square grid; each cell is two triangles.

    A cell's triangles meet along the line from its corner at (larger x,
    smaller y) to its corner at (smaller x, larger y).

    Attributes:
        heights: Heights of the grid points [m], shape (points along x, points
            along y), read-only.
        cell: Distance between neighbouring points, along x and along y [m].
        center_in_world: World x and y of the grid's centre [m].
    """

    heights: NDArray[np.float64]
    cell: float
    center_in_world: tuple[float, float]


@dataclass(frozen=True)
class TriangleMesh:
    """A surface of triangles from a file.

    Attributes:
        file: OBJ or STL file, absolute.
        scale: Factor from the file's unit to metres.
        position_in_world: World position of the file's origin [m].
        quaternion_mesh_to_world: Orientation of the file's axes.
    """

    file: Path
    scale: float
    position_in_world: Vector
    quaternion_mesh_to_world: Quaternion


Solid: TypeAlias = Box | HalfSpace | Cylinder | Prism | Hull | HeightGrid | TriangleMesh
