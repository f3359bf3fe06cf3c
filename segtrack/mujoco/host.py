"""The step of a vehicle that MuJoCo moves, compiled: belts in MuJoCo's own equations.

MuJoCo solves M qacc = f for the speeds qvel of all its joints. Between `mj_step1` and `mj_step2`, or in its
control callback, `prepare` takes over where the vehicle is, finds the contacts of its belts and solves the
native engine's equations (`native.solve_step`), in which the links have MuJoCo's matrix M in place of masses
of their own, and MuJoCo's forces; those of its constraints are the last step's. From these equations

    [ M + sum J^T A J    J^T b ] [dq]       [ f + J^T F ]
    [ b^T J              m + a ] [ds]  =  h [ p + drive ]

the belts' speeds s are eliminated (A, b, a: what contacts add to the masses of links and belts, m: mass of
the belt, with its angular momentum in b; F, p: forces on links and belts; see `ground.belt_equations`):

    drive holds its belt   M' = M + J^T A J              f' = f + J^T F - J^T b ds / h
    drive at its limit     M' = M + J^T (A - b c^T) J    f' = f + J^T F - J^T c (p + drive),   c = b / (m + a)
    joint held, gaining g  M'_jj += K, f'_j += K g / h   with K = `STIFF` M_jj

M' - M is added to `data.M`, f' - f to `data.qfrc_passive`, and MuJoCo's own step does the rest, its contacts,
limits and loose bodies included. A contact with ground that stands still moves with one link, whose joints
are a chain of ancestors: the entries that `data.M` stores. After the step `finish` finds what the belts did.

Velocities of the native engine's root are those of its centre of mass and its angular velocity, in the world;
MuJoCo's free joint has the velocity of the body's origin in the world, and the angular velocity in the body.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.compliant import AHEAD, MARGIN, BeltMemory, Candidates, count_section_contacts, take_places
from segtrack.engine import ABSURD_SPEED
from segtrack.ground import FREE, ROOT, Ground, room_for_contacts, times_link
from segtrack.kernels import (
    Packed,
    Vector,
    arm,
    compiled,
    cross,
    dot,
    entry,
    inlined,
    item,
    sum_of,
    write_rotation,
)
from segtrack.native import (
    CROWDED,
    DONE,
    NOT_FINITE,
    TOO_FAST,
    HostEquations,
    TreeWork,
    VehicleArrays,
    VehicleState,
    add_push,
    aim_drive,
    find_vehicle_candidates,
    gather_belt_contacts,
    largest_speed,
    move_links,
    solve_step,
)

BEGIN, SOLVE, END = 1, 2, 4
"""Stages of `prepare`: contacts with what stands still, equations, and what is given to MuJoCo."""
JUMPED = 4
"""Outcome of a call, beside those of the native engine: the vehicle was put elsewhere since the last step."""
STIFF = 1e5
"""Inertia that holds a joint at the speed of its servo, over that of the joint [-]."""
_JUMP = 1e-3
"""Distance [m], or angle [rad], beyond that of its velocities by which a vehicle was put elsewhere."""


class ModelArrays(NamedTuple):
    """Arrays of MuJoCo's model and data, whose memory they share, by MuJoCo's names."""

    qpos: NDArray[np.float64]
    qvel: NDArray[np.float64]
    M: NDArray[np.float64]
    M_rowadr: NDArray[np.int32]
    M_rownnz: NDArray[np.int32]
    M_colind: NDArray[np.int32]
    qfrc_passive: NDArray[np.float64]
    qfrc_bias: NDArray[np.float64]
    qfrc_applied: NDArray[np.float64]
    qfrc_actuator: NDArray[np.float64]
    qfrc_constraint: NDArray[np.float64]
    xfrc_applied: NDArray[np.float64]
    xipos: NDArray[np.float64]
    subtree_com: NDArray[np.float64]
    cdof: NDArray[np.float64]
    cvel: NDArray[np.float64]
    xpos: NDArray[np.float64]
    xmat: NDArray[np.float64]
    dof_parentid: NDArray[np.int32]
    body_parentid: NDArray[np.int32]
    body_rootid: NDArray[np.int32]
    body_dofnum: NDArray[np.int32]
    body_dofadr: NDArray[np.int32]


class Places(NamedTuple):
    """Places of a vehicle in a model whose tree has n degrees of freedom, in a row.

    Attributes:
        root: Body of the vehicle's body.
        first: First degree of freedom of the tree.
        free: Place of the free joint's position in `qpos`; -1 for a body that is bolted to the world.
        joint_positions: Place of each joint's position in `qpos` (J,).
        joint_dofs: Degree of freedom of each joint (J,).
        unknowns: Unknown of each degree of freedom of the tree: root and joints of the vehicle, belts left
            out, then those of further joints (n,).
        bodies: Bodies of the tree, and the last degree of freedom that moves each (B, 2).
    """

    root: int
    first: int
    free: int
    joint_positions: NDArray[np.intp]
    joint_dofs: NDArray[np.intp]
    unknowns: NDArray[np.intp]
    bodies: NDArray[np.intp]


class Exchange(NamedTuple):
    """Quantities kept from `prepare` to `finish`, of U unknowns and n degrees of freedom.

    Attributes:
        pending: 1 between them (1,).
        position: Place and orientation of the root in `qpos` when it was taken over last (7,).
        speeds: Speeds of the degrees of freedom before the step (n,).
        columns: Coupling of each belt with them (T, n).
        masses: Mass of each belt with its contacts (T,) [kg].
        free: 1 where a belt's drive was at its limit (T,).
        gains: Change of the speed of a belt that is held [m/s], or impulse on one that is free (T,) [N s].
        pulls: Impulse of the ground on each belt (T,) [N s].
        constraint: Forces of MuJoCo's constraints in the last step (n,).
        host_masses: See `native.HostEquations` (U, U).
        host_impulses: See there (U,).
    """

    pending: NDArray[np.intp]
    position: NDArray[np.float64]
    speeds: NDArray[np.float64]
    columns: NDArray[np.float64]
    masses: NDArray[np.float64]
    free: NDArray[np.float64]
    gains: NDArray[np.float64]
    pulls: NDArray[np.float64]
    constraint: NDArray[np.float64]
    host_masses: NDArray[np.float64]
    host_impulses: NDArray[np.float64]


class TouchLoads(NamedTuple):
    """Loads of bodies that move on a vehicle in a step, in the world, as the vehicle alone would feel them.

    Attributes:
        any: 1 where there is anything (1,).
        masses: Masses that their contacts add to links, at the links' centres (L, 6, 6) [kg, kg m, kg m^2].
        wrenches: Forces and torques on the links about their centres (L, 6) [N, N m].
        pulls: Pulls on the belts (T,) [N].
        belt_masses: Masses that their contacts add to the belts (T,) [kg].
        bodies: Body of each link in the model (L,).
    """

    any: NDArray[np.intp]
    masses: NDArray[np.float64]
    wrenches: NDArray[np.float64]
    pulls: NDArray[np.float64]
    belt_masses: NDArray[np.float64]
    bodies: NDArray[np.intp]


class HostedVehicle(NamedTuple):
    """A vehicle that MuJoCo moves.

    Attributes:
        arrays: Its kind, with links that have no masses.
        state: Its state, of which MuJoCo has root and joints.
        memory: Memory of its belts' contacts.
        candidates: Contact candidates.
        work: Room for a step.
        model: Arrays of MuJoCo.
        places: Its places in these.
        exchange: Quantities kept in a step.
        touch: Loads of bodies that move.
        report: Without rows.
        outcome: See `native.Vehicles.outcomes` (5,).
    """

    arrays: VehicleArrays
    state: VehicleState
    memory: BeltMemory
    candidates: Candidates
    work: TreeWork
    model: ModelArrays
    places: Places
    exchange: Exchange
    touch: TouchLoads
    report: NDArray[np.float64]
    outcome: NDArray[np.intp]


@entry
def finish(packed: Packed, step: float) -> None:
    """Let belts have what MuJoCo's last step gave them, and take over where the vehicle is.

    Args:
        packed: The `HostedVehicle`; its outcome is `JUMPED` if it was put elsewhere since.
        step: Duration of that step, 0 where it is not over yet [s].
    """
    host = item(packed, 0)
    host.outcome[0] = JUMPED if _catch_up(host, step) else DONE


@entry
def prepare(packed: Packed, grounds: Packed, last: float, step: float, stages: int) -> None:
    """Put the belts of a vehicle into MuJoCo's equations of a step.

    Args:
        packed: The `HostedVehicle`, changed in place.
        grounds: The `Ground` that it is on.
        last: Duration of the last step, 0 where it was finished, or is not over yet [s].
        step: Duration of the step [s].
        stages: Sum of `BEGIN`, `SOLVE` and `END`: all at once where no body that moves is near; else it is
            solved again and again, as the contacts with such are cut for each solution.
    """
    host = item(packed, 0)
    if stages & BEGIN:
        _begin(host, item(grounds, 0), last, step)
        if host.outcome[0] != DONE:
            return
    if stages & SOLVE:
        _write_host(host, step)
        exchange = host.exchange
        own = HostEquations(exchange.host_masses, exchange.host_impulses)
        solve_step(host.arrays.tree, host.state, host.work, (0.0, 0.0, 0.0), step, own)
    if stages & END:
        _condense(host)
        _write_back(host, step)
        host.exchange.pending[0] = 1


@inlined
def _begin(host: HostedVehicle, ground: Ground, last: float, step: float) -> None:
    """Take over where the vehicle is, and find its contacts with what stands still; see `prepare`."""
    vehicle, state, memory, near, work = host.arrays, host.state, host.memory, host.candidates, host.work
    outcome, tree = host.outcome, vehicle.tree
    elsewhere = _catch_up(host, last)
    fastest = largest_speed(tree, work, vehicle.reaches[0], vehicle.tip_speed, state)
    outcome[0] = DONE
    if not fastest < ABSURD_SPEED:
        outcome[0] = TOO_FAST if fastest < math.inf else NOT_FINITE
        return
    if elsewhere:
        outcome[0] = JUMPED
        return
    move_links(tree, state, work)
    ahead = step * fastest
    if state.slack[0] <= 0.0:
        margin = MARGIN + AHEAD * ahead
        solids, edges = find_vehicle_candidates(vehicle, ground, state, memory, near, work, margin)
        sections = near.near_starts[len(near.near_starts) - 1]
        contacts = count_section_contacts(vehicle.belts, near) if solids > 0 or edges > 0 else 0
        if (
            sections > len(near.near)
            or solids > near.solids.shape[1]
            or edges > near.edges.shape[1]
            or contacts > room_for_contacts(work.contacts)
        ):
            outcome[0], outcome[1], outcome[2], outcome[3] = CROWDED, sections, solids, edges
            outcome[4] = contacts
            return
        take_places(memory, near.near, sections)
        state.slack[0] = MARGIN
    gather_belt_contacts(vehicle, ground, state, memory, near, work, host.report, ahead, step)
    add_push(state, work)
    for t in range(len(vehicle.drives)):
        aim_drive(vehicle.drives, state, t, step)


@compiled
def _catch_up(host: HostedVehicle, step: float) -> bool:
    """Do what `finish` does; true if the vehicle was put elsewhere."""
    state, vehicle = host.state, host.arrays
    over = host.exchange.pending[0] == 1 and step > 0.0
    elsewhere = _is_elsewhere(host, step if over else 0.0)
    if not over:
        _take_over(host)
        return elsewhere
    _finish(host, step)
    fastest = largest_speed(vehicle.tree, host.work, vehicle.reaches[0], vehicle.tip_speed, state)
    state.slack[0] -= step * fastest
    return elsewhere


@compiled
def _is_elsewhere(host: HostedVehicle, step: float) -> bool:
    """Return whether root and joints are not where their velocities have taken them in a step [s]."""
    free, first, before = host.places.free, host.places.first, host.exchange.position
    qpos, qvel = host.model.qpos, host.model.qvel
    for j in range(len(host.state.joint_angles)):
        moved = qpos[host.places.joint_positions[j]] - host.state.joint_angles[j]
        if abs(moved - step * qvel[host.places.joint_dofs[j]]) > _JUMP:
            return True
    if free < 0:
        return False
    away, turned, turning, size = 0.0, 0.0, 0.0, 0.0
    for k in range(3):
        away = max(away, abs(qpos[free + k] - before[k] - step * qvel[first + k]))
        turning += qvel[first + 3 + k] * qvel[first + 3 + k]
    for k in range(3, 7):
        turned += qpos[free + k] * before[k]
        size += qpos[free + k] * qpos[free + k]
    # |q . p| = cos(angle / 2)
    turned = 2.0 * math.sqrt(max(0.0, 2.0 - 2.0 * abs(turned) / math.sqrt(size)))
    return away > _JUMP or turned > step * math.sqrt(turning) + _JUMP


@inlined
def _finish(host: HostedVehicle, step: float) -> None:
    """Change the belts' speeds and travels as the last step [s] did, and take over root and joints."""
    exchange, state, first = host.exchange, host.state, host.places.first
    joints, count = len(state.joint_speeds), len(host.places.unknowns)
    exchange.pending[0] = 0
    for t in range(len(state.speeds)):
        carried = 0.0
        for d in range(count):
            carried += exchange.columns[t, d] * (host.model.qvel[first + d] - exchange.speeds[d])
        gained, last = exchange.gains[t], math.inf
        if exchange.free[t] == 1.0:
            gained = last = (gained - carried) / exchange.masses[t]
        else:
            state.forces[t] = (exchange.masses[t] * gained + carried - exchange.pulls[t]) / step
        state.last_changes[ROOT + joints + t] = last
        # A constant force does work on the mean of the speeds before and after.
        state.energies[t] += state.forces[t] * step * (state.speeds[t] + gained / 2)
        state.speeds[t] += gained
        state.travels[t] += step * state.speeds[t]
    for d in range(count):
        exchange.constraint[d] = host.model.qfrc_constraint[first + d]
    # What root and joints had before the step.
    for k in range(3):
        state.last_changes[k] = -state.velocity[k]
        state.last_changes[3 + k] = -state.angular_velocity[k]
    for j in range(joints):
        state.last_changes[ROOT + j] = -state.joint_speeds[j]
    _take_over(host)
    for k in range(3):
        state.last_changes[k] += state.velocity[k]
        state.last_changes[3 + k] += state.angular_velocity[k]
    for j in range(joints):
        state.last_changes[ROOT + j] += state.joint_speeds[j]


@compiled
def _take_over(host: HostedVehicle) -> None:
    """Write where MuJoCo has root and joints, and how they move, into the state."""
    state, places, qpos, qvel = host.state, host.places, host.model.qpos, host.model.qvel
    for j in range(len(state.joint_speeds)):
        state.joint_angles[j] = qpos[places.joint_positions[j]]
        state.joint_speeds[j] = qvel[places.joint_dofs[j]]
    if places.free < 0:
        return
    free, first, rotation = places.free, places.first, host.work.rotations[0]
    for k in range(7):
        host.exchange.position[k] = qpos[free + k]
    w, x, y, z = qpos[free + 3], qpos[free + 4], qpos[free + 5], qpos[free + 6]
    size = math.sqrt(w * w + x * x + y * y + z * z)
    orientation = state.orientation
    orientation[0], orientation[1], orientation[2], orientation[3] = x / size, y / size, z / size, w / size
    write_rotation(rotation, orientation)
    lever = _lever(host)
    spin = arm(host.work.rotations, 0, (qvel[first + 3], qvel[first + 4], qvel[first + 5]))
    around = cross(spin, lever)
    for k in range(3):
        state.position[k] = qpos[free + k] + lever[k]
        state.velocity[k] = qvel[first + k] + around[k]
        state.angular_velocity[k] = spin[k]


@compiled
def _lever(host: HostedVehicle) -> Vector:
    """From the root's origin to its centre of mass, in the world [m]; its rotation is known."""
    centers = host.arrays.tree.centers
    return arm(host.work.rotations, 0, (centers[0, 0], centers[0, 1], centers[0, 2]))


@compiled
def _about_center(host: HostedVehicle, row: NDArray[np.float64]) -> None:
    """Turn a force on the free joint, about the root's origin, into one about its centre of mass (6,).

    The torque of the former is in the root's frame, that of the latter in the world. Likewise rows of the
    matrix: with u = P v for the speeds v of the native engine, f becomes P^T f, and M becomes P^T M P.
    """
    lever, force = _lever(host), (row[0], row[1], row[2])
    torque, moment = arm(host.work.rotations, 0, (row[3], row[4], row[5])), cross(lever, force)
    row[3], row[4], row[5] = torque[0] - moment[0], torque[1] - moment[1], torque[2] - moment[2]


@compiled
def _about_origin(host: HostedVehicle, row: NDArray[np.float64]) -> None:
    """Undo `_about_center`."""
    rotation, moment = host.work.rotations[0], cross(_lever(host), (row[0], row[1], row[2]))
    x, y, z = row[3] + moment[0], row[4] + moment[1], row[5] + moment[2]
    for k in range(3):
        row[3 + k] = rotation[0, k] * x + rotation[1, k] * y + rotation[2, k] * z


@compiled
def _turn_root(host: HostedVehicle, matrix: NDArray[np.float64], to_origin: bool, rows: int) -> None:
    """Turn the first six unknowns of a symmetric matrix's first rows, its lower triangle, from and to."""
    block = host.work.equations.link_matrix
    for i in range(ROOT):
        for k in range(i + 1):
            block[i, k] = block[k, i] = matrix[i, k]
    for _ in range(2):  # Rows, then columns.
        for i in range(ROOT):
            if to_origin:
                _about_origin(host, block[i])
            else:
                _about_center(host, block[i])
        for i in range(ROOT):
            for k in range(i):
                block[i, k], block[k, i] = block[k, i], block[i, k]
    for i in range(ROOT):
        for k in range(i + 1):
            matrix[i, k] = block[i, k]
    for i in range(ROOT, rows):
        if to_origin:
            _about_origin(host, matrix[i])
        else:
            _about_center(host, matrix[i])


@compiled
def _write_host(host: HostedVehicle, step: float) -> None:
    """Write MuJoCo's matrix and impulses, for the unknowns of the native engine, into the exchange."""
    model, places, exchange = host.model, host.places, host.exchange
    masses, impulses, unknowns = exchange.host_masses, exchange.host_impulses, places.unknowns
    for d in range(len(unknowns)):
        dof, i = places.first + d, unknowns[d]
        impulses[i] = step * (
            model.qfrc_passive[dof]
            - model.qfrc_bias[dof]
            + model.qfrc_applied[dof]
            + model.qfrc_actuator[dof]
            + exchange.constraint[d]
        )
        start = model.M_rowadr[dof]
        for a in range(start, start + model.M_rownnz[dof]):
            k = unknowns[model.M_colind[a] - places.first]
            masses[max(i, k), min(i, k)] = model.M[a]
    for b in range(len(places.bodies)):
        _add_wrench(host, places.bodies[b, 0], places.bodies[b, 1], step)
    belts = ROOT + len(host.state.joint_speeds)
    for t in range(len(host.state.speeds)):
        masses[belts + t, belts + t] = impulses[belts + t] = 0.0
    if host.touch.any[0] == 1:
        _add_touch(host, step)
    if places.free >= 0:
        _about_center(host, impulses)
        _turn_root(host, masses, False, len(impulses))


@compiled
def _add_wrench(host: HostedVehicle, body: int, last: int, step: float) -> None:
    """Add the impulse of the force that the user applies to a body, which `last` and its ancestors move."""
    model, places = host.model, host.places
    wrench = model.xfrc_applied[body]
    size = 0.0
    for k in range(6):
        size = max(size, abs(wrench[k]))
    if size == 0.0:
        return
    force, root = (wrench[0], wrench[1], wrench[2]), places.root
    lever = (
        model.xipos[body, 0] - model.subtree_com[root, 0],
        model.xipos[body, 1] - model.subtree_com[root, 1],
        model.xipos[body, 2] - model.subtree_com[root, 2],
    )
    moment = cross(lever, force)
    dof = last
    while dof >= places.first:
        motion, total = model.cdof[dof], 0.0
        for k in range(3):
            total += motion[k] * (wrench[3 + k] + moment[k]) + motion[3 + k] * force[k]
        host.exchange.host_impulses[places.unknowns[dof - places.first]] += step * total
        dof = model.dof_parentid[dof]


@compiled
def last_dof(model: ModelArrays, body: int) -> int:
    """Return the last degree of freedom that moves a body; -1 if none does."""
    while body > 0 and model.body_dofnum[body] == 0:
        body = model.body_parentid[body]
    return model.body_dofadr[body] + model.body_dofnum[body] - 1 if body > 0 else -1


@compiled
def motion_of_dof(model: ModelArrays, dof: int, root: int, point: Vector) -> tuple[Vector, Vector]:
    """Velocity at a point in the world, and angular velocity, of what a degree of freedom of a tree moves.

    MuJoCo has the velocity at the centre of mass of the tree, whose root body is given.
    """
    spin = model.cdof[dof, 0], model.cdof[dof, 1], model.cdof[dof, 2]
    middle = model.subtree_com[root]
    around = cross(spin, (point[0] - middle[0], point[1] - middle[1], point[2] - middle[2]))
    sliding = model.cdof[dof, 3], model.cdof[dof, 4], model.cdof[dof, 5]
    return sum_of(sliding, around), spin


@compiled
def _add_touch(host: HostedVehicle, step: float) -> None:
    """Add what bodies that move do to links and belts, of which MuJoCo gets it by rows of its own."""
    model, places, exchange, touch = host.model, host.places, host.exchange, host.touch
    masses, impulses, unknowns = exchange.host_masses, exchange.host_impulses, places.unknowns
    belts = ROOT + len(host.state.joint_speeds)
    for t in range(len(host.state.speeds)):
        masses[belts + t, belts + t] = touch.belt_masses[t]
        impulses[belts + t] = step * touch.pulls[t]
    for link in range(len(touch.bodies)):
        own, wrench = touch.masses[link], touch.wrenches[link]
        force, torque = (wrench[0], wrench[1], wrench[2]), (wrench[3], wrench[4], wrench[5])
        if own[0, 0] + own[1, 1] + own[2, 2] == 0.0:
            continue
        body = touch.bodies[link]
        center = model.xipos[body, 0], model.xipos[body, 1], model.xipos[body, 2]
        dof = last = last_dof(model, body)
        while dof >= places.first:
            i = unknowns[dof - places.first]
            velocity, spin = motion_of_dof(model, dof, places.root, center)
            impulses[i] += step * (dot(velocity, force) + dot(spin, torque))
            momentum, angular = times_link(own, velocity, spin)
            other = last
            while other >= places.first:
                k = unknowns[other - places.first]
                if k <= i:
                    velocity, spin = motion_of_dof(model, other, places.root, center)
                    masses[i, k] += dot(velocity, momentum) + dot(spin, angular)
                other = model.dof_parentid[other]
            dof = model.dof_parentid[dof]


@compiled
def _condense(host: HostedVehicle) -> None:
    """Eliminate the belts, hold the joints that are held, and leave what is to be added to MuJoCo's.

    It is left in the rows of root and joints of the equations that `native.solve_step` has solved.
    """
    equations, exchange, state = host.work.equations, host.exchange, host.state
    matrix, right, change, modes = equations.matrix, equations.right, equations.change, equations.modes
    count = ROOT + len(state.joint_speeds)
    for t in range(len(state.speeds)):
        i = count + t
        mass, at_limit = matrix[i, i], modes[i] == FREE
        exchange.free[t], exchange.masses[t] = 1.0 if at_limit else 0.0, mass
        exchange.gains[t], exchange.pulls[t] = right[i] if at_limit else change[i], right[i]
        for k in range(count):
            if at_limit:
                share = matrix[i, k] / mass
                right[k] -= share * right[i]
                for m in range(k + 1):
                    matrix[k, m] -= share * matrix[i, m]
            else:
                right[k] -= matrix[i, k] * change[i]
    for i in range(ROOT, count):
        if modes[i] != FREE:
            inertia = STIFF * matrix[i, i]
            matrix[i, i] += inertia
            right[i] += inertia * change[i]
    for i in range(count):
        right[i] -= exchange.host_impulses[i]
        for k in range(i + 1):
            matrix[i, k] -= exchange.host_masses[i, k]
    if host.places.free >= 0:
        _about_origin(host, right)
        _turn_root(host, matrix, True, count + len(state.speeds))


@compiled
def _write_back(host: HostedVehicle, step: float) -> None:
    """Add what belts and servos do to MuJoCo's matrix and forces, and keep what `_finish` needs."""
    model, places, exchange = host.model, host.places, host.exchange
    matrix, right = host.work.equations.matrix, host.work.equations.right
    unknowns, count = places.unknowns, ROOT + len(host.state.joint_speeds)
    for d in range(len(unknowns)):
        dof, i = places.first + d, unknowns[d]
        exchange.speeds[d] = model.qvel[dof]
        if i >= count:
            continue
        for t in range(len(host.state.speeds)):
            exchange.columns[t, d] = matrix[count + t, i]
        model.qfrc_passive[dof] += right[i] / step
        start = model.M_rowadr[dof]
        for a in range(start, start + model.M_rownnz[dof]):
            k = unknowns[model.M_colind[a] - places.first]
            model.M[a] += matrix[max(i, k), min(i, k)]
