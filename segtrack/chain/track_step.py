"""The sub-steps of a whole track, compiled: links, wheels, carriers and ground together.

Links, wheels and tensioners are integrated as in `sub_step`. The carriers of the wheels belong
to somebody else's simulation, which advances in longer steps: within one, each goes on by the
velocity that it has, and the impulse of all that the chain does to it is summed up, about
where its track frame was at the beginning. Whoever gives the carriers applies it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.integrity import find_lost
from segtrack.chain.parent_frames import (
    Vehicle,
    book,
    drift_carriers,
    give_way,
    kick_carriers,
)
from segtrack.chain.running_gear.sprocket_contact import add_sprocket
from segtrack.chain.running_gear.wheel_contact import add_wheels, box_wheels
from segtrack.chain.running_gear.wheel_dynamics import drift_wheels, kick_wheels, start_wheels
from segtrack.chain.shoe_candidates import find_contact_candidates
from segtrack.chain.shoe_contact import add_ground
from segtrack.chain.shoes.bushings import add_bushings
from segtrack.chain.shoes.sub_step import drift, kick, start_loads
from segtrack.chain.track_arrays import Track
from segtrack.ground.vectors import compiled


@compiled
def run_tracks(
    tracks: tuple[Track, ...],
    drives: NDArray[np.float64],
    losses: NDArray[np.intp],
    vehicle: Vehicle,
    push: NDArray[np.float64],
    sub_step: float,
    count: int,
    kept: float,
) -> None:
    """Take all tracks of a vehicle through `count` sub-steps of `sub_step` [s] together.

    Args:
        tracks: The vehicle's.
        drives: Of each track the target speed of its driven wheel relative to the carrier [rad/s], the
            limit of the drive's torque [N m], and the mean torque, which is filled in [N m] (tracks, 3).
        losses: Filled with what `find_lost` finds at the end (tracks, 2).
        vehicle: How it gives way to its tracks.
        push: Room for what they do to it (2, 3).
        sub_step: [s]
        count: Of sub-steps, at least 1.
        kept: Share of velocity that energy drainage leaves, 1 without.
    """
    for t in range(len(tracks)):
        drives[t, 2] = 0.0
        begin_track(tracks[t], sub_step)
    for step in range(count):
        for k in range(3):
            push[0, k] = push[1, k] = 0.0
        for t in range(len(tracks)):
            torque = load_track(tracks[t], vehicle, push, drives[t, 0], drives[t, 1], sub_step, kept)
            drives[t, 2] += torque / count
        give_way(vehicle, push, sub_step)
        duration = sub_step if step + 1 < count else sub_step / 2
        for t in range(len(tracks)):
            move_track(tracks[t], vehicle, push, kept, duration)
    for t in range(len(tracks)):
        losses[t, 0], losses[t, 1] = find_lost(tracks[t])


@compiled
def begin_track(track: Track, sub_step: float) -> None:
    """Forget the last exchange, take the first half drift, and look for what is near."""
    carriers, exchange, gear, foot = track.carriers, track.exchange, track.gear, track.foot
    for c in range(len(carriers.position)):
        for k in range(3):
            exchange.points[c, k] = carriers.position[c, k]
            exchange.impulses[c, k] = exchange.turns[c, k] = 0.0
    drift(track.motion, track.frames, track.constants, sub_step / 2)
    drift_wheels(carriers, gear.wheels, gear.motion, sub_step / 2)
    drift_carriers(carriers, sub_step / 2)
    box_wheels(carriers, gear.wheels, gear.motion, track.frames, gear.near, gear.counts)
    find_contact_candidates(foot.ground, foot.treads, track.frames, foot.margin, foot.nearby, foot.motion)


@compiled
def load_track(
    track: Track,
    vehicle: Vehicle,
    push: NDArray[np.float64],
    target: float,
    limit: float,
    sub_step: float,
    kept: float,
) -> float:
    """Change velocities of links and wheels by all that acts on them, and add up what the vehicle gets.

    Args:
        track: One of the vehicle's.
        vehicle: That is pushed.
        push: Force [N] and torque about the vehicle's centre of mass [N m] (2, 3), added to.
        target: Speed of the driven wheel relative to its carrier [rad/s].
        limit: Of the drive's torque [N m].
        sub_step: [s]
        kept: Share of velocity that energy drainage leaves.

    Returns:
        Torque of the drive on its wheel [N m].
    """
    carriers, reaction, gear, foot = track.carriers, track.reaction, track.gear, track.foot
    frames, loads, constants = track.frames, track.loads, track.constants
    wheels, wheel_motion, wheel_loads = gear.wheels, gear.motion, gear.loads
    mass, g = constants.mass, vehicle.gravity
    start_loads(loads, (mass * g[0], mass * g[1], mass * g[2]))
    start_wheels(carriers, wheels, wheel_motion, reaction, wheel_loads)
    add_bushings(track.joints, frames, loads, constants)
    near, counts = gear.near, gear.counts
    add_wheels(carriers, wheels, wheel_motion, near, counts, frames, loads, reaction, wheel_loads, sub_step)
    add_sprocket(
        carriers,
        wheels,
        wheel_motion,
        gear.teeth,
        near,
        counts,
        frames,
        loads,
        reaction,
        wheel_loads,
        constants,
    )
    add_ground(
        foot.ground, foot.treads, foot.grip, frames, foot.nearby, foot.motion, loads, foot.loads, sub_step
    )
    kick(track.motion, frames, loads, constants, sub_step, kept)
    driven = gear.teeth.wheel
    torque = kick_wheels(
        carriers, wheels, wheel_motion, wheel_loads, reaction, driven, target, limit, sub_step, kept
    )
    book(carriers, reaction, vehicle, track.exchange, push, sub_step)
    return torque


@compiled
def move_track(
    track: Track, vehicle: Vehicle, change: NDArray[np.float64], kept: float, duration: float
) -> None:
    """Change the carriers' velocities as parts of the vehicle, and let everything go on for `duration` [s].

    Args:
        track: One of the vehicle's.
        vehicle: That changes its motion.
        change: Of the velocity of its centre of mass [m/s], and of its angular velocity [rad/s] (2, 3).
        kept: Share of velocity that energy drainage leaves.
        duration: [s]
    """
    carriers, gear = track.carriers, track.gear
    kick_carriers(carriers, vehicle, change, kept)
    drift(track.motion, track.frames, track.constants, duration)
    drift_wheels(carriers, gear.wheels, gear.motion, duration)
    drift_carriers(carriers, duration)
