"""A sub-step of a track as kernels run it, and the check that its chain is whole."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.running_gear_arrays import RunningGearArrays
from segtrack.chain.shoe_contact import TerrainContact, find_contact_candidates
from segtrack.chain.shoe_dynamics import Frames, Loads, add_bushings, drift, kick, start_loads
from segtrack.chain.shoe_state import ChainArrays
from segtrack.chain.shoes import Constants, Joints
from segtrack.chain.sprocket_contact import add_sprocket_contacts, find_sprocket_contacts
from segtrack.chain.terrain_rows import add_terrain_rows, find_terrain_contacts, keep_terrain_shear
from segtrack.chain.wheel_contact import (
    add_wheel_contacts,
    find_wheel_candidates,
    find_wheel_contacts,
    keep_rail_shear,
)
from segtrack.chain.wheel_dynamics import carry_slides, drift_wheels, kick_wheels, start_wheel_loads
from segtrack.ground import (
    CompositeBody,
    CouplingImpulses,
    NetWrench,
    ParentFrames,
    Reaction,
    VelocityChange,
    accumulate_reaction,
    composite_velocity_change,
    drift_parents,
    kick_parents,
)
from segtrack.kernels import Packed, Vector, arm, axis, compiled, dot, entry, inlined, item, row, scaled


class TrackArrays(NamedTuple):
    """Everything of one track that kernels read and write.

    Attributes:
        shoes: State of the shoes.
        joints: Shoes that each joint connects.
        frames: Work array, shoe kinematics.
        loads: Work array, shoe loads.
        constants: Shoe and bushing.
        parents: Parent links of the wheels.
        reaction: Work array, loads on the parent links.
        running_gear: Wheels.
        terrain_contact: Terrain contact of the shoes.
        coupling: Impulses on the parent links.
        max_joint_gap: Distance of a joint's bushing from its pin at which the joint has failed [m].
        max_lateral_offset: Distance of a shoe from the track's middle plane at which the chain is off its
            wheels [m].
    """

    shoes: ChainArrays
    joints: Joints
    frames: Frames
    loads: Loads
    constants: Constants
    parents: ParentFrames
    reaction: Reaction
    running_gear: RunningGearArrays
    terrain_contact: TerrainContact
    coupling: CouplingImpulses
    max_joint_gap: float
    max_lateral_offset: float


class DriveArrays(NamedTuple):
    """Drives of a vehicle's tracks during a step.

    Attributes:
        target_speeds: Target speeds of the driven wheels relative to their parent links (tracks,) [rad/s].
        torque_limits: Largest torques (tracks,) [N m].
        mean_torques: Mean torques of the step, filled in (tracks,) [N m].
    """

    target_speeds: NDArray[np.float64]
    torque_limits: NDArray[np.float64]
    mean_torques: NDArray[np.float64]


FAILURES = (
    "its position is not finite",
    "its joint to the next shoe has separated",
    "the chain has come off its wheels",
)
"""Reasons that `check_integrity` returns by their index."""


@inlined
def check_integrity(track: TrackArrays) -> tuple[int, int]:
    """Index of the first shoe that has failed, or -1, and the reason's index in `FAILURES`.

    The frames are those of the state, as a drift leaves them.
    """
    shoes, joints, frames, constants = track.shoes, track.joints, track.frames, track.constants
    for i in range(len(shoes.positions)):
        x, y, z = row(frames.positions, i)
        if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
            return i, 0
        p, axle = track.parents.positions[0], axis(track.parents.rotations, 0, 1)
        lateral = (x - p[0]) * axle[0] + (y - p[1]) * axle[1] + (z - p[2]) * axle[2]
        if abs(lateral) > track.max_lateral_offset:
            return i, 2
    for joint in range(len(joints.pins)):
        i, j = joints.pins[joint], joints.bushings[joint]
        pin, bushing = (
            arm(frames.rotations, i, constants.pin_position),
            arm(frames.rotations, j, constants.bushing_position),
        )
        square = 0.0
        for k in range(3):
            gap = frames.positions[j, k] + bushing[k] - frames.positions[i, k] - pin[k]
            square += gap * gap
        if not square < track.max_joint_gap * track.max_joint_gap:
            return i, 1
    return -1, 0


GAINED_SPEED = 3.0
"""Speed that a shoe may gain while contact candidates serve [m/s]."""


@entry
def run_tracks(
    tracks: Packed,
    drives: DriveArrays,
    failures: NDArray[np.intp],
    vehicle: CompositeBody,
    net: NetWrench,
    sub_step: float,
    count: int,
    held: int,
    velocity_decay: float,
) -> None:
    """Take all tracks of a vehicle through `count` sub-steps of `sub_step` [s] together.

    Args:
        tracks: Tracks of the vehicle, packed (`kernels.tuples`).
        drives: Their drives; the mean torques are filled in.
        failures: Filled with what `check_integrity` returns at the end (tracks, 2).
        vehicle: All links as one rigid body.
        net: Work array, the tracks' loads on the vehicle.
        sub_step: [s]
        count: Number of sub-steps, at least 1.
        held: Number of them for which contacts serve.
        velocity_decay: Fraction of velocity that is left by damping towards rest in a sub-step, 1 without.
    """
    for t in range(len(failures)):
        drives.mean_torques[t] = 0.0
        begin_track(item(tracks, t), sub_step, count * sub_step)
    for step in range(count):
        for k in range(3):
            net.force[k] = net.torque[k] = 0.0
        for t in range(len(failures)):
            target, limit = drives.target_speeds[t], drives.torque_limits[t]
            track, moment = item(tracks, t), hold_contacts(step, count, held)
            torque = load_track(track, moment, vehicle.gravity, target, limit, sub_step, velocity_decay)
            drives.mean_torques[t] += torque / count
            accumulate_reaction(track.parents, track.reaction, vehicle, track.coupling, net, sub_step)
        change = composite_velocity_change(vehicle, net, sub_step)
        duration = sub_step if step + 1 < count else sub_step / 2
        for t in range(len(failures)):
            move_track(item(tracks, t), vehicle, change, velocity_decay, duration)
    for t in range(len(failures)):
        failures[t, 0], failures[t, 1] = check_integrity(item(tracks, t))


@compiled
def begin_track(track: TrackArrays, sub_step: float, duration: float) -> None:
    """Reset the coupling impulses, take the first half drift, and find contact candidates for `duration`."""
    parents, coupling = track.parents, track.coupling
    for p in range(len(parents.positions)):
        for k in range(3):
            coupling.points[p, k] = parents.positions[p, k]
            coupling.impulses[p, k] = coupling.angular_impulses[p, k] = 0.0
    drift(track.shoes, track.frames, track.constants, sub_step / 2)
    drift_wheels(track.running_gear, parents, sub_step / 2)
    drift_parents(parents, sub_step / 2)
    find_track_candidates(track, duration)


@inlined
def find_track_candidates(track: TrackArrays, duration: float) -> None:
    """Find what wheels and terrain may touch within `duration` [s], in which shoes gain `GAINED_SPEED`."""
    frames, square = track.frames, 0.0
    for i in range(len(track.shoes.positions)):
        v, spin = row(frames.velocities, i), row(frames.angular_velocities_world, i)
        reach = track.terrain_contact.margin
        square = max(square, dot(v, v) + reach * reach * dot(spin, spin))
    margin = duration * (2 * math.sqrt(2 * square) + GAINED_SPEED)
    find_wheel_candidates(track.running_gear, track.parents, frames, margin)
    find_contact_candidates(track.terrain_contact, frames, margin)


class Moment(NamedTuple):
    """Place of a sub-step among those for which contacts serve.

    Attributes:
        past: Number of sub-steps since the contacts were found; 0 where they are found now.
        ahead: Number of sub-steps after this one for which they serve.
        last: True if they are found anew in the next one.
    """

    past: int
    ahead: int
    last: bool


@inlined
def hold_contacts(step: int, count: int, held: int) -> Moment:
    """Return the place of sub-step `step` of `count`, contacts serving for `held` of them."""
    past = step % held
    return Moment(past, held - 1 - past, past + 1 == held or step + 1 == count)


@inlined
def load_track(
    track: TrackArrays,
    moment: Moment,
    gravity: Vector,
    target: float,
    limit: float,
    sub_step: float,
    velocity_decay: float,
) -> float:
    """Find all loads on shoes, wheels and parent links, and change the velocities of shoes and wheels.

    Args:
        track: A track of the vehicle.
        moment: Place of the sub-step among those for which contacts serve.
        gravity: Gravity in the world [m/s^2].
        target: Speed of the driven wheel relative to its parent link [rad/s].
        limit: Largest torque of the drive [N m].
        sub_step: [s]
        velocity_decay: Fraction of velocity that is left by damping towards rest.

    Returns:
        Torque of the drive on its wheel [N m].
    """
    parents, reaction, gear = track.parents, track.reaction, track.running_gear
    frames, loads, constants = track.frames, track.loads, track.constants
    start_loads(loads, scaled(gravity, constants.mass))
    start_wheel_loads(gear, reaction)
    add_bushings(track.joints, frames, loads, constants)
    if moment.past == 0:
        find_track_contacts(track, sub_step * moment.ahead)
    age = sub_step * moment.past
    add_wheel_contacts(gear, parents, frames, loads, reaction, age, sub_step)
    add_sprocket_contacts(gear, parents, frames, loads, reaction, age, sub_step)
    add_terrain_rows(track.terrain_contact, frames, loads, moment.past > 0, sub_step)
    if moment.last:
        keep_rail_shear(gear)
        keep_terrain_shear(track.terrain_contact)
    kick(track.shoes, frames, loads, constants, sub_step, velocity_decay)
    return kick_wheels(gear, parents, reaction, target, limit, gravity, sub_step, velocity_decay)


@inlined
def find_track_contacts(track: TrackArrays, ahead: float) -> None:
    """Find the contacts of all shoes, and those that may begin within `ahead` [s]."""
    gear, parents, frames = track.running_gear, track.parents, track.frames
    find_wheel_contacts(gear, parents, frames, ahead)
    find_sprocket_contacts(gear, parents, frames, track.constants, ahead)
    find_terrain_contacts(track.terrain_contact, frames, ahead)


@compiled
def move_track(
    track: TrackArrays, vehicle: CompositeBody, change: VelocityChange, velocity_decay: float, duration: float
) -> None:
    """Change the parent links' velocities as parts of the vehicle, and let everything drift.

    Args:
        track: A track of the vehicle.
        vehicle: All links as one rigid body.
        change: Change of its velocity.
        velocity_decay: Fraction of velocity that is left by damping towards rest.
        duration: Time of the drift [s].
    """
    kick_parents(track.parents, vehicle, change, velocity_decay)
    drift_track(track, duration)
    drift_parents(track.parents, duration)


@inlined
def drift_track(track: TrackArrays, duration: float) -> None:
    """Move shoes and wheels for `duration` [s] without loads, the parent links at their new velocities."""
    carry_slides(track.running_gear, track.parents)
    drift(track.shoes, track.frames, track.constants, duration)
    drift_wheels(track.running_gear, track.parents, duration)
