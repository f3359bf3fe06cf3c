"""The steps of vehicles, compiled: one call takes some of N through everything that a control step needs.

A step of a vehicle, in order, each stage with its module:

1. place links and track frames (`kinematics.move_links`);
2. where something may have moved by more than `MARGIN`, find what is near (`compliant.candidates`, `hull`);
3. contacts of the ground with belts (`compliant.belt_contact`) and hull (`hull`), and the user's push;
4. what each drive aims at (`aim.aim_drive`);
5. contacts as they are expected to be cut at the step's end (`ground.active_contacts`), what they add to the
   masses for being taken implicitly (`ground.contact_loads`), equations of root, joints and belts
   (`dynamics.gather_equations`), and their velocity changes, limits of servos and drives and stops included
   (`solve.solve_velocities`); again where contacts were beyond their limits (`solve`);
6. new velocities, then new places with these (`kinematics.move`).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from segtrack.compliant import (
    AHEAD,
    MARGIN,
    BeltMemory,
    Candidates,
    PartFrame,
    add_belt_contacts,
    count_section_contacts,
    find_section_candidates,
    take_places,
)
from segtrack.engine import ABSURD_SPEED
from segtrack.ground import (
    MAX_EDGES,
    ContactHistory,
    Ground,
    LinkMotion,
    clear_contacts,
    clear_loads,
    room_for_contacts,
)
from segtrack.kernels import Packed, Vector, axis, compiled, entry, inlined, item, row
from segtrack.native.aim import aim_drive
from segtrack.native.dynamics import add_push
from segtrack.native.hull import add_hull_contacts, count_hull_contacts, find_hulls
from segtrack.native.joint_loads import move_followers
from segtrack.native.kinematics import largest_speed, move, move_links, slow_down
from segtrack.native.solve import no_host, solve_step
from segtrack.native.tree import (
    TreeWork,
    VehicleState,
    candidates_view,
    history_view,
    memory_view,
    vehicle_view,
)
from segtrack.native.vehicles import VehicleArrays, Vehicles, vehicle_of

DONE, CROWDED, NOT_FINITE, TOO_FAST = 0, 1, 2, 3
"""Outcomes of a call: all steps taken; more is near than there is room for; diverged."""


@entry
def advance(
    packed: Packed,
    grounds: Packed,
    report: NDArray[np.float64],
    first: int,
    last: int,
    gravity: Vector,
    step: float,
    count: int,
    decay: float,
) -> None:
    """Take some of N vehicles of one kind through steps until each has taken `count`.

    One that has too little room, or diverges, stops, and the others go on. Threads may take different
    vehicles at a time, each with work arrays of its own.

    Kernels that Python calls take long to compile, so that contacts are read by this one, too: with rows
    in the report it is filled with those of now, with what they remember, and no step is taken.

    Args:
        packed: The `Vehicles`, changed in place.
        grounds: Each `Ground` that any of them is on.
        report: Room for contacts to be read (rows, `REPORT`); no rows for steps to be taken.
        first: First vehicle.
        last: Vehicle behind the last one.
        gravity: Gravity in the world [m/s^2].
        step: Duration of a step [s].
        count: Number of steps.
        decay: Fraction of velocities that damping leaves in a step; 1 without.
    """
    vehicles = item(packed, 0)
    for i in range(first, last):
        ground = item(grounds, vehicles.terrains[i])
        advance_vehicle(vehicles, i, ground, report, gravity, step, count, decay)


@inlined
def advance_vehicle(
    vehicles: Vehicles,
    i: int,
    ground: Ground,
    report: NDArray[np.float64],
    gravity: Vector,
    step: float,
    count: int,
    decay: float,
) -> None:
    """Take vehicle `i` of N, which is on a ground, through its steps; other arguments as in `advance`."""
    arrays, _, states, histories, memories, candidates, work, done, outcomes = vehicles
    vehicle, outcome = vehicle_of(arrays, i), outcomes[i]
    state, history, memory = vehicle_view(states, i), history_view(histories, i), memory_view(memories, i)
    near = candidates_view(candidates, i)
    outcome[0] = DONE
    fastest = largest_speed(vehicle.tree, work, vehicle.reaches[0], vehicle.tip_speed, state)
    while done[i] < count and outcome[0] == DONE:
        if not fastest < math.inf:
            outcome[0] = NOT_FINITE
            break
        move_links(vehicle.tree, state, work)
        # A point counts before it touches, from as far as it comes in a step.
        ahead = step * fastest
        solids, edges, margin, looks = 0, 0, MARGIN + AHEAD * ahead, state.slack[0] <= 0.0
        if looks:
            solids, edges = find_vehicle_candidates(vehicle, ground, state, memory, near, work, margin)
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
            step,
        )
        sections = near.near_starts[len(near.near_starts) - 1]
        solids, edges, contacts = max(solids, a), max(edges, b), 0
        if solids > 0 or edges > 0:
            contacts = count_section_contacts(vehicle.belts, near) + count_hull_contacts(vehicle.hull, near)
        if (
            sections > len(near.near)
            or solids > near.solids.shape[1]
            or edges > near.edges.shape[1]
            or contacts > room_for_contacts(work.contacts)
        ):
            outcome[0], outcome[1], outcome[2], outcome[3] = CROWDED, sections, solids, edges
            outcome[4] = contacts
            break
        if looks:
            take_places(memory, near.near, sections)
        if decay != 1.0:  # Once a step, though one without room is begun again.
            slow_down(state, decay)
            move_links(vehicle.tree, state, work)
        gather_contacts(vehicle, ground, state, history, memory, near, work, report, ahead, step)
        if len(report) > 0:
            break
        for t in range(len(vehicle.drives)):
            aim_drive(vehicle.drives, state, t, step)
        solve_step(vehicle.tree, state, work, gravity, step, no_host(work.equations))
        move(vehicle.tree, state, work, step)
        move_followers(vehicle.tree, state)
        done[i] += 1
        fastest = largest_speed(vehicle.tree, work, vehicle.reaches[0], vehicle.tip_speed, state)
        state.slack[0] -= step * fastest
        if not fastest < ABSURD_SPEED:
            outcome[0] = TOO_FAST if fastest < math.inf else NOT_FINITE


@compiled
def find_vehicle_candidates(
    vehicle: VehicleArrays,
    ground: Ground,
    state: VehicleState,
    memory: BeltMemory,
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
            memory,
            work.section_axes,
        )
        solids, edges = max(solids, a), max(edges, b)
    return solids, edges


@inlined
def gather_contacts(
    vehicle: VehicleArrays,
    ground: Ground,
    state: VehicleState,
    history: ContactHistory,
    memory: BeltMemory,
    candidates: Candidates,
    work: TreeWork,
    report: NDArray[np.float64],
    ahead: float,
    step: float,
) -> None:
    """Find the contacts of a step, advance them to now, and let the user push."""
    gather_belt_contacts(vehicle, ground, state, memory, candidates, work, report, ahead, step)
    tree, belts = vehicle.tree, vehicle.belts
    add_hull_contacts(
        ground,
        vehicle.hull,
        tree,
        work,
        candidates,
        history,
        report,
        len(belts.kinds) * (belts.points.shape[1] + 2 * MAX_EDGES),
        len(belts.perimeters),
        ahead,
        step,
    )
    add_push(state, work)


@inlined
def gather_belt_contacts(
    vehicle: VehicleArrays,
    ground: Ground,
    state: VehicleState,
    memory: BeltMemory,
    candidates: Candidates,
    work: TreeWork,
    report: NDArray[np.float64],
    ahead: float,
    step: float,
) -> None:
    """Find the contacts of the belts in a step, advanced to now, in place of all that there were."""
    tree, belts = vehicle.tree, vehicle.belts
    clear_loads(work.given)
    clear_contacts(work.contacts)
    for t in range(len(belts.perimeters)):
        if candidates.near_starts[t] == candidates.near_starts[t + 1]:
            continue
        link = tree.belt_links[t]
        add_belt_contacts(
            ground,
            belts,
            state.frictions[t],
            PartFrame(
                row(work.belt_origins, t),
                axis(work.belt_rotations, t, 0),
                axis(work.belt_rotations, t, 1),
                axis(work.belt_rotations, t, 2),
            ),
            LinkMotion(
                link=link,
                belt=t,
                center=row(work.centers, link),
                velocity=row(work.velocities, link),
                spin=row(work.angular_velocities, link),
                speed=state.speeds[t],
                slides=belts.riding[t] == 0.0,
            ),
            state.travels[t],
            candidates,
            memory,
            work.contacts,
            report,
            ahead,
            state.slack[0],
            step,
        )
