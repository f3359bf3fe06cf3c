"""The solids that tracks are made of, and where they stand in a track's plane."""

from __future__ import annotations

from dataclasses import dataclass


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
