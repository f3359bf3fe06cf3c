"""Contact of bushings with the teeth of a sprocket (Omar 2014, section 4.3)."""

from __future__ import annotations

import math

from segtrack.chain.contact_rows import (
    CLOSING_SPEED,
    DEPTH,
    LEVER,
    NORMAL,
    ContactRows,
    close_pair,
    turned,
    vector_in,
    velocity_at,
)
from segtrack.chain.running_gear_arrays import SURFACES, RunningGearArrays, Teeth
from segtrack.chain.shoe_dynamics import Frames, Loads
from segtrack.chain.shoes import Constants, Vector
from segtrack.chain.wheel_dynamics import (
    ContactWrench,
    apply_reaction_to_wheel,
    apply_to_shoe,
    relative_twist,
    wheel_kinematics,
)
from segtrack.ground import ParentFrames, Reaction
from segtrack.kernels import (
    arctangent,
    arm,
    axis,
    compiled,
    cosine_sine,
    cross,
    dot,
    inlined,
    row,
    scaled,
    sum_of,
)

STIFFNESS, FACTOR, DRAG = 10, 11, 12
"""Columns of `RunningGearArrays.bushings`, besides lever, normal and depth: normal force over depth [N/m],
factor on the normal force [-], and Coulomb coefficient [-]."""


@compiled
def find_sprocket_contacts(
    running_gear: RunningGearArrays, parents: ParentFrames, frames: Frames, constants: Constants, ahead: float
) -> None:
    """Find the contacts between teeth and the bushings near them (Omar 2014, section 4.3).

    A bushing is met where its axis crosses the plane of a row of teeth.

    Args:
        running_gear: Wheels, and the teeth of the driven one; `bushings` is written.
        parents: Parent links of the wheels.
        frames: Kinematics of n shoes and two anchors.
        constants: Shoe of the chain, whose bushings are met.
        ahead: Time for which the contacts serve, 0 for this instant alone [s].
    """
    teeth, wheels, state = running_gear.teeth, running_gear.wheels, running_gear.state
    candidates, rows = running_gear.candidates, running_gear.bushings
    rows.pair_ends[0] = 0
    if len(teeth.rows) == 0:
        return
    w = teeth.wheel
    wheel = wheel_kinematics(parents, wheels, state, w)
    forward = axis(parents.rotations, wheels.parents[w], 0)
    up = axis(parents.rotations, wheels.parents[w], 2)
    reach, near = teeth.tip_radius + teeth.bushing_radius, CLOSING_SPEED * ahead
    pair = r = 0
    for entry in range(candidates.counts[w]):
        i = candidates.shoes[w, entry]
        begin, side = arm(frames.rotations, i, constants.bushing_position), axis(frames.rotations, i, 1)
        p, o = row(frames.positions, i), wheel.position
        away = p[0] - o[0], p[1] - o[1], p[2] - o[2]
        out = away[0] + begin[0], away[1] + begin[1], away[2] + begin[2]
        offset, straight = dot(out, wheel.axle), dot(side, wheel.axle)
        if dot(out, out) - offset * offset > 1.5 * reach * reach or abs(straight) < 0.5:
            continue
        first = r
        for k in range(len(teeth.rows)):
            along = (teeth.rows[k] - offset) / straight
            lever = begin[0] + along * side[0], begin[1] + along * side[1], begin[2] + along * side[2]
            r = _find_tooth_contacts(teeth, forward, up, state.angles[w], away, lever, near, rows, r)
        r = _find_side_contact(teeth, wheel.axle, out, near, rows, r)
        pair = close_pair(rows, pair, i, first, r)
    rows.pair_ends[0] = pair


@inlined
def _find_tooth_contacts(
    teeth: Teeth,
    ahead: Vector,
    up: Vector,
    turn: float,
    away: Vector,
    lever: Vector,
    near: float,
    rows: ContactRows,
    r: int,
) -> int:
    """Write the contacts of a row of teeth with a bushing, met at `lever` from its shoe's centre of mass [m].

    Surfaces count where the bushing's centre is over or under them, corners where it is over none
    of their two surfaces. A centre inside a tooth is thus still pushed out.

    Args:
        teeth: Teeth of the wheel.
        ahead: x axis of the wheel's track frame, in the world.
        up: z axis of the wheel's track frame, in the world.
        turn: Angle of the wheel in its track frame [rad].
        away: From the wheel centre to the shoe's centre of mass [m].
        lever: From there to the bushing's axis [m].
        near: Gap within which a contact counts as one [m].
        rows: Contacts.
        r: First row to write.

    Returns:
        The row behind the last one.
    """
    out = away[0] + lever[0], away[1] + lever[1], away[2] + lever[2]
    x, z = dot(out, ahead), dot(out, up)
    distance = math.sqrt(x * x + z * z)
    if not 0 < distance < teeth.tip_radius + teeth.bushing_radius + near:
        return r
    turned = arctangent(x, z) - turn
    angle = turned - teeth.angular_pitch * math.floor(turned / teeth.angular_pitch + 0.5)
    cosine, sine = cosine_sine(angle)
    a, b = distance * sine, distance * cosine - teeth.pitch_radius
    # Radial direction of the seat in the track frame: the bushing's direction turned back.
    over, aside = (z * cosine + x * sine) / distance, (x * cosine - z * sine) / distance
    tangential = (
        over * ahead[0] - aside * up[0],
        over * ahead[1] - aside * up[1],
        over * ahead[2] - aside * up[2],
    )
    radial = (
        over * up[0] + aside * ahead[0],
        over * up[1] + aside * ahead[1],
        over * up[2] + aside * ahead[2],
    )
    passed = False
    for s in range(SURFACES):
        t, u = teeth.tangents[s, 0], teeth.tangents[s, 1]
        da, db = a - teeth.points[s, 0], b - teeth.points[s, 1]
        along, above = t * da + u * db, t * db - u * da
        gap, na, nb = math.inf, -u, t
        if 0 <= along < teeth.lengths[s]:
            gap = above
        elif passed and along < 0 < above:
            gap = math.sqrt(da * da + db * db)
            na, nb = da / gap, db / gap
        passed = along >= teeth.lengths[s]
        if gap < teeth.bushing_radius + near:
            normal = (
                na * tangential[0] + nb * radial[0],
                na * tangential[1] + nb * radial[1],
                na * tangential[2] + nb * radial[2],
            )
            at = out[0] - gap * normal[0], out[1] - gap * normal[1], out[2] - gap * normal[2]
            _write_law(rows, r, at, normal, teeth.bushing_radius - gap, teeth.stiffness, 1.0, teeth.friction)
            r += 1
    return r


@inlined
def _find_side_contact(
    teeth: Teeth, axle: Vector, out: Vector, near: float, rows: ContactRows, r: int
) -> int:
    """Write the contact of the sides of teeth with a bushing, its middle `out` from the wheel centre [m].

    Teeth are chamfered: the force grows over one bushing radius inwards from the tips.

    Returns:
        The row behind the last one.
    """
    offset = dot(out, axle)
    depth = abs(offset) - teeth.side_clearance
    if depth > -near:
        inside = teeth.tip_radius - math.sqrt(max(0.0, dot(out, out) - offset * offset))
        if inside > 0:
            sign = -1.0 if offset > 0 else 1.0
            normal = sign * axle[0], sign * axle[1], sign * axle[2]
            factor = min(1.0, inside / teeth.bushing_radius)
            _write_law(rows, r, out, normal, depth, teeth.side_stiffness, factor, 0.0)
            r += 1
    return r


@inlined
def _write_law(
    rows: ContactRows,
    r: int,
    lever: Vector,
    normal: Vector,
    depth: float,
    stiffness: float,
    factor: float,
    friction: float,
) -> None:
    """Write row r with its law."""
    for k in range(3):
        rows.numbers[r, LEVER + k], rows.numbers[r, NORMAL + k] = lever[k], normal[k]
    rows.numbers[r, DEPTH], rows.numbers[r, STIFFNESS] = depth, stiffness
    rows.numbers[r, FACTOR], rows.numbers[r, DRAG] = factor, friction


@compiled
def add_sprocket_contacts(
    running_gear: RunningGearArrays,
    parents: ParentFrames,
    frames: Frames,
    loads: Loads,
    reaction: Reaction,
    age: float,
    sub_step: float,
) -> None:
    """Add the forces of the contacts between teeth and bushings (Omar 2014, equations 26-37).

    Friction (equations 34-35) grows with slip up to the slip speed and then stays; as it is printed, equation
    35 would let it fall again, and follow the elastic part of the normal force instead of what presses.

    Args:
        running_gear: Wheels, and the contacts as they were found.
        parents: Parent links of the wheels.
        frames: Kinematics of n shoes and two anchors.
        loads: Added to: loads on the shoes.
        reaction: Added to: loads on the parent links.
        age: Time since the contacts were found [s].
        sub_step: [s]
    """
    teeth, wheels, rows = running_gear.teeth, running_gear.wheels, running_gear.bushings
    numbers, begin, w = rows.numbers, 0, running_gear.teeth.wheel
    if rows.pair_ends[0] == 0:
        return
    wheel = wheel_kinematics(parents, wheels, running_gear.state, w)
    wrench = ContactWrench((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    turn, elapsed = scaled(wheel.angular_velocity_world, age), sub_step if age > 0 else 0.0
    for pair in range(rows.pair_ends[0]):
        i, end = rows.shoes[pair], rows.ends[pair]
        away, at_center, spin = relative_twist(frames, i, wheel)
        at_center, spin = turned(at_center, turn, -1.0), turned(spin, turn, -1.0)
        force, moment = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for r in range(begin, end):
            lever, normal = vector_in(numbers, r, LEVER), vector_in(numbers, r, NORMAL)
            velocity = velocity_at(at_center, spin, lever)
            closing = dot(velocity, normal)
            depth = numbers[r, DEPTH] - elapsed * closing
            numbers[r, DEPTH] = depth
            if depth > 0:
                push = max(0.0, numbers[r, STIFFNESS] * depth - teeth.damping * closing)
                push *= numbers[r, FACTOR]
                x = velocity[0] - closing * normal[0]
                y = velocity[1] - closing * normal[1]
                z = velocity[2] - closing * normal[2]
                speed = math.sqrt(x * x + y * y + z * z)
                ratio = speed / teeth.slip_speed
                # Over the speed: S_mu / |v| has a limit where nothing slips.
                drag = (2 - ratio) / teeth.slip_speed if ratio < 1 else 1 / speed
                drag *= numbers[r, DRAG] * push
                own = push * normal[0] - drag * x, push * normal[1] - drag * y, push * normal[2] - drag * z
                force, moment = sum_of(force, own), sum_of(moment, cross(lever, own))
        force, moment = turned(force, turn, 1.0), turned(moment, turn, 1.0)
        wrench = apply_to_shoe(loads, i, away, force, moment, wrench)
        begin = end
    apply_reaction_to_wheel(parents, wheels, w, wheel, wrench, reaction, running_gear.loads)
