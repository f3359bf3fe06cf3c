"""Robot as a URDF tree says it: links, joints and shapes in the root frame, with all joints at 0."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from segtrack.description import Frame, LinkShape, link_frames, read_inertial, read_vector
from segtrack.geometry import MassProperties

Array = NDArray[np.float64]
FULL_TURN = 2 * np.pi
MOVING = ("revolute", "continuous", "prismatic")


@dataclass(frozen=True, eq=False)
class RobotJoint:
    """Joint of a robot.

    Attributes:
        name: Name of the joint.
        kind: Type of the joint in the URDF.
        parent: Name of the parent link.
        child: Name of the child link.
        origin: Position in the root frame (3,) [m].
        axis: Unit vector of its axis in the root frame (3,).
        limits: Smallest and largest position [rad, m]; None without any, or beyond a turn.
        effort: Largest torque or force [N m, N]; 0 if not given.
        velocity: Largest speed [rad/s, m/s]; 0 if not given.
    """

    name: str
    kind: str
    parent: str
    child: str
    origin: Array
    axis: Array
    limits: tuple[float, float] | None
    effort: float
    velocity: float

    @property
    def turns(self) -> bool:
        """True for a joint that turns about its axis."""
        return self.kind in ("revolute", "continuous")

    @property
    def turns_round(self) -> bool:
        """True for a joint that turns without limits, or with limits of a turn or more."""
        return self.turns and self.limits is None


@dataclass(frozen=True)
class Hints:
    """Hints on a robot from plugins of Gazebo and gz-sim.

    Attributes:
        left: Links named as left tracks, or whose joints drive left wheels.
        right: Links of the right side.
        friction: Friction coefficient along the track [-].
        lateral_friction: Friction coefficient across the track [-].
        max_speed: Largest speed [m/s].
        separation: Distance between the tracks of both sides [m].
    """

    left: tuple[str, ...] = ()
    right: tuple[str, ...] = ()
    friction: float | None = None
    lateral_friction: float | None = None
    max_speed: float | None = None
    separation: float | None = None


@dataclass(frozen=True, eq=False)
class UrdfRobot:
    """Robot as its URDF tree says it.

    Attributes:
        name: Name of the robot.
        tree: Element `robot` of the URDF, repaired; not to be changed.
        folder: Folder that the paths of its meshes start from.
        hints: Hints of its plugins.
    """

    name: str
    tree: Element
    folder: Path
    hints: Hints = field(default_factory=Hints)

    @cached_property
    def frames(self) -> dict[str, Frame]:
        """Frames of all links in the root frame, by name."""
        return link_frames(self.tree)

    @cached_property
    def links(self) -> dict[str, Element]:
        """Elements of the links, by name."""
        return {str(link.get("name")): link for link in self.tree.iterfind("link")}

    @cached_property
    def joint_of(self) -> dict[str, RobotJoint]:
        """Joint that carries each link but the root, by the link's name."""
        return {joint.child: joint for joint in map(self._joint, self.tree.iterfind("joint"))}

    @cached_property
    def root(self) -> str:
        """Name of the root link."""
        return next(name for name in self.links if name not in self.joint_of)

    @property
    def mass(self) -> float:
        """Mass of all links [kg]."""
        return sum(self.mass_properties(link).mass for link in self.links)

    def mass_properties(self, link: str) -> MassProperties:
        """Mass properties of a link in its own frame; zero if the file gives none."""
        return read_inertial(self.links[link])

    def rigid_root(self, link: str) -> str:
        """Topmost link that fixed joints hold a link to."""
        while link in self.joint_of and self.joint_of[link].kind not in MOVING:
            link = self.joint_of[link].parent
        return link

    def moving_joints(self, link: str) -> tuple[RobotJoint, ...]:
        """Moving joints between a link and the root, the nearest to the link first."""
        found, link = [], self.rigid_root(link)
        while link in self.joint_of:
            found.append(self.joint_of[link])
            link = self.rigid_root(self.joint_of[link].parent)
        return tuple(found)

    def below(self, link: str) -> tuple[str, ...]:
        """Names of a link and of all that it carries."""
        names = [link]
        for name in names:
            names += [child for child, joint in self.joint_of.items() if joint.parent == name]
        return tuple(names)

    def held_to(self, link: str) -> tuple[str, ...]:
        """Names of the links of the rigid body that a link belongs to."""
        root = self.rigid_root(link)
        return tuple(name for name in self.links if self.rigid_root(name) == root)

    def shapes(self, link: str) -> tuple[LinkShape, ...]:
        """Shapes of a link in the root frame: those that collide, or the visible ones without any."""
        return tuple(self._shapes(link, "collision")) or tuple(self._shapes(link, "visual"))

    def points(self, link: str) -> Array:
        """Points (n, 3) in the root frame whose convex hull is that of a link's shapes [m]."""
        corners = [shape.frame.points(shape.corners()) for shape in self.shapes(link)]
        return np.concatenate(corners) if corners else np.zeros((0, 3))

    def _shapes(self, link: str, kind: Literal["collision", "visual"]) -> Iterator[LinkShape]:
        for element in self.links[link].iterfind(kind):
            origin = element.find("origin")
            own = Frame.at(read_vector(origin, "xyz"), read_vector(origin, "rpy"))
            for tag in element.iterfind("geometry/*"):
                yield LinkShape(tag, self.frames[link] @ own, self.folder)

    def _joint(self, element: Element) -> RobotJoint:
        child = _named(element, "child")
        frame, limit = self.frames[child], element.find("limit")
        axis_element = element.find("axis")
        axis = np.array([1.0, 0.0, 0.0] if axis_element is None else read_vector(axis_element, "xyz"))
        lower, upper, effort, velocity = (
            float(limit.get(key, "0")) if limit is not None else 0.0
            for key in ("lower", "upper", "effort", "velocity")
        )
        kind = str(element.get("type"))
        bounded = kind in ("revolute", "prismatic") and lower < upper
        if kind == "revolute" and upper - lower >= FULL_TURN:
            bounded = False
        return RobotJoint(
            name=str(element.get("name")),
            kind=kind,
            parent=_named(element, "parent"),
            child=child,
            origin=frame.origin,
            axis=frame.rotation @ axis / (float(np.linalg.norm(axis)) or 1.0),
            limits=(lower, upper) if bounded else None,
            effort=effort,
            velocity=velocity,
        )


def _named(joint: Element, tag: str) -> str:
    element = joint.find(tag)
    return str(element.get("link")) if element is not None else ""
