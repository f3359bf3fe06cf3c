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

Contacts are kept in blocks of `contact_loads.LANES` of one part, whose numbers lie side by side, and are
evaluated a block at a time, without branches: a processor's vectors take several contacts at once. Lanes that
no contact has hold zeros, and exert nothing.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.ground.broadphase import NONE
from segtrack.ground.contact_laws import friction_cut, friction_square
from segtrack.ground.contact_loads import (
    ALLOWED,
    BEYOND,
    LANES,
    PRESSED,
    SUMS,
    WRONG,
    VehicleLoads,
    add_in_lane,
    add_sums,
    taken,
)
from segtrack.ground.face_contacts import (
    FaceContacts,
    add_face_loads,
    allocate_face_contacts,
    compare_faces,
)
from segtrack.ground.implicit_laws import contact_mass
from segtrack.kernels import Vector, compiled, cross, dot, inlined, row, scaled, sum_of, without_share

LEVER, ALONG_BELT, NORMAL, ACROSS = 0, 3, 6, 9
"""First rows of a block: place from the link's centre [m]; velocity per belt speed [-]; normal, out of what
is touched; direction across the track along the surface."""
LESS, FORCE, RESISTANCE, ACTS = 12, 13, 14, 15
"""1 - r^2 [-]; N_0 [N]; D_n [N s/m]; 1 where the normal force acts, else 0."""
HOLDING, GRIP, FRICTION, STRENGTH, LIMIT, DRAG, DRAGGING, CUT = 16, 19, 20, 21, 22, 23, 24, 27
"""s_0 [N]; D_t [N s/m]; mu [-]; C [N]; limit of now [N]; viscous resistance [N s/m] and force [N]; q [-]."""
WIDTH = 28
TOLERANCE = 0.02
"""Sum of what is beyond limits, over that of the limits, with which a step is taken as it is solved [-]."""
PASSES, LATE = 16, 8
"""Most times that a step is solved, and those after which a contact that has come apart stays apart."""


class Contacts(NamedTuple):
    """Contacts of a step, in blocks of `LANES` of one part.

    Attributes:
        blocks: Numbers of the contacts, each row of a block with a lane for each (B, `WIDTH` * `LANES`).
        parts: Link of each block's contacts, and their belt or `NONE` (B, 2).
        used: Lanes that are in use, those that were left empty before another part included (1,).
        sums: Room for sums in lanes, empty (`SUMS` * `LANES`,).
        with_faces: Contacts of belts' points with single faces of rigid ground, which are not among `blocks`.
    """

    blocks: NDArray[np.float64]
    parts: NDArray[np.int32]
    used: NDArray[np.int32]
    sums: NDArray[np.float64]
    with_faces: FaceContacts


def allocate_contacts(lanes: int) -> Contacts:
    """Room for contacts in so many lanes, at least."""
    blocks = -(-lanes // LANES)
    return Contacts(
        np.zeros((blocks, WIDTH * LANES)),
        np.zeros((blocks, 2), dtype=np.int32),
        np.zeros(1, dtype=np.int32),
        np.zeros(SUMS * LANES),
        allocate_face_contacts(blocks),
    )


@compiled
def clear_contacts(contacts: Contacts) -> None:
    """Let there be no contacts."""
    contacts.used[0] = contacts.with_faces.used[0] = contacts.with_faces.used[1] = 0


@compiled
def any_contacts(contacts: Contacts) -> bool:
    """Return whether there are any contacts."""
    return contacts.used[0] > 0 or contacts.with_faces.used[0] > 0


@compiled
def room_for_contacts(contacts: Contacts) -> int:
    """Number of lanes that there is room for."""
    return LANES * len(contacts.blocks)


class ContactPart(NamedTuple):
    """Place of a contact on a vehicle.

    Attributes:
        link: Index of the link.
        belt: Index of the belt, or `NONE` for what moves with its link.
        lever: From the link's centre, in the world [m].
        along_belt: Velocity of the place over the link per belt speed, in the world [-].
    """

    link: int
    belt: int
    lever: Vector
    along_belt: Vector


@inlined
def write_contact(
    contacts: Contacts,
    part: ContactPart,
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
        contacts: Contacts, with room for it.
        part: Its place on the vehicle.
        normal: Normal, out of what is touched.
        across: Direction across the track, along the surface; nothing where the ellipse is a circle.
        less: 1 - r^2 [-].
        push: N_0 [N] and D_n [N s/m].
        hold: s_0 [N] and D_t [N s/m].
        limits: mu [-], C [N] and limit of now [N].
        drag: Viscous force at the velocities of the step's beginning [N], and resistance [N s/m].
    """
    link, belt = part.link, part.belt
    count = contacts.used[0]
    block = (count + LANES - 1) // LANES
    if count % LANES != 0 and contacts.parts[block - 1, 0] == link and contacts.parts[block - 1, 1] == belt:
        block -= 1
        lane = count % LANES
    else:
        lane = 0
        contacts.parts[block, 0], contacts.parts[block, 1] = link, belt
        for k in range(WIDTH * LANES):
            contacts.blocks[block, k] = 0.0
    contacts.used[0] = block * LANES + lane + 1
    out = contacts.blocks[block]
    _write_vector(out, LEVER, lane, part.lever)
    _write_vector(out, ALONG_BELT, lane, part.along_belt)
    _write_vector(out, NORMAL, lane, normal)
    _write_vector(out, HOLDING, lane, hold[0])
    if less != 0.0:
        _write_vector(out, ACROSS, lane, across)
        out[LESS * LANES + lane] = less
    if drag[1] != 0.0:
        _write_vector(out, DRAGGING, lane, drag[0])
        out[DRAG * LANES + lane] = drag[1]
    out[FORCE * LANES + lane], out[RESISTANCE * LANES + lane] = push
    out[GRIP * LANES + lane], out[FRICTION * LANES + lane] = hold[1], limits[0]
    out[STRENGTH * LANES + lane], out[LIMIT * LANES + lane] = limits[1], limits[2]


@compiled
def _write_vector(block: NDArray[np.float64], first: int, lane: int, a: Vector) -> None:
    """Write a vector into three rows of a block, from the first one on."""
    at = first * LANES + lane
    block[at], block[at + LANES], block[at + 2 * LANES] = a


@compiled
def _vector_in(block: NDArray[np.float64], first: int, lane: int) -> Vector:
    """Vector in three rows of a block, from the first one on."""
    at = first * LANES + lane
    return block[at], block[at + LANES], block[at + 2 * LANES]


@compiled
def _change_in(
    block: NDArray[np.float64], lane: int, change: Vector, turn: Vector, belt_change: float
) -> Vector:
    """Change of the velocity of a contact's part at its place, dv + dw x r + ds t, in the world [m/s].

    Args:
        block: Contacts of the part.
        lane: Lane of the contact.
        change: Change of the velocity of the link's centre [m/s].
        turn: Change of the link's angular velocity [rad/s].
        belt_change: Change of the belt's speed [m/s].
    """
    moved = sum_of(change, cross(turn, _vector_in(block, LEVER, lane)))
    return sum_of(moved, scaled(_vector_in(block, ALONG_BELT, lane), belt_change))


@compiled
def _holding_in(block: NDArray[np.float64], lane: int, slip: Vector) -> Vector:
    """Force s that would hold a contact whose slip changes by `slip` [m/s], in the world [N]."""
    grip, across = block[GRIP * LANES + lane], _vector_in(block, ACROSS, lane)
    held = without_share(_vector_in(block, HOLDING, lane), grip, slip)
    return without_share(held, -block[LESS * LANES + lane] * grip * dot(slip, across), across)


@inlined
def add_contact_loads(
    contacts: Contacts,
    changes: NDArray[np.float64],
    turns: NDArray[np.float64],
    belt_changes: NDArray[np.float64],
    passed: int,
    loads: VehicleLoads,
    step: float,
) -> None:
    """Cut contacts for the velocity changes of a step, and add them to the loads of a vehicle.

    Args:
        contacts: Contacts; q and what acts are written.
        changes: Changes of the velocities of the links' centres in the world (L, 3) [m/s].
        turns: Changes of the links' angular velocities in the world (L, 3) [rad/s].
        belt_changes: Changes of the belts' speeds (T,) [m/s].
        passed: Times that the step has been solved: the changes are those of the last one; those expected
            before the first serve with friction's limit of now.
        loads: Loads of the vehicle, added to.
        step: Duration [s].
    """
    # Few contacts take turns, each there without the other: that would go on for ever.
    anew = 1.0 if passed < LATE else 0.0
    add_face_loads(contacts.with_faces, changes, turns, belt_changes, passed, anew, loads, step)
    blocks = (contacts.used[0] + LANES - 1) // LANES
    for b in range(blocks):
        link, belt = contacts.parts[b, 0], contacts.parts[b, 1]
        belt_change = belt_changes[belt] if belt != NONE else 0.0
        _add_block(
            contacts.blocks[b],
            contacts.sums,
            row(changes, link),
            row(turns, link),
            belt_change,
            passed,
            anew,
            step,
            len(contacts.sums) // SUMS,
        )
        if b + 1 == blocks or contacts.parts[b + 1, 0] != link or contacts.parts[b + 1, 1] != belt:
            add_sums(loads, link, belt, contacts.sums)


@compiled
def _add_block(
    block: NDArray[np.float64],
    sums: NDArray[np.float64],
    change: Vector,
    turn: Vector,
    belt_change: float,
    passed: int,
    anew: float,
    step: float,
    lanes: int,
) -> None:
    """Cut the contacts of a block for changes as in `_change_in`, and add them to the sums of their part.

    The number of lanes is given: loops as short as `LANES` are not made into operations with vectors.
    """
    for lane in range(lanes):
        normal, across = _vector_in(block, NORMAL, lane), _vector_in(block, ACROSS, lane)
        less, resistance, pressing = (
            block[LESS * LANES + lane],
            block[RESISTANCE * LANES + lane],
            block[FORCE * LANES + lane],
        )
        # N = N_0 - D_n dv_n; q = min(1, (C + mu N) / |s_0 - D_t dv_t|), by friction's ellipse.
        velocity = _change_in(block, lane, change, turn, belt_change)
        rising = dot(velocity, normal)
        push = pressing - resistance * rising
        acts = max(anew, block[ACTS * LANES + lane]) if push > 0.0 else 0.0
        limit = acts * (block[STRENGTH * LANES + lane] + block[FRICTION * LANES + lane] * push)
        if passed == 0:
            limit = block[LIMIT * LANES + lane]
        cut = friction_cut(
            _holding_in(block, lane, without_share(velocity, rising, normal)), across, less, limit
        )
        block[ACTS * LANES + lane], block[CUT * LANES + lane] = acts, cut
        # F = N_0 n + q s_0 + viscous force, and the mass h (D_n, q D_t) that takes it to the step's end.
        along = sum_of(scaled(_vector_in(block, HOLDING, lane), cut), _vector_in(block, DRAGGING, lane))
        added = contact_mass(
            step * acts * resistance,
            step * cut * block[GRIP * LANES + lane],
            step * block[DRAG * LANES + lane],
            normal,
            across,
            less,
        )
        force = without_share(along, -acts * pressing, normal)
        lever, along_belt = _vector_in(block, LEVER, lane), _vector_in(block, ALONG_BELT, lane)
        add_in_lane(sums, lane, lever, along_belt, force, added)


@inlined
def excess_of(
    contacts: Contacts,
    changes: NDArray[np.float64],
    turns: NDArray[np.float64],
    belt_changes: NDArray[np.float64],
) -> float:
    """Share of what contacts exert that is beyond their limits, as a step is solved.

    Args:
        contacts: Contacts as they were cut for the solution.
        changes: Changes of the velocities of the links' centres in the world (L, 3) [m/s].
        turns: Changes of the links' angular velocities in the world (L, 3) [rad/s].
        belt_changes: Changes of the belts' speeds (T,) [m/s].

    Returns:
        Friction beyond its limits over the sum of the limits, or the sum of normal forces that act and pull,
        or would press and do not act, over that of those that press, whichever is larger [-].
    """
    compare_faces(contacts.with_faces, contacts.sums, changes, turns, belt_changes)
    for b in range((contacts.used[0] + LANES - 1) // LANES):
        link, belt = contacts.parts[b, 0], contacts.parts[b, 1]
        belt_change = belt_changes[belt] if belt != NONE else 0.0
        _compare_block(
            contacts.blocks[b],
            contacts.sums,
            row(changes, link),
            row(turns, link),
            belt_change,
            len(contacts.sums) // SUMS,
        )
    beyond, allowed = taken(contacts.sums, BEYOND), taken(contacts.sums, ALLOWED)
    wrong, pressed = taken(contacts.sums, WRONG), taken(contacts.sums, PRESSED)
    return max(beyond / allowed if allowed > 0.0 else beyond, wrong / pressed if pressed > 0.0 else wrong)


@compiled
def _compare_block(
    block: NDArray[np.float64],
    sums: NDArray[np.float64],
    change: Vector,
    turn: Vector,
    belt_change: float,
    lanes: int,
) -> None:
    """Add what the contacts of a block exert, and what they may, to sums in lanes; see `_add_block`."""
    for lane in range(lanes):
        normal, across = _vector_in(block, NORMAL, lane), _vector_in(block, ACROSS, lane)
        velocity = _change_in(block, lane, change, turn, belt_change)
        rising = dot(velocity, normal)
        push, acts = (
            block[FORCE * LANES + lane] - block[RESISTANCE * LANES + lane] * rising,
            block[ACTS * LANES + lane],
        )
        pressing = max(push, 0.0)
        limit = block[STRENGTH * LANES + lane] + block[FRICTION * LANES + lane] * push if push > 0.0 else 0.0
        held = _holding_in(block, lane, without_share(velocity, rising, normal))
        exerted = block[CUT * LANES + lane] * math.sqrt(
            friction_square(held, across, block[LESS * LANES + lane])
        )
        sums[BEYOND * LANES + lane] += max(exerted - limit, 0.0)
        sums[ALLOWED * LANES + lane] += limit
        sums[WRONG * LANES + lane] += (1.0 - acts) * pressing + acts * (pressing - push)
        sums[PRESSED * LANES + lane] += pressing
