"""The steps of vehicles, compiled: one call takes N of them through everything that a control step needs.

A step of a vehicle, in order, each stage with its module:

1. place links and track frames (`kinematics.move_links`);
2. where something may have moved by more than `MARGIN`, find what is near (`compliant.candidates`, `hull`);
3. forces of the ground on belts (`compliant.belt_contact`) and hull (`hull`), and the user's push;
4. what each drive aims at, and whether it can (`drive.follow_command`, `drive.next_target`);
5. equations of root and joints (`dynamics.gather_inertia`), their velocity changes, servos and
   stops included (`dynamics.solve_velocities`);
6. new velocities, then new places with these (`kinematics.move`): semi-implicit Euler, which neither
   adds energy to a spring nor takes any away.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.compliant.belt import BeltArrays
from segtrack.compliant.belt_contact import add_belt_contacts
from segtrack.compliant.candidates import MARGIN, Candidates, find_section_candidates
from segtrack.engine.drive import follow_command as _follow_command
from segtrack.engine.drive import next_target as _next_target
from segtrack.ground.broadphase import ContactHistory
from segtrack.ground.functions import exponential
from segtrack.ground.kernels import compiled, entry, inlined
from segtrack.ground.pack import Ground
from segtrack.ground.vectors import Vector, add, axis, row
from segtrack.native.dynamics import add_force_at, gather_inertia, solve_velocities
from segtrack.native.hull import HullArrays, add_hull_contacts, find_hull_candidates
from segtrack.native.kinematics import move, move_links, write
from segtrack.native.tree import (
    TreeArrays,
    TreeWork,
    VehicleState,
    candidates_view,
    history_view,
    vehicle_view,
)

ABSURD_SPEED = 100.0
"""A body faster than this [m/s] has diverged."""
DONE, CROWDED, NOT_FINITE, TOO_FAST = 0, 1, 2, 3
"""Outcomes of a call: all steps taken; more is near one part than there is room for; diverged."""

follow_command, next_target = compiled(_follow_command), compiled(_next_target)


class VehicleArrays(NamedTuple):
    """A kind of vehicle as kernels read it.

    Attributes:
        tree: Links, joints and what carries the belts.
        belts: Sections of the belts.
        hull: Convex solids of the body.
        drives: Stall force [N], top speed [m/s], whether there is a torque-speed line, whether the drive
            is self-locking, and its lag [s], of each belt (T, 5).
        reach: Farthest of any part from the root's centre of mass, flippers at any angle [m].
        tip_speed: Largest speed of a belt's part over its vehicle, per belt speed [-].
    """

    tree: TreeArrays
    belts: BeltArrays
    hull: HullArrays
    drives: NDArray[np.float64]
    reach: float
    tip_speed: float


@entry
def advance(
    vehicle: VehicleArrays,
    ground: Ground,
    states: VehicleState,
    histories: ContactHistory,
    candidates: Candidates,
    work: TreeWork,
    done: NDArray[np.intp],
    outcome: NDArray[np.intp],
    report: NDArray[np.float64],
    gravity: Vector,
    step: float,
    count: int,
    decay: float,
) -> None:
    """Take N vehicles of one kind through steps until each has taken `count` of them.

    Kernels that Python calls take long to compile, so that contacts are read by this one, too: with rows
    in the report it is filled with those of now, with what they remember, and no step is taken.

    Args:
        vehicle: The kind.
        ground: On which all of them are.
        states: Changed in place.
        histories: Memory of the contacts, changed in place.
        candidates: Contact candidates, kept from call to call.
        work: Room.
        done: Steps that each vehicle has taken (N,), changed in place.
        outcome: Filled with how the call ended, for which vehicle, and the largest numbers of solids
            and edges near one part (4,).
        report: Room for contacts to be read (rows, `REPORT`); no rows for steps to be taken.
        gravity: Gravity in the world [m/s^2].
        step: Duration of a step [s].
        count: Number of steps.
        decay: Fraction of velocities that damping leaves in a step; 1 without.
    """
    outcome[0] = DONE
    for i in range(len(done)):
        state, history, near = (
            vehicle_view(states, i),
            history_view(histories, i),
            candidates_view(candidates, i),
        )
        while done[i] < count:
            move_links(vehicle.tree, state, work)
            if state.slack[0] <= 0.0:
                solids, edges = find_vehicle_candidates(vehicle, ground, state, history, near, work)
                if solids > near.solids.shape[1] or edges > near.edges.shape[1]:
                    outcome[0], outcome[1], outcome[2], outcome[3] = CROWDED, i, solids, edges
                    return
                state.slack[0] = MARGIN
            gather_forces(vehicle, ground, state, history, near, work, report, step)
            if len(report) > 0:
                break
            decide_drives(vehicle, state, work, step)
            gather_inertia(vehicle.tree, state, work, gravity, step)
            solve_velocities(vehicle.tree, state, work, step, decay)
            move(vehicle.tree, state, work, step, decay)
            done[i] += 1
            fastest = largest_speed(vehicle.reach, vehicle.tip_speed, state)
            state.slack[0] -= step * fastest
            if not fastest < ABSURD_SPEED:
                outcome[0], outcome[1] = NOT_FINITE if fastest != fastest else TOO_FAST, i
                return


@compiled
def find_vehicle_candidates(
    vehicle: VehicleArrays,
    ground: Ground,
    state: VehicleState,
    history: ContactHistory,
    candidates: Candidates,
    work: TreeWork,
) -> tuple[int, int]:
    """List what is near each part of a vehicle; the largest numbers of solids and edges near one."""
    belts, solids, edges = vehicle.belts, 0, 0
    for t in range(len(belts.perimeters)):
        a, b = find_section_candidates(
            ground,
            belts,
            t,
            work.belt_origins[t],
            work.belt_rotations[t],
            state.travels[t],
            MARGIN,
            candidates,
            history,
            work.inertias[0],
        )
        solids, edges = max(solids, a), max(edges, b)
    part, center = len(belts.kinds), row(vehicle.tree.centers, 0)
    first = part * belts.points.shape[1]
    a, b = find_hull_candidates(ground, vehicle.hull, center, work, MARGIN, candidates, history, part, first)
    return max(solids, a), max(edges, b)


@inlined
def gather_forces(
    vehicle: VehicleArrays,
    ground: Ground,
    state: VehicleState,
    history: ContactHistory,
    candidates: Candidates,
    work: TreeWork,
    report: NDArray[np.float64],
    step: float,
) -> None:
    """Find what the ground and the user's push do to links and belts, and advance contacts by `step` [s]."""
    tree, belts = vehicle.tree, vehicle.belts
    for link in range(len(tree.masses)):
        write(work.forces, link, (0.0, 0.0, 0.0))
        write(work.torques, link, (0.0, 0.0, 0.0))
    for t in range(len(belts.perimeters)):
        work.pulls[t] = work.grips[t] = 0.0
        if candidates.near_counts[t] == 0:
            continue
        link = tree.belt_links[t]
        force, torque, pull, touching = add_belt_contacts(
            ground,
            belts,
            t,
            state.frictions[t],
            row(work.belt_origins, t),
            axis(work.belt_rotations, t, 0),
            axis(work.belt_rotations, t, 1),
            axis(work.belt_rotations, t, 2),
            row(work.centers, link),
            row(work.velocities, link),
            row(work.angular_velocities, link),
            state.travels[t],
            state.speeds[t],
            candidates,
            history,
            report,
            step,
        )
        add(work.forces, link, force, 1.0)
        add(work.torques, link, torque, 1.0)
        work.pulls[t] = pull
        work.grips[t] = touching * step * (belts.laws[t, 4] + step * belts.laws[t, 3])
    part = len(belts.kinds)
    first_point = part * belts.points.shape[1]
    add_hull_contacts(
        ground,
        vehicle.hull,
        row(tree.centers, 0),
        work,
        candidates,
        history,
        part,
        first_point,
        report,
        len(belts.perimeters),
        step,
    )
    push = row(state.push, 0)
    if push[0] != 0.0 or push[1] != 0.0 or push[2] != 0.0:
        add_force_at(work, 0, push, row(state.push, 1))


@inlined
def decide_drives(vehicle: VehicleArrays, state: VehicleState, work: TreeWork, step: float) -> None:
    """Find what each drive aims at, and whether its belt follows or gets its largest force."""
    for t in range(len(vehicle.drives)):
        target, limit = aim_drive(vehicle.drives, state, t, step)
        needed = vehicle.tree.belt_masses[t] * (target - state.speeds[t]) / step - work.pulls[t]
        work.following[t] = 1.0 if abs(needed) <= limit else 0.0
        work.drive_forces[t] = min(max(needed, -limit), limit)


@compiled
def aim_drive(drives: NDArray[np.float64], state: VehicleState, t: int, step: float) -> tuple[float, float]:
    """Find the target speed [m/s] of belt `t` in a step [s], and its force limit [N]; noted in the state."""
    stall, top, line, locking, lag = drives[t]
    kept = exponential(-step / lag) if lag > 0.0 else 0.0
    state.references[t] = follow_command(state.references[t], state.commands[t], kept)
    target, limit, holding = next_target(
        state.references[t],
        state.speeds[t],
        state.forces[t],
        state.limits[t],
        state.holding[t] == 1.0,
        stall * state.drive_factors[t],
        top,
        line == 1.0,
        locking == 1.0,
    )
    state.targets[t], state.limits[t], state.holding[t] = target, limit, 1.0 if holding else 0.0
    return target, limit


@compiled
def largest_speed(reach: float, tip_speed: float, state: VehicleState) -> float:
    """Bound on the speed of any part of a vehicle [m/s]; not a number where its state is not finite."""
    linear = turning = rate = belt = lost = 0.0
    for k in range(3):
        linear += state.velocity[k] * state.velocity[k]
        turning += state.angular_velocity[k] * state.angular_velocity[k]
        lost += 0.0 * (state.position[k] + state.orientation[k])
    for j in range(len(state.joint_speeds)):
        rate = max(rate, abs(state.joint_speeds[j]))
        lost += 0.0 * (state.joint_speeds[j] + state.joint_angles[j])
    for t in range(len(state.speeds)):
        belt = max(belt, abs(state.speeds[t]))
        lost += 0.0 * (state.speeds[t] + state.travels[t])
    # Zero times what is not finite is not a number.
    fastest = math.sqrt(linear) + reach * (math.sqrt(turning) + rate) + tip_speed * belt
    return fastest + lost
