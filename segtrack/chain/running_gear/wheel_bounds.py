"""What wheels do to a link at most, and links to a wheel, for the bound on sub-steps; see `stability`.

A contact's strain is the difference of what the link and the wheel do at it, so its energy is at
most twice that of each of them alone against a wall. Every contact is taken to be as stiff in
all directions as in its stiffest. The largest eigenvalue of a link's stiffness over its mass is
convex in the place of a contact on the rail, hence largest with the contact at one of its ends.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.running_gear.undercarriage import Undercarriage
from segtrack.chain.shoes.model import Shoe, Vector

SURFACES = 2
"""Of a tooth gap that act in one direction at most: two flanks, or the bottom and a part of both."""


def rolling_bounds(
    undercarriage: Undercarriage, shoe: Shoe, largest_force: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What wheels do to one link at most, over its displacement and its rotation in its own frame.

    Args:
        undercarriage: Of the track.
        shoe: Each link.
        largest_force: In the normal direction at any one contact [N].

    Returns:
        Stiffness (m, 6, 6) [N/m, N, N m/rad] and damping (m, 6, 6) [N s/m, N s, N m s/rad], of which
        one or the other acts: rails touched at their rear or at their front ends, and teeth.
    """
    rail, contact = undercarriage.rail, undercarriage.contact
    stiff = max(contact.tangent_stiffness(largest_force), contact.shear_stiffness)
    at_once = _wheels_at_once(undercarriage, shoe.pitch)
    cases = []
    for x, _, z in (shoe.rear, shoe.front):
        points = [(x, y, z - rail.inset) for y in rail.stations]
        cases.append((points, at_once * stiff, at_once * contact.damping))
    sprocket = undercarriage.sprocket
    if sprocket is not None:
        x, _, z = shoe.rear
        drag = sprocket.damping + 2 * sprocket.friction * largest_force / sprocket.slip_speed
        points = [(x, y, z) for y in sprocket.rows]
        stiff = SURFACES * sprocket.stiffness + sprocket.side_stiffness
        cases.append((points, stiff, SURFACES * drag + sprocket.damping))
    shapes = [sum(_motion(point).T @ _motion(point) for point in points) for points, *_ in cases]
    stiffness = [2 * stiff * shape for (_, stiff, _), shape in zip(cases, shapes, strict=True)]
    damping = [2 * drag * shape for (*_, drag), shape in zip(cases, shapes, strict=True)]
    return np.array(stiffness), np.array(damping)


def wheel_bounds(undercarriage: Undercarriage, shoe: Shoe, largest_force: float) -> NDArray[np.float64]:
    """What links do to each wheel's turn and slide at most.

    A sub-step h is stable for each row (m, c, k) where 4 m - 2 h c - h^2 k is positive. Links are
    taken to lie around half of each wheel. The driven wheel is left out where it turns, since a
    drive that holds its speed makes no difference to its stability.

    Args:
        undercarriage: Of the track.
        shoe: Each link.
        largest_force: In the normal direction at any one contact [N].

    Returns:
        Inertia, damping and stiffness (k, 3): of every turning wheel [kg m^2, N m s/rad, N m/rad] and
        then of every sliding one [kg, N s/m, N/m].
    """
    contact, sprocket = undercarriage.contact, undercarriage.sprocket
    turns, slides = [], []
    for w, wheel in enumerate(undercarriage.wheels):
        links = math.ceil(math.pi * min(radius for _, radius in wheel.profile) / shoe.pitch) + 1
        if w == undercarriage.driven and sprocket is not None:
            contacts, damping = 2 * links * len(sprocket.rows), SURFACES * sprocket.damping
            stiffness = SURFACES * sprocket.stiffness
        else:
            contacts, damping = 2 * links * len(undercarriage.rail.stations), contact.damping
            stiffness = max(contact.tangent_stiffness(largest_force), contact.shear_stiffness)
        square = wheel.largest_radius**2
        if w != undercarriage.driven:
            shear = contacts * contact.shear_stiffness * square
            turns.append((wheel.inertia, contacts * damping * square, shear))
        if wheel.tensioner is not None:
            own = wheel.tensioner
            damping, stiffness = own.damping + contacts * damping, own.stiffness + contacts * stiffness
            slides.append((own.mass, damping, stiffness))
    return np.array([*turns, *slides]).reshape(-1, 3)


def _motion(point: Vector) -> NDArray[np.float64]:
    """Displacement of a link's point over the link's displacement and rotation (3, 6)."""
    x, y, z = point
    return np.hstack([np.eye(3), [[0, z, -y], [-z, 0, x], [y, -x, 0]]])


def _wheels_at_once(undercarriage: Undercarriage, pitch: float) -> int:
    """How many wheels one shoe can touch: those whose axles are within a pitch of each other."""
    middles = np.array([(wheel.x, wheel.z) for wheel in undercarriage.wheels])
    apart = np.linalg.norm(middles[:, None] - middles, axis=2)
    return int((apart <= pitch).sum(axis=1).max())
