"""Wheels of a robot: links that turn about an axle and are round about it, and the belts around them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.description import LinkShape
from segtrack.importing.robot import RobotJoint, UrdfRobot

Array = NDArray[np.float64]
_PARALLEL = 0.99
"""Least cosine of the angle between axes that count as parallel [-]."""
_ROUND = 0.85
"""Least extent across an axle over the greatest, of a mesh that counts as round [-]."""
_LEVEL = 0.1
"""Greatest sine of an axle's inclination [-]."""
_WHEEL = re.compile(r"wheel|sprocket|idler|roller|pulley", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class FoundWheel:
    """Link that turns about an axle.

    Attributes:
        joint: Joint of its axle.
        radius: Radius [m].
        center: Point of the axle in its middle plane, in the root frame (3,) [m].
        length: Extent along the axle [m].
        source: Shape that the radius is from, in words.
    """

    joint: RobotJoint
    radius: float
    center: Array
    length: float
    source: str


def find_wheels(robot: UrdfRobot) -> tuple[FoundWheel, ...]:
    """Find the wheels of a robot, whose axles are level."""
    return tuple(_wheels(robot))


def _wheels(robot: UrdfRobot) -> Iterator[FoundWheel]:
    for link, joint in robot.joint_of.items():
        named = bool(_WHEEL.search(link) or _WHEEL.search(joint.name))
        if not (joint.turns_round or (joint.turns and named)) or abs(joint.axis[2]) > _LEVEL:
            continue
        found = [each for shape in robot.shapes(link) if (each := _round_about(shape, joint)) is not None]
        if not found:
            continue
        radius, _, _, source = max(found)
        low, high = min(each[1] for each in found), max(each[2] for each in found)
        center = joint.origin + joint.axis * (low + high) / 2
        yield FoundWheel(joint, radius, center, high - low, f"{source} of link {link}")


def _round_about(shape: LinkShape, joint: RobotJoint) -> tuple[float, float, float, str] | None:
    """Radius, smallest and largest place along an axle [m], and kind of a shape; None if it is not round."""
    middle = shape.frame.origin - joint.origin
    along = float(middle @ joint.axis)
    aside = float(np.linalg.norm(middle - along * joint.axis))
    radius = float(shape.tag.get("radius", "0"))
    if shape.tag.tag == "cylinder":
        if abs(float(shape.frame.rotation[:, 2] @ joint.axis)) < _PARALLEL or aside > 0.1 * radius:
            return None
        half = float(shape.tag.get("length", "0")) / 2
        return radius, along - half, along + half, "cylinder"
    if shape.tag.tag == "sphere":
        return (radius, along - radius, along + radius, "sphere") if aside < 0.1 * radius else None
    points = shape.frame.points(shape.corners()) - joint.origin
    places = points @ joint.axis
    across = points - places[:, None] * joint.axis
    one = np.cross(joint.axis, (0.0, 0.0, 1.0))
    one /= np.linalg.norm(one)
    ways = np.linspace(0.0, 2 * np.pi, 36, endpoint=False)
    plane = np.outer(np.cos(ways), one) + np.outer(np.sin(ways), np.cross(joint.axis, one))
    extents = (across @ plane.T).max(axis=0)
    if shape.tag.tag == "box" or extents.min() < _ROUND * extents.max():
        return None
    name = str(shape.tag.get("filename", "")).rpartition("/")[2]
    return float(extents.max()), float(places.min()), float(places.max()), f"mesh {name}"


def parallel(wheels: Sequence[FoundWheel], axle: Array) -> tuple[FoundWheel, ...]:
    """Wheels whose axles are parallel to a direction (3,)."""
    return tuple(wheel for wheel in wheels if abs(float(wheel.joint.axis @ axle)) > _PARALLEL)
