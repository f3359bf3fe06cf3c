"""Joints of a URDF as read from the file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from segtrack.description.frames import Frame, read_vector

MOVABLE = ("revolute", "continuous", "prismatic")
"""Types of joints that can move, of those that a body's URDF may have."""


@dataclass(frozen=True)
class Mimicry:
    """Mimic rule of a joint: position = multiplier x the leader's position + offset.

    Attributes:
        leader: Name of the joint that is mimicked.
        multiplier: Ratio of the positions [-].
        offset: Position when the leader is at 0 [rad] or [m].
    """

    leader: str
    multiplier: float
    offset: float


@dataclass(frozen=True, eq=False)
class UrdfJoint:
    """Joint of a URDF.

    Attributes:
        name: Name in the URDF.
        kind: URDF's joint type.
        parent: Name of the parent link.
        child: Name of the child link.
        frame: Joint frame (and the child's at position 0) in the parent link's frame.
        axis: Unit vector along the axis in the joint's frame (3,); zeros if the file's has no length.
        limits: Smallest and largest position [rad] or [m]; infinite for a continuous joint.
        effort: Largest torque [N m] or force [N]; 0 if not given.
        velocity: Largest speed [rad/s] or [m/s]; 0 if not given.
        damping: Viscous damping [N m s/rad] or [N s/m].
        friction: Dry friction [N m] or [N].
        mimicry: Mimic rule; None without one.
    """

    name: str
    kind: str
    parent: str
    child: str
    frame: Frame
    axis: NDArray[np.float64]
    limits: tuple[float, float]
    effort: float
    velocity: float
    damping: float
    friction: float
    mimicry: Mimicry | None

    @classmethod
    def of(cls, joint: Element) -> UrdfJoint:
        """Read one joint of a valid URDF."""
        kind = str(joint.get("type"))
        axis, given = joint.find("axis"), np.array([1.0, 0.0, 0.0])
        if axis is not None and axis.get("xyz") is not None:
            given = np.array(read_vector(axis, "xyz"))
        length = float(np.linalg.norm(given))
        origin, mimic = joint.find("origin"), joint.find("mimic")
        limits = _number(joint, "limit", "lower"), _number(joint, "limit", "upper")
        return cls(
            name=str(joint.get("name")),
            kind=kind,
            parent=str(joint.find("parent").get("link")),  # type: ignore[union-attr]
            child=str(joint.find("child").get("link")),  # type: ignore[union-attr]
            frame=Frame.at(read_vector(origin, "xyz"), read_vector(origin, "rpy")),
            axis=given / length if length > 0 else given,
            limits=(-math.inf, math.inf) if kind == "continuous" else limits,
            effort=_number(joint, "limit", "effort"),
            velocity=_number(joint, "limit", "velocity"),
            damping=_number(joint, "dynamics", "damping"),
            friction=_number(joint, "dynamics", "friction"),
            mimicry=None
            if mimic is None
            else Mimicry(
                str(mimic.get("joint")), float(mimic.get("multiplier", "1")), float(mimic.get("offset", "0"))
            ),
        )


def _number(joint: Element, tag: str, key: str) -> float:
    element = joint.find(tag)
    return float(element.get(key, "0")) if element is not None else 0.0


def read_joints(robot: Element) -> dict[str, UrdfJoint]:
    """Joints of a valid URDF by name, in file order but parents first."""
    waiting = [UrdfJoint.of(joint) for joint in robot.iterfind("joint")]
    ordered: dict[str, UrdfJoint] = {}
    while waiting:
        moved = {joint.child for joint in waiting}
        joint = next(joint for joint in waiting if joint.parent not in moved)
        ordered[joint.name] = joint
        waiting.remove(joint)
    return ordered
