"""The steps of vehicles, compiled: one call takes N of them through everything that a control step needs.

A step of a vehicle, in order, each stage with its module:

1. place links and track frames (`kinematics.move_links`);
2. where something may have moved by more than `MARGIN`, find what is near (`compliant.candidates`, `hull`);
3. loads of the ground on belts (`compliant.belt_contact`) and hull (`hull`), and what contacts add to the
   masses for being taken implicitly (`ground.contact_loads`); the user's push;
4. what each drive aims at (`drive.follow_command`, `drive.next_target`);
5. equations of root, joints and belts (`dynamics.gather_equations`), and their velocity changes, limits of
   servos and drives and stops included (`solve.solve_velocities`);
6. new velocities, then new places with these (`kinematics.move`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.compliant.belt import BeltArrays
from segtrack.compliant.belt_contact import add_belt_contacts
from segtrack.compliant.candidates import AHEAD, MARGIN, Candidates, find_section_candidates
from segtrack.engine.drive import follow_command as _follow_command
from segtrack.engine.drive import next_target as _next_target
from segtrack.ground.broadphase import ContactHistory
from segtrack.ground.contact_loads import clear_loads
from segtrack.ground.functions import exponential
from segtrack.ground.kernels import compiled, entry, inlined
from segtrack.ground.pack import Ground
from segtrack.ground.vectors import Vector, axis, row
from segtrack.native.dynamics import add_force_at, gather_equations
from segtrack.native.hull import HullArrays, add_hull_contacts, find_hulls
from segtrack.native.joint_loads import add_joint_loads, move_followers
from segtrack.native.kinematics import largest_speed, move, move_links, slow_down
from segtrack.native.solve import solve_velocities
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
        hull: Convex solids of the links.
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
            slow_down(state, decay)
            move_links(vehicle.tree, state, work)
            solids, edges, margin, looks = 0, 0, 0.0, state.slack[0] <= 0.0
            if looks:
                # A point counts before it touches, from as far as it comes in a step.
                fastest = largest_speed(vehicle.tree, work, vehicle.reach, vehicle.tip_speed, state)
                margin = MARGIN + AHEAD * step * fastest
                solids, edges = find_vehicle_candidates(vehicle, ground, state, history, near, work, margin)
                state.slack[0] = MARGIN
            a, b = find_hulls(
                ground,
                vehicle.hull,
                vehicle.tree,
                work,
                state.slack,
                looks,
                margin,
                near,
                history,
                len(vehicle.belts.kinds),
                vehicle.belts.points.shape[1],
                step,
            )
            solids, edges = max(solids, a), max(edges, b)
            if solids > near.solids.shape[1] or edges > near.edges.shape[1]:
                outcome[0], outcome[1], outcome[2], outcome[3] = CROWDED, i, solids, edges
                return
            gather_loads(vehicle, ground, state, history, near, work, report, gravity, step)
            if len(report) > 0:
                break
            for t in range(len(vehicle.drives)):
                aim_drive(vehicle.drives, state, t, step)
            gather_equations(vehicle.tree, state, work, gravity, step)
            add_joint_loads(vehicle.tree, state, work, step)
            solve_velocities(vehicle.tree, state, work, step)
            move(vehicle.tree, state, work, step)
            move_followers(vehicle.tree, state)
            done[i] += 1
            fastest = largest_speed(vehicle.tree, work, vehicle.reach, vehicle.tip_speed, state)
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
    margin: float,
) -> tuple[int, int]:
    """List what is within `margin` [m] of each section of its belts; the most solids and edges near one."""
    belts, solids, edges = vehicle.belts, 0, 0
    for t in range(len(belts.perimeters)):
        a, b = find_section_candidates(
            ground,
            belts,
            t,
            work.belt_origins[t],
            work.belt_rotations[t],
            state.travels[t],
            margin,
            candidates,
            history,
            work.section_axes,
        )
        solids, edges = max(solids, a), max(edges, b)
    return solids, edges


@inlined
def gather_loads(
    vehicle: VehicleArrays,
    ground: Ground,
    state: VehicleState,
    history: ContactHistory,
    candidates: Candidates,
    work: TreeWork,
    report: NDArray[np.float64],
    gravity: Vector,
    step: float,
) -> None:
    """Find what ground and user do to links and belts in a step, and advance contacts to now."""
    tree, belts = vehicle.tree, vehicle.belts
    clear_loads(work.loads)
    for t in range(len(belts.perimeters)):
        if candidates.near_counts[t] == 0:
            continue
        link = tree.belt_links[t]
        add_belt_contacts(
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
            work.loads,
            link,
            report,
            gravity,
            step,
        )
    part = len(belts.kinds)
    first_point = part * belts.points.shape[1]
    add_hull_contacts(
        ground,
        vehicle.hull,
        tree,
        work,
        candidates,
        history,
        part,
        first_point,
        report,
        len(belts.perimeters),
        gravity,
        step,
    )
    push = row(state.push, 0)
    if push[0] != 0.0 or push[1] != 0.0 or push[2] != 0.0:
        add_force_at(work, 0, push, row(state.push, 1))


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
