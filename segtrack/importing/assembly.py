"""Assembly of bodies and joints of another format to the tree of a URDF, whose joints are at their links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal
from xml.etree.ElementTree import Element, SubElement

import numpy as np
from numpy.typing import NDArray

from segtrack.description import Frame
from segtrack.geometry import rpy_of
from segtrack.importing.findings import Findings

Array = NDArray[np.float64]
JointKind = Literal["revolute", "prismatic", "fixed"]
_UPRIGHT = 1e-9
"""Largest tilt of the root link's z for which the link is the root itself [-]."""
_FREE_SLIDE = 10.0
"""Limit of a sliding joint without any, as a URDF must have one [m]."""


@dataclass(frozen=True, eq=False)
class BodyShape:
    """Shape of a body.

    Attributes:
        kind: Kind: it collides, or is seen alone.
        frame: Frame of the shape in the body's frame.
        tag: Element of a URDF: box, cylinder, sphere, capsule or mesh.
    """

    kind: Literal["collision", "visual"]
    frame: Frame
    tag: Element


@dataclass(frozen=True, eq=False)
class RobotBody:
    """Body of a robot.

    Attributes:
        name: Name of its link.
        frame: Frame in the model's frame, whose z is up, all joints at 0.
        mass: Mass [kg].
        inertial: Frame of its centre of mass in its own frame.
        tensor: Inertia tensor (3, 3) about that, in that frame [kg m^2].
        shapes: Shapes.
    """

    name: str
    frame: Frame
    mass: float = 0.0
    inertial: Frame = field(default_factory=lambda: Frame(np.eye(3), np.zeros(3)))
    tensor: Array = field(default_factory=lambda: np.zeros((3, 3)))
    shapes: tuple[BodyShape, ...] = ()


@dataclass(frozen=True, eq=False)
class BodyJoint:
    """Joint between two bodies.

    Attributes:
        name: Name of the joint.
        kind: Kind; a revolute one without limits is continuous in the URDF.
        parent: Name of the parent body.
        child: Name of the child body.
        anchor: Point of the axis in the model's frame (3,) [m].
        axis: Unit vector of the axis in the model's frame (3,).
        limits: Smallest and largest position [rad, m]; None without.
        effort: Largest torque or force [N m, N]; 0 if not given.
        velocity: Largest speed [rad/s, m/s]; 0 if not given.
        damping: Damping [N m s/rad, N s/m].
        friction: Dry friction [N m, N].
        mimic: Joint that it follows, multiplier and offset; None if it is free.
    """

    name: str
    kind: JointKind
    parent: str
    child: str
    anchor: Array
    axis: Array
    limits: tuple[float, float] | None = None
    effort: float = 0.0
    velocity: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    mimic: tuple[str, float, float] | None = None


@dataclass(frozen=True)
class _Branch:
    """Joint of the tree; one that is turned about carries its parent by its child."""

    joint: BodyJoint
    turned: bool

    @property
    def parent(self) -> str:
        return self.joint.child if self.turned else self.joint.parent

    @property
    def child(self) -> str:
        return self.joint.parent if self.turned else self.joint.child


def assemble(
    name: str, bodies: Sequence[RobotBody], joints: Sequence[BodyJoint], canonical: str, findings: Findings
) -> Element:
    """Assemble the URDF tree of a robot.

    A URDF has each joint at the origin of its child link: links of moving joints get their origins there.
    Joints that close a loop are left out with a remark. A root that is tilted gets a massless one, upright.

    Args:
        name: Name of the robot.
        bodies: Bodies of the robot.
        joints: Joints between them.
        canonical: Name of the body that is the root where joints do not say which one is.
        findings: List to which remarks are added.
    """
    branches = _spanning(bodies, joints, canonical, findings)
    carried = {branch.child: branch.joint for branch in branches}
    frames = {
        body.name: Frame(body.frame.rotation, carried[body.name].anchor)
        if body.name in carried and carried[body.name].kind != "fixed"
        else body.frame
        for body in bodies
    }
    tree = Element("robot", name=name)
    _add_root(tree, [body for body in bodies if body.name not in carried], frames)
    for body in bodies:
        _add_link(tree, body, body.frame.seen_from(frames[body.name]))
    for branch in branches:
        _add_joint(tree, branch, frames, findings)
    return tree


def _spanning(
    bodies: Sequence[RobotBody], joints: Sequence[BodyJoint], canonical: str, findings: Findings
) -> list[_Branch]:
    """Joints of the tree; those that close a loop are left out, and those from leaf to root turned about."""
    children = {joint.child for joint in joints}
    roots = [body.name for body in bodies if body.name not in children]
    starts = [*(roots if len(roots) == 1 else [canonical]), *roots, *(body.name for body in bodies)]
    reached, left, branches = set[str](), list(joints), list[_Branch]()
    for start in starts:
        if start in reached:
            continue
        reached.add(start)
        while branch := _next_branch(left, reached):
            left.remove(branch.joint)
            if branch.turned:
                what = f"carries {branch.child} by {branch.parent}, from the root on"
                findings.add("remark", f"joint {branch.joint.name}", "turned about", what)
            reached.add(branch.child)
            branches.append(branch)
    for joint in left:
        what = f"it closes a loop: {joint.child} is carried already, and a URDF is a tree"
        findings.add("remark", f"joint {joint.name}", "left out", what)
    return branches


def _next_branch(joints: Sequence[BodyJoint], reached: set[str]) -> _Branch | None:
    ahead = (_Branch(j, False) for j in joints if j.parent in reached and j.child not in reached)
    back = (_Branch(j, True) for j in joints if j.child in reached and j.parent not in reached)
    return next(ahead, None) or next(back, None)


def _add_root(tree: Element, roots: Sequence[RobotBody], frames: Mapping[str, Frame]) -> None:
    """Add an upright link without mass below a single root that is tilted."""
    if len(roots) != 1 or np.linalg.norm(frames[roots[0].name].rotation[:, 2] - (0, 0, 1)) < _UPRIGHT:
        return
    name, root = "model_root", roots[0].name
    while name in frames:
        name += "_"
    SubElement(tree, "link", name=name)
    joint = SubElement(tree, "joint", name=f"{name}_to_{root}", type="fixed")
    add_origin(joint, Frame(frames[root].rotation, np.zeros(3)))
    SubElement(joint, "parent", link=name)
    SubElement(joint, "child", link=root)


def _add_link(tree: Element, body: RobotBody, moved: Frame) -> None:
    """Add a link, whose body's frame is `moved` in the link's."""
    link = SubElement(tree, "link", name=body.name)
    if body.mass > 0:
        inertial = SubElement(link, "inertial")
        add_origin(inertial, moved @ body.inertial)
        SubElement(inertial, "mass", value=repr(float(body.mass)))
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.tensor.tolist()
        moments = {"ixx": xx, "ixy": xy, "ixz": xz, "iyy": yy, "iyz": yz, "izz": zz}
        SubElement(inertial, "inertia", {key: repr(value) for key, value in moments.items()})
    for shape in body.shapes:
        element = SubElement(link, shape.kind)
        add_origin(element, moved @ shape.frame)
        SubElement(element, "geometry").append(shape.tag)


def _add_joint(tree: Element, branch: _Branch, frames: Mapping[str, Frame], findings: Findings) -> None:
    joint, kind = branch.joint, str(branch.joint.kind)
    if kind == "revolute" and joint.limits is None:
        kind = "continuous"
    element = SubElement(tree, "joint", name=joint.name, type=kind)
    add_origin(element, frames[branch.child].seen_from(frames[branch.parent]))
    SubElement(element, "parent", link=branch.parent)
    SubElement(element, "child", link=branch.child)
    if kind == "fixed":
        return
    axis = frames[branch.child].rotation.T @ joint.axis * (-1 if branch.turned else 1)
    SubElement(element, "axis", xyz=text_of(axis))
    limits = joint.limits
    if limits is None and kind == "prismatic":
        limits = (-_FREE_SLIDE, _FREE_SLIDE)
        what = "it has none, and a URDF must say some"
        findings.add("guessed", f"joint {joint.name}: limits", f"{_FREE_SLIDE:g} m each way", what)
    limit = SubElement(element, "limit")
    for key, value in zip(("lower", "upper"), limits or (), strict=False):
        limit.set(key, repr(float(value)))
    limit.set("effort", repr(float(joint.effort)))
    limit.set("velocity", repr(float(joint.velocity)))
    if joint.damping or joint.friction:
        numbers = {"damping": repr(float(joint.damping)), "friction": repr(float(joint.friction))}
        SubElement(element, "dynamics", numbers)
    if joint.mimic is not None:
        leader, multiplier, offset = joint.mimic
        SubElement(element, "mimic", joint=leader, multiplier=repr(multiplier), offset=repr(offset))


def add_origin(element: Element, frame: Frame) -> None:
    """Add the `origin` of a frame to an element of a URDF."""
    SubElement(element, "origin", xyz=text_of(frame.origin), rpy=text_of(rpy_of(frame.rotation)))


def text_of(values: Sequence[float] | Array) -> str:
    """Text of numbers for an attribute, to the last bit."""
    return " ".join(repr(float(value) + 0.0) for value in values)


def plain_names(names: Sequence[str]) -> Iterator[str]:
    """Yield names with `__` for the `::` of nested models, each once."""
    used = set[str]()
    for name in names:
        plain = name.replace("::", "__")
        while plain in used:
            plain += "_"
        used.add(plain)
        yield plain
