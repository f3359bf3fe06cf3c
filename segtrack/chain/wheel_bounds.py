"""Bounds of the stiffness and damping that wheels exert on shoes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.running_gear import RunningGear
from segtrack.chain.shoes import Shoe, Vector
from segtrack.chain.wheels import Wheel

MAX_TOOTH_SURFACES = 2
"""Surfaces of a gap that act in one direction at once: two flanks, or the bottom and a part of both."""


class Splits(NamedTuple):
    """Factors by which contacts are stiffer for shoes than on a wall, since wheels give way [-].

    Attributes:
        around: Splitting of rails, along them; infinite if a wheel does not bear the sub-step.
        normal: Splitting of rails, along their normals, in which turning wheels do not give way.
        teeth: Splitting of bushings on the driven wheel's teeth.
    """

    around: float
    normal: float
    teeth: float


def rolling_bounds(
    running_gear: RunningGear, shoe: Shoe, max_force: float, splits: Splits
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bounds of wheels' contacts with one shoe, over its displacement and its rotation in its own frame.

    Args:
        running_gear: Wheels of the track.
        shoe: Shoe of the chain.
        max_force: Normal force at any one contact [N].
        splits: See `contact_splits`.

    Returns:
        Stiffness (m, 6, 6) [N/m, N, N m/rad] and damping (m, 6, 6) [N s/m, N s, N m s/rad], of which
        one or the other acts: rails touched at their rear or at their front ends, and teeth.
    """
    rail, stiff = running_gear.rail, _rail_stiffness(running_gear, max_force)
    # Where a rail touches, it is tangential to its wheel.
    factors = _wheels_at_once(running_gear, shoe.pitch) * np.array([splits.around, 1.0, splits.normal])
    cases: list[tuple[list[Vector], NDArray[np.float64], NDArray[np.float64]]] = []
    for x, _, z in (shoe.bushing_position, shoe.pin_position):
        points = [(x, y, z - rail.inset) for y in rail.stations]
        cases.append((points, factors * stiff, factors * running_gear.contact.damping))
    sprocket = running_gear.sprocket
    if sprocket is not None:
        x, _, z = shoe.bushing_position
        points = [(x, y, z) for y in sprocket.rows]
        # Friction acts across a normal: in the wheel's plane, in any direction, on one of two surfaces.
        drag = 2 * sprocket.friction * max_force / sprocket.slip_speed
        stiff, along = MAX_TOOTH_SURFACES * sprocket.stiffness, MAX_TOOTH_SURFACES * sprocket.damping + drag
        across = sprocket.damping + MAX_TOOTH_SURFACES * drag
        stiffness = splits.teeth * np.array([stiff, sprocket.side_stiffness, stiff])
        cases.append((points, stiffness, splits.teeth * np.array([along, across, along])))
    bounds = [
        [sum(_motion(point).T @ np.diag(law) @ _motion(point) for point in points) for law in laws]
        for points, *laws in cases
    ]
    return np.array([own[0] for own in bounds]), np.array([own[1] for own in bounds])


def contact_splits(running_gear: RunningGear, shoe: Shoe, max_force: float, sub_step: float) -> Splits:
    """Split contacts' energy so that every wheel bears a sub-step [s].

    A wheel with the stiffness k and damping c of all its contacts bears it with a factor g on
    them while 4 m - 2 h g c - h^2 g k is positive. A driven wheel that its drive holds bears anything;
    one that is free and too light for that shares evenly with the shoes.

    Args:
        running_gear: Wheels of the track.
        shoe: Shoe of the chain.
        max_force: Normal force at any one contact [N].
        sub_step: [s]
    """
    around = normal = teeth = 1.0
    for w, wheel in enumerate(running_gear.wheels):
        taken = [0.0, 0.0]
        for way, (mass, own, contacts) in enumerate(_wheel_masses(running_gear, w, shoe, max_force)):
            spare = 4 * mass - 2 * sub_step * own[1] - sub_step**2 * own[0]
            needed = 2 * sub_step * contacts[1] + sub_step**2 * contacts[0]
            taken[way] = needed / spare if spare > 0 else math.inf
        both, sliding = (1 / (1 - share) if share < 1 else math.inf for share in (sum(taken), taken[1]))
        if w == running_gear.driven and wheel.tensioner is None:
            both = min(both, 2.0)
        if w == running_gear.driven and running_gear.sprocket is not None:
            teeth = both
        else:
            around, normal = max(around, both), max(normal, sliding)
    return Splits(around, normal, teeth)


def _wheel_masses(
    running_gear: RunningGear, w: int, shoe: Shoe, max_force: float
) -> Iterator[tuple[float, tuple[float, float], tuple[float, float]]]:
    """Ways in which wheel w gives way: turning, then sliding.

    Yields:
        Inertia [kg m^2] or mass [kg]; stiffness and damping of its own; those of all its contacts.
    """
    wheel, contact, sprocket = running_gear.wheels[w], running_gear.contact, running_gear.sprocket
    shoes = _shoes_at_once(wheel, shoe.pitch)
    stiff = _rail_stiffness(running_gear, max_force)
    around, damping = contact.tangential_stiffness, contact.damping
    count = shoes * len(running_gear.rail.stations)
    if w == running_gear.driven and sprocket is not None:
        count, around = shoes * len(sprocket.rows), MAX_TOOTH_SURFACES * sprocket.stiffness
        stiff, damping = around, MAX_TOOTH_SURFACES * sprocket.damping
    square = wheel.max_radius**2
    yield wheel.inertia, (0.0, 0.0), (count * around * square, count * damping * square)
    if wheel.tensioner is not None:
        own = wheel.tensioner
        yield own.mass, (own.stiffness, own.damping), (count * stiff, count * damping)


def _rail_stiffness(running_gear: RunningGear, max_force: float) -> float:
    """Stiffness of a rail's contact in its stiffest direction under a normal force [N/m]."""
    contact = running_gear.contact
    return max(contact.linearized_stiffness(max_force), contact.tangential_stiffness)


def _shoes_at_once(wheel: Wheel, pitch: float) -> int:
    """Return how many shoes can touch a wheel: those around half of it, two where they turn too sharply."""
    turn = 2 * math.atan(pitch / 2 / min(radius for _, radius in wheel.profile))
    return 2 if turn > math.pi / 2 else math.ceil(math.pi / turn) + 1


def _motion(point: Vector) -> NDArray[np.float64]:
    """Displacement of a shoe's point over the shoe's displacement and rotation (3, 6)."""
    x, y, z = point
    return np.hstack([np.eye(3), [[0, z, -y], [-z, 0, x], [y, -x, 0]]])


def _wheels_at_once(running_gear: RunningGear, pitch: float) -> int:
    """Return how many wheels one shoe can touch: those whose axles are within a pitch of each other."""
    middles = np.array([(wheel.x, wheel.z) for wheel in running_gear.wheels])
    apart = np.linalg.norm(middles[:, None] - middles, axis=2)
    return int((apart <= pitch).sum(axis=1).max())
