"""Convex solids of tracks, vehicles and terrain, and their places in a track's plane.

A solid is given in a frame: that of a link or of a track, or the world. Sizes are full ones, a
cylinder's axis is y; quaternions are (x, y, z, w).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import ConvexHull

Vector: TypeAlias = tuple[float, float, float]
Quaternion: TypeAlias = tuple[float, float, float, float]

UPRIGHT: Quaternion = (0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Box:
    """Cuboid of given edge lengths, at a pose in a frame.

    Attributes:
        size: Edge lengths along its own x, y, z [m].
        center: Centre in the frame [m].
        quaternion: Rotation from its own axes to the frame's, (x, y, z, w).
    """

    size: Vector
    center: Vector = (0.0, 0.0, 0.0)
    quaternion: Quaternion = UPRIGHT


@dataclass(frozen=True)
class Cylinder:
    """Cylinder about its own y axis, at a pose in a frame.

    Attributes:
        radius: Radius [m].
        length: Length along the axis [m].
        center: Centre in the frame [m].
        quaternion: Rotation from its own axes to the frame's, (x, y, z, w).
    """

    radius: float
    length: float
    center: Vector = (0.0, 0.0, 0.0)
    quaternion: Quaternion = UPRIGHT


@dataclass(frozen=True)
class Hull:
    """Convex hull of points that are not all in one plane.

    Attributes:
        vertices: Points (n, 3) in the frame [m], as a tuple of rows.
    """

    vertices: tuple[Vector, ...]

    @classmethod
    def of(cls, points: ArrayLike) -> Hull:
        """Return the convex hull of points (n, 3) in the frame [m]."""
        return cls(tuple((x, y, z) for x, y, z in np.asarray(points, dtype=float).tolist()))

    @property
    def points(self) -> NDArray[np.float64]:
        """Points (n, 3) in the frame [m]."""
        return np.array(self.vertices)


Solid: TypeAlias = Box | Cylinder | Hull


@dataclass(frozen=True)
class Placed:
    """Solid at a place in the x-z plane of a track or link.

    Attributes:
        solid: Shape, in its own frame.
        x: Origin of that frame, forward [m].
        z: Origin of that frame, up [m].
        heading: Rotation of that frame about +y [rad].
    """

    solid: Solid
    x: float = 0.0
    z: float = 0.0
    heading: float = 0.0

    @property
    def outline(self) -> NDArray[np.float64]:
        """Outline seen along y: corners (n, 2) in (x, z) of the track or link frame [m]."""
        match self.solid:
            case Box((length, _, height)):
                corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * (length / 2, height / 2)
            case Cylinder(radius):
                angles = np.linspace(0, 2 * math.pi, 37)
                corners = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
            case Hull(vertices):
                points = np.asarray(vertices)[:, [0, 2]]
                corners = points[ConvexHull(points).vertices]
        return turn_and_move(corners, (self.x, self.z), self.heading)


def turn_and_move(points: NDArray[np.float64], origin: ArrayLike, heading: float) -> NDArray[np.float64]:
    """Rotate points (n, 2) in (x, z) by `heading` about +y [rad], then move them by `origin` (2,) [m]."""
    cos, sin = math.cos(heading), math.sin(heading)
    return points @ np.array([[cos, -sin], [sin, cos]]) + np.asarray(origin, dtype=float)


def prism(base: float, top: float, height: float, width: float, crown: float) -> Hull:
    """Return a grouser of trapezoidal profile that stands on its footprint, with its tip along +z.

    The tip's middle stands `crown` above its ends. A flat tip on flat ground touches
    along a line, for which a contact solver needs two points and finds them in an order
    that favours one side; a crowned one touches at one point, in the middle.

    Args:
        base: Length along x at the footprint [m].
        top: Length along x at the tip [m].
        height: Height of the tip's middle [m].
        width: Extent along y [m].
        crown: Height of the tip's middle above its ends [m].
    """
    corners = [
        (x, y, z) for y in (-width / 2, width / 2) for x, z in ((base / 2, 0.0), (top / 2, height - crown))
    ]
    middle = [(top / 2, 0.0, height)] if crown > 0 else []
    return Hull(tuple((sign * x, y, z) for x, y, z in corners + middle for sign in (-1, 1)))
