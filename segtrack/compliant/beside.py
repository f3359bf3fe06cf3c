"""Compliant belts beside an engine that moves their vehicle: sub-steps of its own, compiled.

Within a step of the engine the vehicle is one rigid body, which gives way to contact forces, gravity and what
acts from outside (`ground.outside`), with the joints that carry belts (`carrying_joints`). Each belt's parent
frame is its track frame.

Semi-implicit Euler, read as leapfrog, holds velocities half a step before positions, and belts live in
that staggered time (see `chain.advance`). Were the parent frames put where the engine has them at each
step's beginning, a contact whose period is below two of the engine's steps would get mean forces of
the wrong sign. So the frames go on from where they were, with the engine's velocities, and a constant
velocity besides makes up for `RECOVERY` of what they are off. For a mass on a spring, theta = frequency
[rad/s] x step, that is stable for all theta with a damping ratio from 0.2 on (contacts have 2 by default),
where a fresh start at 0.2 is unstable from theta = 3.2.

A sub-step, in order:

1. the search for what is near, where something may have moved by more than `MARGIN` (`candidates`);
2. each belt's contacts with the ground (`belt_contact`);
3. equations of the vehicle as one rigid body, its belts' speeds and its joints' (`beside_equations`), with
   contacts cut to their limits: each belt has its drive's target if its limit suffices, otherwise what the
   limit gives, and each joint likewise;
4. velocities and places of the parent frames.

What a belt gains of angular momentum about its axle, with its link's turning, the link loses.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from segtrack.compliant.belt import BeltArrays, BeltMotion
from segtrack.compliant.belt_contact import add_belt_contacts
from segtrack.compliant.beside_equations import Beside, move_belts, solve_with_contacts
from segtrack.compliant.candidates import (
    AHEAD,
    MARGIN,
    Candidates,
    count_section_contacts,
    find_section_candidates,
)
from segtrack.compliant.edge_contact import PartFrame
from segtrack.compliant.memory import BeltMemory, take_places
from segtrack.ground import (
    CompositeBody,
    Contacts,
    Ground,
    LinkMotion,
    ParentFrames,
    accumulate_impulses,
    clear_contacts,
    drift_parents,
    room_for_contacts,
)
from segtrack.kernels import axis, compiled, cross, dot, entry, offset, row, sum_of

DONE, CROWDED = 0, 1
"""Outcomes of a call: all sub-steps taken; more is near, or may touch, than there is room for."""
RECOVERY = 0.5
"""Fraction of what parent frames are off those of the engine that a step makes up for [-]."""


@entry
def begin_step(
    belts: BeltArrays,
    motion: BeltMotion,
    work: Beside,
    parents: ParentFrames,
    behind: float,
    step: float,
    sub_step: float,
) -> None:
    """Take the engine's velocities of the parent frames over, and begin to count sub-steps anew.

    Args:
        belts: Belts of the vehicle.
        motion: Motion of the belts; what is near is looked for again where a frame was put elsewhere.
        work: Parent frames at the end of the last step, half of it before those of the engine.
        parents: Parent frames of the engine.
        behind: Half of the engine's last step [s].
        step: Time of all sub-steps [s].
        sub_step: [s]
    """
    for t in range(len(parents.positions)):
        own, turned = work.parents.rotations[t], (0.0, 0.0, 0.0)
        velocity, turning = row(parents.velocities, t), row(parents.angular_velocities_world, t)
        x, y, z = offset(parents.positions, t, work.parents.positions[t])
        away = (x - behind * velocity[0], y - behind * velocity[1], z - behind * velocity[2])
        for k in range(3):
            turned = sum_of(turned, cross((own[0, k], own[1, k], own[2, k]), axis(parents.rotations, t, k)))
        (a, b, c), (u, v, w) = turned, turning
        turned = a / 2 - behind * u, b / 2 - behind * v, c / 2 - behind * w
        jumped = math.sqrt(dot(away, away)) + belts.reaches[t] * math.sqrt(dot(turned, turned))
        if not jumped < MARGIN:
            motion.slack[0], away, turned = 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
            for k in range(3):
                work.parents.positions[t, k] = parents.positions[t, k] - behind * velocity[k]
                for j in range(3):
                    own[k, j] = parents.rotations[t, k, j]
        for k in range(3):
            work.coupling.impulses[t, k] = work.coupling.angular_impulses[t, k] = 0.0
            work.parents.velocities[t, k] = velocity[k] + RECOVERY / step * away[k]
            work.parents.angular_velocities_world[t, k] = turning[k] + RECOVERY / step * turned[k]
        motion.forces[t] = 0.0
    drift_parents(work.parents, sub_step / 2)
    for t in range(len(parents.positions)):
        for k in range(3):
            work.coupling.points[t, k] = work.parents.positions[t, k]
    work.outcome[0] = 0


@entry
def run_belts(
    ground: Ground,
    belts: BeltArrays,
    motion: BeltMotion,
    candidates: Candidates,
    memory: BeltMemory,
    work: Beside,
    vehicle: CompositeBody,
    report: NDArray[np.float64],
    sub_step: float,
    count: int,
    velocity_decay: float,
) -> None:
    """Take all belts of a vehicle through sub-steps until `count` have been taken since `begin_step`.

    Args:
        ground: The ground.
        belts: The vehicle's.
        motion: Changed in place.
        candidates: Contact candidates, kept from call to call.
        memory: Memory of the contacts, changed in place; with a place for every section.
        work: Parent frames and what is done to them; the outcome is filled in.
        vehicle: All links as one rigid body.
        report: Without rows.
        sub_step: [s]
        count: Number of sub-steps.
        velocity_decay: Fraction of the vehicle's velocity that damping leaves in a sub-step; 1 without.
    """
    parents, outcome = work.parents, work.outcome
    outcome[1] = DONE
    while outcome[0] < count:
        # A point counts before it touches, from as far as it comes in a sub-step.
        ahead = sub_step * largest_speed(belts, motion, parents)
        if motion.slack[0] <= 0.0:
            margin = MARGIN + AHEAD * ahead
            solids, edges = find_belt_candidates(ground, belts, motion, candidates, memory, work, margin)
            contacts = count_section_contacts(belts, candidates)
            if (
                solids > candidates.solids.shape[1]
                or edges > candidates.edges.shape[1]
                or contacts > room_for_contacts(work.contacts)
            ):
                outcome[1], outcome[2], outcome[3], outcome[4] = CROWDED, solids, edges, contacts
                return
            motion.slack[0] = MARGIN
        for k in range(3):
            work.center[k] = vehicle.center[k]
        clear_contacts(work.contacts)
        for t in range(len(belts.perimeters)):
            touch_belt(
                ground,
                belts,
                t,
                motion,
                candidates,
                memory,
                work.contacts,
                parents,
                report,
                ahead,
                sub_step,
            )
        solve_with_contacts(belts, motion, work, vehicle, sub_step)
        move_belts(belts, motion, work, velocity_decay, sub_step, count)
        accumulate_impulses(parents, work.reaction, work.coupling, sub_step)
        outcome[0] += 1
        drift_parents(parents, sub_step if outcome[0] < count else sub_step / 2)
        motion.slack[0] -= sub_step * largest_speed(belts, motion, parents)


@compiled
def touch_belt(
    ground: Ground,
    belts: BeltArrays,
    t: int,
    motion: BeltMotion,
    candidates: Candidates,
    memory: BeltMemory,
    contacts: Contacts,
    parents: ParentFrames,
    report: NDArray[np.float64],
    ahead: float,
    sub_step: float,
) -> None:
    """Write the contacts of the ground with belt t about its track frame; see `add_belt_contacts`."""
    origin = row(parents.positions, t)
    add_belt_contacts(
        ground,
        belts,
        motion.frictions[t],
        PartFrame(
            origin,
            axis(parents.rotations, t, 0),
            axis(parents.rotations, t, 1),
            axis(parents.rotations, t, 2),
        ),
        LinkMotion(
            link=t,
            belt=t,
            center=origin,
            velocity=row(parents.velocities, t),
            spin=row(parents.angular_velocities_world, t),
            speed=motion.speeds[t],
            slides=belts.riding[t] == 0.0,
        ),
        motion.travels[t],
        candidates,
        memory,
        contacts,
        report,
        ahead,
        motion.slack[0],
        sub_step,
    )


@compiled
def find_belt_candidates(
    ground: Ground,
    belts: BeltArrays,
    motion: BeltMotion,
    candidates: Candidates,
    memory: BeltMemory,
    work: Beside,
    margin: float,
) -> tuple[int, int]:
    """List what is within `margin` [m] of each section, and give those near anything a place.

    Returns:
        The largest numbers of solids and edges near one section.
    """
    solids, edges = 0, 0
    for t in range(len(belts.perimeters)):
        place, rotation = work.parents.positions[t], work.parents.rotations[t]
        a, b = find_section_candidates(
            ground, belts, t, place, rotation, motion.travels[t], margin, candidates, memory, work.axes
        )
        solids, edges = max(solids, a), max(edges, b)
    take_places(memory, candidates.near, candidates.near_starts[len(belts.perimeters)])
    return solids, edges


@compiled
def largest_speed(belts: BeltArrays, motion: BeltMotion, parents: ParentFrames) -> float:
    """Bound on the speed of any part of any belt [m/s]."""
    fastest = 0.0
    for t in range(len(belts.perimeters)):
        velocity, turning = row(parents.velocities, t), row(parents.angular_velocities_world, t)
        own = math.sqrt(dot(velocity, velocity)) + belts.reaches[t] * math.sqrt(dot(turning, turning))
        fastest = max(fastest, own + belts.tip_speeds[t] * abs(motion.speeds[t]))
    return fastest


@entry
def read_belts(
    ground: Ground,
    belts: BeltArrays,
    motion: BeltMotion,
    candidates: Candidates,
    memory: BeltMemory,
    work: Beside,
    report: NDArray[np.float64],
) -> None:
    """Report all contacts where the belts are, found anew and not sheared: a step of no duration."""
    find_belt_candidates(ground, belts, motion, candidates, memory, work, MARGIN)
    clear_contacts(work.contacts)
    for t in range(len(belts.perimeters)):
        touch_belt(
            ground, belts, t, motion, candidates, memory, work.contacts, work.parents, report, 0.0, 0.0
        )
