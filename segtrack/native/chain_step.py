"""The steps of a vehicle on link chains, compiled: shoes, wheels and links go on together.

A step of the engine is divided into sub-steps that shoes bear. Before them hull, shoes and wheels look for
what is near, and each drive for what it aims at; in a sub-step, in order:

1. loads on shoes, wheels and the links that carry them, and new velocities of shoes and wheels
   (`chain.track_step.load_track`);
2. forces of the ground on the hull (`hull`), and the user's push;
3. equations of root and joints (`dynamics.gather_equations`), their velocity changes, servos, stops and
   contacts of the hull included (`solve`), and places with the new velocities (`kinematics`);
4. speeds of sliding idlers with the links', and places of shoes and wheels with theirs
   (`chain.track_step.drift_track`).

All forces belong to one instant, so that what a chain does to its links is what these do to the chain;
momentum is kept up to the square of the sub-step.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.chain import (
    TrackArrays,
    check_integrity,
    drift_track,
    find_track_candidates,
    hold_contacts,
    load_track,
    write_frame,
)
from segtrack.compliant import AHEAD, MARGIN, Candidates
from segtrack.engine import ABSURD_SPEED
from segtrack.ground import ContactHistory, Ground, clear_contacts, clear_loads, room_for_contacts
from segtrack.kernels import (
    Packed,
    Vector,
    add,
    arm,
    axis,
    compiled,
    cross,
    dot,
    entry,
    inlined,
    item,
    offset,
    row,
    sum_of,
)
from segtrack.native.aim import aim_drive
from segtrack.native.dynamics import add_force_at, add_push
from segtrack.native.hull import (
    HullArrays,
    add_hull_contacts,
    count_hull_contacts,
    find_hull_candidates,
    hull_speed,
)
from segtrack.native.joint_loads import move_followers
from segtrack.native.kinematics import largest_speed, move, move_links, multiply, slow_down, write
from segtrack.native.solve import no_host, solve_step
from segtrack.native.step import CROWDED, DONE, NOT_FINITE, TOO_FAST
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


class ParentMounts(NamedTuple):
    """Links that carry the wheels of T chains, the track's own first, and the track frames on them.

    Attributes:
        starts: First of each track's, and the number of all (T + 1,).
        links: Links (P,).
        origins: Origins of the track frames in the links' frames, joints at 0 (P, 3) [m].
        rotations: From the track frames to the links', joints at 0 (P, 3, 3).
    """

    starts: NDArray[np.intp]
    links: NDArray[np.intp]
    origins: NDArray[np.float64]
    rotations: NDArray[np.float64]


class ChainVehicleArrays(NamedTuple):
    """A vehicle on link chains as kernels read it.

    Attributes:
        tree: Links and joints, and the track frames on them; no masses of belts.
        hull: Convex solids of the links.
        drives: Top speed [m/s], largest driving force [N], largest brake force [N], whether the drive is
            self-locking, lag [s], and K rows of a speed [m/s] and a driving force [N], of each
            track (T, 5 + 2 K).
        pitch_radii: Belt travel per angle of the driven wheels (T,) [m/rad].
        reach: Farthest of any part from the root's centre of mass [m].
        mounts: Links that carry wheels.
    """

    tree: TreeArrays
    hull: HullArrays
    drives: NDArray[np.float64]
    pitch_radii: NDArray[np.float64]
    reach: float
    mounts: ParentMounts


@entry
def advance_chains(
    vehicle: ChainVehicleArrays,
    ground: Ground,
    states: VehicleState,
    histories: ContactHistory,
    nearby: Candidates,
    work: TreeWork,
    tracks: Packed,
    failures: NDArray[np.intp],
    done: NDArray[np.intp],
    outcomes: NDArray[np.intp],
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
        tracks: Its chains, packed (`kernels.tuples`), changed in place.
        failures: Filled with the shoe of each track that has failed, or -1, and why (T, 2).
        done: Steps that it has taken (1,), changed in place.
        outcomes: Filled as in `step.advance` (1, 5).
        gravity: Gravity in the world [m/s^2].
        step: Duration of a step [s].
        sub_steps: Into which it is divided.
        held: Number of sub-steps for which contacts of the chains serve.
        count: Number of steps.
        decay: Fraction of velocities that damping leaves in a sub-step; 1 without.
        still: Chains alone go on, on parent frames that stay where they are, braked, as they are tensioned.
    """
    outcome = outcomes[0]
    outcome[0] = DONE
    tree, hull, sub_step = vehicle.tree, vehicle.hull, step / sub_steps
    state, history, near = vehicle_view(states, 0), history_view(histories, 0), candidates_view(nearby, 0)
    report = work.section_axes[:0]
    move_links(tree, state, work)
    for t in range(len(failures)):
        track = item(tracks, t)
        if not still:
            _place_parents(track, tree, work, vehicle.mounts, vehicle.mounts.starts[t])
        _write_frames(track)
    while done[0] < count:
        margin = MARGIN + step * largest_speed(tree, work, vehicle.reach, 0.0, state)
        solids = edges = 0
        for h in range(len(hull.links)):
            if hull.links[h] > 0:
                margin = MARGIN + AHEAD * step * hull_speed(hull, tree, work, h)
            a, b = find_hull_candidates(ground, hull, h, tree, work, margin, near, history)
            solids, edges = max(solids, a), max(edges, b)
        contacts = count_hull_contacts(hull, near)
        if (
            solids > near.solids.shape[1]
            or edges > near.edges.shape[1]
            or contacts > room_for_contacts(work.contacts)
        ):
            outcome[0], outcome[2], outcome[3], outcome[4] = CROWDED, solids, edges, contacts
            return
        for t in range(len(failures)):
            aim_drive(vehicle.drives, state, t, step)
            find_track_candidates(item(tracks, t), step)
            state.forces[t] = 0.0
        for sub in range(sub_steps):
            clear_loads(work.given)
            for t in range(len(failures)):
                radius = vehicle.pitch_radii[t]
                target, limit = state.targets[t] / radius, state.limits[t] * radius
                if still:
                    target, limit = 0.0, math.inf
                track, moment = item(tracks, t), hold_contacts(sub, sub_steps, held)
                torque = load_track(track, moment, gravity, target, limit, sub_step, decay)
                work.given.pulls[t] = torque / radius
                state.forces[t] += work.given.pulls[t] / sub_steps
                _add_reaction(track, work, vehicle.mounts, vehicle.mounts.starts[t])
            if still:
                for t in range(len(failures)):
                    drift_track(item(tracks, t), sub_step)
                continue
            slow_down(state, decay)
            ahead = sub_step * largest_speed(tree, work, vehicle.reach, 0.0, state)
            clear_contacts(work.contacts)
            add_hull_contacts(
                ground, hull, tree, work, near, history, report, 0, len(failures), ahead, sub_step
            )
            add_push(state, work)
            solve_step(tree, state, work, gravity, sub_step, no_host(work.equations))
            move(tree, state, work, sub_step)
            move_followers(tree, state)
            move_links(tree, state, work)
            for t in range(len(failures)):
                track = item(tracks, t)
                _place_parents(track, tree, work, vehicle.mounts, vehicle.mounts.starts[t])
                travel = _drift(track, sub_step) * vehicle.pitch_radii[t]
                state.travels[t] += travel
                # A constant force does work on the mean of the speeds before and after.
                state.energies[t] += work.given.pulls[t] * (sub_step * state.speeds[t] + travel) / 2
                state.speeds[t] = travel / sub_step
        done[0] += 1
        for t in range(len(failures)):
            failures[t, 0], failures[t, 1] = check_integrity(item(tracks, t))
            if failures[t, 0] >= 0:
                outcome[0] = FAILED
        fastest = largest_speed(tree, work, vehicle.reach, 0.0, state)
        if outcome[0] == DONE and not fastest < ABSURD_SPEED:
            outcome[0] = TOO_FAST if fastest < math.inf else NOT_FINITE
        if outcome[0] != DONE:
            return


@compiled
def _write_frames(track: TrackArrays) -> None:
    """Write the kinematics of all shoes from their state."""
    for i in range(len(track.shoes.positions)):
        write_frame(track.shoes, track.frames, i)


@inlined
def _place_parents(
    track: TrackArrays, tree: TreeArrays, work: TreeWork, mounts: ParentMounts, first: int
) -> None:
    """Let the parent frames of a track, whose mounts begin at `first`, move with their links."""
    parents = track.parents
    for p in range(len(parents.positions)):
        m = first + p
        link = mounts.links[m]
        multiply(parents.rotations[p], work.rotations[link], mounts.rotations[m])
        lever = arm(work.rotations, link, offset(mounts.origins, m, tree.centers[link]))
        spin = row(work.angular_velocities, link)
        write(parents.positions, p, sum_of(row(work.centers, link), lever))
        write(parents.velocities, p, sum_of(row(work.velocities, link), cross(spin, lever)))
        write(parents.angular_velocities_world, p, spin)


@inlined
def _add_reaction(track: TrackArrays, work: TreeWork, mounts: ParentMounts, first: int) -> None:
    """Add what a track, whose mounts begin at `first`, does to its parent frames to the links' loads."""
    for p in range(len(track.parents.positions)):
        link = mounts.links[first + p]
        add_force_at(work, link, row(track.reaction.forces, p), row(track.parents.positions, p))
        add(work.given.torques, link, row(track.reaction.torques, p), 1.0)


@inlined
def _drift(track: TrackArrays, duration: float) -> float:
    """Move shoes and wheels for `duration` [s]; returns what the driven wheel turns by on its link [rad]."""
    driven, state = track.running_gear.teeth.wheel, track.running_gear.state
    drift_track(track, duration)
    spin = row(track.parents.angular_velocities_world, 0)
    return duration * (state.speeds[driven] - dot(spin, axis(track.parents.rotations, 0, 1)))
