"""Bounds that keep a chain stable: its largest sub-step, and what wheels exert on shoes in one.

Shoes whose masses M are joined by stiffness K and damping C, all matrices over all shoes, are
advanced stably by sub-steps h as long as 4 M - 2 h C - h^2 K is positive definite: the damping
acts on the velocity before the kick, which costs the term in C. A joint's strain is at most
the sum of its two shoes' displacements at it, so its energy is at most twice that of each of them alone
against a wall. K and C are thus bounded by matrices of single shoes, and so is h, whatever
shape the chain has; for a straight chain of equal shoes the bound is what its fastest
mode has. That is for a small robot the mode in which all shoes pitch alike:
2 / h = pitch * sqrt(K / I_y) without damping.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.running_gear import RunningGear, Wheel
from segtrack.chain.running_gear_arrays import WheelContactParameters
from segtrack.chain.shoes import Chain, Shoe, Vector
from segtrack.errors import InvalidValueError

MARGIN = 0.95
"""Fraction of the bound that is allowed: tension stiffens a chain too, by tension / (stiffness * pitch)."""


def joint_bounds(chain: Chain) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bounds of the joints of one shoe, over its displacement and its rotation in its own frame.

    Returns:
        Stiffness (6, 6) [N/m, N, N m/rad] and damping (6, 6) [N s/m, N s, N m s/rad].
    """
    bushing, stops = chain.bushing, chain.bushing.back_bend < math.pi
    bending = bushing.pin_stiffness + stops * bushing.stop_stiffness
    bending_damping = bushing.pin_damping + stops * bushing.stop_damping
    stiffness = np.diag([0, 0, 0, bushing.conical_stiffness, bending, bushing.conical_stiffness])
    damping = np.diag([0, 0, 0, bushing.conical_damping, bending_damping, bushing.conical_damping])
    stiffness, damping = 2.0 * stiffness, 2.0 * damping  # A shoe has two joints.
    for x, y, z in (chain.shoe.bushing_position, chain.shoe.pin_position):
        motion = np.hstack([np.eye(3), [[0, z, -y], [-z, 0, x], [y, -x, 0]]])  # Of the joint.
        stiffness += bushing.stiffness * motion.T @ motion
        damping += bushing.damping * motion.T @ motion
    return 2 * stiffness, 2 * damping


def max_stable_sub_step(
    masses: NDArray[np.float64], stiffness: NDArray[np.float64], damping: NDArray[np.float64]
) -> float:
    """The largest sub-step [s] at which a body of `masses` (k,) is stable under bounds (k, k).

    With s = 1 / h the bound is the largest s at which 4 M s^2 - 2 s C - K is singular.
    """
    root, size = np.sqrt(masses), len(masses)
    stiffness, damping = stiffness / np.outer(root, root), damping / np.outer(root, root)
    companion = np.block([[damping / 2, stiffness / 4], [np.eye(size), np.zeros((size, size))]])
    return 1 / float(np.linalg.eigvals(companion).real.max())


def is_stable(
    sub_step: float, masses: NDArray[np.float64], stiffness: NDArray[np.float64], damping: NDArray[np.float64]
) -> bool:
    """Return whether a body of `masses` (k,) is stable at a sub-step [s] under bounds (k, k)."""
    left = 4 * np.diag(masses) - 2 * sub_step * damping - sub_step**2 * stiffness
    return bool(np.linalg.eigvalsh(left / np.sqrt(np.outer(masses, masses)))[0] > 0)


def max_sub_step(chain: Chain) -> float:
    """The largest sub-step [s] at which a chain alone is stable, less `MARGIN`."""
    masses = np.array([chain.shoe.mass] * 3 + list(chain.shoe.inertia))
    return MARGIN * max_stable_sub_step(masses, *joint_bounds(chain))


def rounded_down(step: float) -> float:
    """Largest number of three digits that is not above a step > 0 [s]."""
    digits = 2 - math.floor(math.log10(step))
    return math.floor(step * 10**digits) / 10**digits


def check_sub_step(sub_step: float, largest: float, what: str = "sub-step of a chain") -> None:
    """Refuse a sub-step [s] that is larger than the largest stable one [s]; `what` is its name.

    Raises:
        InvalidValueError: It is, or it is not positive.
    """
    if not 0 < sub_step <= largest:
        expected = f"above 0 and at most {rounded_down(largest):.3g} s, for its stiffness and damping"
        raise InvalidValueError(what, expected, sub_step)


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
    rail, laws = running_gear.rail, list(compress(running_gear.contacts, running_gear.rolls))
    stiff = max((_stiffness(law, max_force) for law in laws), default=0.0)
    damping = max((law.damping for law in laws), default=0.0)
    # Where a rail touches, it is tangential to its wheel.
    factors = _wheels_at_once(running_gear, shoe.pitch) * np.array([splits.around, 1.0, splits.normal])
    cases: list[tuple[list[Vector], NDArray[np.float64], NDArray[np.float64]]] = []
    for x, _, z in (shoe.bushing_position, shoe.pin_position):
        points = [(x, y, z - rail.inset) for y in rail.stations]
        cases.append((points, factors * stiff, factors * damping))
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
    wheel, contact, sprocket = running_gear.wheels[w], running_gear.contacts[w], running_gear.sprocket
    shoes = _shoes_at_once(wheel, shoe.pitch)
    stiff = _stiffness(contact, max_force)
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


def _stiffness(contact: WheelContactParameters, max_force: float) -> float:
    """Stiffness of a rail's contact in its stiffest direction under a normal force [N/m]."""
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
