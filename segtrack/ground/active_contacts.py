"""Contacts that act in a step: linear in its velocity changes, cut where friction and adhesion end.

A contact is found with the velocities of the step's beginning (`implicit_laws`). With the change dv of the
velocity of the part at its place, its normal force, and what friction would take to hold it, are at the end

    N = N_0 - D_n dv_n         where it is above 0
    s = s_0 - D_t dv_t         f = q s, q = min(1, (C + mu N) / |s|)

Both cuts depend on the solution. So q and what acts are taken for the changes that are expected, and the
equations are solved with the secants D_n and q D_t (`add_contact_loads`). Where contacts then pull, or do not
press as they should, or have friction beyond its limits, by more than `TOLERANCE` (`excess_of`), q and what
acts are taken for the changes that were solved, and the step is solved again: in the end no contact has more
than friction times load, whatever a drive did in the step, and none holds the vehicle down.

Friction's ellipse has the axis 1 along the track and the lateral ratio r across it, and D_t across is r^2 of
that along (`contact_laws.advance_shear`). Soil has the strength C besides, and a viscous force that nothing
cuts.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from segtrack.ground.broadphase import NONE
from segtrack.ground.contact_laws import friction_cut, friction_square
from segtrack.ground.contact_loads import VehicleLoads, add_belt_contact, add_contact
from segtrack.ground.implicit_laws import contact_mass
from segtrack.ground.kernels import compiled, inlined
from segtrack.ground.vectors import Vector, cross, dot, row, scaled, sum_of, without_share

LINK, BELT, LEVER, ALONG_BELT, NORMAL, ACROSS = 0, 1, 2, 5, 8, 11
"""First columns of a contact: index of its link, and of its belt or `NONE`; place from the link's centre [m];
velocity per belt speed [-]; normal, out of what it touches; direction across the track along the surface."""
LESS, FORCE, RESISTANCE, ACTS = 14, 15, 16, 17
"""1 - r^2 [-]; N_0 [N]; D_n [N s/m]; 1 where the normal force acts, else 0."""
HOLDING, GRIP, FRICTION, STRENGTH, LIMIT, DRAG, DRAGGING, CUT = 18, 21, 22, 23, 24, 25, 26, 29
"""s_0 [N]; D_t [N s/m]; mu [-]; C [N]; limit of now [N]; viscous resistance [N s/m] and force [N]; q [-]."""
WIDTH = 30
TOLERANCE = 0.02
"""Sum of what is beyond limits, over that of the limits, with which a step is taken as it is solved [-]."""
PASSES, LATE = 16, 8
"""Most times that a step is solved, and those after which a contact that has come apart stays apart."""


@inlined
def write_contact(
    contacts: NDArray[np.float64],
    count: NDArray[np.int32],
    part: tuple[int, int, Vector, Vector],
    normal: Vector,
    across: Vector,
    less: float,
    push: tuple[float, float],
    hold: tuple[Vector, float],
    limits: tuple[float, float, float],
    drag: tuple[Vector, float],
) -> None:
    """Write a contact behind those that are there.

    Args:
        contacts: Contacts (n, `WIDTH`), with room for it.
        count: Number of contacts (1,), changed in place.
        part: Link, belt or `NONE`, place from the link's centre [m] and velocity per belt speed [-].
        normal: Normal, out of what is touched.
        across: Direction across the track, along the surface; nothing where the ellipse is a circle.
        less: 1 - r^2 [-].
        push: N_0 [N] and D_n [N s/m].
        hold: s_0 [N] and D_t [N s/m].
        limits: mu [-], C [N] and limit of now [N].
        drag: Viscous force at the velocities of the step's beginning [N], and resistance [N s/m].
    """
    out, (link, belt, lever, along) = contacts[count[0]], part
    count[0] += 1
    out[LINK], out[BELT], out[LESS] = link, belt, less
    for k in range(3):
        out[LEVER + k], out[NORMAL + k], out[HOLDING + k] = lever[k], normal[k], hold[0][k]
    if belt != NONE:
        for k in range(3):
            out[ALONG_BELT + k] = along[k]
    if less != 0.0:
        for k in range(3):
            out[ACROSS + k] = across[k]
    if drag[1] != 0.0:
        for k in range(3):
            out[DRAGGING + k] = drag[0][k]
    out[FORCE], out[RESISTANCE] = push
    out[GRIP], out[FRICTION], out[STRENGTH], out[LIMIT] = hold[1], limits[0], limits[1], limits[2]
    out[DRAG] = drag[1]


@compiled
def vector_at(numbers: NDArray[np.float64], first: int) -> Vector:
    """Vector in a row of numbers, from a column on."""
    return numbers[first], numbers[first + 1], numbers[first + 2]


@compiled
def _velocity_change(
    contact: NDArray[np.float64],
    changes: NDArray[np.float64],
    turns: NDArray[np.float64],
    belt_changes: NDArray[np.float64],
) -> Vector:
    """Change of the velocity of a contact's part at its place, in the world [m/s]."""
    link, belt = int(contact[LINK]), int(contact[BELT])
    change = sum_of(row(changes, link), cross(row(turns, link), vector_at(contact, LEVER)))
    if belt != NONE:
        change = sum_of(change, scaled(vector_at(contact, ALONG_BELT), belt_changes[belt]))
    return change


@compiled
def _holding_at_end(contact: NDArray[np.float64], slip: Vector) -> Vector:
    """Force s that would hold a contact whose slip changes by `slip` [m/s], in the world [N]."""
    held = without_share(vector_at(contact, HOLDING), contact[GRIP], slip)
    if contact[LESS] != 0.0:
        across = vector_at(contact, ACROSS)
        held = without_share(held, -contact[LESS] * contact[GRIP] * dot(slip, across), across)
    return held


@inlined
def add_contact_loads(
    contacts: NDArray[np.float64],
    count: int,
    changes: NDArray[np.float64],
    turns: NDArray[np.float64],
    belt_changes: NDArray[np.float64],
    passed: int,
    loads: VehicleLoads,
    step: float,
) -> None:
    """Cut contacts for the velocity changes of a step, and add them to the loads of a vehicle.

    Args:
        contacts: Contacts (n, `WIDTH`); q and what acts are written.
        count: Number of them.
        changes: Changes of the velocities of the links' centres in the world (L, 3) [m/s].
        turns: Changes of the links' angular velocities in the world (L, 3) [rad/s].
        belt_changes: Changes of the belts' speeds (T,) [m/s].
        passed: Times that the step has been solved: the changes are those of the last one; those expected
            before the first serve with friction's limit of now.
        loads: Loads of the vehicle, added to.
        step: Duration [s].
    """
    for c in range(count):
        own = contacts[c]
        link, belt, less, limit = int(own[LINK]), int(own[BELT]), own[LESS], own[LIMIT]
        lever, normal, across = vector_at(own, LEVER), vector_at(own, NORMAL), (0.0, 0.0, 0.0)
        if less != 0.0:
            across = vector_at(own, ACROSS)
        change = _velocity_change(own, changes, turns, belt_changes)
        rising = dot(change, normal)
        push, acts = own[FORCE] - own[RESISTANCE] * rising, 0.0
        # Few contacts take turns, each there without the other: that would go on for ever.
        if push > 0.0 and (passed < LATE or own[ACTS] == 1.0):
            acts = 1.0
        if passed > 0:
            limit = acts * (own[STRENGTH] + own[FRICTION] * push)
        own[ACTS] = acts
        cut = friction_cut(_holding_at_end(own, without_share(change, rising, normal)), across, less, limit)
        own[CUT] = cut
        along = scaled(vector_at(own, HOLDING), cut)
        if own[DRAG] != 0.0:
            along = sum_of(along, vector_at(own, DRAGGING))
        force = without_share(along, -acts * own[FORCE], normal)
        resistance, grip, drag = step * acts * own[RESISTANCE], step * cut * own[GRIP], step * own[DRAG]
        added = contact_mass(resistance, grip, drag, normal, across, less)
        add_contact(loads, link, lever, force, added)
        if belt != NONE:
            add_belt_contact(loads, belt, vector_at(own, ALONG_BELT), lever, force, added)


@inlined
def excess_of(
    contacts: NDArray[np.float64],
    count: int,
    changes: NDArray[np.float64],
    turns: NDArray[np.float64],
    belt_changes: NDArray[np.float64],
) -> float:
    """Share of what contacts exert that is beyond their limits, as a step is solved.

    Args:
        contacts: Contacts (n, `WIDTH`) as they were cut for the solution.
        count: Number of them.
        changes: Changes of the velocities of the links' centres in the world (L, 3) [m/s].
        turns: Changes of the links' angular velocities in the world (L, 3) [rad/s].
        belt_changes: Changes of the belts' speeds (T,) [m/s].

    Returns:
        Friction beyond its limits over the sum of the limits, or the sum of normal forces that act and pull,
        or would press and do not act, over that of those that press, whichever is larger [-].
    """
    beyond = allowed = wrong = pressed = 0.0
    for c in range(count):
        own = contacts[c]
        normal, less = vector_at(own, NORMAL), own[LESS]
        change = _velocity_change(own, changes, turns, belt_changes)
        rising = dot(change, normal)
        push, limit = own[FORCE] - own[RESISTANCE] * rising, 0.0
        if push > 0.0:
            pressed += push
            wrong += (1.0 - own[ACTS]) * push
            limit = own[STRENGTH] + own[FRICTION] * push
            allowed += limit
        else:
            wrong -= own[ACTS] * push
        cut = own[CUT]
        if cut > 0.0:
            held = _holding_at_end(own, without_share(change, rising, normal))
            square = cut * cut * friction_square(held, vector_at(own, ACROSS), less)
            if square > limit * limit:
                beyond += math.sqrt(square) - limit
    return max(beyond / allowed if allowed > 0.0 else beyond, wrong / pressed if pressed > 0.0 else wrong)
