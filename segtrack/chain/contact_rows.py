"""Contacts of shoes as rows: geometry held for some sub-steps, depth and shear carried on in each.

A contact between a shoe and a wheel, a tooth or the ground is found with its place, its normal n, its
direction across the track and its depth d. From then on, in every sub-step h, with u the velocity of the
shoe at that place over what it touches,

    d <- d - h u.n,   f_n = max(0, f(d) - c u.n),

and friction is that of a point on rigid ground (`contact_laws.rigid_friction`), with the limit mu f_n of the
same sub-step. Only places and directions are older than the sub-step, so that the law may be as curved as it
likes, here f = k d or K d^1.5. What comes near while the rows serve is found a
little before it touches, with a depth below zero. With rows found anew in every sub-step this is
the contact law itself.

Two bodies that touch are given as their relative twist at a point of theirs: velocity V and spin W, so
that u = V + W x lever for all contacts of the pair. Force F and moment M about that point are those on the
shoe, and with the opposite sign those on the other body: momentum is conserved to rounding.

| pair | point | geometry is held |
|---|---|---|
| shoe and ground | the shoe's centre of mass | in the world |
| rails and wheel | the wheel's centre | turning with the shoe: where the wheel's radius stands on a rail |
| bushing and teeth | the wheel's centre | turning with the wheel: a seated bushing turns with it |

Turning by a small vector q is done with V and W, which are turned back by q, and with F and M, which are
turned on. Carried along by the shoe instead, a wheel's normal force would act behind its axle, by 1.25 mm in
the mean at 5 m/s and 0.5 ms, and drive it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.ground import ContactParameters, rigid_friction
from segtrack.kernels import Vector, cross, dot, inlined, sum_of, without_share

LONGEST = 5e-4
"""Longest time for which rows serve [s]. At 1 ms a PackBot's chain rattles itself apart."""
CLOSING_SPEED = 3.0
"""Speed with which bodies may come near each other while rows serve [m/s]."""
LEVER, NORMAL, LATERAL, DEPTH, SHEAR, FRICTION, PUSH = 0, 3, 6, 9, 10, 13, 14
"""First columns of a row: vectors in the world from the pair's point [m], out of what the shoe touches, and
across the track; depth [m]; shear displacement in the world [m]; Coulomb coefficient [-]; normal force as the
last sub-step found it [N]."""
WIDTH = 15


class ContactRows(NamedTuple):
    """Contacts of shoes with bodies of one kind, those of a shoe with one body after each other: a pair.

    Attributes:
        numbers: A row for each contact, see `LEVER` (rows, `WIDTH`).
        places: Index at which the shear of each is remembered (rows,).
        shoes: Shoe of each pair (pairs,).
        ends: Row behind the last one of each pair (pairs,).
        pair_ends: Pair behind the last one of each body (bodies,).
    """

    numbers: NDArray[np.float64]
    places: NDArray[np.intp]
    shoes: NDArray[np.intp]
    ends: NDArray[np.intp]
    pair_ends: NDArray[np.intp]


def allocate_contact_rows(rows: int, pairs: int, bodies: int) -> ContactRows:
    """Return room for so many contacts, pairs and bodies, without any of them."""
    places, shoes, ends, pair_ends = (np.zeros(n, dtype=np.intp) for n in (rows, pairs, pairs, bodies))
    return ContactRows(np.zeros((rows, WIDTH)), places, shoes, ends, pair_ends)


def sub_steps_held(duration: float, count: int, most: int) -> int:
    """Return for how many sub-steps rows serve.

    Args:
        duration: Step of the engine, at whose beginning they are found anew in any case [s].
        count: Sub-steps into which it is divided.
        most: Largest number besides.
    """
    parts = math.ceil(duration / LONGEST * (1 - 1e-9))
    return min(math.ceil(count / parts), most)


@inlined
def write_row(
    rows: ContactRows,
    r: int,
    place: int,
    lever: Vector,
    normal: Vector,
    lateral: Vector,
    depth: float,
    shear: Vector,
    friction: float,
) -> None:
    """Write row r, whose shear is remembered at `place`."""
    numbers, rows.places[r] = rows.numbers, place
    for k in range(3):
        numbers[r, LEVER + k], numbers[r, NORMAL + k] = lever[k], normal[k]
        numbers[r, LATERAL + k], numbers[r, SHEAR + k] = lateral[k], shear[k]
    numbers[r, DEPTH], numbers[r, FRICTION] = depth, friction


@inlined
def close_pair(rows: ContactRows, pair: int, shoe: int, begin: int, end: int) -> int:
    """End a pair with its rows from `begin` to before `end`, if there are any; returns the next pair."""
    if end == begin:
        return pair
    rows.shoes[pair], rows.ends[pair] = shoe, end
    return pair + 1


@inlined
def vector_in(numbers: NDArray[np.float64], r: int, first: int) -> Vector:
    """Vector of row r from a column on."""
    return numbers[r, first], numbers[r, first + 1], numbers[r, first + 2]


@inlined
def velocity_at(velocity: Vector, spin: Vector, lever: Vector) -> Vector:
    """Velocity of a contact: that at the pair's point, and spin x lever [m/s]."""
    return (
        velocity[0] + spin[1] * lever[2] - spin[2] * lever[1],
        velocity[1] + spin[2] * lever[0] - spin[0] * lever[2],
        velocity[2] + spin[0] * lever[1] - spin[1] * lever[0],
    )


@inlined
def turned(vector: Vector, turn: Vector, sign: float) -> Vector:
    """Return a vector turned by a small rotation vector [rad], or back with a sign of -1."""
    x, y, z = turn
    return (
        vector[0] + sign * (y * vector[2] - z * vector[1]),
        vector[1] + sign * (z * vector[0] - x * vector[2]),
        vector[2] + sign * (x * vector[1] - y * vector[0]),
    )


@inlined
def press_pair(
    rows: ContactRows,
    begin: int,
    end: int,
    velocity: Vector,
    spin: Vector,
    law: ContactParameters,
    hertzian: bool,
    held: bool,
    sub_step: float,
) -> tuple[Vector, Vector]:
    """Carry the contacts of a pair on, and find their forces.

    Args:
        rows: Contacts, whose depths and shears are changed.
        begin: First row of the pair.
        end: Row behind its last.
        velocity: V, relative velocity of the shoe at the pair's point [m/s].
        spin: W, relative angular velocity [rad/s].
        law: Contact parameters, but for friction, which the rows have.
        hertzian: True if the law's stiffness is that over depth to the power of 1.5 [N/m^1.5].
        held: True if the contacts were found in an earlier sub-step, so that their depths go on.
        sub_step: [s]

    Returns:
        Force on the shoe [N], and moment about the pair's point [N m], in the world.
    """
    elapsed, numbers = sub_step if held else 0.0, rows.numbers
    total, moment = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for r in range(begin, end):
        # d <- d - h u.n and f_n = max(0, f(d) - c u.n), with u = V + W x lever; then friction up to mu f_n.
        lever, normal = vector_in(numbers, r, LEVER), vector_in(numbers, r, NORMAL)
        u = velocity_at(velocity, spin, lever)
        rising = dot(u, normal)
        depth = numbers[r, DEPTH] - elapsed * rising
        numbers[r, DEPTH] = depth
        push = 0.0
        if depth > 0:
            elastic = law.stiffness * (depth * math.sqrt(depth) if hertzian else depth)
            push = max(0.0, elastic - law.damping * rising)
        numbers[r, PUSH] = push
        if push == 0.0:
            numbers[r, SHEAR] = numbers[r, SHEAR + 1] = numbers[r, SHEAR + 2] = 0.0
            continue
        shear, along = rigid_friction(
            vector_in(numbers, r, SHEAR),
            normal,
            vector_in(numbers, r, LATERAL),
            without_share(u, rising, normal),
            numbers[r, FRICTION] * push,
            law,
            1.0,
            sub_step,
        )
        numbers[r, SHEAR], numbers[r, SHEAR + 1], numbers[r, SHEAR + 2] = shear
        force = without_share(along, -push, normal)
        total, moment = sum_of(total, force), sum_of(moment, cross(lever, force))
    return total, moment
