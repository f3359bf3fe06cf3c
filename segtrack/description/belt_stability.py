"""The longest steps at which the contacts of belts that are one travel are integrated stably.

Semi-implicit Euler with the damping of the velocity before is stable while 4 M - 2 h C - h^2 K is
positive definite (see `chain.stability`). K and C are those of what can touch at once: each belt
with all of its ground line. A belt along its travel needs no bound: it takes its contacts implicitly.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.stability import max_stable_sub_step
from segtrack.compliant.belt import BeltDesign
from segtrack.description.links import Links
from segtrack.geometry.mass import MassProperties
from segtrack.geometry.path import Line
from segtrack.ground.parameters import ContactParameters

MARGIN = 0.5
"""Of the bound, what is allowed: around pulleys and at edges more may touch than on a line."""


class LongestSteps(NamedTuple):
    """Longest steps that are allowed [s]; infinite where nothing bounds them.

    Attributes:
        vehicle: With the vehicle as one rigid body on its ground lines.
        joint: Of a flipper that its servo no longer holds.
    """

    vehicle: float
    joint: float


def longest_steps(links: Links, belts: tuple[BeltDesign, ...], fixed: bool) -> LongestSteps:
    """Return the longest steps that the belts of a vehicle allow.

    Args:
        links: The vehicle's.
        belts: The vehicle's.
        fixed: Whether its body is bolted to the world.
    """
    pivots = [np.zeros(3), *(pivot.origin for pivot in links.pivots)]
    rotations = [np.eye(3), *(pivot.rotation for pivot in links.pivots)]
    whole = whole_vehicle(links)
    stiffness, damping = np.zeros((2, 6, 6))
    joint_stiffness, joint_damping = np.zeros((2, len(pivots)))
    for belt, link, frame in zip(belts, links.track_links, links.track_frames, strict=True):
        places, length = _ground_line(belt)
        on_link = frame.plane_points(places)
        # Across the track friction is stiffer by the square of its ratio.
        share = length / len(places) * max(1.0, belt.law.lateral_ratio**2)
        k, c = share * belt.law.stiffness, share * belt.law.damping
        motion = _motions(on_link @ rotations[link].T + pivots[link] - whole.center)
        stiffness += k * motion
        damping += c * motion
        square = np.sum(on_link[:, [0, 2]] ** 2)
        joint_stiffness[link] += k * square
        joint_damping[link] += c * square
    joints = []
    for j, mass in enumerate(links.masses[1:], start=1):
        about = float(mass.second_moment[0, 0] + mass.second_moment[2, 2])
        joints.append(_longest([about], joint_stiffness[j], joint_damping[j]))
    vehicle = math.inf if fixed else _longest(_mass_matrix(whole), stiffness, damping)
    return LongestSteps(vehicle, min(joints, default=math.inf))


def longest_step_on(links: Links, points: NDArray[np.float64], law: ContactParameters) -> float:
    """Return the longest step for a vehicle as one rigid body on points of its body frame (n, 3) [m]."""
    whole = whole_vehicle(links)
    motion = _motions(points - whole.center)
    return _longest(_mass_matrix(whole), law.stiffness * motion, law.damping * motion)


def whole_vehicle(links: Links) -> MassProperties:
    """Weigh a vehicle whose joints stand at 0, in its body frame."""
    whole = links.masses[0]
    for mass, pivot in zip(links.masses[1:], links.pivots, strict=True):
        whole = whole + mass.transformed(pivot.rotation, pivot.origin)
    return whole


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
