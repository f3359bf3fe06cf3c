"""The longest step at which a vehicle's contacts are integrated stably.

Semi-implicit Euler with the damping of the velocity before is stable while 4 M - 2 h C - h^2 K is
positive definite (see `chain.stability`). K and C are those of what can touch at once: each belt
with all of its ground line. They are looked at for the vehicle as one rigid body, for each flipper
that its servo no longer holds, and for the body that lies on its belly. A belt along its travel needs no
bound: it takes its contacts implicitly (`kinematics.move`).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.stability import max_stable_sub_step
from segtrack.compliant.belt import BeltDesign
from segtrack.description.links import Links
from segtrack.geometry.path import Line
from segtrack.native.step import VehicleArrays

MARGIN = 0.5
"""Of the bound, what is allowed: around pulleys and at edges more may touch than on a line."""


def longest_step(vehicle: VehicleArrays, links: Links, belts: tuple[BeltDesign, ...]) -> float:
    """Return the longest step that is allowed for a vehicle [s].

    Args:
        vehicle: The vehicle as kernels read it.
        links: Its links.
        belts: Its belts.
    """
    whole = links.masses[0]
    pivots = [np.zeros(3), *(pivot.origin for pivot in links.pivots)]
    rotations = [np.eye(3), *(pivot.rotation for pivot in links.pivots)]
    for mass, pivot, rotation in zip(links.masses[1:], pivots[1:], rotations[1:], strict=True):
        whole = whole + mass.transformed(rotation, pivot)
    stiffness, damping = np.zeros((2, 6, 6))
    steps: list[float] = []
    joint_stiffness, joint_damping = np.zeros((2, len(pivots)))
    for belt, link, frame in zip(belts, links.track_links, links.track_frames, strict=True):
        places, length = _ground_line(belt)
        on_link = frame.plane_points(places)
        # Across the track friction is stiffer by the square of its ratio.
        share = length / len(places) * max(1.0, belt.law.lateral_ratio**2)
        k, c = share * belt.law.stiffness, share * belt.law.damping
        for point in on_link @ rotations[link].T + pivots[link]:
            motion = _motion(point - whole.center)
            stiffness += k * motion
            damping += c * motion
        square = np.sum(on_link[:, [0, 2]] ** 2)
        joint_stiffness[link] += k * square
        joint_damping[link] += c * square
    masses = np.block([[whole.mass * np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), whole.inertia]])
    belly = np.zeros((6, 6))
    hull = vehicle.hull.points
    for point in hull[hull[:, 2] <= hull[:, 2].min() + 1e-9] if len(hull) else hull:
        belly += _motion(point - whole.center)
    if not vehicle.tree.fixed:
        law = vehicle.hull.law
        for matrices in ((stiffness, damping), (law.stiffness * belly, law.damping * belly)):
            if matrices[0].any():
                steps.append(_longest(masses, *matrices))
    for j, mass in enumerate(links.masses[1:], start=1):
        about = float(mass.second_moment[0, 0] + mass.second_moment[2, 2])
        if joint_stiffness[j] > 0:
            steps.append(_longest([about], joint_stiffness[j], joint_damping[j]))
    return MARGIN * min(steps, default=math.inf)


def _ground_line(belt: BeltDesign) -> tuple[NDArray[np.float64], float]:
    """Points (n, 2) of what lies on flat ground, in the track's plane [m], and its length [m]."""
    segment, piece = belt.path.segments[belt.path.ground], float(belt.lengths.max())
    if isinstance(segment, Line):
        return segment.point_at(np.linspace(0.0, segment.length, 9)), max(segment.length, piece)
    outline = belt.path.outline()
    return outline[[int(np.argmin(outline[:, 1]))]], piece


def _motion(lever: NDArray[np.float64]) -> NDArray[np.float64]:
    """Square (6, 6) of what a point moves by for a body's velocity and turning."""
    x, y, z = lever
    motion = np.hstack([np.eye(3), [[0, z, -y], [-z, 0, x], [y, -x, 0]]])
    return np.asarray(motion.T @ motion)


def _longest(masses: object, stiffness: object, damping: object) -> float:
    """Bound of `max_stable_sub_step` for a mass matrix, whose axes are turned to its own first."""
    matrix = np.atleast_2d(np.asarray(masses, dtype=float))
    values, axes = np.linalg.eigh(matrix)
    k, c = (axes.T @ np.atleast_2d(np.asarray(part, dtype=float)) @ axes for part in (stiffness, damping))
    return max_stable_sub_step(values, k, c)
