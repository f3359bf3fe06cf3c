"""Carriers of tracks: the body, flippers, and links behind joints that move."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from segtrack.geometry import MassProperties, Pulley, rotation_about_y
from segtrack.importing.finding import FoundTrack, is_flipper_name
from segtrack.importing.findings import Certainty, Findings
from segtrack.importing.outlines import PulleyOutline
from segtrack.importing.robot import RobotJoint, UrdfRobot

Array = NDArray[np.float64]
_STEEP = math.radians(30)
"""Elevation of a flipper at joint position 0 beyond which its angle 0 is where it lies flat [rad]."""
_NEAR_END = 0.7
"""Distance of a pivot from an end pulley's middle, over its radius, up to which a link is a flipper [-]."""
_LONG = 1.15
"""Length of a flipper's outline over twice that radius, at least [-]."""
_TWO_TURNS = 4 * math.pi


@dataclass(frozen=True, eq=False)
class FoundFlipper:
    """Flipper found on a robot, in the root frame, x forward and y to the left.

    Attributes:
        joint: Joint that it turns by, on a link that is fixed to the root.
        tracks: Tracks on it.
        tip: Direction of its tip.
        zero: Angle of the file at joint position 0 [rad]; not 0 where the file's 0 is where it lies flat.
        limits: Smallest and largest angle of the file [rad].
        links: Names of all links that it carries, itself included.
    """

    joint: RobotJoint
    tracks: tuple[FoundTrack, ...]
    tip: Literal["front", "rear"]
    zero: float
    limits: tuple[float, float]
    links: tuple[str, ...]

    @property
    def rotation(self) -> Array:
        """Rotation (3, 3) from its pose at joint position 0 to that at angle 0."""
        return rotation_about_y(self.zero if self.tip == "front" else -self.zero)

    @property
    def pivot(self) -> Array:
        """Origin of the flipper frame in the root frame: on the axis, in its tracks' middle (3,) [m]."""
        x, _, z = self.joint.origin
        return np.array([x, float(np.mean([track.side for track in self.tracks])), z])

    def outline(self, track: FoundTrack) -> PulleyOutline:
        """Outline of one of its tracks at angle 0, about the pivot."""
        found = []
        for pulley in track.outline.pulleys:
            x, _, z = self.rotation @ (np.array([pulley.x, self.pivot[1], pulley.z]) - self.pivot)
            found.append(Pulley(float(x), float(z), pulley.radius))
        return track.outline._replace(pulleys=tuple(found))

    def mass_properties(self, robot: UrdfRobot) -> MassProperties:
        """Mass properties of all its links at angle 0, in the flipper frame."""
        total = MassProperties(0.0, np.zeros(3), np.zeros((3, 3)))
        for link in self.links:
            frame = robot.frames[link]
            rotation = self.rotation @ frame.rotation
            total += robot.mass_properties(link).transformed(
                rotation, self.rotation @ (frame.origin - self.pivot)
            )
        return total

    def points(self, robot: UrdfRobot) -> Array:
        """Points (n, 3) of its shapes at angle 0, in the flipper frame [m]."""
        points = np.concatenate([robot.points(link) for link in self.links])
        return np.asarray((points - self.pivot) @ self.rotation.T)


@dataclass(frozen=True, eq=False)
class Carriers:
    """Carriers of the tracks of a robot.

    Attributes:
        on_body: Tracks on the body.
        flippers: Flippers.
        on_links: Tracks on links that joints move.
        joints: Joints that move these links.
        differential: Two of them, left and right, that a differential couples, the second to the first.
    """

    on_body: tuple[FoundTrack, ...]
    flippers: tuple[FoundFlipper, ...]
    on_links: tuple[FoundTrack, ...]
    joints: tuple[RobotJoint, ...]
    differential: tuple[RobotJoint, RobotJoint] | None


def find_carriers(robot: UrdfRobot, tracks: Sequence[FoundTrack], findings: Findings) -> Carriers:
    """Sort a robot's tracks by what carries them; its x is forward."""
    on_body = [track for track in tracks if not robot.moving_joints(track.carrier)]
    arms: dict[str, list[FoundTrack]] = {}
    on_links = []
    for track in tracks:
        joints = robot.moving_joints(track.carrier)
        if len(joints) == 1 and _is_flipper(joints[0], track, robot):
            arms.setdefault(track.carrier, []).append(track)
        elif joints:
            on_links.append(track)
    flippers = tuple(_flipper(robot, robot.joint_of[link], own, findings) for link, own in arms.items())
    moving = dict.fromkeys(j.name for track in on_links for j in robot.moving_joints(track.carrier))
    joints = tuple(joint for joint in robot.joint_of.values() if joint.name in moving)
    return Carriers(
        tuple(on_body), flippers, tuple(on_links), joints, _differential(robot, on_body, joints, findings)
    )


def _is_flipper(joint: RobotJoint, track: FoundTrack, robot: UrdfRobot) -> bool:
    """Return whether a track's joint is a flipper's: named so, or at one end of the track."""
    if not joint.turns or abs(joint.axis[1]) < 0.99:
        return False
    names = (joint.name, joint.child, *track.links)
    if any(map(is_flipper_name, names)):
        return True
    near = [
        p for p in track.outline.pulleys if math.dist((p.x, p.z), joint.origin[[0, 2]]) < _NEAR_END * p.radius
    ]
    return (
        any(track.length > _LONG * 2 * p.radius for p in near)
        and track.carrier not in robot.hints.left + robot.hints.right
    )


def _flipper(
    robot: UrdfRobot, joint: RobotJoint, tracks: list[FoundTrack], findings: Findings
) -> FoundFlipper:
    middles = np.mean([track.middle for track in tracks], axis=0)
    dx, dz = middles - joint.origin[[0, 2]]
    elevation = math.atan2(dz, abs(dx))
    tip: Literal["front", "rear"] = "front" if dx >= 0 else "rear"
    if abs(elevation) > math.radians(
        80
    ):  # It stands upright: its place on the robot says where it would lie.
        others = [own.origin[0] for own in robot.joint_of.values()]
        tip = "front" if joint.origin[0] >= (min(others) + max(others)) / 2 else "rear"
        elevation = math.atan2(dz, dx if tip == "front" else -dx)
    zero = elevation if abs(elevation) > _STEEP else 0.0
    raises = -np.sign(joint.axis[1]) * (1 if tip == "front" else -1)
    name = f"flipper {joint.child}"
    if joint.limits is None:
        limits = (-_TWO_TURNS, _TWO_TURNS)
        why = "continuous" if joint.kind == "continuous" else "its limits are a turn or more, or no range"
        certainty: Certainty = "sure" if joint.kind == "continuous" else "guessed"
        findings.add(certainty, f"{name}: limits", "none", f"joint {joint.name}: {why}")
    else:
        low, high = sorted(zero + float(raises) * limit for limit in joint.limits)
        limits = (low, high)
        findings.add("sure", f"{name}: limits", f"{low:.4g} to {high:.4g} rad", f"joint {joint.name}")
    if zero:
        text = f"joint position {-zero * float(raises):.4g} rad, where it lies flat"
        findings.add(
            "guessed",
            f"{name}: angle 0",
            text,
            f"at joint position 0 it points {math.degrees(elevation):.0f} deg up",
        )
    return FoundFlipper(joint, tuple(tracks), tip, zero, limits, robot.below(joint.child))


def _differential(
    robot: UrdfRobot, on_body: Sequence[FoundTrack], joints: Sequence[RobotJoint], findings: Findings
) -> tuple[RobotJoint, RobotJoint] | None:
    """Find two rockers, left and right on one axis, that carry all tracks: the body would tip."""
    rockers = [
        joint for joint in joints if not robot.moving_joints(joint.parent) and abs(joint.axis[1]) > 0.99
    ]
    if on_body or len(rockers) != 2:
        return None
    one, other = rockers
    mimics = {str(j.get("name")) for j in robot.tree.iterfind("joint") if j.find("mimic") is not None}
    apart = one.origin - other.origin
    if {one.name, other.name} & mimics or np.hypot(apart[0], apart[2]) > 0.01 or abs(apart[1]) < 0.01:
        return None
    findings.add(
        "guessed", f"joints {one.name}, {other.name}", "coupled by a differential (<mimic>)",
        "all tracks hang on them, and nothing in the file holds the body's pitch",
    )  # fmt: skip
    return one, other
