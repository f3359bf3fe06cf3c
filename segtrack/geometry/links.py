"""Segment links for any engine (Okada et al. 2020, III-A).

A line becomes a link on a slider, an arc a link on a hinge; each carries its piece of
belt and its grousers. All of this is in the track frame (x forward, y axle, z up).

Mass. A belt's mass lies still relative to its vehicle while the belt runs, so a
roll-back must not move any. Each line carries its share at its middle (opposite
lines cancel), each arc its share as a hoop about its axis, and the remainder
(omitted segments, the hoops' idealised shape) is carried by the link that the track is
mounted on, so that mass, centre of mass and inertia of the whole are those of the
uniform belt exactly. The hoops also take over the motion of omitted segments:
(sum of hoop inertia / r^2) + (mass of the lines) is the mass that moves with the belt.
A line whose opposite is omitted is no longer balanced: on a slope its weight acts on the
belt, and a roll-back moves its mass by one pitch.

That moving mass may be more than the belt's own, by the inertia of motor and gearbox
as the belt feels it; what the links then weigh too much is taken from the mount.

A grouser stays with its segment: past the segment's end it goes on straight along a line,
or around an arc's circle, while the exact belt would already bend the other way.
With kappa the difference of the two curvatures and d the distance past the end, the footprint
is off by at most kappa d^2 / 2, and a tip of height h by at most kappa (d^2 / 2 + h d).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from segtrack.geometry.grousers import Footprint
from segtrack.geometry.mass import MassProperties, rotation_about_y
from segtrack.geometry.path import Arc, BeltPath, Line, normal_of, tangent_of
from segtrack.geometry.solids import Box, Cylinder, Placed, Solid, turn_and_move

_SAGITTA = 1e-4
"""Distance of boxes from the arc that they stand for [m]."""


@dataclass(frozen=True)
class SegmentLink:
    """One segment of a track as a link on a slider or hinge, with its mass and collision shapes.

    Attributes:
        name: Name, unique within the track.
        joint: Joint type: slider along the link's x axis, or hinge about its y axis.
        x: Link origin in the track frame, forward [m].
        z: Link origin in the track frame, up [m].
        heading: Rotation of the link frame about +y at home [rad].
        ratio: Joint coordinate per belt travel: 1 for a slider, 1/r [1/m] for a hinge.
        mass: Mass, with its centre at the link origin [kg].
        inertia: Principal moments (3,) about the link origin [kg m^2].
        shapes: Collision shapes in the link frame.
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
    def outlines(self) -> list[NDArray[np.float64]]:
        """Collision shapes at home, seen along y: corners (n, 2) each, in (x, z) of the track frame [m]."""
        return [turn_and_move(shape.outline, (self.x, self.z), self.heading) for shape in self.shapes]

    @property
    def own_properties(self) -> MassProperties:
        """Mass properties about the link's origin, in its axes."""
        return MassProperties.of(self.mass, (0, 0, 0), np.diag(self.inertia))

    @property
    def properties(self) -> MassProperties:
        """Mass properties about the track frame's origin, in its axes."""
        return self.own_properties.transformed(
            rotation_about_y(self.heading), np.array([self.x, 0.0, self.z])
        )


def segment_links(
    path: BeltPath,
    width: float,
    thickness: float,
    mass: float,
    grousers: Sequence[tuple[Footprint, Solid, float]],
    omit: Sequence[str] = (),
) -> tuple[SegmentLink, ...]:
    """Build the segment links of a track: sliders for lines, hinges for arcs.

    Args:
        path: Belt path, along its outer face.
        width: Width of the belt, along the axle [m].
        thickness: Thickness of the belt, inwards [m].
        mass: Moving mass: belt, grousers, reflected inertia of the drive [kg].
        grousers: For each grouser its footprint, its solid and the height of the
            solid's origin above the belt [m].
        omit: Names of segments to leave out.

    Returns:
        A link for each segment that is not omitted, in the order of the path.
    """
    kept_segments = [
        (i, name, segment)
        for i, (name, segment) in enumerate(zip(path.names, path.segments, strict=True))
        if name not in omit
    ]
    line_mass = sum(mass * s.length / path.perimeter for _, _, s in kept_segments if isinstance(s, Line))
    arc_length = sum(s.length for _, _, s in kept_segments if isinstance(s, Arc))
    links = []
    for i, name, segment in kept_segments:
        share = mass * segment.length / path.perimeter
        mine = [(footprint, solid, lift) for footprint, solid, lift in grousers if footprint.segment == i]
        if isinstance(segment, Line):
            links.append(_line_link(name, segment, width, thickness, share, mine))
        else:
            moving = (mass - line_mass) * segment.length / arc_length
            links.append(_arc_link(name, segment, width, thickness, share, moving, mine, path))
    return tuple(links)


def _line_link(
    name: str,
    line: Line,
    width: float,
    thickness: float,
    mass: float,
    grousers: list[tuple[Footprint, Solid, float]],
) -> SegmentLink:
    """Link on a slider for a straight segment, with its collision shapes and its share of the belt's mass."""
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
    """Link on a hinge for an arc, with its collision shapes and its share of the belt's mass as a hoop."""
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
    """Return whether the arc's whole disc lies within the belt, so that a cylinder can stand for it."""
    if arc.turn < 0:
        return False
    return bool(np.all(np.linalg.norm(path.outline() - arc.center, axis=1) >= arc.radius - 1e-9))


def _chords(arc: Arc, width: float, thickness: float) -> tuple[Placed, ...]:
    """Boxes along an arc whose outer faces deviate from it by at most `_SAGITTA`."""
    most = 2 * np.arccos(max(1 - _SAGITTA / arc.radius, 0.0))
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


def ground_dip(path: BeltPath, links: Sequence[SegmentLink], period: float, height: float) -> float:
    """Greatest depth of straight links below the exact belt's ground line before a roll-back [m].

    A line that leaves the ground line's neighbour, an arc that turns by theta, runs on straight for
    up to half a period, and is below the ground once that is more than r tan(theta / 2), where the
    two lines meet (tips: r of the tip). It lifts its end of the vehicle and pushes it on by
    cos theta of the belt's travel only, as long as it carries.

    Args:
        path: Belt path, along its outer face.
        links: Links of the belt's segments.
        period: Travel after which the links are rolled back [m].
        height: Height of the highest grouser above the belt [m].

    Returns:
        The dip, 0 if there is none. Arcs have none: they turn within their circles.
    """
    ground = path.segments[path.ground]
    down = normal_of(ground.heading_at(np.zeros(1)))[0]
    if not isinstance(ground, Line) or down[1] >= 0:
        down = np.array([0.0, -1.0])
    plane = float(np.max(path.outline() @ down)) + height
    lowest = plane
    for link in links:
        if link.joint == "slider":
            along = abs(float(tangent_of(link.heading) @ down)) * period / 2
            lowest = max(lowest, along + max(float(np.max(outline @ down)) for outline in link.outlines))
    return lowest - plane
