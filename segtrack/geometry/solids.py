"""The solids that tracks are made of, and where they stand in a track's plane."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import ConvexHull


@dataclass(frozen=True)
class Box:
    """A box, centred on its frame.

    Attributes:
        size: Along x, y, z [m].
    """

    size: tuple[float, float, float]


@dataclass(frozen=True)
class Cylinder:
    """A cylinder about its frame's y axis, centred on it.

    Attributes:
        radius: [m]
        length: Along y [m].
    """

    radius: float
    length: float


@dataclass(frozen=True)
class Hull:
    """The convex hull of points.

    Attributes:
        vertices: Corners (n, 3) in its frame [m], as a tuple of rows.
    """

    vertices: tuple[tuple[float, float, float], ...]


Solid = Box | Cylinder | Hull


@dataclass(frozen=True)
class Placed:
    """A solid in the plane of a track or of a link.

    Attributes:
        solid: The shape, in its own frame.
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
        """The solid seen along y: corners (n, 2) in (x, z) of the track or link [m]."""
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
    """Turn points (n, 2) by `heading` about +y [rad] and move them to `origin` (2,) [m]."""
    cos, sin = math.cos(heading), math.sin(heading)
    return points @ np.array([[cos, -sin], [sin, cos]]) + np.asarray(origin, dtype=float)


def prism(base: float, top: float, height: float, width: float, crown: float) -> Hull:
    """A grouser of trapezoidal profile, standing on its footprint, tip outwards along z.

    The tip's middle stands `crown` above its ends. A flat tip on flat ground touches
    along a line, for which a contact solver needs two points and finds them in an order
    that favours one side; a crowned one touches at one point, in the middle.

    Args:
        base: Length along x at the footprint [m].
        top: Length along x at the tip [m].
        height: Of the tip's middle [m].
        width: Along y [m].
        crown: How much lower the tip's ends are than its middle [m].
    """
    corners = [
        (x, y, z) for y in (-width / 2, width / 2) for x, z in ((base / 2, 0.0), (top / 2, height - crown))
    ]
    middle = [(top / 2, 0.0, height)] if crown > 0 else []
    return Hull(tuple((sign * x, y, z) for x, y, z in corners + middle for sign in (-1, 1)))
