"""Loads of contacts on links and belts, and what contacts add to the mass for being taken implicitly.

A contact adds the mass D (`implicit_laws`), a symmetric matrix (3, 3), for the velocity of its point. With
the lever r from a link's centre that is a matrix for the link's velocity v and angular velocity w,

    [ D        -D [r] ]
    [ [r] D    [r] D [r]^T ]

of which a row of 21 numbers keeps D (xx, yy, zz, xy, yz, zx), [r] D (row by row) and [r] D [r]^T (as D).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.ground.implicit_laws import Symmetric
from segtrack.ground.kernels import compiled
from segtrack.ground.vectors import Vector, add, cross, dot

LINK_MASS, BELT_MASS = 21, 7
"""Numbers of what contacts add to a link's mass, and to a belt's: its coupling with the link's velocity (3)
and angular velocity (3), and its own."""


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
def add_contact(loads: VehicleLoads, link: int, lever: Vector, force: Vector, added: Symmetric) -> None:
    """Add a contact to what acts on a link.

    Args:
        loads: Changed in place.
        link: Index of the link.
        lever: From the link's centre to the contact, in the world [m].
        force: Force on the link [N].
        added: Mass that the contact adds [kg].
    """
    add(loads.forces, link, force, 1.0)
    add(loads.torques, link, cross(lever, force), 1.0)
    xx, yy, zz, xy, yz, zx = added
    a = cross(lever, (xx, xy, zx))
    b = cross(lever, (xy, yy, yz))
    c = cross(lever, (zx, yz, zz))
    u = cross(lever, (a[0], b[0], c[0]))
    v = cross(lever, (a[1], b[1], c[1]))
    w = cross(lever, (a[2], b[2], c[2]))
    row = loads.masses[link]
    row[0] += xx
    row[1] += yy
    row[2] += zz
    row[3] += xy
    row[4] += yz
    row[5] += zx
    for k in range(3):
        row[6 + 3 * k] += a[k]
        row[7 + 3 * k] += b[k]
        row[8 + 3 * k] += c[k]
    row[15] += u[0]
    row[16] += v[1]
    row[17] += w[2]
    row[18] += u[1]
    row[19] += v[2]
    row[20] += w[0]


@compiled
def add_belt_contact(
    loads: VehicleLoads, belt: int, along: Vector, lever: Vector, force: Vector, added: Symmetric
) -> None:
    """Add a contact to what acts on a belt.

    Args:
        loads: Changed in place.
        belt: Index of the belt.
        along: Velocity of the contact's point per belt speed, in the world [-].
        lever: From the centre of the link that carries the belt to the contact, in the world [m].
        force: Force on the belt [N].
        added: Mass that the contact adds [kg].
    """
    product = times_symmetric(added, along)
    about = cross(lever, product)
    loads.pulls[belt] += dot(along, force)
    row = loads.belt_masses[belt]
    for k in range(3):
        row[k] += product[k]
        row[3 + k] += about[k]
    row[6] += dot(along, product)
