"""Links that carry belts, as parts of one rigid vehicle: frames on them, their mass, and loads on them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.kernels import Vector, arm, compiled, cross, entry, offset, row, sum_of, write_rotation


class ParentFrames(NamedTuple):
    """A track frame as carried by each of its P parent links; they coincide while joints are at zero.

    Kernels move them in place. Parent links carry a track's wheels; belts that are one travel have one each.

    Attributes:
        positions: Origins in the world (P, 3) [m].
        rotations: From the frames to the world (P, 3, 3).
        velocities: Velocities of the origins in the world (P, 3) [m/s].
        angular_velocities_world: Angular velocities in the world (P, 3) [rad/s].
    """

    positions: NDArray[np.float64]
    rotations: NDArray[np.float64]
    velocities: NDArray[np.float64]
    angular_velocities_world: NDArray[np.float64]


class Reaction(NamedTuple):
    """Load of tracks on P parent links at an instant.

    Attributes:
        forces: Forces in the world (P, 3) [N].
        torques: About the track frames' origins, in the world (P, 3) [N m].
    """

    forces: NDArray[np.float64]
    torques: NDArray[np.float64]


class CouplingImpulses(NamedTuple):
    """Impulses of tracks on P parent links since the beginning of the engine's step.

    Attributes:
        points: Origins of the track frames at that beginning, in the world (P, 3) [m].
        impulses: Impulses in the world (P, 3) [N s].
        angular_impulses: About `points`, in the world (P, 3) [N m s].
    """

    points: NDArray[np.float64]
    impulses: NDArray[np.float64]
    angular_impulses: NDArray[np.float64]


class CompositeBody(NamedTuple):
    """All links of a vehicle as one rigid body, its joints locked: how parent links recoil within a step.

    Attributes:
        center: Centre of mass in the world (3,) [m].
        inverse_mass: 0 for a kinematic body, which no force moves [1/kg].
        inverse_inertia: About the centre of mass, in the world (3, 3) [1/(kg m^2)].
        gravity: On the vehicle and on shoes, in the world [m/s^2].
        outside: Force of everything but gravity and belts in the world [N], and its torque about the centre
            of mass [N m] (6,).
    """

    center: NDArray[np.float64]
    inverse_mass: float
    inverse_inertia: NDArray[np.float64]
    gravity: Vector
    outside: NDArray[np.float64]


KINEMATIC = CompositeBody(np.zeros(3), 0.0, np.zeros((3, 3)), (0.0, 0.0, 0.0), np.zeros(6))
"""A vehicle whose links move at the velocities that they have, and take no force."""


class NetWrench(NamedTuple):
    """Sum of all tracks' loads on their vehicle at an instant.

    Attributes:
        force: Force in the world (3,) [N].
        torque: About the vehicle's centre of mass, in the world (3,) [N m].
    """

    force: NDArray[np.float64]
    torque: NDArray[np.float64]


class VelocityChange(NamedTuple):
    """Change of a vehicle's motion in a sub-step.

    Attributes:
        linear: Velocity of its centre of mass in the world [m/s].
        angular: Angular velocity in the world [rad/s].
    """

    linear: Vector
    angular: Vector


@compiled
def accumulate_impulses(
    parents: ParentFrames, reaction: Reaction, coupling: CouplingImpulses, duration: float
) -> None:
    """Add a reaction times `duration` [s] to the coupling impulses."""
    for p in range(len(parents.positions)):
        force = row(reaction.forces, p)
        about_point = cross(offset(parents.positions, p, coupling.points[p]), force)
        for k in range(3):
            coupling.impulses[p, k] += duration * force[k]
            coupling.angular_impulses[p, k] += duration * (reaction.torques[p, k] + about_point[k])


@compiled
def accumulate_reaction(
    parents: ParentFrames,
    reaction: Reaction,
    vehicle: CompositeBody,
    coupling: CouplingImpulses,
    net: NetWrench,
    duration: float,
) -> None:
    """Add a reaction to the vehicle's net wrench and, times `duration` [s], to the coupling impulses."""
    accumulate_impulses(parents, reaction, coupling, duration)
    for p in range(len(parents.positions)):
        force = row(reaction.forces, p)
        about_center = cross(offset(parents.positions, p, vehicle.center), force)
        for k in range(3):
            net.force[k] += force[k]
            net.torque[k] += reaction.torques[p, k] + about_center[k]


@compiled
def composite_velocity_change(vehicle: CompositeBody, net: NetWrench, duration: float) -> VelocityChange:
    """Change of the vehicle's velocity and angular velocity under loads and a wrench in `duration` [s]."""
    m, i, g, o = vehicle.inverse_mass, vehicle.inverse_inertia, vehicle.gravity, vehicle.outside
    t = (net.torque[0] + o[3], net.torque[1] + o[4], net.torque[2] + o[5])
    linear, angular = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if m != 0:
        linear = (
            duration * (m * (net.force[0] + o[0]) + g[0]),
            duration * (m * (net.force[1] + o[1]) + g[1]),
            duration * (m * (net.force[2] + o[2]) + g[2]),
        )
    angular = (
        duration * (i[0, 0] * t[0] + i[0, 1] * t[1] + i[0, 2] * t[2]),
        duration * (i[1, 0] * t[0] + i[1, 1] * t[1] + i[1, 2] * t[2]),
        duration * (i[2, 0] * t[0] + i[2, 1] * t[1] + i[2, 2] * t[2]),
    )
    return VelocityChange(linear, angular)


@compiled
def kick_parents(
    parents: ParentFrames, vehicle: CompositeBody, change: VelocityChange, velocity_decay: float
) -> None:
    """Change parent links' velocities with their vehicle's; `velocity_decay` of them is left by damping."""
    linear, angular = change.linear, change.angular
    for p in range(len(parents.positions)):
        around = cross(angular, offset(parents.positions, p, vehicle.center))
        velocity, turning = parents.velocities[p], parents.angular_velocities_world[p]
        for k in range(3):
            velocity[k] = velocity_decay * velocity[k] + linear[k] + around[k]
            turning[k] = velocity_decay * turning[k] + angular[k]


@entry
def drift_parents(parents: ParentFrames, duration: float) -> None:
    """Move parent frames for `duration` [s] at the velocities and angular velocities that they have."""
    for p in range(len(parents.positions)):
        for k in range(3):
            parents.positions[p, k] += duration * parents.velocities[p, k]
        # Cayley's form of a rotation: exact in direction, third order in angle.
        half, rotation, turning = duration / 2, parents.rotations[p], parents.angular_velocities_world[p]
        x, y, z = half * turning[0], half * turning[1], half * turning[2]
        scale = 2 / (1 + x * x + y * y + z * z)
        for k in range(3):
            a, b, c = rotation[0, k], rotation[1, k], rotation[2, k]
            u, v, w = a + y * c - z * b, b + z * a - x * c, c + x * b - y * a
            rotation[0, k] = a + scale * (y * w - z * v)
            rotation[1, k] = b + scale * (z * u - x * w)
            rotation[2, k] = c + scale * (x * v - y * u)


_RECOVERY = 0.25
"""Fraction of what frames are off those of the engine that a step makes up for [-]."""


@entry
def follow_frames(own: ParentFrames, given: ParentFrames, behind: float, step: float, largest: float) -> None:
    """Begin a step of frames that went through one of their own, half of the last step behind the engine's.

    Velocities are the engine's. Places go on from where they are, and a constant velocity besides makes up
    for `_RECOVERY` of what they are off: a place that was set anew in every step would hit what touches the
    frames in the rhythm of the steps, and let it ring where its period is below two of them, or is one.

    Args:
        own: Frames at the end of their last step, changed in place.
        given: Frames of the engine.
        behind: Half of the engine's last step, by which they are behind [s].
        step: Time of their next step [s].
        largest: Distance beyond which a frame was put elsewhere, as beyond 0.1 rad: it begins where the
            engine has it [m].
    """
    rate = _RECOVERY / step
    for p in range(len(own.positions)):
        velocity, turning = row(given.velocities, p), row(given.angular_velocities_world, p)
        x, y, z = offset(given.positions, p, own.positions[p])
        away = (x - behind * velocity[0], y - behind * velocity[1], z - behind * velocity[2])
        turned = (-behind * turning[0], -behind * turning[1], -behind * turning[2])
        for k in range(3):
            a, b = own.rotations[p, :, k], given.rotations[p, :, k]
            half = cross((a[0], a[1], a[2]), (b[0] / 2, b[1] / 2, b[2] / 2))
            turned = sum_of(turned, half)
        off = math.sqrt(away[0] * away[0] + away[1] * away[1] + away[2] * away[2])
        angle = math.sqrt(turned[0] * turned[0] + turned[1] * turned[1] + turned[2] * turned[2])
        follows = off < largest and angle < 0.1
        for k in range(3):
            own.velocities[p, k], own.angular_velocities_world[p, k] = velocity[k], turning[k]
        if not follows:
            for k in range(3):
                own.positions[p, k] = given.positions[p, k] - behind * velocity[k]
                for j in range(3):
                    own.rotations[p, k, j] = given.rotations[p, k, j]
            continue
        for k in range(3):
            own.velocities[p, k] += rate * away[k]
            own.angular_velocities_world[p, k] += rate * turned[k]


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
    """Fill in where frames on links are, and how they move with the links' motions (L, `LINK_STATE`)."""
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
        links: Masses and inertias of the links.
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
        coupling: Impulses on the frames.
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
