"""What carries a track: the bodies on which its wheels sit, and what the chain does to them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.shoes.model import Vector
from segtrack.ground.vectors import compiled, cross, offset, row


class Carriers(NamedTuple):
    """The track frames on a chain's C carriers at an instant; kernels move them in place.

    Each carrier has the frame that coincides with the track frame while the vehicle's joints
    stand at zero.

    Attributes:
        position: Of the frames' origins in the world (C, 3) [m].
        rotation: From the frames to the world (C, 3, 3).
        velocity: Of the origins in the world (C, 3) [m/s].
        spin: Angular velocities in the world (C, 3) [rad/s].
    """

    position: NDArray[np.float64]
    rotation: NDArray[np.float64]
    velocity: NDArray[np.float64]
    spin: NDArray[np.float64]


class Reaction(NamedTuple):
    """What a chain does to its carriers at an instant.

    Attributes:
        force: In the world (C, 3) [N].
        torque: About the frames' origins, in the world (C, 3) [N m].
    """

    force: NDArray[np.float64]
    torque: NDArray[np.float64]


class Exchange(NamedTuple):
    """What a chain has done to its carriers since an exchange began.

    Attributes:
        points: Where each carrier's track frame was (C, 3) [m].
        impulses: Of the forces (C, 3) [N s].
        turns: Of their moments about `points`, and of torques (C, 3) [N m s].
    """

    points: NDArray[np.float64]
    impulses: NDArray[np.float64]
    turns: NDArray[np.float64]


class Vehicle(NamedTuple):
    """How carriers give way to chains within a step: as parts of one rigid body.

    Attributes:
        center: Its centre of mass in the world (3,) [m].
        per_mass: The inverse of its mass; 0 where it is held [1/kg].
        per_inertia: The inverse of its inertia about the centre, in the world (3, 3) [1/(kg m^2)].
        gravity: That acts on it, and on shoes, in the world [m/s^2].
    """

    center: NDArray[np.float64]
    per_mass: float
    per_inertia: NDArray[np.float64]
    gravity: Vector


@compiled
def book(
    carriers: Carriers,
    reaction: Reaction,
    vehicle: Vehicle,
    exchange: Exchange,
    push: NDArray[np.float64],
    duration: float,
) -> None:
    """Sum up what acts on carriers for `duration` [s], and what that is for the vehicle at this instant.

    Args:
        carriers: Of one track.
        reaction: What acts on them.
        vehicle: Of which they are parts.
        exchange: Added to.
        push: Force [N] and torque about the vehicle's centre of mass [N m] (2, 3), added to.
        duration: [s]
    """
    for c in range(len(carriers.position)):
        force, torque = row(reaction.force, c), row(reaction.torque, c)
        here = cross(offset(carriers.position, c, exchange.points[c]), force)
        there = cross(offset(carriers.position, c, vehicle.center), force)
        for k in range(3):
            exchange.impulses[c, k] += duration * force[k]
            exchange.turns[c, k] += duration * (torque[k] + here[k])
            push[0, k] += force[k]
            push[1, k] += torque[k] + there[k]


@compiled
def give_way(vehicle: Vehicle, push: NDArray[np.float64], duration: float) -> None:
    """Turn a push on a vehicle (2, 3) into what its motion changes by in `duration` [s].

    That is the velocity of its centre of mass [m/s], and its angular velocity [rad/s].
    """
    i, t, held = vehicle.per_inertia, row(push, 1), vehicle.per_mass == 0
    for k in range(3):
        push[0, k] = 0.0 if held else duration * (vehicle.per_mass * push[0, k] + vehicle.gravity[k])
        push[1, k] = duration * (i[k, 0] * t[0] + i[k, 1] * t[1] + i[k, 2] * t[2])


@compiled
def kick_carriers(carriers: Carriers, vehicle: Vehicle, change: NDArray[np.float64], kept: float) -> None:
    """Change carriers' velocities as parts of a vehicle whose motion changes, see `give_way`.

    `kept` is the share of velocity that energy drainage leaves, 1 without.
    """
    linear, angular = row(change, 0), row(change, 1)
    for c in range(len(carriers.position)):
        around = cross(angular, offset(carriers.position, c, vehicle.center))
        for k in range(3):
            carriers.velocity[c, k] = kept * carriers.velocity[c, k] + linear[k] + around[k]
            carriers.spin[c, k] = kept * carriers.spin[c, k] + angular[k]


@compiled
def drift_carriers(carriers: Carriers, duration: float) -> None:
    """Let carriers go on for `duration` [s] at the velocities and angular velocities that they have."""
    for i in range(len(carriers.position)):
        for k in range(3):
            carriers.position[i, k] += duration * carriers.velocity[i, k]
        # Cayley's form of a rotation about the spin: exact in direction, third order in angle.
        half, rotation = duration / 2, carriers.rotation[i]
        x, y, z = half * carriers.spin[i, 0], half * carriers.spin[i, 1], half * carriers.spin[i, 2]
        share = 2 / (1 + x * x + y * y + z * z)
        for k in range(3):
            a, b, c = rotation[0, k], rotation[1, k], rotation[2, k]
            u, v, w = a + y * c - z * b, b + z * a - x * c, c + x * b - y * a
            rotation[0, k] = a + share * (y * w - z * v)
            rotation[1, k] = b + share * (z * u - x * w)
            rotation[2, k] = c + share * (x * v - y * u)
