"""Links of a vehicle that another engine moves: frames on them, their mass together, and mean wrenches."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.ground.kernels import entry
from segtrack.ground.parent_frames import CouplingImpulses, ParentFrames
from segtrack.ground.vectors import arm, cross, offset, row, sum_of, write_rotation

LINK_STATE = 13
"""Numbers a link's motion has: centre of mass (3,) [m], orientation of the principal axes (x, y, z, w),
velocity of the centre (3,) [m/s] and angular velocity (3,) [rad/s], all in the world."""


class LinkMasses(NamedTuple):
    """L links as rigid bodies.

    Attributes:
        masses: (L,) [kg].
        moments: Principal moments of inertia (L, 3) [kg m^2].
    """

    masses: NDArray[np.float64]
    moments: NDArray[np.float64]


class FrameMounts(NamedTuple):
    """P frames on links.

    Attributes:
        links: Row of the link that carries each (P,).
        origins: From its centre of mass, in its principal axes (P, 3) [m].
        rotations: From the frame to the link's principal axes (P, 3, 3).
    """

    links: NDArray[np.intp]
    origins: NDArray[np.float64]
    rotations: NDArray[np.float64]


@entry
def place_frames(motions: NDArray[np.float64], mounts: FrameMounts, frames: ParentFrames) -> None:
    """Find where frames on moving links are, and how they move.

    Args:
        motions: Motions of the links (L, `LINK_STATE`).
        mounts: The frames on them.
        frames: Filled in.
    """
    for p in range(len(mounts.links)):
        motion, rotation = motions[mounts.links[p]], frames.rotations[p]
        write_rotation(rotation, motion[3:7])
        lever = arm(frames.rotations, p, row(mounts.origins, p))
        turning = (motion[10], motion[11], motion[12])
        around = cross(turning, lever)
        for i in range(3):
            frames.positions[p, i] = motion[i] + lever[i]
            frames.velocities[p, i] = motion[7 + i] + around[i]
            frames.angular_velocities_world[p, i] = turning[i]
            a, b, c = rotation[i]
            for k in range(3):
                own = mounts.rotations[p, :, k]
                rotation[i, k] = a * own[0] + b * own[1] + c * own[2]


@entry
def compose_links(
    motions: NDArray[np.float64],
    links: LinkMasses,
    rotation: NDArray[np.float64],
    center: NDArray[np.float64],
    inverse_inertia: NDArray[np.float64],
) -> float:
    """Put all links together as one rigid body, as if no joint moved.

    Args:
        motions: Motions of the links (L, `LINK_STATE`).
        links: What they weigh.
        rotation: Work array (3, 3).
        center: Filled with the centre of mass in the world (3,) [m].
        inverse_inertia: Filled with that of the inertia about it, in the world (3, 3) [1/(kg m^2)].

    Returns:
        Inverse of the mass [1/kg].
    """
    mass, x, y, z = 0.0, 0.0, 0.0, 0.0
    for i in range(len(motions)):
        own = links.masses[i]
        mass += own
        x, y, z = x + own * motions[i, 0], y + own * motions[i, 1], z + own * motions[i, 2]
    center[0], center[1], center[2] = x / mass, y / mass, z / mass
    xx = yy = zz = xy = yz = zx = 0.0
    for i in range(len(motions)):
        write_rotation(rotation, motions[i, 3:7])
        own, (a, b, c) = links.masses[i], links.moments[i]
        x, y, z = motions[i, 0] - center[0], motions[i, 1] - center[1], motions[i, 2] - center[2]
        u, v, w = rotation[0], rotation[1], rotation[2]
        xx += a * u[0] * u[0] + b * u[1] * u[1] + c * u[2] * u[2] + own * (y * y + z * z)
        yy += a * v[0] * v[0] + b * v[1] * v[1] + c * v[2] * v[2] + own * (z * z + x * x)
        zz += a * w[0] * w[0] + b * w[1] * w[1] + c * w[2] * w[2] + own * (x * x + y * y)
        xy += a * u[0] * v[0] + b * u[1] * v[1] + c * u[2] * v[2] - own * x * y
        yz += a * v[0] * w[0] + b * v[1] * w[1] + c * v[2] * w[2] - own * y * z
        zx += a * w[0] * u[0] + b * w[1] * u[1] + c * w[2] * u[2] - own * z * x
    # The inverse of a symmetric matrix by its cofactors.
    first, second, third = yy * zz - yz * yz, yz * zx - xy * zz, xy * yz - yy * zx
    scale = 1 / (xx * first + xy * second + zx * third)
    inverse_inertia[0, 0] = scale * first
    inverse_inertia[1, 1] = scale * (xx * zz - zx * zx)
    inverse_inertia[2, 2] = scale * (xx * yy - xy * xy)
    inverse_inertia[0, 1] = inverse_inertia[1, 0] = scale * second
    inverse_inertia[0, 2] = inverse_inertia[2, 0] = scale * third
    inverse_inertia[1, 2] = inverse_inertia[2, 1] = scale * (xy * zx - xx * yz)
    return 1 / mass


@entry
def add_mean_wrenches(
    motions: NDArray[np.float64],
    mounts: FrameMounts,
    coupling: CouplingImpulses,
    duration: float,
    wrenches: NDArray[np.float64],
) -> None:
    """Add to the wrenches on links the mean of what was done to frames on them in a step of the engine.

    Args:
        motions: Motions of the links at the step's beginning (L, `LINK_STATE`).
        mounts: The frames on them.
        coupling: What was done to the frames.
        duration: Duration of the step [s].
        wrenches: Force [N], and torque about the centre of mass [N m], in the world (L, 6).
    """
    for p in range(len(mounts.links)):
        motion, wrench = motions[mounts.links[p]], wrenches[mounts.links[p]]
        impulse, turn = row(coupling.impulses, p), row(coupling.angular_impulses, p)
        about_center = sum_of(turn, cross(offset(coupling.points, p, motion[:3]), impulse))
        for k in range(3):
            wrench[k] += impulse[k] / duration
            wrench[3 + k] += about_center[k] / duration
