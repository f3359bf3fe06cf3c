"""Bodies that move against each other, and belts on them, as SDF and MJCF need them.

A part is a link of `vehicle_links`: what fixed joints, and joints that stand at 0, hold together is one.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.description import (
    BODY_COLOUR,
    Frame,
    LinkShape,
    MountedTrack,
    TrackSpec,
    VehicleDescription,
    body_shapes,
    bounding_box,
    vehicle_links,
)
from segtrack.errors import InvalidValueError
from segtrack.exporting.belt_shapes import BeltShape, belt_shapes
from segtrack.geometry import Box, MassProperties, Placed, rotation_about_y, rotation_of, uniform_belt


@dataclass(frozen=True, eq=False)
class PartJoint:
    """Joint by which a part moves on its parent, at the origin of the part's frame.

    Attributes:
        name: Name of the joint.
        kind: Motion of the joint.
        axis: Unit vector along its axis in the part's frame (3,).
        limits: Smallest and largest position [rad] or [m]; infinite where there is none.
        effort: Largest torque [N m] or force [N] of its servo; None without one.
        velocity: Largest speed of its servo [rad/s] or [m/s]; None without one.
        gains: Stiffness and damping of a servo that gives way [N m/rad, N m s/rad] or [N/m, N s/m]; None
            for a stiff one.
        damping: Viscous damping [N m s/rad] or [N s/m].
        friction: Dry friction [N m] or [N].
        stiffness: Stiffness of its spring [N m/rad] or [N/m]; 0 without one.
        free_position: Position at which the spring exerts nothing [rad] or [m].
        mimics: Name of the joint that it mimics, multiplier [-] and offset [rad] or [m]; None if it does not.
    """

    name: str
    kind: Literal["revolute", "prismatic"]
    axis: NDArray[np.float64]
    limits: tuple[float, float]
    effort: float | None = None
    velocity: float | None = None
    gains: tuple[float, float] | None = None
    damping: float = 0.0
    friction: float = 0.0
    stiffness: float = 0.0
    free_position: float = 0.0
    mimics: tuple[str, float, float] | None = None


@dataclass(frozen=True, eq=False)
class PartBelt:
    """Belt on a part.

    Attributes:
        name: Name in the file, `NAME_track`.
        mounted: Track of the vehicle.
        frame: Track frame in the part's frame.
        mass: Mass properties in the track frame.
        shapes: Shapes of its outline in the track frame.
    """

    name: str
    mounted: MountedTrack
    frame: Frame
    mass: MassProperties
    shapes: tuple[BeltShape, ...]

    @property
    def spec(self) -> TrackSpec:
        """Track of the vehicle file."""
        return self.mounted.spec


class PartShape(NamedTuple):
    """Shape of a part.

    Attributes:
        link: Link of the body's URDF that has it; `body` without one.
        shape: Shape in the part's frame.
    """

    link: str
    shape: LinkShape


@dataclass(frozen=True, eq=False)
class Part:
    """Rigid body of a vehicle.

    Attributes:
        name: Name in the file.
        parent: Index of the part that carries it; -1 for the body.
        pivot: Its frame in the parent's, with all joints at 0.
        frame: Its frame in the body frame, with all joints at 0.
        joint: Joint by which it moves; None for the body.
        mass: Mass properties in its frame, belts included.
        bare: Mass properties in its frame without belts.
        visual: Shapes that are seen, in its frame.
        collision: Shapes that touch, in its frame; belts not included.
        belts: Belts on it.
    """

    name: str
    parent: int
    pivot: Frame
    frame: Frame
    joint: PartJoint | None
    mass: MassProperties
    bare: MassProperties
    visual: tuple[PartShape, ...]
    collision: tuple[PartShape, ...]
    belts: tuple[PartBelt, ...]


def frame_of(placed: Placed) -> Frame:
    """Frame of a solid of a track in the track frame; a cylinder's axis, y in ours, is z in it."""
    turn = rotation_about_y(placed.heading)
    if not isinstance(placed.solid, Box):
        turn = turn @ rotation_of((math.pi / 2, 0.0, 0.0))
    return Frame(turn, np.array([placed.x, 0.0, placed.z]))


def standing_height(vehicle: VehicleDescription) -> float:
    """Height of the body frame above level ground that belts and shapes just touch, joints at 0 [m].

    Raises:
        InvalidValueError: The mesh of a shape that touches is no solid.
    """
    for link, shape in vehicle.body.contact_shapes():
        try:
            shape.corners()
        except InvalidValueError:
            what = f"collision mesh of link {link} of {vehicle.name}"
            expected = "an OBJ, STL or COLLADA file of a solid (a flat one has no volume)"
            raise InvalidValueError(what, expected, str(shape.tag.get("filename"))) from None
    return -float(bounding_box(vehicle, {})[0][2])


def vehicle_parts(vehicle: VehicleDescription) -> tuple[Part, ...]:
    """Parts of a vehicle, the body first, and each after the one that carries it.

    Raises:
        InvalidValueError: One has no mass.
    """
    links, own = vehicle_links(vehicle), {"world", *_urdf_names(vehicle)}
    joints = [None, *_joints(vehicle, own)]
    root, *moved = (name if name != "world" else "world_" for name in _urdf_parts(vehicle))
    names = [root, *(free_name(name, own) for name in vehicle.flippers), *moved]
    for name, mass in zip(names, links.masses, strict=True):
        if mass.mass <= 0:
            raise InvalidValueError(
                f"mass [kg] of the moving link {name} of {vehicle.name}", "above 0", mass.mass
            )
    belts: list[list[PartBelt]] = [[] for _ in names]
    tracks = zip(vehicle.mounted_tracks(), links.track_links, links.track_frames, strict=True)
    for mounted, link, frame in tracks:
        spec = mounted.spec
        mass = uniform_belt(spec.belt_path, spec.width, spec.belt.mass)
        name = free_name(f"{mounted.name}_track", own)
        belts[link].append(PartBelt(name, mounted, frame, mass, belt_shapes(spec)))
    still = Frame.at((0, 0, 0), (0, 0, 0))
    frames, parts = links.frames, []
    visual, collision = (_shapes(vehicle, frames, kind) for kind in ("visual", "collision"))
    for i, name in enumerate(names):
        bare = links.masses[i]
        for belt in belts[i]:
            bare = bare - belt.mass.transformed(belt.frame.rotation, belt.frame.origin)
        parent, pivot = (links.parents[i - 1], links.pivots[i - 1]) if i else (-1, still)
        parts.append(
            Part(
                name, parent, pivot, frames[i], joints[i], links.masses[i], bare, visual[i], collision[i],
                tuple(belts[i]),
            )
        )  # fmt: skip
    return tuple(parts)


def free_name(name: str, taken: set[str]) -> str:
    """The name, with underscores behind it as long as something has it already; it is taken then."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _urdf_names(vehicle: VehicleDescription) -> set[str]:
    """Names of links and joints of the body's URDF."""
    if vehicle.body.urdf is None:
        return {"body"}
    robot = ElementTree.parse(vehicle.body.urdf).getroot()
    return {str(each.get("name")) for tag in ("link", "joint") for each in robot.iterfind(tag)}


def _urdf_parts(vehicle: VehicleDescription) -> list[str]:
    """Names of the body's root link and of its moving links."""
    moved = [joint.child for joint in vehicle.joint_tree.joints]
    if vehicle.body.urdf is None:
        return ["body", *moved]
    robot = ElementTree.parse(vehicle.body.urdf).getroot()
    children = {str(child.get("link")) for child in robot.iterfind("joint/child")}
    links = (str(link.get("name")) for link in robot.iterfind("link"))
    return [next(link for link in links if link not in children), *moved]


def _joints(vehicle: VehicleDescription, taken: set[str]) -> list[PartJoint]:
    """Joints of the parts but the body, in the order of `vehicle_links`, by names that are not taken."""
    found = []
    for name, flipper in vehicle.flippers.items():
        axis = np.array([0.0, flipper.raise_axis, 0.0])
        joint = free_name(f"{name}_flipper_joint", taken)  # By which an import knows a flipper.
        limits, effort, velocity = flipper.limits, flipper.max_torque, flipper.max_speed
        found.append(PartJoint(joint, "revolute", axis, limits, effort, velocity))
    for design in vehicle.joint_tree.joints:
        servo, spring, rule = design.servo, design.spring, design.mimicry
        stiffness = -spring.slope(0.0) if spring is not None else 0.0
        found.append(
            PartJoint(
                name=design.name,
                kind=design.kind,
                axis=design.axis,
                limits=design.limits,
                effort=None if servo is None else servo.max_force,
                velocity=None if servo is None else servo.max_speed,
                gains=None if servo is None or not servo.stiffness else (servo.stiffness, servo.damping),
                damping=design.damper.slope(0.0) if design.damper is not None else 0.0,
                friction=design.friction,
                stiffness=stiffness,
                free_position=spring.force(0.0) / stiffness if spring is not None and stiffness else 0.0,
                mimics=None if rule is None else (rule.leader, rule.multiplier, rule.offset),
            )
        )
    return found


def _shapes(
    vehicle: VehicleDescription, frames: tuple[Frame, ...], kind: Literal["visual", "collision"]
) -> list[tuple[PartShape, ...]]:
    """Shapes of each part but belts, in its frame."""
    body, tree, first = vehicle.body, vehicle.joint_tree, 1 + len(vehicle.flippers)
    found: list[list[PartShape]] = [[] for _ in frames]
    own_colour = BODY_COLOUR if body.urdf is None else ""
    shapes = body.contact_shapes()
    if kind == "visual" and body.urdf is not None:
        shapes = body_shapes(body.urdf, "visual")
    for link, shape in shapes:
        joint = tree.carried(link).joint
        part = first + joint if joint >= 0 else 0
        placed = replace(shape, frame=shape.frame.seen_from(frames[part]), colour=shape.colour or own_colour)
        found[part].append(PartShape(link, placed))
    return [tuple(each) for each in found]
