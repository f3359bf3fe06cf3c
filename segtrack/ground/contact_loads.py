"""Loads of contacts on links and belts, and what contacts add to the mass for being taken implicitly.

A contact adds the mass D (`implicit_laws`), a symmetric matrix (3, 3), for the velocity of its point. With
the lever r from a link's centre that is a matrix for the link's velocity v and angular velocity w,

    [ D        -D [r] ]
    [ [r] D    [r] D [r]^T ]

of which a row of 21 numbers keeps D (xx, yy, zz, xy, yz, zx), [r] D (row by row) and [r] D [r]^T (as D).

Contacts of one part are summed up in `LANES` lanes, contact p, p + `LANES` and so on in lane p, and the lanes
at last: a processor has vectors of numbers for that, and the sums do not depend on how long these are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.ground.broadphase import NONE
from segtrack.ground.implicit_laws import Symmetric
from segtrack.kernels import Vector, compiled, cross, dot

LINK_MASS, BELT_MASS = 21, 7
"""Numbers of what contacts add to a link's mass, and to a belt's: its coupling with the link's velocity (3)
and angular velocity (3), and its own."""
LANES = 8
"""Contacts that are evaluated side by side."""
FORCES, TORQUES, MASSES, BELT, PULL, SUMS = 0, 3, 6, 27, 34, 35
"""First of the sums over contacts of a part: force and torque on the link, masses that link and belt get, and
pull on the belt; and number of all."""

BEYOND, ALLOWED, WRONG, PRESSED = 0, 1, 2, 3
"""Sums over contacts: friction beyond limits, the limits, normal forces that should not be as they are, and
those that press [N]."""


class VehicleLoads(NamedTuple):
    """Loads of contacts on L links and T belts, and what the contacts add to their masses.

    Attributes:
        forces: On the links in the world (L, 3) [N].
        torques: On the links about their centres, in the world (L, 3) [N m].
        masses: Masses that contacts add to the links' mass matrices (L, `LINK_MASS`) [kg, kg m, kg m^2].
        pulls: Pull of the ground on the belts along their travel (T,) [N].
        belt_masses: Masses that contacts add to the belts' (T, `BELT_MASS`) [kg, kg m, kg].
    """

    forces: NDArray[np.float64]
    torques: NDArray[np.float64]
    masses: NDArray[np.float64]
    pulls: NDArray[np.float64]
    belt_masses: NDArray[np.float64]


def allocate_loads(links: int, belts: int) -> VehicleLoads:
    """Room for the loads on so many links and belts."""
    shapes = (links, 3), (links, 3), (links, LINK_MASS), (belts,), (belts, BELT_MASS)
    return VehicleLoads(*map(np.zeros, shapes))


@compiled
def clear_loads(loads: VehicleLoads) -> None:
    """Let nothing act on links and belts."""
    for link in range(len(loads.forces)):
        for k in range(3):
            loads.forces[link, k] = loads.torques[link, k] = 0.0
        for k in range(LINK_MASS):
            loads.masses[link, k] = 0.0
    for t in range(len(loads.pulls)):
        loads.pulls[t] = 0.0
        for k in range(BELT_MASS):
            loads.belt_masses[t, k] = 0.0


@compiled
def begin_loads(loads: VehicleLoads, given: VehicleLoads) -> None:
    """Let forces on links and belts be those given, and no contact act."""
    clear_loads(loads)
    for link in range(len(loads.forces)):
        for k in range(3):
            loads.forces[link, k], loads.torques[link, k] = given.forces[link, k], given.torques[link, k]
    for t in range(len(loads.pulls)):
        loads.pulls[t] = given.pulls[t]


@compiled
def times_symmetric(m: Symmetric, a: Vector) -> Vector:
    """The product of a symmetric matrix and a vector."""
    return (
        m[0] * a[0] + m[3] * a[1] + m[5] * a[2],
        m[3] * a[0] + m[1] * a[1] + m[4] * a[2],
        m[5] * a[0] + m[4] * a[1] + m[2] * a[2],
    )


@compiled
def add_in_lane(
    sums: NDArray[np.float64], lane: int, lever: Vector, along: Vector, force: Vector, added: Symmetric
) -> None:
    """Add a contact to the sums of its part.

    Args:
        sums: Sums in lanes (`SUMS` * `LANES`,), changed in place.
        lane: Lane of the contact.
        lever: From the link's centre to the contact, in the world [m].
        along: Velocity of the contact's point per belt speed, in the world [-].
        force: Force on link and belt [N].
        added: Mass that the contact adds [kg].
    """
    # Columns a, b, c of [r] D, and u, v, w of [r] D [r]^T; along the belt's t: D t, r x D t, t.D t, t.F.
    xx, yy, zz, xy, yz, zx = added
    a = cross(lever, (xx, xy, zx))
    b = cross(lever, (xy, yy, yz))
    c = cross(lever, (zx, yz, zz))
    u = cross(lever, (a[0], b[0], c[0]))
    v = cross(lever, (a[1], b[1], c[1]))
    w = cross(lever, (a[2], b[2], c[2]))
    product = times_symmetric(added, along)
    _add_vector(sums, FORCES, lane, force)
    _add_vector(sums, TORQUES, lane, cross(lever, force))
    _add_vector(sums, MASSES, lane, (xx, yy, zz))
    _add_vector(sums, MASSES + 3, lane, (xy, yz, zx))
    _add_vector(sums, MASSES + 6, lane, (a[0], b[0], c[0]))
    _add_vector(sums, MASSES + 9, lane, (a[1], b[1], c[1]))
    _add_vector(sums, MASSES + 12, lane, (a[2], b[2], c[2]))
    _add_vector(sums, MASSES + 15, lane, (u[0], v[1], w[2]))
    _add_vector(sums, MASSES + 18, lane, (u[1], v[2], w[0]))
    _add_vector(sums, BELT, lane, product)
    _add_vector(sums, BELT + 3, lane, cross(lever, product))
    sums[(BELT + 6) * LANES + lane] += dot(along, product)
    sums[PULL * LANES + lane] += dot(along, force)


@compiled
def _add_vector(sums: NDArray[np.float64], first: int, lane: int, a: Vector) -> None:
    """Add a vector to three sums, from the first one on, in a lane."""
    at = first * LANES + lane
    sums[at] += a[0]
    sums[at + LANES] += a[1]
    sums[at + 2 * LANES] += a[2]


@compiled
def taken(sums: NDArray[np.float64], k: int) -> float:
    """Sum k over all lanes, which are emptied."""
    total = 0.0
    for lane in range(LANES):
        total += sums[k * LANES + lane]
        sums[k * LANES + lane] = 0.0
    return total


@compiled
def add_sums(loads: VehicleLoads, link: int, belt: int, sums: NDArray[np.float64]) -> None:
    """Add the sums over contacts of a part, which are emptied, to what acts on its link and belt.

    Args:
        loads: Changed in place.
        link: Index of the link.
        belt: Index of the belt, or `NONE`.
        sums: Sums in lanes (`SUMS` * `LANES`,).
    """
    for k in range(3):
        loads.forces[link, k] += taken(sums, FORCES + k)
        loads.torques[link, k] += taken(sums, TORQUES + k)
    for k in range(LINK_MASS):
        loads.masses[link, k] += taken(sums, MASSES + k)
    pull = taken(sums, PULL)
    for k in range(BELT_MASS):
        coupled = taken(sums, BELT + k)
        if belt != NONE:
            loads.belt_masses[belt, k] += coupled
    if belt != NONE:
        loads.pulls[belt] += pull
