"""Track of a vehicle file: belt, contact, grousers, drive and mount."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, Field

from segtrack.description.base import (
    Angle,
    Checks,
    Fraction,
    Name,
    NonNegative,
    Number,
    Positive,
    Spec,
    UnknownPartError,
    Vector,
    check,
    exactly_one,
    given_one,
    known,
    not_zero,
)
from segtrack.description.chain import ChainSpec
from segtrack.description.drive import DriveSpec
from segtrack.description.frames import Frame
from segtrack.description.grousers import Grousers
from segtrack.errors import InvalidValueError, Problem
from segtrack.geometry import (
    Arc,
    BeltPath,
    Footprint,
    Pulley,
    SegmentLink,
    chain_segments,
    place_grousers,
    segment_links,
    spin_momentum,
    wrap_around,
    wrap_belt,
)


class PulleySpec(Spec):
    """Pulley of a belt path, in the track plane."""

    name: Name | None = None
    """By which a chain says what drives and what tensions it."""
    x: Number
    """Centre, forward [m]."""
    z: Number
    """Centre, up [m]."""
    radius: Positive
    """Radius to the outer face of the belt, grousers not included [m]."""


class LineSpec(Spec):
    """Straight segment of a belt path."""

    length: Positive
    """Along the belt [m]."""


class ArcSpec(Spec):
    """Circular segment of a belt path."""

    radius: Positive
    """Radius of the belt's outer face [m]."""
    turn: Annotated[Angle, AfterValidator(not_zero)]
    """Turn about +y [rad]; negative bends inwards."""


class SegmentSpec(Spec):
    """Segment of an explicit belt path: a line or an arc."""

    line: LineSpec | None = None
    arc: ArcSpec | None = None

    @check
    def _one_kind(self) -> Checks:
        yield from exactly_one(self, ("line", "arc"))


class PathSpec(Spec):
    """Outer face of the belt: around pulleys, or along explicit segments."""

    pulleys: tuple[PulleySpec, ...] | None = Field(default=None, min_length=1)
    """Pulleys in any order; the belt is their convex hull."""
    segments: tuple[SegmentSpec, ...] | None = Field(default=None, min_length=1)
    """Pieces in the order in which a belt that drives forward passes them: backward along the ground."""
    start: tuple[Number, Number] = (0.0, 0.0)
    """First point (x, z) of explicit segments [m]."""
    heading: Angle = math.pi
    """Direction of travel at `start`, about +y [rad]; pi runs backward along the ground."""

    @check
    def _one_way(self) -> Checks:
        yield from exactly_one(self, ("pulleys", "segments"))

    @check
    def _names_differ(self) -> Checks:
        seen = set[str]()
        for i, pulley in enumerate(self.pulleys or ()):
            if pulley.name is not None and pulley.name in seen:
                yield Problem(f"pulleys[{i}].name", f"must differ from the others', got {pulley.name!r}")
            seen |= {pulley.name} if pulley.name is not None else set()

    @check
    def _no_start_of_pulleys(self) -> Checks:
        if self.pulleys is not None and {"start", "heading"} & self.model_fields_set:
            yield Problem("", "must not have start or heading beside pulleys")

    @check
    def _closes(self) -> Checks:
        try:
            self._build()
        except InvalidValueError as error:
            yield Problem("pulleys" if self.pulleys is not None else "segments", error.complaint)

    @cached_property
    def belt_path(self) -> BeltPath:
        """Geometry of the path."""
        try:
            return self._build()
        except InvalidValueError:
            raise UnknownPartError("belt_path") from None

    def _build(self) -> BeltPath:
        """Geometry of the path, from pulleys or from segments."""
        given = given_one(self, ("pulleys", "segments"))
        if self.pulleys is not None:
            return wrap_belt([Pulley(p.x, p.z, p.radius) for p in self.pulleys])
        pieces = []
        for segment in given:
            piece = given_one(segment, ("line", "arc"))
            pieces.append((piece.length, None) if isinstance(piece, LineSpec) else (piece.radius, piece.turn))
        return BeltPath(chain_segments(self.start, self.heading, pieces))


class Mount(Spec):
    """Pose of a part on its parent link."""

    parent: str = "body"
    """Link that carries it: `body`, or a link of the body's URDF."""
    xyz: Vector = (0.0, 0.0, 0.0)
    """Origin in the parent's frame [m]."""
    rpy: tuple[Angle, Angle, Angle] = (0.0, 0.0, 0.0)
    """Roll, pitch, yaw in the parent's frame [rad]."""

    @property
    def frame(self) -> Frame:
        """Frame of the part in the parent link's frame."""
        return Frame.at(self.xyz, self.rpy)


class BeltSpec(Spec):
    """Belt of a track."""

    mass: Positive
    """Grousers included [kg]."""
    thickness: Positive = 0.01
    """Inwards from the outer face [m]."""


class ContactSpec(Spec):
    """Contact of a track with the ground.

    Bullet multiplies the friction of two bodies; bundled terrain has 1.
    """

    friction: NonNegative = 0.6
    """Coulomb coefficient against terrain of friction 1."""
    lateral_friction: Positive | None = None
    """Coulomb coefficient across the track, for the track models `compliant` and `surface`; the same
    as `friction` if not given."""
    stiffness: Positive | None = None
    """Stiffness of each contact point [N/m]: for `compliant` a grouser, or 20 mm of a smooth belt. If not
    given, rigid; such that the vehicle at rest sinks in by 0.03 mm for `compliant`, 0.05 mm
    for `segments`."""
    damping: NonNegative | None = None
    """Damping of each contact point [N s/m]; needed with stiffness."""
    restitution: Fraction = 0.0
    """Speed after an impact over that before it [-], for `compliant` and `surface`. A rubber track has
    little: by default its contacts are so damped that it does not bounce."""

    @check
    def _both_or_none(self) -> Checks:
        if (self.stiffness is None) != (self.damping is None):
            yield Problem("", "must have both stiffness and damping, or neither")

    @check
    def _friction_in_both_directions(self) -> Checks:
        if self.lateral_friction is not None and self.friction == 0:
            yield Problem("", "must have friction above 0 with lateral_friction")

    @property
    def lateral_ratio(self) -> float:
        """Ratio of the friction across the track to that along it [-]."""
        if self.lateral_friction is None:
            return 1.0
        return self.lateral_friction / self.friction


_TOUCHING = 1e-6
"""Depth by which belts side by side may overlap: numbers are rounded [m]."""
_SHOES_WEIGH_ALIKE = 0.05
"""Difference between a belt's mass and that of its shoes that may be rounding, over the mass [-]."""


class TrackSpec(Spec):
    """Track: belt on its path, grousers and drive."""

    mount: Mount = Mount()
    path: PathSpec
    width: Positive
    """Along the axle [m]."""
    belt: BeltSpec
    grousers: Grousers | None = None
    """Left out for a smooth belt."""
    drive: DriveSpec
    contact: ContactSpec = ContactSpec()
    chain: ChainSpec | None = None
    """Settings of the track model `chain`; the vehicle's if not given."""
    omit_segments: tuple[Name, ...] = ()
    """Segments that nothing can touch, e.g. line_2; `segtrack draw` shows the names."""

    @check
    def _belt_bends(self) -> Checks:
        """A belt that is too thick for the tightest bend of its path."""
        smallest = min(
            (arc.radius for arc in self.belt_path.segments if isinstance(arc, Arc) and arc.turn > 0),
            default=math.inf,
        )
        if self.belt.thickness >= smallest:
            radius = f"{smallest:g} m of its path's tightest outward arc"
            message = f"must be less than the radius of {radius}, got {self.belt.thickness:g} m"
            yield Problem("belt.thickness", message)

    @check
    def _belt_weighs_as_its_shoes(self) -> Checks:
        """A belt's mass that differs from that of its chain's shoes."""
        shoes = None if self.chain is None else known(self.chain, "shoes", None)
        count, mass = (
            (None, None) if shoes is None else (known(shoes, "count", None), known(shoes, "mass", None))
        )
        if count is None or mass is None:
            return
        belt, together = self.belt.mass, count * mass
        if abs(belt / together - 1) > _SHOES_WEIGH_ALIKE:
            message = f"must be about the {together:.4g} kg of its {count} shoes, got {belt:g}"
            yield Problem("belt.mass", message)

    @check
    def _grousers_apart(self) -> Checks:
        """Grousers that are longer than their pitch."""
        shapes = self.grousers.shapes if self.grousers is not None else ()
        alike = self.grousers is not None and self.grousers.shape is not None
        for i, shape in enumerate(shapes):
            rear, front = known(shape, "kind.extent", (0.0, 0.0))
            if front - rear > self.pitch:
                where = "grousers.shape" if alike else f"grousers.pattern[{i}]"
                lengths = f"their pitch of {self.pitch:.4g} m, got {front - rear:.4g} m"
                yield Problem(where, f"must be no longer than {lengths}")

    @check
    def _omits_what_can_be(self) -> Checks:
        """Omitted segments that do not exist, or that the drive acts on."""
        names = self.belt_path.names
        for i, name in enumerate(self.omit_segments):
            if name not in names:
                yield Problem(
                    f"omit_segments[{i}]", f"has no segment {name!r}; there are: {', '.join(names)}"
                )
            elif name == names[self.belt_path.ground]:
                yield Problem(f"omit_segments[{i}]", f"must not be {name}, which the drive acts on")

    @property
    def belt_path(self) -> BeltPath:
        """Belt path in the track frame, around pulleys and any of a chain's road wheels that stick out."""
        path, pulleys = self.path.belt_path, self.path.pulleys
        wheels = self.chain.road_wheels if self.chain is not None else None
        if pulleys is None or not wheels:
            return path
        around = tuple(Pulley(w.x, w.z, w.radius + self.belt.thickness) for w in wheels)
        return wrap_around(tuple(Pulley(p.x, p.z, p.radius) for p in pulleys), around)

    @property
    def pitch(self) -> float:
        """Distance between neighbouring grousers along the belt [m]; the perimeter for a smooth belt."""
        return self.belt_path.perimeter / (self.grousers.count if self.grousers is not None else 1)

    @property
    def ground_length(self) -> float:
        """Length of the belt's line on flat ground [m]; 0 if it stands on a pulley."""
        segment = self.belt_path.segments[self.belt_path.ground]
        return 0.0 if isinstance(segment, Arc) else float(segment.length)

    @property
    def moving_mass(self) -> float:
        """Moving mass of the belt [kg]: its own, and the reflected inertia of the drive."""
        return self.belt.mass + self.drive.reflected_mass

    @property
    def rotor_momentum(self) -> float:
        """Angular momentum of the drive's rotor about the axle, per belt speed [kg m].

        The sprocket has the radius that the drive gives, or that of the path's tightest outward arc.
        """
        drive = self.drive
        if drive.gear_ratio is None:
            return 0.0
        arcs = (arc.radius for arc in self.belt_path.segments if isinstance(arc, Arc) and arc.turn > 0)
        return drive.reflected_mass * (drive.sprocket_radius or min(arcs)) / drive.gear_ratio

    @property
    def spin_momentum(self) -> float:
        """Angular momentum of belt and rotor about the axle, per belt speed [kg m]."""
        return spin_momentum(self.belt_path, self.belt.mass) + self.rotor_momentum

    @property
    def period(self) -> float:
        """Travel after which the belt's pattern repeats [m]; 0 for a smooth belt."""
        return self.pitch * len(self.grousers.shapes) if self.grousers is not None else 0.0

    def footprints(self) -> tuple[Footprint, ...]:
        """Places of the grousers on the belt; empty for a smooth belt."""
        if self.grousers is None:
            return ()
        return place_grousers(self.belt_path, self.grousers.count, len(self.grousers.shapes))

    def segment_links(self) -> tuple[SegmentLink, ...]:
        """Segment links of the track in the track frame; the first is on the ground, and driven."""
        shapes = self.grousers.shapes if self.grousers is not None else ()
        solids = [shape.kind.solid(shape.width or self.width, shape.crown) for shape in shapes]
        placed = [(footprint, *solids[footprint.index % len(solids)]) for footprint in self.footprints()]
        path = self.belt_path
        links = segment_links(
            path, self.width, self.belt.thickness, self.moving_mass, placed, self.omit_segments
        )
        return tuple(sorted(links, key=lambda link: link.name != path.names[path.ground]))


def overlap(one: TrackSpec, other: TrackSpec) -> bool:
    """Return whether two tracks with equally oriented mounts on one parent overlap."""
    keys = ("mount", "width", "belt_path")
    (mount, width, path), (its, wide, way) = ([known(t, key, None) for key in keys] for t in (one, other))
    if any(part is None for part in (mount, width, path, its, wide, way)):
        return False
    if (mount.parent, mount.rpy) != (its.parent, its.rpy):
        return False
    x, y, z = mount.frame.rotation.T @ np.subtract(its.xyz, mount.xyz)
    if abs(y) >= (width + wide) / 2 - _TOUCHING:
        return False
    return not _can_be_separated(path.outline(), way.outline() + (x, z))


def _can_be_separated(points: NDArray[np.float64], others: NDArray[np.float64]) -> bool:
    """Return whether a side of one of two convex outlines (n, 2) separates them."""
    for one, other in ((points, others), (others, points)):
        sides = np.roll(one, -1, axis=0) - one
        sides = sides[np.hypot(*sides.T) > 0.0]
        normals = np.stack([sides[:, 1], -sides[:, 0]], axis=1)
        for outwards in (normals, -normals):
            if ((outwards @ one.T).max(axis=1) <= (outwards @ other.T).min(axis=1)).any():
                return True
    return False
