"""The parts of a track: mount, path, belt, grousers, drive and contact."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

import numpy as np
import trimesh
from numpy.typing import NDArray
from pydantic import Field, model_validator

from segtrack.description.base import (
    Count,
    ExistingFile,
    Name,
    NonNegative,
    Number,
    Part,
    Positive,
    Vector,
    exactly_one,
)
from segtrack.geometry.grousers import place_grousers
from segtrack.geometry.links import Box, Cylinder, Hull, SegmentLink, Solid, prism, segment_links
from segtrack.geometry.path import BeltPath, chain_segments
from segtrack.geometry.pulleys import Pulley, wrap_belt


class Mount(Part):
    """Where a part sits on another."""

    parent: str = "body"
    """Link that carries it: `body`, or a link of the body's URDF."""
    xyz: Vector = (0.0, 0.0, 0.0)
    """Origin in the parent's frame [m]."""
    rpy: Vector = (0.0, 0.0, 0.0)
    """Roll, pitch, yaw in the parent's frame [rad]."""


class PulleyPart(Part):
    """A pulley of a path, in the track plane."""

    x: Number
    """Centre, forward [m]."""
    z: Number
    """Centre, up [m]."""
    radius: Positive
    """To the outer face of the belt, grousers not included [m]."""


class LinePart(Part):
    """A straight piece of a path."""

    length: Positive
    """Along the belt [m]."""


class ArcPart(Part):
    """A circular piece of a path."""

    radius: Positive
    """Of the belt's outer face [m]."""
    turn: Number
    """Turn about +y [rad]; negative bends inwards."""


class SegmentPart(Part):
    """One piece of an explicit path: a line or an arc."""

    line: LinePart | None = None
    arc: ArcPart | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> SegmentPart:
        exactly_one(self, ("line", "arc"))
        return self


class PathPart(Part):
    """The belt's outer face: around convex pulleys, or along explicit segments."""

    pulleys: tuple[PulleyPart, ...] | None = Field(default=None, min_length=1)
    """Pulleys in any order; the belt is their convex hull."""
    segments: tuple[SegmentPart, ...] | None = Field(default=None, min_length=1)
    """Pieces in the order in which the belt passes them when it drives forward (backward along the ground)."""
    start: tuple[Number, Number] = (0.0, 0.0)
    """First point (x, z) of explicit segments [m]."""
    heading: Number = 3.141592653589793
    """Direction of travel at `start`, about +y [rad]; pi runs backward along the ground."""

    @model_validator(mode="after")
    def _closes(self) -> PathPart:
        exactly_one(self, ("pulleys", "segments"))
        if self.pulleys is not None and {"start", "heading"} & self.model_fields_set:
            raise ValueError("must not have start or heading beside pulleys")
        _ = self.belt_path
        return self

    @cached_property
    def belt_path(self) -> BeltPath:
        """The path as geometry."""
        if self.pulleys is not None:
            return wrap_belt([Pulley(p.x, p.z, p.radius) for p in self.pulleys])
        assert self.segments is not None
        pieces = [
            (s.line.length, None) if s.line is not None else (s.arc.radius, s.arc.turn)  # type: ignore[union-attr]
            for s in self.segments
        ]
        return BeltPath(chain_segments(self.start, self.heading, pieces))


class BeltPart(Part):
    """The belt itself."""

    mass: Positive
    """Grousers included [kg]."""
    thickness: Positive = 0.01
    """Inwards from the outer face [m]."""


class BoxShape(Part):
    """A box standing on the belt."""

    length: Positive
    """Along the belt [m]."""
    height: Positive
    """Above the belt [m]."""

    @property
    def extent(self) -> tuple[float, float]:
        """Least and largest coordinate along the belt, from the footprint [m]."""
        return -self.length / 2, self.length / 2

    def solid(self, width: float, crown: float) -> tuple[Solid, float]:
        """Its solid, and the height of the solid's origin above the belt [m]."""
        if crown == 0:
            return Box((self.length, width, self.height)), self.height / 2
        return prism(self.length, self.length, self.height, width, crown), 0.0


class TrapezoidShape(Part):
    """A prism of trapezoidal profile standing on the belt."""

    base: Positive
    """Length along the belt at the belt [m]."""
    top: Positive
    """Length along the belt at the tip [m]."""
    height: Positive
    """Above the belt [m]."""

    @property
    def extent(self) -> tuple[float, float]:
        """Least and largest coordinate along the belt, from the footprint [m]."""
        length = max(self.base, self.top)
        return -length / 2, length / 2

    def solid(self, width: float, crown: float) -> tuple[Solid, float]:
        """Its solid, and the height of the solid's origin above the belt [m]."""
        return prism(self.base, self.top, self.height, width, crown), 0.0


class CylinderShape(Part):
    """A rod along the axle direction, half sunk into the belt."""

    radius: Positive
    """Of the rod, which is also its height above the belt [m]."""

    @property
    def extent(self) -> tuple[float, float]:
        """Least and largest coordinate along the belt, from the footprint [m]."""
        return -self.radius, self.radius

    @property
    def height(self) -> float:
        """Above the belt [m]."""
        return self.radius

    def solid(self, width: float, crown: float) -> tuple[Solid, float]:
        """Its solid, and the height of the solid's origin above the belt [m]."""
        return Cylinder(self.radius, width), 0.0


class MeshShape(Part):
    """A convex mesh: x along the belt, y along the axle, z outwards, origin on the belt's outer face."""

    file: ExistingFile
    """OBJ or STL file, relative to the vehicle file."""
    scale: Positive = 1.0
    """Metres per unit of the file."""

    @cached_property
    def vertices(self) -> NDArray[np.float64]:
        """Corners (n, 3) of the convex hull, in the footprint frame [m]."""
        mesh = trimesh.load(self.file, force="mesh")
        return np.asarray(mesh.convex_hull.vertices) * self.scale

    @property
    def extent(self) -> tuple[float, float]:
        """Least and largest coordinate along the belt, from the footprint [m]."""
        return float(self.vertices[:, 0].min()), float(self.vertices[:, 0].max())

    @property
    def height(self) -> float:
        """Above the belt [m]."""
        return float(self.vertices[:, 2].max())

    def solid(self, width: float, crown: float) -> tuple[Solid, float]:
        """Its solid, and the height of the solid's origin above the belt [m]; a mesh has its own width."""
        return Hull(tuple(map(tuple, self.vertices.tolist()))), 0.0


class GrouserShape(Part):
    """The shape of a grouser."""

    box: BoxShape | None = None
    trapezoid: TrapezoidShape | None = None
    cylinder: CylinderShape | None = None
    mesh: MeshShape | None = None
    width: Positive | None = None
    """Along the axle [m]; the track's width if not given. A mesh has its own."""
    crown: NonNegative = 1e-4
    """How much the middle of a box's or trapezoid's tip stands above its ends [m]. Makes its
    contact with a flat unique, in the middle; 0 for a flat tip."""

    @model_validator(mode="after")
    def _one_kind(self) -> GrouserShape:
        exactly_one(self, ("box", "trapezoid", "cylinder", "mesh"))
        return self

    @property
    def kind(self) -> BoxShape | TrapezoidShape | CylinderShape | MeshShape:
        """The one shape that is given."""
        return exactly_one(self, ("box", "trapezoid", "cylinder", "mesh"))


class Grousers(Part):
    """The grousers of a belt: how many, of which shape."""

    count: Count
    """In one round of the belt."""
    shape: GrouserShape | None = None
    """All alike."""
    pattern: tuple[GrouserShape, ...] | None = Field(default=None, min_length=2)
    """Shapes that follow each other in turn."""

    @model_validator(mode="after")
    def _whole_patterns(self) -> Grousers:
        exactly_one(self, ("shape", "pattern"))
        if self.count % len(self.shapes):
            raise ValueError(f"count must be a multiple of the {len(self.shapes)} shapes in pattern, got {self.count}")
        return self

    @property
    def shapes(self) -> tuple[GrouserShape, ...]:
        """The shapes in turn; one if all are alike."""
        return self.pattern if self.pattern is not None else (self.shape,)  # type: ignore[return-value]


class SprocketDrive(Part):
    """A motor's torque-speed line, at the sprocket."""

    radius: Positive
    """Of the sprocket's pitch circle [m]."""
    stall_torque: Positive
    """At rest [N m]."""
    no_load_speed: Positive
    """At no torque [rad/s]."""


class Drive(Part):
    """What moves a belt, and how hard: a constant force limit, or a torque-speed line at the sprocket."""

    max_force: Positive | None = None
    """Along the belt [N]."""
    max_speed: Positive | None = None
    """Largest commanded belt speed [m/s]; faster commands are clipped to it."""
    sprocket: SprocketDrive | None = None
    self_locking: bool = False
    """An overloaded drive holds the belt (worm gear) and is not driven back."""

    @model_validator(mode="after")
    def _one_law(self) -> Drive:
        exactly_one(self, ("max_force", "sprocket"))
        if (self.max_force is None) != (self.max_speed is None):
            raise ValueError("must have max_speed with max_force and not with sprocket")
        return self

    @property
    def stall_force(self) -> float:
        """Largest force on a belt at rest [N]."""
        return self.max_force if self.sprocket is None else self.sprocket.stall_torque / self.sprocket.radius  # type: ignore[return-value]

    @property
    def top_speed(self) -> float:
        """Largest belt speed that can be commanded [m/s]."""
        return self.max_speed if self.sprocket is None else self.sprocket.no_load_speed * self.sprocket.radius  # type: ignore[return-value]

    def force_limit(self, speed: float) -> float:
        """Largest driving force [N] on a belt that moves at `speed` [m/s] in the commanded direction.

        A constant, or the line from `stall_force` at rest to nothing at `top_speed`; a
        belt that is pushed back is held by no more than the stall force.
        """
        if self.sprocket is None:
            return self.stall_force
        return self.stall_force * min(max(1.0 - speed / self.top_speed, 0.0), 1.0)


class ContactPart(Part):
    """How the track touches the ground. Bullet multiplies the friction of two bodies; bundled terrain has 1."""

    friction: NonNegative = 0.6
    """Coulomb coefficient against terrain of friction 1."""
    stiffness: Positive | None = None
    """Of each contact point [N/m]; rigid if not given."""
    damping: NonNegative | None = None
    """Of each contact point [N s/m]; needed with stiffness."""

    @model_validator(mode="after")
    def _both_or_none(self) -> ContactPart:
        if (self.stiffness is None) != (self.damping is None):
            raise ValueError("must have both stiffness and damping, or neither")
        return self


class TrackPart(Part):
    """A track: a belt on its path, its grousers and its drive."""

    mount: Mount = Mount()
    path: PathPart
    width: Positive
    """Along the axle [m]."""
    belt: BeltPart
    grousers: Grousers | None = None
    """Left out for a smooth belt."""
    drive: Drive
    contact: ContactPart = ContactPart()
    omit: tuple[Name, ...] = ()
    """Segments that nothing can touch, e.g. line_2; `segtrack draw` shows the names."""

    @model_validator(mode="after")
    def _fits(self) -> TrackPart:
        for shape in self.grousers.shapes if self.grousers is not None else ():
            least, largest = shape.kind.extent
            if largest - least > self.pitch:
                raise ValueError(
                    f"grousers must be no longer than their pitch of {self.pitch:.4g} m, got {largest - least:.4g} m"
                )
        unknown = sorted(set(self.omit) - set(self.belt_path.names))
        if unknown:
            raise ValueError(f"omit has no segment {unknown[0]!r}; there are: {', '.join(self.belt_path.names)}")
        if set(self.omit) == set(self.belt_path.names):
            raise ValueError("omit must leave at least one segment")
        if self.belt_path.names[0] in self.omit:
            raise ValueError(f"omit must not name {self.belt_path.names[0]}, which the drive acts on")
        return self

    @property
    def belt_path(self) -> BeltPath:
        """The belt's path in the track frame."""
        return self.path.belt_path

    @property
    def pitch(self) -> float:
        """Distance between neighbouring grousers along the belt [m]; the perimeter of a smooth belt."""
        return self.belt_path.perimeter / (self.grousers.count if self.grousers is not None else 1)

    @property
    def period(self) -> float:
        """Distance after which the belt's pattern repeats [m]."""
        return self.pitch * (len(self.grousers.shapes) if self.grousers is not None else 1)

    def segment_links(self) -> tuple[SegmentLink, ...]:
        """The track's links, in the track frame."""
        placed = []
        if self.grousers is not None:
            shapes = self.grousers.shapes
            solids = [shape.kind.solid(shape.width or self.width, shape.crown) for shape in shapes]
            footprints = place_grousers(self.belt_path, self.grousers.count)
            placed = [(footprint, *solids[footprint.index % len(solids)]) for footprint in footprints]
        return segment_links(self.belt_path, self.width, self.belt.thickness, self.belt.mass, placed, self.omit)


TrackModelName = Literal["segments", "smooth", "wheels", "plates"]
