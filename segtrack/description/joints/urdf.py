"""Joints of a URDF as the file gives them."""

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
    """Rule by which a joint follows another one: position = multiplier x that one's + offset.

    Attributes:
        leader: Name of the other joint.
        multiplier: [-]
        offset: [rad] or [m]
    """

    leader: str
    multiplier: float
    offset: float


@dataclass(frozen=True, eq=False)
class UrdfJoint:
    """A joint of a URDF.

    Attributes:
        name: Its name.
        kind: URDF's type.
        parent: Link that carries it.
        child: Link that it moves.
        frame: Frame of the joint, and of the child at position 0, in the parent link's frame.
        axis: Unit vector along the axis in the joint's frame (3,); zeros if the file gives none of a length.
        limits: Least and largest position [rad] or [m]; infinite for a continuous joint.
        effort: Largest torque [N m] or force [N]; 0 if not given.
        velocity: Largest speed [rad/s] or [m/s]; 0 if not given.
        damping: [N m s/rad] or [N s/m]
        friction: [N m] or [N]
        mimicry: The joint that it follows, if it does.
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
        """Read a joint of a URDF without mistakes."""
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
    """Joints of a URDF without mistakes by name, in its order but each after those that carry it."""
    waiting = [UrdfJoint.of(joint) for joint in robot.iterfind("joint")]
    ordered: dict[str, UrdfJoint] = {}
    while waiting:
        moved = {joint.child for joint in waiting}
        joint = next(joint for joint in waiting if joint.parent not in moved)
        ordered[joint.name] = joint
        waiting.remove(joint)
    return ordered
