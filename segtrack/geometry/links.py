"""Segment links: what a track is made of, for any engine (Okada et al. 2020, section III-A).

A line becomes a link on a slider, an arc a link on a hinge; each carries its piece of
belt and its grousers. All of this is in the track frame (x forward, y axle, z up).

Mass. A belt's mass lies still relative to its vehicle while the belt runs, so a
roll-back must not move any. Each line carries its share at its middle (opposite
lines cancel), each arc its share as a hoop about its axis, and what that leaves out
(omitted segments, the hoops' idealised shape) is carried by the link that the track is
mounted on, so that mass, centre of mass and inertia of the whole are those of the
uniform belt exactly. The hoops also take over the motion of omitted segments:
(sum of hoop inertia / r^2) + (mass of the lines) is the mass that moves with the belt.
A line whose opposite is omitted is no longer balanced: on a slope its weight acts on the
belt, and a roll-back moves its mass by one pitch.

That moving mass may be more than the belt's own, by the inertia of motor and gearbox
as the belt feels it; what the links then weigh too much is taken from the mount.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segtrack.geometry.grousers import Footprint
from segtrack.geometry.path import Arc, BeltPath, Line


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


@dataclass(frozen=True)
class MassProperties:
    """Mass, first and second moments of something about a frame's origin.

    Attributes:
        mass: [kg]
        moment: Mass times centre of mass (3,) [kg m].
        second: Integral of r r^T dm (3, 3) [kg m^2].
    """

    mass: float
    moment: NDArray[np.float64]
    second: NDArray[np.float64]

    def __add__(self, other: MassProperties) -> MassProperties:
        """Both together, about the same origin."""
        return MassProperties(self.mass + other.mass, self.moment + other.moment, self.second + other.second)

    def __sub__(self, other: MassProperties) -> MassProperties:
        """What is left of this without the other, about the same origin."""
        return MassProperties(self.mass - other.mass, self.moment - other.moment, self.second - other.second)

    def moved(self, rotation: NDArray[np.float64], origin: NDArray[np.float64]) -> MassProperties:
        """The same seen from a frame in which this one has `rotation` (3, 3) and `origin` (3,) [m]."""
        moment = rotation @ self.moment
        cross = np.outer(origin, moment)
        second = rotation @ self.second @ rotation.T + cross + cross.T + self.mass * np.outer(origin, origin)
        return MassProperties(self.mass, moment + self.mass * origin, second)

    @property
    def center(self) -> NDArray[np.float64]:
        """Centre of mass (3,) [m]."""
        return self.moment / self.mass

    @property
    def inertia(self) -> NDArray[np.float64]:
        """Inertia tensor (3, 3) about the centre of mass, in this frame's axes [kg m^2]."""
        central = self.second - self.mass * np.outer(self.center, self.center)
        return np.trace(central) * np.eye(3) - central

    @classmethod
    def of(cls, mass: float, center: ArrayLike, inertia: NDArray[np.float64]) -> MassProperties:
        """From mass [kg], centre (3,) [m] and inertia (3, 3) about the centre [kg m^2]."""
        middle = np.asarray(center, dtype=float)
        central = np.trace(inertia) / 2 * np.eye(3) - inertia
        return cls(mass, mass * middle, central + mass * np.outer(middle, middle))

    @classmethod
    def of_box(cls, mass: float, center: ArrayLike, size: Sequence[float]) -> MassProperties:
        """Of a uniform box with sides `size` (3,) [m]."""
        squares = np.square(size)
        return cls.of(mass, center, mass / 12 * np.diag(squares.sum() - squares))


@dataclass(frozen=True)
class SegmentLink:
    """One segment of a track as a link.

    Attributes:
        name: Readable and unique within the track.
        joint: A slider along the link's x axis or a hinge about its y axis.
        x: Link origin in the track frame, forward [m].
        z: Link origin in the track frame, up [m].
        heading: Rotation of the link frame about +y at home [rad].
        ratio: Joint coordinate per belt travel: 1 for a slider, 1/r [1/m] for a hinge.
        mass: Centred on the link origin [kg].
        inertia: Principal moments (3,) about the link origin [kg m^2].
        shapes: What collides, in the link frame.
    """

    name: str
    joint: Literal["slider", "hinge"]
    x: float
    z: float
    heading: float
    ratio: float
    mass: float
    inertia: tuple[float, float, float]
    shapes: tuple[Placed, ...]

    @property
    def own_properties(self) -> MassProperties:
        """Mass properties about the link's origin, in its axes."""
        return MassProperties.of(self.mass, (0, 0, 0), np.diag(self.inertia))

    @property
    def properties(self) -> MassProperties:
        """Mass properties about the track frame's origin, in its axes."""
        return self.own_properties.moved(rotation_about_y(self.heading), np.array([self.x, 0.0, self.z]))


def rotation_about_y(angle: float) -> NDArray[np.float64]:
    """Rotation matrix (3, 3) about +y by `angle` [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def segment_links(
    path: BeltPath,
    width: float,
    thickness: float,
    mass: float,
    grousers: Sequence[tuple[Footprint, Solid, float]],
    omit: Sequence[str] = (),
) -> tuple[SegmentLink, ...]:
    """Build the links of a track.

    Args:
        path: The belt's outer face.
        width: Of the belt, along the axle [m].
        thickness: Of the belt, inwards [m].
        mass: That moves with the belt: belt, grousers, reflected inertia of the drive [kg].
        grousers: For each grouser its footprint, its solid and the height of the
            solid's origin above the belt [m].
        omit: Names of segments to leave out.

    Returns:
        A link for each segment that is not omitted, in the order of the path.
    """
    kept = [
        (i, name, segment)
        for i, (name, segment) in enumerate(zip(path.names, path.segments, strict=True))
        if name not in omit
    ]
    line_mass = sum(mass * s.length / path.perimeter for _, _, s in kept if isinstance(s, Line))
    arc_length = sum(s.length for _, _, s in kept if isinstance(s, Arc))
    links = []
    for i, name, segment in kept:
        share = mass * segment.length / path.perimeter
        mine = [(footprint, solid, lift) for footprint, solid, lift in grousers if footprint.segment == i]
        if isinstance(segment, Line):
            links.append(_line_link(name, segment, width, thickness, share, mine))
        else:
            moving = (mass - line_mass) * segment.length / arc_length
            links.append(_arc_link(name, segment, width, thickness, share, moving, mine, path))
    return tuple(links)


def uniform_belt(path: BeltPath, width: float, mass: float) -> MassProperties:
    """Mass properties of a uniform belt about the track frame's origin."""
    nodes, weights = np.polynomial.legendre.leggauss(32)
    total = MassProperties(0.0, np.zeros(3), np.zeros((3, 3)))
    for segment in path.segments:
        plane = segment.point_at((nodes + 1) * segment.length / 2)
        points = np.stack([plane[:, 0], np.zeros(len(nodes)), plane[:, 1]], axis=1)
        masses = weights / 2 * mass * segment.length / path.perimeter
        second = np.einsum("n,ni,nj->ij", masses, points, points) + np.diag(
            [0, masses.sum() * width**2 / 12, 0]
        )
        total = total + MassProperties(float(masses.sum()), masses @ points, second)
    return total


def _line_link(
    name: str,
    line: Line,
    width: float,
    thickness: float,
    mass: float,
    grousers: list[tuple[Footprint, Solid, float]],
) -> SegmentLink:
    x, z = line.point_at(np.array([line.length / 2]))[0]
    belt = Placed(Box((line.length, width, thickness)), z=-thickness / 2)
    teeth = tuple(
        Placed(solid, footprint.along - line.length / 2, lift) for footprint, solid, lift in grousers
    )
    inertia = (
        mass / 12 * (width**2 + thickness**2),
        mass / 12 * (line.length**2 + thickness**2),
        mass / 12 * (line.length**2 + width**2),
    )
    return SegmentLink(name, "slider", float(x), float(z), line.heading, 1.0, mass, inertia, (belt, *teeth))


def _arc_link(
    name: str,
    arc: Arc,
    width: float,
    thickness: float,
    mass: float,
    moving: float,
    grousers: list[tuple[Footprint, Solid, float]],
    path: BeltPath,
) -> SegmentLink:
    r = arc.signed_radius
    middle = float(arc.heading_at(np.array([arc.length / 2]))[0])
    teeth = []
    for footprint, solid, lift in grousers:
        angle = (footprint.along - arc.length / 2) / r
        reach = r + lift
        teeth.append(Placed(solid, reach * np.sin(angle), reach * np.cos(angle), angle))
    # A hoop about the axis; across the axis at least half of that, as a thin hoop has.
    spin = moving * arc.radius**2
    across = spin / 2 + mass * width**2 / 12
    belt = (Placed(Cylinder(arc.radius, width)),) if _disc_fits(arc, path) else _chords(arc, width, thickness)
    x, z = arc.center
    return SegmentLink(
        name, "hinge", float(x), float(z), middle, 1 / r, mass, (across, spin, across), (*belt, *teeth)
    )


def _disc_fits(arc: Arc, path: BeltPath) -> bool:
    """Whether the arc's whole disc lies within the belt, so that a cylinder can stand for it."""
    if arc.turn < 0:
        return False
    return bool(np.all(np.linalg.norm(path.outline() - arc.center, axis=1) >= arc.radius - 1e-9))


def _chords(arc: Arc, width: float, thickness: float, sagitta: float = 1e-4) -> tuple[Placed, ...]:
    """An arc as boxes whose outer faces stay within `sagitta` [m] of it."""
    most = 2 * np.arccos(max(1 - sagitta / arc.radius, 0.0))
    count = max(1, int(np.ceil(abs(arc.turn) / most)))
    half = arc.turn / count / 2
    r = arc.signed_radius
    boxes = []
    for k in range(count):
        angle = -arc.turn / 2 + (2 * k + 1) * half
        reach = r * np.cos(half) - thickness / 2
        size = (2 * arc.radius * abs(np.sin(half)), width, thickness)
        boxes.append(Placed(Box(size), reach * np.sin(angle), reach * np.cos(angle), angle))
    return tuple(boxes)


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
