"""The sub-steps of a whole track, compiled: links, wheels, carriers and ground together.

Links, wheels and tensioners are integrated as in `sub_step`. The carriers of the wheels belong
to somebody else's simulation, which advances in longer steps: within one, each goes on by the
velocity that it has, and the impulse of all that the chain does to it is summed up, about
where its track frame was at the beginning. Whoever gives the carriers applies it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.bushings import add_bushings
from segtrack.chain.carrier import Carriers, Reaction, drift_carriers
from segtrack.chain.ground import Ground
from segtrack.chain.ground_contact import add_ground
from segtrack.chain.ground_near import box_ground
from segtrack.chain.ground_state import GroundLoads, GroundMotion, Nearby
from segtrack.chain.ground_tread import Grip, Treads
from segtrack.chain.hubs import WheelLoads, WheelMotion, Wheels, drift_wheels, kick_wheels, start_wheels
from segtrack.chain.loads import Frames, Loads
from segtrack.chain.model import Constants, Joints, Vector
from segtrack.chain.rolling import add_wheels, box_wheels
from segtrack.chain.sub_step import Motion, drift, kick, start_loads
from segtrack.chain.teeth import Teeth, add_sprocket
from segtrack.chain.vectors import arm, axis, compiled, row


class Undergear(NamedTuple):
    """All that a chain runs around, as kernels read it, and how it moves.

    Attributes:
        wheels: Their numbers.
        teeth: Of the driven one.
        motion: Their state.
        loads: What acts on them.
        near: Links near each wheel (W, n).
        counts: How many those are (W,).
    """

    wheels: Wheels
    teeth: Teeth
    motion: WheelMotion
    loads: WheelLoads
    near: NDArray[np.intp]
    counts: NDArray[np.intp]


class Underfoot(NamedTuple):
    """All that a chain stands on, as kernels read it, and how they touch.

    Attributes:
        ground: In the world.
        treads: Of the shoes.
        grip: Of all markers.
        motion: Memory of the contacts.
        loads: What the ground does to links.
        nearby: What is near them.
        margin: Within which something is near [m].
    """

    ground: Ground
    treads: Treads
    grip: Grip
    motion: GroundMotion
    loads: GroundLoads
    nearby: Nearby
    margin: float


class Exchange(NamedTuple):
    """What a chain has done to its carriers since an exchange began.

    Attributes:
        points: Where each carrier's track frame was (C, 3) [m].
        impulses: Of the forces (C, 3) [N s].
        turns: Of their moments about `points`, and of torques (C, 3) [N m s].
    """

    points: NDArray[np.float64]
    impulses: NDArray[np.float64]
    turns: NDArray[np.float64]


@compiled
def run_track(
    motion: Motion,
    joints: Joints,
    frames: Frames,
    loads: Loads,
    constants: Constants,
    weight: Vector,
    carriers: Carriers,
    reaction: Reaction,
    gear: Undergear,
    foot: Underfoot,
    exchange: Exchange,
    target: float,
    limit: float,
    sub_step: float,
    count: int,
    kept: float,
    apart: float,
    aside: float,
) -> tuple[float, int, int]:
    """Take `count` sub-steps of `sub_step` [s] with all that acts on a track.

    Args:
        motion: Of the links.
        joints: Between them.
        frames: Room for where they are.
        loads: Room for what acts on them.
        constants: The chain's.
        weight: Of a link in the world [N].
        carriers: Of the wheels; they go on by the velocities that they have.
        reaction: Room for what acts on them.
        gear: The wheels.
        foot: The ground.
        exchange: Filled.
        target: Speed of the driven wheel relative to its carrier [rad/s].
        limit: Of the drive's torque [N m].
        sub_step: [s]
        count: Of sub-steps, at least 1.
        kept: Share of velocity that energy drainage leaves, 1 without.
        apart: See `find_lost` [m].
        aside: The same [m].

    Returns:
        Mean torque of the drive on its wheel [N m], and what `find_lost` finds at the end.
    """
    for c in range(len(carriers.position)):
        for k in range(3):
            exchange.points[c, k] = carriers.position[c, k]
            exchange.impulses[c, k] = exchange.turns[c, k] = 0.0
    drive = 0.0
    drift(motion, frames, constants, sub_step / 2)
    drift_wheels(carriers, gear.wheels, gear.motion, sub_step / 2)
    drift_carriers(carriers, sub_step / 2)
    box_wheels(carriers, gear.wheels, gear.motion, frames, gear.near, gear.counts)
    box_ground(foot.ground, foot.treads, frames, foot.margin, foot.nearby, foot.motion)
    for step in range(count):
        start_loads(loads, weight)
        gather_track(joints, frames, loads, constants, carriers, reaction, gear, foot, sub_step)
        kick(motion, frames, loads, constants, sub_step, kept)
        drive += kick_wheels(
            carriers,
            gear.wheels,
            gear.motion,
            gear.loads,
            reaction,
            gear.teeth.wheel,
            target,
            limit,
            sub_step,
            kept,
        )
        _book(carriers, reaction, exchange, sub_step)
        duration = sub_step if step + 1 < count else sub_step / 2
        drift(motion, frames, constants, duration)
        drift_wheels(carriers, gear.wheels, gear.motion, duration)
        drift_carriers(carriers, duration)
    lost, why = find_lost(motion, joints, frames, constants, carriers, apart, aside)
    return drive / count, lost, why


@compiled
def gather_track(
    joints: Joints,
    frames: Frames,
    loads: Loads,
    constants: Constants,
    carriers: Carriers,
    reaction: Reaction,
    gear: Undergear,
    foot: Underfoot,
    sub_step: float,
) -> None:
    """Add everything but weight and drive that acts on links, wheels and carriers at this instant."""
    start_wheels(carriers, gear.wheels, gear.motion, reaction, gear.loads)
    add_bushings(joints, frames, loads, constants)
    add_wheels(
        carriers,
        gear.wheels,
        gear.motion,
        gear.near,
        gear.counts,
        frames,
        loads,
        reaction,
        gear.loads,
        sub_step,
    )
    add_sprocket(
        carriers,
        gear.wheels,
        gear.motion,
        gear.teeth,
        gear.near,
        gear.counts,
        frames,
        loads,
        reaction,
        gear.loads,
        constants,
    )
    add_ground(
        foot.ground, foot.treads, foot.grip, frames, foot.nearby, foot.motion, loads, foot.loads, sub_step
    )


@compiled
def _book(carriers: Carriers, reaction: Reaction, exchange: Exchange, sub_step: float) -> None:
    """Sum up what acts on the carriers for a sub-step."""
    for c in range(len(carriers.position)):
        p, o = carriers.position[c], exchange.points[c]
        f, t = reaction.force[c], reaction.torque[c]
        x, y, z = p[0] - o[0], p[1] - o[1], p[2] - o[2]
        for k in range(3):
            exchange.impulses[c, k] += sub_step * f[k]
        exchange.turns[c, 0] += sub_step * (t[0] + y * f[2] - z * f[1])
        exchange.turns[c, 1] += sub_step * (t[1] + z * f[0] - x * f[2])
        exchange.turns[c, 2] += sub_step * (t[2] + x * f[1] - y * f[0])


@compiled
def find_lost(
    motion: Motion,
    joints: Joints,
    frames: Frames,
    constants: Constants,
    carriers: Carriers,
    apart: float,
    aside: float,
) -> tuple[int, int]:
    """The first link that is lost, and why: 0 for no finite place, 1 parted, 2 off its wheels; -1 for none.

    Args:
        motion: Of the links.
        joints: Between them.
        frames: Room for where they are.
        constants: The chain's.
        carriers: Of the wheels.
        apart: Distance between a joint's markers at which it has parted [m].
        aside: Distance of a link from the middle plane of its track at which it has come off [m].
    """
    drift(motion, frames, constants, 0.0)
    for i in range(len(motion.positions)):
        x, y, z = row(frames.positions, i)
        if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
            return i, 0
        p, axle = carriers.position[0], axis(carriers.rotation, 0, 1)
        if abs((x - p[0]) * axle[0] + (y - p[1]) * axle[1] + (z - p[2]) * axle[2]) > aside:
            return i, 2
    for joint in range(len(joints.pins)):
        i, j = joints.pins[joint], joints.bushings[joint]
        pin, bushing = arm(frames.rotations, i, constants.front), arm(frames.rotations, j, constants.rear)
        square = 0.0
        for k in range(3):
            gap = frames.positions[j, k] + bushing[k] - frames.positions[i, k] - pin[k]
            square += gap * gap
        if not square < apart * apart:
            return i, 1
    return -1, 0
