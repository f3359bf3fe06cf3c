"""Limits of a vehicle's belts: those that segments can form, and steps that are stable in another engine."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.stability import max_stable_sub_step
from segtrack.compliant.belt import BeltDesign
from segtrack.description.placement import Links
from segtrack.description.track import TrackSpec
from segtrack.description.vehicle import VehicleDescription
from segtrack.errors import Problem
from segtrack.geometry.links import ground_dip
from segtrack.geometry.mass import MassProperties
from segtrack.geometry.path import Line

_MAX_DIP = 1e-4
"""Largest dip below the ground that counts as none [m]: that of a grouser's crown."""


def segments_dip(track: TrackSpec) -> float:
    """Return the depth to which straight segments of a track would run into flat ground [m], or 0."""
    if track.grousers is None:
        return 0.0
    dip = ground_dip(track.belt_path, track.segment_links(), track.period, track.grousers.height)
    return dip if dip > _MAX_DIP else 0.0


def segments_problems(vehicle: VehicleDescription) -> list[Problem]:
    """Yield the reasons against the track model `segments` for a vehicle's belts; others drive them."""
    tracks = [(f"tracks.{name}", track) for name, track in vehicle.tracks.items()]
    for name, flipper in vehicle.flippers.items():
        tracks += [(f"flippers.{name}.tracks.{own}", track) for own, track in flipper.tracks.items()]
    problems = []
    for where, given in tracks:
        track = vehicle.with_chain(given)
        dip = segments_dip(track)
        if dip > 0:
            got = f"{dip * 1e3:.2g} mm with a belt that repeats every {track.period * 1e3:.3g} mm"
            problems.append(
                Problem(
                    f"{where}.grousers",
                    f"must not let straight segments run into the ground, got {got}: take more grousers, "
                    "fewer shapes in pattern or larger pulleys, or another track model",
                )
            )
    return problems


MARGIN = 0.5
"""Allowed fraction of the bound: around pulleys and at edges more may touch than on a line."""


class LongestSteps(NamedTuple):
    """Longest steps that are allowed [s]; infinite where nothing bounds them.

    Attributes:
        vehicle: Bound with the vehicle as one rigid body on its ground lines.
        joint: Bound of a flipper, or another joint with a belt on it, that its servo no longer holds.
    """

    vehicle: float
    joint: float


def longest_steps(links: Links, belts: tuple[BeltDesign, ...], fixed: bool) -> LongestSteps:
    """Return the longest steps that the belts of a vehicle allow.

    Args:
        links: The vehicle's.
        belts: The vehicle's.
        fixed: True if its body is bolted to the world.
    """
    on_body, whole = links.frames, links.whole
    stiffness, damping = np.zeros((2, 6, 6))
    joint_stiffness, joint_damping = np.zeros((2, len(on_body)))
    for belt, link, frame in zip(belts, links.track_links, links.track_frames, strict=True):
        places, length = _ground_line(belt)
        on_link = frame.plane_points(places)
        # Across the track friction is stiffer by the square of its ratio.
        share = length / len(places) * max(1.0, belt.law.lateral_ratio**2)
        k, c = share * belt.law.stiffness, share * belt.law.damping
        motion = _motions(on_body[link].points(on_link) - whole.center)
        stiffness += k * motion
        damping += c * motion
        square = _moved_squares(links, link, on_link) if link > 0 else 0.0
        joint_stiffness[link] += k * square
        joint_damping[link] += c * square
    joints = []
    for j, mass in enumerate(links.masses[1:], start=1):
        axis, second = links.axes[j - 1], mass.second_moment
        about = (
            float(np.trace(second) - axis @ second @ axis) if links.kinds[j - 1] == "revolute" else mass.mass
        )
        joints.append(_longest([about], joint_stiffness[j], joint_damping[j]))
    vehicle = math.inf if fixed else _longest(_mass_matrix(whole), stiffness, damping)
    return LongestSteps(vehicle, min(joints, default=math.inf))


def _moved_squares(links: Links, link: int, points: NDArray[np.float64]) -> float:
    """Sum of the squares of what points (n, 3) on a link [m] move by as its joint moves."""
    axis = links.axes[link - 1]
    moved = np.cross(axis, points) if links.kinds[link - 1] == "revolute" else np.tile(axis, (len(points), 1))
    return float(np.sum(moved**2))


def _mass_matrix(whole: MassProperties) -> NDArray[np.float64]:
    nothing = np.zeros((3, 3))
    return np.block([[whole.mass * np.eye(3), nothing], [nothing, whole.inertia]])


def _ground_line(belt: BeltDesign) -> tuple[NDArray[np.float64], float]:
    """Points (n, 2) of what lies on flat ground, in the track's plane [m], and its length [m]."""
    segment, piece = belt.path.segments[belt.path.ground], float(belt.lengths.max())
    if isinstance(segment, Line):
        return segment.point_at(np.linspace(0.0, segment.length, 9)), max(segment.length, piece)
    outline = belt.path.outline()
    return outline[[int(np.argmin(outline[:, 1]))]], piece


def _motions(levers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum (6, 6) of the squares of what points (n, 3) move by for a body's velocity and turning."""
    total = np.zeros((6, 6))
    for x, y, z in levers:
        motion = np.hstack([np.eye(3), [[0, z, -y], [-z, 0, x], [y, -x, 0]]])
        total += motion.T @ motion
    return total


def _longest(masses: object, stiffness: object, damping: object) -> float:
    """Allowed part of `max_stable_sub_step` for a mass matrix, whose axes are turned to its own first."""
    k, c = (np.atleast_2d(np.asarray(part, dtype=float)) for part in (stiffness, damping))
    if not k.any():
        return math.inf
    values, axes = np.linalg.eigh(np.atleast_2d(np.asarray(masses, dtype=float)))
    return MARGIN * max_stable_sub_step(values, axes.T @ k @ axes, axes.T @ c @ axes)
