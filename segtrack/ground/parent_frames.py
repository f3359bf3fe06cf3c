"""Frames of the links that carry belts, as parts of one rigid vehicle, and impulses on them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.ground.kernels import compiled, entry
from segtrack.ground.vectors import Vector, cross, offset, row


class ParentFrames(NamedTuple):
    """Track frames on P parent links at an instant; kernels move them in place.

    Parent links of one track's wheels each have the frame that coincides with the track frame while the
    vehicle's joints stand at zero; belts that are one travel have one parent link each.

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
    """

    center: NDArray[np.float64]
    inverse_mass: float
    inverse_inertia: NDArray[np.float64]
    gravity: Vector


KINEMATIC = CompositeBody(np.zeros(3), 0.0, np.zeros((3, 3)), (0.0, 0.0, 0.0))
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
def accumulate_reaction(
    parents: ParentFrames,
    reaction: Reaction,
    vehicle: CompositeBody,
    coupling: CouplingImpulses,
    net: NetWrench,
    duration: float,
) -> None:
    """Add a reaction to its coupling impulses and to the vehicle's net wrench.

    Args:
        parents: Parent links.
        reaction: Load on them.
        vehicle: Body of which they are parts.
        coupling: Added to: the reaction times `duration`.
        net: Added to: the reaction at this instant.
        duration: Sub-step [s].
    """
    for p in range(len(parents.positions)):
        force, torque = row(reaction.forces, p), row(reaction.torques, p)
        about_point = cross(offset(parents.positions, p, coupling.points[p]), force)
        about_center = cross(offset(parents.positions, p, vehicle.center), force)
        for k in range(3):
            coupling.impulses[p, k] += duration * force[k]
            coupling.angular_impulses[p, k] += duration * (torque[k] + about_point[k])
            net.force[k] += force[k]
            net.torque[k] += torque[k] + about_center[k]


@compiled
def composite_velocity_change(vehicle: CompositeBody, net: NetWrench, duration: float) -> VelocityChange:
    """Change of the vehicle's velocity and angular velocity under gravity and a wrench in `duration` [s]."""
    m, i, g, t = vehicle.inverse_mass, vehicle.inverse_inertia, vehicle.gravity, net.torque
    linear, angular = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if m != 0:
        linear = (
            duration * (m * net.force[0] + g[0]),
            duration * (m * net.force[1] + g[1]),
            duration * (m * net.force[2] + g[2]),
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
    """Change parent links' velocities as parts of a vehicle whose motion changes.

    `velocity_decay` is the fraction of velocity that is left by damping towards rest, 1 without.
    """
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
