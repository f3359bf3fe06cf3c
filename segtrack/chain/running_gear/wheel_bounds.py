"""Bounds of the stiffness and damping between wheels and shoes, for that on sub-steps; see `stability`.

A contact's strain is the difference of the shoe's and the wheel's displacement at it, so its energy is
at most twice that of each of them alone against a wall. Every contact is taken to be as stiff in
all directions as in its stiffest. The largest eigenvalue of a shoe's stiffness over its mass is
convex in the place of a contact on the rail, hence largest with the contact at one of its ends.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.running_gear.design import RunningGear
from segtrack.chain.shoes.model import Shoe, Vector

MAX_TOOTH_SURFACES = 2
"""Surfaces of a gap that act in one direction at once: two flanks, or the bottom and a part of both."""


def rolling_bounds(
    running_gear: RunningGear, shoe: Shoe, max_force: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bounds of wheels' contacts with one shoe, over its displacement and its rotation in its own frame.

    Args:
        running_gear: Wheels of the track.
        shoe: Shoe of the chain.
        max_force: Normal force at any one contact [N].

    Returns:
        Stiffness (m, 6, 6) [N/m, N, N m/rad] and damping (m, 6, 6) [N s/m, N s, N m s/rad], of which
        one or the other acts: rails touched at their rear or at their front ends, and teeth.
    """
    rail, contact = running_gear.rail, running_gear.contact
    stiff = max(contact.linearized_stiffness(max_force), contact.tangential_stiffness)
    wheels_at_once = _wheels_at_once(running_gear, shoe.pitch)
    cases = []
    for x, _, z in (shoe.bushing_position, shoe.pin_position):
        points = [(x, y, z - rail.inset) for y in rail.stations]
        cases.append((points, wheels_at_once * stiff, wheels_at_once * contact.damping))
    sprocket = running_gear.sprocket
    if sprocket is not None:
        x, _, z = shoe.bushing_position
        drag = sprocket.damping + 2 * sprocket.friction * max_force / sprocket.slip_speed
        points = [(x, y, z) for y in sprocket.rows]
        stiff = MAX_TOOTH_SURFACES * sprocket.stiffness + sprocket.side_stiffness
        cases.append((points, stiff, MAX_TOOTH_SURFACES * drag + sprocket.damping))
    shapes = [sum(_motion(point).T @ _motion(point) for point in points) for points, *_ in cases]
    stiffness = [2 * stiff * shape for (_, stiff, _), shape in zip(cases, shapes, strict=True)]
    damping = [2 * drag * shape for (*_, drag), shape in zip(cases, shapes, strict=True)]
    return np.array(stiffness), np.array(damping)


def wheel_bounds(running_gear: RunningGear, shoe: Shoe, max_force: float) -> NDArray[np.float64]:
    """Bounds of shoes' contacts with each wheel, over its rotation and its slide.

    A sub-step h is stable for each row (m, c, k) where 4 m - 2 h c - h^2 k is positive. Shoes are
    taken to lie around half of each wheel. The driven wheel is left out where it turns, since a
    drive that holds its speed makes no difference to its stability.

    Args:
        running_gear: Wheels of the track.
        shoe: Shoe of the chain.
        max_force: Normal force at any one contact [N].

    Returns:
        Inertia, damping and stiffness (k, 3): of every turning wheel [kg m^2, N m s/rad, N m/rad] and
        then of every sliding one [kg, N s/m, N/m].
    """
    contact, sprocket = running_gear.contact, running_gear.sprocket
    turns, slides = [], []
    for w, wheel in enumerate(running_gear.wheels):
        shoes = math.ceil(math.pi * min(radius for _, radius in wheel.profile) / shoe.pitch) + 1
        if w == running_gear.driven and sprocket is not None:
            contacts, damping = 2 * shoes * len(sprocket.rows), MAX_TOOTH_SURFACES * sprocket.damping
            stiffness = MAX_TOOTH_SURFACES * sprocket.stiffness
        else:
            contacts, damping = 2 * shoes * len(running_gear.rail.stations), contact.damping
            stiffness = max(contact.linearized_stiffness(max_force), contact.tangential_stiffness)
        square = wheel.max_radius**2
        if w != running_gear.driven:
            shear = contacts * contact.tangential_stiffness * square
            turns.append((wheel.inertia, contacts * damping * square, shear))
        if wheel.tensioner is not None:
            own = wheel.tensioner
            damping, stiffness = own.damping + contacts * damping, own.stiffness + contacts * stiffness
            slides.append((own.mass, damping, stiffness))
    return np.array([*turns, *slides]).reshape(-1, 3)


def _motion(point: Vector) -> NDArray[np.float64]:
    """Displacement of a shoe's point over the shoe's displacement and rotation (3, 6)."""
    x, y, z = point
    return np.hstack([np.eye(3), [[0, z, -y], [-z, 0, x], [y, -x, 0]]])


def _wheels_at_once(running_gear: RunningGear, pitch: float) -> int:
    """How many wheels one shoe can touch: those whose axles are within a pitch of each other."""
    middles = np.array([(wheel.x, wheel.z) for wheel in running_gear.wheels])
    apart = np.linalg.norm(middles[:, None] - middles, axis=2)
    return int((apart <= pitch).sum(axis=1).max())
