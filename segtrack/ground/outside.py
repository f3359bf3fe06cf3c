"""Wrench on a vehicle of what its belts do not know: other bodies, the ground under its body, users' forces.

Belts that are integrated beside an engine know gravity and their own ground. What else acts on their vehicle
is what its momentum P and angular momentum L about its centre of mass have changed by in the engine's last
step h besides:

    raw = ((P', L') - (P, L)) / h - (what belts, gravity and known forces did in that step)

What lasts is in two steps one after the other; an impact is in one, and its sequel must not come in the next
as a force. So the estimate is, number by number, the smaller of the last two where they have one sign, and 0
where they have not.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.ground.parent_frames import CompositeBody, LinkMasses
from segtrack.kernels import Vector, cross, dot, entry, offset, write_rotation


class OutsideMemory(NamedTuple):
    """Last steps of the engine.

    Attributes:
        momentum: Momentum at the beginnings of the next step and of the last [N s], and angular momentum
            about the centre of mass [N m s], in the world (2, 6).
        known: Mean in that step of what belts, gravity and known forces did: force [N], and torque about the
            centre of mass [N m], in the world (6,).
        duration: Duration of that step, 0 if there is none [s]; and what was left of velocities after it,
            which damping took [-] (2,).
        raw: Wrenches of all else in the last two steps, the latest first; not a number where not known
            (2, 6).
    """

    momentum: NDArray[np.float64]
    known: NDArray[np.float64]
    duration: NDArray[np.float64]
    raw: NDArray[np.float64]


def allocate_outside() -> OutsideMemory:
    """Room for the memory of a vehicle, nothing of which is known."""
    memory = OutsideMemory(np.zeros((2, 6)), np.zeros(6), np.zeros(2), np.zeros((2, 6)))
    forget_outside(memory)
    return memory


def forget_outside(memory: OutsideMemory) -> None:
    """Forget the last steps."""
    memory.duration[:] = 0.0
    memory.raw[:] = math.nan


@entry
def estimate_outside(
    memory: OutsideMemory,
    motions: NDArray[np.float64],
    links: LinkMasses,
    rotation: NDArray[np.float64],
    vehicle: CompositeBody,
    push: Vector,
    point: Vector,
    duration: float,
    remaining: float,
) -> None:
    """Fill in the wrench from outside on a vehicle, and begin to remember the engine's next step.

    Args:
        memory: Changed in place.
        motions: Motions of the vehicle's links (L, `LINK_STATE`).
        links: Their masses.
        rotation: Work array (3, 3).
        vehicle: All links as one rigid body.
        push: Force that is known to act in the next step, in the world [N].
        point: Point at which it acts, in the world [m].
        duration: Duration of the next step [s].
        remaining: Fraction of velocities that damping leaves after it [-].
    """
    latest, before, momentum, earlier = memory.raw[0], memory.raw[1], memory.momentum[0], memory.momentum[1]
    center, gravity, outside = vehicle.center, vehicle.gravity, vehicle.outside
    for k in range(6):
        earlier[k], momentum[k] = momentum[k], 0.0
    for i in range(len(motions)):
        mass, lever = links.masses[i], offset(motions, i, center)
        moving = (mass * motions[i, 7], mass * motions[i, 8], mass * motions[i, 9])
        about = cross(lever, moving)
        write_rotation(rotation, motions[i, 3:7])
        spin = (motions[i, 10], motions[i, 11], motions[i, 12])
        for k in range(3):
            along = (rotation[0, k], rotation[1, k], rotation[2, k])
            own = links.moments[i, k] * dot(along, spin)
            momentum[k] += moving[k]
            momentum[3 + k] += about[k]
            for j in range(3):
                momentum[3 + j] += own * along[j]
    around = cross((point[0] - center[0], point[1] - center[1], point[2] - center[2]), push)
    weight = 1.0 / vehicle.inverse_mass
    for k in range(6):
        before[k] = latest[k]
        latest[k] = math.nan
        if memory.duration[0] > 0.0:
            gained = momentum[k] / memory.duration[1] - earlier[k]
            latest[k] = gained / memory.duration[0] - memory.known[k]
        given = push[k] if k < 3 else around[k - 3]
        outside[k] = given
        if latest[k] * before[k] > 0.0:
            outside[k] += latest[k] if abs(latest[k]) < abs(before[k]) else before[k]
        memory.known[k] = given + (weight * gravity[k] if k < 3 else 0.0)
    memory.duration[0], memory.duration[1] = duration, remaining


@entry
def record_wrenches(
    memory: OutsideMemory,
    motions: NDArray[np.float64],
    vehicle: CompositeBody,
    wrenches: NDArray[np.float64],
) -> None:
    """Remember the mean wrenches of the belts on links in the next step.

    Args:
        memory: Changed in place.
        motions: Motions of the links at the step's beginning (L, `LINK_STATE`).
        vehicle: All links as one rigid body.
        wrenches: Forces [N], and torques about the centres of mass [N m], in the world (L, 6).
    """
    for i in range(len(motions)):
        force = (wrenches[i, 0], wrenches[i, 1], wrenches[i, 2])
        about = cross(offset(motions, i, vehicle.center), force)
        for k in range(3):
            memory.known[k] += force[k]
            memory.known[3 + k] += wrenches[i, 3 + k] + about[k]
