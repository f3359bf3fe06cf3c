"""The steps of a vehicle on link chains, compiled: shoes, wheels and links go on together.

A step of the engine is divided into sub-steps that shoes bear. Before them hull, shoes and wheels look for
what is near, and each drive for what it aims at; in a sub-step, in order:

1. loads on shoes, wheels and the links that carry them, and new velocities of shoes and wheels
   (`chain.track_step.load_track`);
2. forces of the ground on the hull (`hull`), and the user's push;
3. equations of root and joints (`dynamics.gather_inertia`), their velocity changes, servos and stops
   included (`dynamics.solve_velocities`), and their places with the new velocities (`kinematics`);
4. places of shoes and wheels with theirs (`chain.track_step.drift_track`).

All forces belong to one instant, so that what a chain does to its links is what these do to the chain:
momentum is kept to rounding.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.shoe_dynamics import write_frame
from segtrack.chain.track_step import (
    TrackArrays,
    check_integrity,
    drift_track,
    find_track_candidates,
    hold_contacts,
    load_track,
)
from segtrack.compliant.candidates import MARGIN, Candidates
from segtrack.ground.broadphase import ContactHistory
from segtrack.ground.kernels import compiled, entry, inlined
from segtrack.ground.pack import Ground
from segtrack.ground.tuples import item
from segtrack.ground.vectors import Vector, add, axis, cross, dot, row
from segtrack.native.dynamics import add_force_at, gather_inertia, solve_velocities
from segtrack.native.hull import HullArrays, add_hull_contacts, find_hull_candidates
from segtrack.native.kinematics import move_links, move_tree, write
from segtrack.native.step import ABSURD_SPEED, CROWDED, DONE, NOT_FINITE, TOO_FAST, aim_drive, largest_speed
from segtrack.native.tree import (
    TreeArrays,
    TreeWork,
    VehicleState,
    candidates_view,
    history_view,
    vehicle_view,
)

FAILED = 4
"""Outcome of a call: a chain has failed."""


class ChainVehicleArrays(NamedTuple):
    """A vehicle on link chains as kernels read it.

    Attributes:
        tree: Links and joints, and the track frames on them; its belts have no mass.
        hull: Convex solids of the body.
        drives: Stall force [N], top speed [m/s], whether there is a torque-speed line, whether the drive
            is self-locking, and its lag [s], of each track (T, 5).
        pitch_radii: Belt travel per angle of the driven wheels (T,) [m/rad].
        reach: Farthest of any part from the root's centre of mass [m].
    """

    tree: TreeArrays
    hull: HullArrays
    drives: NDArray[np.float64]
    pitch_radii: NDArray[np.float64]
    reach: float


@entry
def advance_chains(
    vehicle: ChainVehicleArrays,
    ground: Ground,
    states: VehicleState,
    histories: ContactHistory,
    nearby: Candidates,
    work: TreeWork,
    tracks: NDArray[np.uint64],
    like: TrackArrays,
    failures: NDArray[np.intp],
    done: NDArray[np.intp],
    outcome: NDArray[np.intp],
    gravity: Vector,
    step: float,
    sub_steps: int,
    held: int,
    count: int,
    decay: float,
    still: bool,
) -> None:
    """Take a vehicle through steps until it has taken `count` of them.

    Args:
        vehicle: The vehicle.
        ground: On which its hull is; each track has its own.
        states: State of one vehicle, changed in place.
        histories: Memory of the hull's contacts, changed in place.
        nearby: Contact candidates of the hull.
        work: Room.
        tracks: Its chains, packed (`ground.tuples`), changed in place.
        like: One of them.
        failures: Filled with the shoe of each track that has failed, or -1, and why (T, 2).
        done: Steps that it has taken (1,), changed in place.
        outcome: Filled as in `step.advance` (4,).
        gravity: Gravity in the world [m/s^2].
        step: Duration of a step [s].
        sub_steps: Into which it is divided.
        held: Number of sub-steps for which contacts of the chains serve.
        count: Number of steps.
        decay: Fraction of velocities that damping leaves in a sub-step; 1 without.
        still: Chains alone go on, on parent frames that stay where they are, braked, as they are tensioned.
    """
    outcome[0] = DONE
    tree, hull, sub_step = vehicle.tree, vehicle.hull, step / sub_steps
    state, history, near = vehicle_view(states, 0), history_view(histories, 0), candidates_view(nearby, 0)
    report, center = work.matrix[0, :0], row(tree.centers, 0)
    move_links(tree, state, work)
    for t in range(len(tracks)):
        track = item(tracks, t, like)
        if not still:
            _place_parents(track, work, tree.belt_links[t], t)
        _write_frames(track)
    while done[0] < count:
        margin = MARGIN + step * largest_speed(vehicle.reach, 0.0, state)
        solids, edges = find_hull_candidates(ground, hull, center, work, margin, near, history, 0, 0)
        if solids > near.solids.shape[1] or edges > near.edges.shape[1]:
            outcome[0], outcome[1], outcome[2], outcome[3] = CROWDED, 0, solids, edges
            return
        for t in range(len(tracks)):
            aim_drive(vehicle.drives, state, t, step)
            find_track_candidates(item(tracks, t, like), step)
            state.forces[t] = 0.0
        for sub in range(sub_steps):
            for link in range(len(tree.masses)):
                write(work.forces, link, (0.0, 0.0, 0.0))
                write(work.torques, link, (0.0, 0.0, 0.0))
            for t in range(len(tracks)):
                radius = vehicle.pitch_radii[t]
                target, limit = state.targets[t] / radius, state.limits[t] * radius
                if still:
                    target, limit = 0.0, math.inf
                track, moment = item(tracks, t, like), hold_contacts(sub, sub_steps, held)
                torque = load_track(track, moment, gravity, target, limit, sub_step, decay)
                work.drive_forces[t] = torque / radius
                state.forces[t] += work.drive_forces[t] / sub_steps
                _add_reaction(track, work, tree.belt_links[t])
            if still:
                for t in range(len(tracks)):
                    drift_track(item(tracks, t, like), sub_step)
                continue
            add_hull_contacts(ground, hull, center, work, near, history, 0, 0, report, len(tracks), sub_step)
            push = row(state.push, 0)
            if push[0] != 0.0 or push[1] != 0.0 or push[2] != 0.0:
                add_force_at(work, 0, push, row(state.push, 1))
            gather_inertia(tree, state, work, gravity, sub_step)
            solve_velocities(tree, state, work, sub_step, decay)
            move_tree(tree, state, work, sub_step, decay)
            move_links(tree, state, work)
            for t in range(len(tracks)):
                track = item(tracks, t, like)
                _place_parents(track, work, tree.belt_links[t], t)
                travel = _drift(track, sub_step) * vehicle.pitch_radii[t]
                state.travels[t] += travel
                # A constant force does work on the mean of the speeds before and after.
                state.energies[t] += work.drive_forces[t] * (sub_step * state.speeds[t] + travel) / 2
                state.speeds[t] = travel / sub_step
        done[0] += 1
        for t in range(len(tracks)):
            failures[t, 0], failures[t, 1] = check_integrity(item(tracks, t, like))
            if failures[t, 0] >= 0:
                outcome[0] = FAILED
        fastest = largest_speed(vehicle.reach, 0.0, state)
        if not fastest < ABSURD_SPEED:
            outcome[0], outcome[1] = NOT_FINITE if fastest != fastest else TOO_FAST, 0
        if outcome[0] != DONE:
            return


@compiled
def _write_frames(track: TrackArrays) -> None:
    """Write the kinematics of all shoes from their state."""
    for i in range(len(track.shoes.positions)):
        write_frame(track.shoes, track.frames, i)


@inlined
def _place_parents(track: TrackArrays, work: TreeWork, link: int, t: int) -> None:
    """Let all parent frames of track t move with its link: no joint of a URDF moves."""
    parents, center = track.parents, row(work.centers, link)
    origin, spin = row(work.belt_origins, t), row(work.angular_velocities, link)
    lever = origin[0] - center[0], origin[1] - center[1], origin[2] - center[2]
    turning = cross(spin, lever)
    for p in range(len(parents.positions)):
        write(parents.positions, p, origin)
        write(parents.angular_velocities_world, p, spin)
        for i in range(3):
            parents.velocities[p, i] = work.velocities[link, i] + turning[i]
            for k in range(3):
                parents.rotations[p, i, k] = work.belt_rotations[t, i, k]


@inlined
def _add_reaction(track: TrackArrays, work: TreeWork, link: int) -> None:
    """Add what a track does to its parent frames to the loads on their link."""
    for p in range(len(track.parents.positions)):
        add_force_at(work, link, row(track.reaction.forces, p), row(track.parents.positions, p))
        add(work.torques, link, row(track.reaction.torques, p), 1.0)


@inlined
def _drift(track: TrackArrays, duration: float) -> float:
    """Move shoes and wheels for `duration` [s]; returns what the driven wheel turns by on its link [rad]."""
    driven, state = track.running_gear.teeth.wheel, track.running_gear.state
    drift_track(track, duration)
    spin = row(track.parents.angular_velocities_world, 0)
    return duration * (state.speeds[driven] - dot(spin, axis(track.parents.rotations, 0, 1)))
