"""Moving joints of a body's URDF as engines take them, and the links that each joint carries."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segtrack.description.frames import Frame
from segtrack.description.joints.spec import JointSpec, ServoSpec, SpringSpec, StopSpec, both_ways
from segtrack.description.joints.urdf import Mimicry, UrdfJoint, read_joints

SERVO_RATE = 100.0
"""Fraction of its position error that a servo aims to close in a second by default [1/s]."""


@dataclass(frozen=True, eq=False)
class ForceCurve:
    """Torque or force over position or speed: piecewise linear, with the end slopes continued beyond.

    Attributes:
        points: Positions or speeds, rising, and torques [N m] or forces [N] there (n, 2), n >= 2.
    """

    points: NDArray[np.float64]

    @classmethod
    def through(cls, points: ArrayLike) -> ForceCurve:
        """Make a curve from points (n, 2)."""
        return cls(np.asarray(points, dtype=float).reshape(-1, 2))

    def slope(self, x: float) -> float:
        """Slope of the curve at `x` [N m/rad or N/m over position; N m s/rad or N s/m over speed]."""
        i = self._piece(x)
        (left, start), (right, end) = self.points[i : i + 2].tolist()
        return float((end - start) / (right - left))

    def force(self, x: float) -> float:
        """Torque [N m] or force [N] at `x`."""
        left, start = self.points[self._piece(x)].tolist()
        return float(start + self.slope(x) * (x - left))

    def _piece(self, x: float) -> int:
        inner = int(np.searchsorted(self.points[:, 0], x, side="right")) - 1
        return min(max(inner, 0), len(self.points) - 2)


@dataclass(frozen=True)
class ServoDesign:
    """Servo of a joint, with defaults from the URDF.

    Attributes:
        max_force: Largest torque [N m] or force [N].
        max_speed: Largest speed [rad/s] or [m/s].
        rate: Rate at which the position error is to decay [1/s].
        stiffness: Proportional gain [N m/rad] or [N/m]; 0 for as stiff as `max_force` allows.
        damping: Derivative gain [N m s/rad] or [N s/m].
    """

    max_force: float
    max_speed: float
    rate: float
    stiffness: float
    damping: float


@dataclass(frozen=True, eq=False)
class JointDesign:
    """Moving joint of the body's URDF.

    Attributes:
        name: Name in the URDF.
        kind: Revolute or prismatic; URDF's continuous joints are revolute without limits.
        parent: Parent link in the URDF.
        child: Child link in the URDF.
        carrier: Index of the joint that moves the parent; -1 for the root.
        frame: Joint frame (and the child's at position 0), in the frame of the carrier's child.
        axis: Unit vector along the axis in the joint's frame (3,).
        limits: Smallest and largest position [rad] or [m]; infinite where there is none.
        servo: Servo of the joint; None without one.
        spring: Torque [N m] or force [N] on the joint over its position, falling; None without one.
        damper: Torque [N m] or force [N] against the motion over the speed, rising; None without one.
        friction: Dry friction [N m] or [N].
        stops: Lower and upper stop (a buffer); None where there is none.
        initial_position: Position at the start [rad] or [m].
        mimicry: Joint that it mimics, which mimics none itself; None if it moves by itself.
    """

    name: str
    kind: Literal["revolute", "prismatic"]
    parent: str
    child: str
    carrier: int
    frame: Frame
    axis: NDArray[np.float64]
    limits: tuple[float, float]
    servo: ServoDesign | None
    spring: ForceCurve | None
    damper: ForceCurve | None
    friction: float
    stops: tuple[StopSpec | None, StopSpec | None]
    initial_position: float
    mimicry: Mimicry | None

    def passive_force(self, position: float, speed: float) -> float:
        """Torque [N m] or force [N] of spring, damper and stops on the joint; without dry friction."""
        force = self.spring.force(position) if self.spring is not None else 0.0
        force -= self.damper.force(speed) if self.damper is not None else 0.0
        for side, stop in zip((-1, 1), self.stops, strict=True):
            depth = side * (position - stop.position) if stop is not None else 0.0
            if stop is not None and depth > 0:
                # A buffer pushes and never pulls.
                force -= side * max(stop.stiffness * depth + side * stop.damping * speed, 0.0)
        return force

    def displaced(self, position: float) -> Frame:
        """Frame of the child in the carrier's frame at a position [rad] or [m]."""
        if self.kind == "prismatic":
            return Frame(self.frame.rotation, self.frame.points(position * self.axis))
        x, y, z = self.axis.tolist()
        skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        turn = np.eye(3) + math.sin(position) * skew + (1 - math.cos(position)) * skew @ skew
        return self.frame @ Frame(turn, np.zeros(3))


@dataclass(frozen=True, eq=False)
class CarriedLink:
    """Link of the URDF, and its place on the joint that moves it.

    Attributes:
        joint: Index of the joint that moves the link; -1 for the root.
        frame: Frame of the link in that of the joint's child, or of the root link.
    """

    joint: int
    frame: Frame


@dataclass(frozen=True, eq=False)
class JointTree:
    """Moving joints of a body, parents first, and its links; all other joints stay at 0.

    Attributes:
        joints: Moving joints.
        links: Every link of the URDF by name; `body` alone without a URDF.
    """

    joints: tuple[JointDesign, ...]
    links: Mapping[str, CarriedLink]

    def carried(self, parent: str) -> CarriedLink:
        """Place of the link named by a mount's `parent`; `body` is the root unless a link has that name."""
        return self.links.get(parent, CarriedLink(-1, Frame.at((0, 0, 0), (0, 0, 0))))

    def frames(self, positions: Mapping[str, float]) -> dict[str, Frame]:
        """Frames of all links in the body frame.

        Args:
            positions: Positions of joints by name [rad] or [m]; 0 if not given.
        """
        moved = [Frame.at((0, 0, 0), (0, 0, 0))]
        for joint in self.joints:
            moved.append(moved[1 + joint.carrier] @ joint.displaced(positions.get(joint.name, 0.0)))
        return {name: moved[1 + link.joint] @ link.frame for name, link in self.links.items()}


def leaders(joints: Mapping[str, UrdfJoint]) -> dict[str, Mimicry | None]:
    """Joint that each joint mimics in the end, by name; None for one that mimics none, or in a circle."""
    found: dict[str, Mimicry | None] = {}
    for name, joint in joints.items():
        mimicry, seen = joint.mimicry, {name}
        while mimicry is not None and mimicry.leader in joints:
            if mimicry.leader in seen:
                mimicry = None
                break
            seen.add(mimicry.leader)
            above = joints[mimicry.leader].mimicry
            if above is None:
                break
            offset = mimicry.offset + mimicry.multiplier * above.offset
            mimicry = Mimicry(above.leader, mimicry.multiplier * above.multiplier, offset)
        found[name] = mimicry
    return found


def moving_names(joints: Mapping[str, UrdfJoint], named: Collection[str]) -> list[str]:
    """Names of the moving joints: the vehicle file's, and the joints that mimic one of them."""
    followed = leaders(joints)
    return [
        name
        for name in joints
        if name in named or ((rule := followed[name]) is not None and rule.leader in named)
    ]


def shared_limits(joints: Mapping[str, UrdfJoint], name: str) -> tuple[float, float]:
    """Limits of a joint within which its followers stay within theirs [rad] or [m]."""
    low, high = joints[name].limits
    for follower, rule in leaders(joints).items():
        if rule is not None and rule.leader == name and rule.multiplier != 0:
            ends = [(limit - rule.offset) / rule.multiplier for limit in joints[follower].limits]
            low, high = max(low, min(ends)), min(high, max(ends))
    return low, high


def joint_tree(urdf: str | None, specs: Mapping[str, JointSpec]) -> JointTree:
    """Lay out the moving joints and the links of a body.

    Args:
        urdf: URDF file of the body; None for a body without one.
        specs: Joints of the vehicle file, by name.
    """
    if urdf is None:
        return JointTree((), {"body": CarriedLink(-1, Frame.at((0, 0, 0), (0, 0, 0)))})
    robot = ElementTree.parse(urdf).getroot()
    joints = read_joints(robot)
    followed, moving = leaders(joints), moving_names(joints, specs)
    children = {joint.child for joint in joints.values()}
    names = [str(link.get("name")) for link in robot.iterfind("link")]
    links = {name: CarriedLink(-1, Frame.at((0, 0, 0), (0, 0, 0))) for name in names if name not in children}
    designs: list[JointDesign] = []
    for name, joint in joints.items():
        parent = links[joint.parent]
        placed = parent.frame @ joint.frame
        if name not in moving:
            links[joint.child] = CarriedLink(parent.joint, placed)
            continue
        links[joint.child] = CarriedLink(len(designs), Frame.at((0, 0, 0), (0, 0, 0)))
        rule = followed[name]
        design = _design(joint, parent.joint, placed, specs.get(name, JointSpec()))
        designs.append(replace(design, limits=shared_limits(joints, name), mimicry=rule))
    initial = {design.name: design.initial_position for design in designs}
    for i, design in enumerate(designs):
        if (rule := design.mimicry) is not None:
            start = rule.offset + rule.multiplier * initial[rule.leader]
            designs[i] = replace(design, initial_position=start)
    return JointTree(tuple(designs), {name: links[name] for name in names})


def _design(joint: UrdfJoint, carrier: int, frame: Frame, spec: JointSpec) -> JointDesign:
    """Design of a joint: its URDF, with the vehicle file's settings."""
    damper = None
    if spec.damper is not None and spec.damper.table is not None:
        damper = ForceCurve.through(both_ways(spec.damper.table))
    else:
        damping = spec.damper.damping if spec.damper is not None else joint.damping
        damper = ForceCurve.through([(-1.0, -damping), (1.0, damping)]) if damping else None
    return JointDesign(
        name=joint.name,
        kind="prismatic" if joint.kind == "prismatic" else "revolute",
        parent=joint.parent,
        child=joint.child,
        carrier=carrier,
        frame=frame,
        axis=joint.axis,
        limits=joint.limits,
        servo=None if spec.servo is None else _servo(joint, spec.servo),
        spring=None if spec.spring is None else _spring(spec.spring),
        damper=damper,
        friction=joint.friction if spec.friction is None else spec.friction,
        stops=(spec.stops.lower, spec.stops.upper),
        initial_position=spec.initial_position,
        mimicry=None,
    )


def _servo(joint: UrdfJoint, spec: ServoSpec) -> ServoDesign:
    return ServoDesign(
        max_force=joint.effort if spec.max_force is None else spec.max_force,
        max_speed=joint.velocity if spec.max_speed is None else spec.max_speed,
        rate=SERVO_RATE if spec.rate is None else spec.rate,
        stiffness=spec.stiffness or 0.0,
        damping=spec.damping or 0.0,
    )


def _spring(spec: SpringSpec) -> ForceCurve:
    """Force curve of a spring on its joint, over the joint's position."""
    rows = ((0.0, 0.0), (1.0, spec.stiffness)) if spec.table is None else both_ways(spec.table)
    return ForceCurve.through([(spec.free_position + x, spec.preload - force) for x, force in rows])  # type: ignore[operator]
