"""Contact of belts with a body that MuJoCo moves, compiled: the belts' own kernels in the body's frame.

Seen from a body B its geoms stand still, and contacts of belts with them are those with any ground: `touch`
gives the kernels the frames of belts in that of B, and velocities of links over B, v_A - v_B - w_B x r and
w_A - w_B. They find for each link A the force and torque F at its centre c, the masses A that the contacts
add, and the coupling b with a belt; with J = J_A(c) - J_B(c), the velocities of A over B per speed of a joint
of the model, and ds the change of the belt's speed,

    on A:  F - b ds / h - A J qacc,    on B the opposite, at the same point

A couples two trees, for which `data.M` has no entries. So it goes where MuJoCo has such: with A = L L^T, into
six rows (L^T J) qacc = 0 with D = 1 of its constraint solver, which minimises D (J qacc)^2 / 2 with all else.
The rows are those of a weld between A and B that `add` makes for this, and `couple` overwrites.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.compliant import AHEAD, MARGIN, BeltMemory, Candidates, take_places
from segtrack.ground import ROOT, add_contact_loads, begin_loads, expect_belt_changes, write_contact_masses
from segtrack.kernels import Packed, Vector, compiled, cross, dot, entry, item, row, sum_of
from segtrack.mujoco.host import HostedVehicle, ModelArrays, last_dof, motion_of_dof
from segtrack.native import (
    TreeWork,
    VehicleState,
    drives_of,
    find_vehicle_candidates,
    gather_belt_contacts,
    spread_changes,
    write,
)

_EQUALITY = 0
"""MuJoCo's kind of rows of equalities (`mjtConstraint`)."""
_NEAR = 0.05
"""Distance at which rows are made for a link and a body [m], beside the way of two steps."""
_LEVEL, _TREND = 0.4, 0.1
"""Weights of the last step in what velocities over a body, and their changes, are of late [-]."""
_TINY = 1e-9
"""Mass that keeps A = L L^T positive, over its trace [-]."""


class TouchedBody(NamedTuple):
    """A body that moves, which belts of a vehicle of L links and T belts touch.

    Attributes:
        body: Body in the model (1,).
        equalities: Equality of each link with it, or -1 (L,).
        box: Least and greatest coordinates of its geoms in its frame (2, 3) [m].
        work: Frames and velocities of the vehicle in its frame, and loads there.
        state: The vehicle's state, with a slack of its own.
        memory: Memory of the contacts with it.
        candidates: Contact candidates.
        before: Mean velocities of the links over it of late, in its frame, and their trends a step (L, 12)
            [m/s, rad/s].
        drift: Changes of these that its own motion is expected to make in the step, likewise (L, 6).
        known: 1 where these were found (1,).
        coupled: 1 where it has rows in this step (1,).
        matrices: Room for A, L and the velocities per degree of freedom (3, 6, max(6, nv)).
    """

    body: NDArray[np.intp]
    equalities: NDArray[np.intp]
    box: NDArray[np.float64]
    work: TreeWork
    state: VehicleState
    memory: BeltMemory
    candidates: Candidates
    before: NDArray[np.float64]
    drift: NDArray[np.float64]
    known: NDArray[np.intp]
    coupled: NDArray[np.intp]
    matrices: NDArray[np.float64]


class SolverRows(NamedTuple):
    """Rows of MuJoCo's constraint solver in a step.

    Attributes:
        kinds: `efc_type`.
        owners: `efc_id`.
        values: `efc_J`, flat.
        starts: `efc_J_rowadr`.
        counts: `efc_J_rownnz`.
        columns: `efc_J_colind`.
        weights: `efc_D`.
        inverse_weights: `efc_R`.
        aims: `efc_aref`.
    """

    kinds: NDArray[np.int32]
    owners: NDArray[np.int32]
    values: NDArray[np.float64]
    starts: NDArray[np.int32]
    counts: NDArray[np.int32]
    columns: NDArray[np.int32]
    weights: NDArray[np.float64]
    inverse_weights: NDArray[np.float64]
    aims: NDArray[np.float64]


@compiled
def _into(rotations: NDArray[np.float64], a: Vector) -> Vector:
    """Turn a vector of the world into the frame of a body (9,)."""
    r = rotations
    return (
        r[0] * a[0] + r[3] * a[1] + r[6] * a[2],
        r[1] * a[0] + r[4] * a[1] + r[7] * a[2],
        r[2] * a[0] + r[5] * a[1] + r[8] * a[2],
    )


@compiled
def _out_of(rotations: NDArray[np.float64], a: Vector) -> Vector:
    """Turn a vector of the frame of a body (9,) into the world."""
    r = rotations
    return (
        r[0] * a[0] + r[1] * a[1] + r[2] * a[2],
        r[3] * a[0] + r[4] * a[1] + r[5] * a[2],
        r[6] * a[0] + r[7] * a[1] + r[8] * a[2],
    )


@compiled
def _velocity_of(model: ModelArrays, body: int) -> tuple[Vector, Vector]:
    """Velocity of the origin of a body in the world, and its angular velocity."""
    spin, moving = row(model.cvel, body), (model.cvel[body, 3], model.cvel[body, 4], model.cvel[body, 5])
    place, middle = row(model.xpos, body), row(model.subtree_com, model.body_rootid[body])
    lever = place[0] - middle[0], place[1] - middle[1], place[2] - middle[2]
    return sum_of(moving, cross(spin, lever)), spin


@entry
def find_near(packed: Packed, bodies: Packed, count: int, active: NDArray[np.bool_], step: float) -> bool:
    """Switch equalities of links and bodies on while these are near each other; true if any is on.

    Args:
        packed: The `HostedVehicle`, its links in place.
        bodies: So many `TouchedBody`; those that are near nothing forget their contacts.
        count: Number of them.
        active: `eq_active` of MuJoCo's data, changed in place.
        step: Duration of a step [s].
    """
    host = item(packed, 0)
    some = False
    for n in range(count):
        touched = item(bodies, n)
        if _switch(host, touched, active, step):
            some = True
        else:
            touched.state.slack[0] = 0.0
            touched.known[0] = 0
    return some


@compiled
def _switch(host: HostedVehicle, touched: TouchedBody, active: NDArray[np.bool_], step: float) -> bool:
    """Switch the equalities of a body on or off, see `find_near`."""
    model, work, belts = host.model, host.work, host.arrays.belts
    body, any_near = touched.body[0], False
    place, turn, (velocity, _) = row(model.xpos, body), model.xmat[body], _velocity_of(model, body)
    for link in range(len(touched.equalities)):
        if touched.equalities[link] < 0:
            continue
        moving = row(work.velocities, link)
        over = moving[0] - velocity[0], moving[1] - velocity[1], moving[2] - velocity[2]
        near = False
        for t in range(len(belts.perimeters)):
            if host.arrays.tree.belt_links[t] != link:
                continue
            at = row(work.belt_origins, t)
            local = _into(turn, (at[0] - place[0], at[1] - place[1], at[2] - place[2]))
            square = 0.0
            for k in range(3):
                away = max(touched.box[0, k] - local[k], local[k] - touched.box[1, k], 0.0)
                square += away * away
            ahead = _NEAR + 2.0 * step * math.sqrt(dot(over, over))
            near |= math.sqrt(square) < belts.reaches[t] + ahead
        active[touched.equalities[link]] = near
        any_near |= near
    return any_near


@entry
def touch(
    packed: Packed,
    bodies: Packed,
    grounds: Packed,
    efc_type: NDArray[np.int32],
    efc_id: NDArray[np.int32],
    step: float,
) -> None:
    """Find the contacts of a vehicle's belts with a body that moves, advanced to now.

    Args:
        packed: The `HostedVehicle`, after `BEGIN`.
        bodies: The `TouchedBody`, changed in place.
        grounds: The `Ground` of its geoms in its frame.
        efc_type: Kinds of MuJoCo's rows.
        efc_id: Their equalities.
        step: Duration [s].
    """
    host, touched, ground = item(packed, 0), item(bodies, 0), item(grounds, 0)
    touched.coupled[0] = 0
    for link in range(len(touched.equalities)):
        if _first_row(efc_type, efc_id, touched.equalities[link]) >= 0:
            touched.coupled[0] = 1
    if touched.coupled[0] == 0:
        return
    _see_from(host, touched)
    vehicle, state, work, memory = host.arrays, touched.state, touched.work, touched.memory
    near, belts, tree = touched.candidates, vehicle.belts, vehicle.tree
    fastest = 0.0
    for t in range(len(belts.perimeters)):
        link = tree.belt_links[t]
        at, center, spin = (
            row(work.belt_origins, t),
            row(work.centers, link),
            row(work.angular_velocities, link),
        )
        around = cross(spin, (at[0] - center[0], at[1] - center[1], at[2] - center[2]))
        moving = sum_of(row(work.velocities, link), around)
        turning = belts.reaches[t] * math.sqrt(dot(spin, spin))
        running = vehicle.tip_speed * abs(state.speeds[t])
        fastest = max(fastest, math.sqrt(dot(moving, moving)) + turning + running)
    ahead = step * fastest
    if state.slack[0] <= 0.0:
        find_vehicle_candidates(vehicle, ground, state, memory, near, work, MARGIN + AHEAD * ahead)
        take_places(memory, near.near, near.near_starts[len(near.near_starts) - 1])
        state.slack[0] = MARGIN
    gather_belt_contacts(vehicle, ground, state, memory, near, work, host.report, ahead, step)
    state.slack[0] -= ahead


@compiled
def _see_from(host: HostedVehicle, touched: TouchedBody) -> None:
    """Write frames and velocities of a vehicle as they are in the frame of a body, and what that will do."""
    spread_changes(host.arrays.tree, host.work, host.state.last_changes)
    model, own, seen, body = host.model, host.work, touched.work, touched.body[0]
    place, turn, (velocity, spin) = row(model.xpos, body), model.xmat[body], _velocity_of(model, body)
    for link in range(len(own.centers)):
        center, moving, turning = (
            row(own.centers, link),
            row(own.velocities, link),
            row(own.angular_velocities, link),
        )
        lever = center[0] - place[0], center[1] - place[1], center[2] - place[2]
        around = cross(spin, lever)
        over = _into(
            turn,
            (
                moving[0] - velocity[0] - around[0],
                moving[1] - velocity[1] - around[1],
                moving[2] - velocity[2] - around[2],
            ),
        )
        relative = _into(turn, (turning[0] - spin[0], turning[1] - spin[1], turning[2] - spin[2]))
        last, turned = _into(turn, row(own.changes, link)), _into(turn, row(own.turns, link))
        write(seen.centers, link, _into(turn, lever))
        write(seen.velocities, link, over)
        write(seen.angular_velocities, link, relative)
        for k in range(3):
            _expect(touched, link, k, over[k], last[k])
            _expect(touched, link, 3 + k, relative[k], turned[k])
    touched.known[0] = 1
    for t in range(len(own.belt_origins)):
        at = row(own.belt_origins, t)
        write(seen.belt_origins, t, _into(turn, (at[0] - place[0], at[1] - place[1], at[2] - place[2])))
        for k in range(3):
            axis = own.belt_rotations[t, 0, k], own.belt_rotations[t, 1, k], own.belt_rotations[t, 2, k]
            turned = _into(turn, axis)
            for i in range(3):
                seen.belt_rotations[t, i, k] = turned[i]


@compiled
def _expect(touched: TouchedBody, link: int, k: int, now: float, last: float) -> None:
    """Expect of a velocity over a body that it goes on as of late, on average (Holt's smoothing).

    By its change in the last step alone contacts would press and not press by turns.

    Args:
        touched: The body; `before` has mean and trend until the last step.
        link: Index of the link.
        k: Component.
        now: The velocity of now [m/s or rad/s].
        last: Change of the link's own velocity in the last step.
    """
    mean, trend = touched.before[link, k], touched.before[link, 6 + k]
    if touched.known[0] == 0:
        mean, trend = now, 0.0
    off = now - mean - trend
    mean, trend = mean + trend + _LEVEL * off, trend + _TREND * off
    touched.before[link, k], touched.before[link, 6 + k] = mean, trend
    touched.drift[link, k] = mean + trend - now - last if touched.known[0] == 1 else 0.0


@compiled
def _first_row(efc_type: NDArray[np.int32], efc_id: NDArray[np.int32], equality: int) -> int:
    """Return the first of MuJoCo's rows of an equality; -1 if there is none."""
    for r in range(len(efc_type) if equality >= 0 else 0):
        if efc_type[r] != _EQUALITY:  # These come first.
            return -1
        if efc_id[r] == equality:
            return r
    return -1


@entry
def cut(packed: Packed, bodies: Packed, passed: int, step: float) -> None:
    """Cut the contacts with a body for the changes of a solution, and let the vehicle's equations have them.

    Args:
        packed: The `HostedVehicle`; what the body does is added to its `touch`.
        bodies: The `TouchedBody`.
        passed: Times that the step was solved, see `ground.add_contact_loads`.
        step: Duration [s].
    """
    host, touched = item(packed, 0), item(bodies, 0)
    if touched.coupled[0] == 0:
        return
    tree, own, seen, body = host.arrays.tree, host.work, touched.work, touched.body[0]
    turn, first = host.model.xmat[body], ROOT + len(host.state.joint_speeds)
    if passed == 0:
        last = host.state.last_changes
        spread_changes(tree, own, last)
        drives = drives_of(tree, host.state)
        expect_belt_changes(drives, tree.belt_masses, last[first:], seen.belt_changes, step)
    else:
        spread_changes(tree, own, own.equations.change)
        for t in range(len(seen.belt_changes)):
            seen.belt_changes[t] = own.equations.change[first + t]
    for link in range(len(own.changes)):
        moved, turned = _into(turn, row(own.changes, link)), _into(turn, row(own.turns, link))
        for k in range(3):
            seen.changes[link, k] = moved[k] + touched.drift[link, k]
            seen.turns[link, k] = turned[k] + touched.drift[link, 3 + k]
    begin_loads(seen.loads, seen.given)
    add_contact_loads(seen.contacts, seen.changes, seen.turns, seen.belt_changes, passed, seen.loads, step)
    _feel(host, touched, step)


@compiled
def _feel(host: HostedVehicle, touched: TouchedBody, step: float) -> None:
    """Add what a body does, if it goes on as it moves, to what the vehicle feels."""
    felt, seen, turn = host.touch, touched.work, host.model.xmat[touched.body[0]]
    felt.any[0] = 1
    for t in range(len(seen.belt_changes)):
        link, coupling = host.arrays.tree.belt_links[t], seen.loads.belt_masses[t]
        pull = step * seen.loads.pulls[t]
        for k in range(3):
            pull -= coupling[k] * seen.changes[link, k] + coupling[3 + k] * seen.turns[link, k]
        felt.pulls[t] += pull / step
        felt.belt_masses[t] += coupling[6]
    for link in range(len(seen.changes)):
        if not _presses(touched, link):
            continue
        masses = touched.matrices[0]
        _turn_masses(touched, link, turn)
        force, torque = _wrench(host, touched, link, turn, seen.belt_changes, step)
        drift, whirl = row(touched.drift, link), _spin_of(touched.drift, link)
        moved, turned = _out_of(turn, drift), _out_of(turn, whirl)
        for i in range(6):
            lost = 0.0
            for k in range(3):
                lost += masses[i, k] * moved[k] + masses[i, 3 + k] * turned[k]
            felt.wrenches[link, i] += (force[i] if i < 3 else torque[i - 3]) - lost / step
            for k in range(6):
                felt.masses[link, i, k] += masses[i, k]


@compiled
def _spin_of(motions: NDArray[np.float64], link: int) -> Vector:
    """Return the angular part of a row of motions (n, 6)."""
    return motions[link, 3], motions[link, 4], motions[link, 5]


@compiled
def _presses(touched: TouchedBody, link: int) -> bool:
    """Return whether anything of a link is in contact with a body."""
    masses = touched.work.loads.masses[link]
    return masses[0] + masses[1] + masses[2] > 0.0


@compiled
def _turn_masses(touched: TouchedBody, link: int, turn: NDArray[np.float64]) -> None:
    """Write the masses (6, 6) that contacts with a body add to a link, at its centre, in the world."""
    own, half = touched.matrices[0], touched.matrices[1]
    for i in range(6):
        for k in range(6):
            own[i, k] = 0.0
    write_contact_masses(touched.work.loads, link, 0.0, own)
    for i in range(6):
        for first in range(0, 6, 3):
            a = _out_of(turn, (own[i, first], own[i, first + 1], own[i, first + 2]))
            half[first, i], half[first + 1, i], half[first + 2, i] = a
    for i in range(6):
        for first in range(0, 6, 3):
            a = _out_of(turn, (half[i, first], half[i, first + 1], half[i, first + 2]))
            own[i, first], own[i, first + 1], own[i, first + 2] = a


@compiled
def _wrench(
    host: HostedVehicle,
    touched: TouchedBody,
    link: int,
    turn: NDArray[np.float64],
    belt_changes: NDArray[np.float64],
    step: float,
) -> tuple[Vector, Vector]:
    """Force and torque F - b ds / h of a body on a link, about its centre, in the world."""
    loads = touched.work.loads
    force, torque = row(loads.forces, link), row(loads.torques, link)
    for t in range(len(belt_changes)):
        if host.arrays.tree.belt_links[t] == link:
            b, rate = loads.belt_masses[t], belt_changes[t] / step
            force = force[0] - b[0] * rate, force[1] - b[1] * rate, force[2] - b[2] * rate
            torque = torque[0] - b[3] * rate, torque[1] - b[4] * rate, torque[2] - b[5] * rate
    return _out_of(turn, force), _out_of(turn, torque)


@entry
def couple(packed: Packed, bodies: Packed, rows: Packed, sparse: bool, step: float) -> None:
    """Let MuJoCo have the contacts with a body: their forces, and the rows of the equalities.

    Args:
        packed: The `HostedVehicle`, solved.
        bodies: The `TouchedBody`, its contacts cut.
        rows: The `SolverRows`, changed in place.
        sparse: True if MuJoCo keeps no zeros of its rows.
        step: Duration [s].
    """
    host, touched, solver = item(packed, 0), item(bodies, 0), item(rows, 0)
    if touched.coupled[0] == 0:
        return
    model, body, seen = host.model, touched.body[0], touched.work
    turn, first = model.xmat[body], ROOT + len(host.state.joint_speeds)
    count, along = len(model.qfrc_passive), touched.matrices[2]
    changes = host.work.equations.change[first:]
    for t in range(len(seen.belt_changes)):
        seen.belt_changes[t] = changes[t]
    for link in range(len(touched.equalities)):
        start = _first_row(solver.kinds, solver.owners, touched.equalities[link])
        if start < 0:
            continue
        presses = _presses(touched, link)
        if presses:
            _write_velocities(model, host.touch.bodies[link], body, along)
            force, torque = _wrench(host, touched, link, turn, seen.belt_changes, step)
            for dof in range(count):
                for k in range(3):
                    model.qfrc_passive[dof] += along[k, dof] * force[k] + along[3 + k, dof] * torque[k]
            _turn_masses(touched, link, turn)
            _factor(touched.matrices[0], touched.matrices[1])
        for r in range(6):
            row_, factor = start + r, touched.matrices[1]
            solver.aims[row_], solver.weights[row_], solver.inverse_weights[row_] = 0.0, 1.0, 1.0
            begin = solver.starts[row_] if sparse else row_ * count
            for a in range(solver.counts[row_] if sparse else count):
                dof, total = solver.columns[begin + a] if sparse else a, 0.0
                if presses:
                    for k in range(r, 6):
                        total += factor[k, r] * along[k, dof]
                solver.values[begin + a] = total


@compiled
def _write_velocities(model: ModelArrays, link: int, body: int, along: NDArray[np.float64]) -> None:
    """Write the velocities of a link over a body, at the link's centre, per degree of freedom (6, nv)."""
    for k in range(6):
        for dof in range(len(model.qfrc_passive)):
            along[k, dof] = 0.0
    center = row(model.xipos, link)
    for moving, sign in ((link, 1.0), (body, -1.0)):
        dof = last_dof(model, moving)
        while dof >= 0:
            velocity, spin = motion_of_dof(model, dof, model.body_rootid[moving], center)
            for k in range(3):
                along[k, dof] += sign * velocity[k]
                along[3 + k, dof] += sign * spin[k]
            dof = model.dof_parentid[dof]


@compiled
def _factor(masses: NDArray[np.float64], factor: NDArray[np.float64]) -> None:
    """Write the lower triangle L (6, 6) of masses A = L L^T, which may be singular (Cholesky)."""
    trace = 0.0
    for i in range(6):
        trace += masses[i, i]
    for i in range(6):
        for k in range(i + 1):
            total = masses[i, k] + (_TINY * trace if i == k else 0.0)
            for m in range(k):
                total -= factor[i, m] * factor[k, m]
            factor[i, k] = math.sqrt(max(total, _TINY * trace)) if i == k else total / factor[k, k]
