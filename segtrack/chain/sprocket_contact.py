"""Contact of bushings with the teeth of a sprocket (Omar 2014, section 4.3)."""

from __future__ import annotations

import math

from segtrack.chain.running_gear_arrays import RunningGearArrays, Teeth
from segtrack.chain.shoe_dynamics import Frames, Loads
from segtrack.chain.shoes import Constants, Vector
from segtrack.chain.wheel_dynamics import (
    ContactWrench,
    WheelKinematics,
    apply_contact_force,
    apply_reaction_to_wheel,
    relative_velocity_at,
    wheel_kinematics,
)
from segtrack.ground.functions import arctangent, cosine_sine
from segtrack.ground.kernels import compiled, inlined
from segtrack.ground.parent_frames import ParentFrames, Reaction
from segtrack.ground.vectors import arm, axis, dot, row


@compiled
def add_sprocket_contacts(
    running_gear: RunningGearArrays,
    parents: ParentFrames,
    frames: Frames,
    loads: Loads,
    reaction: Reaction,
    constants: Constants,
) -> None:
    """Add the contact forces between teeth and the bushings near them (Omar 2014, equations 26-37).

    A bushing is met where its axis crosses the plane of a row of teeth.

    Args:
        running_gear: Wheels, and the teeth of the driven one.
        parents: Parent links of the wheels.
        frames: Kinematics of n shoes and two anchors.
        loads: Added to: loads on the shoes.
        reaction: Added to: loads on the parent links.
        constants: Shoe of the chain, whose bushings are met.
    """
    teeth, wheels, state = running_gear.teeth, running_gear.wheels, running_gear.state
    candidates = running_gear.candidates
    if len(teeth.rows) == 0:
        return
    w = teeth.wheel
    wheel = wheel_kinematics(parents, wheels, state, w)
    ahead = axis(parents.rotations, wheels.parents[w], 0)
    up = axis(parents.rotations, wheels.parents[w], 2)
    reach = teeth.tip_radius + teeth.bushing_radius
    wrench = ContactWrench((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    for entry in range(candidates.counts[w]):
        i = candidates.shoes[w, entry]
        begin, side = arm(frames.rotations, i, constants.bushing_position), axis(frames.rotations, i, 1)
        p, o = row(frames.positions, i), wheel.position
        out = p[0] + begin[0] - o[0], p[1] + begin[1] - o[1], p[2] + begin[2] - o[2]
        offset, straight = dot(out, wheel.axle), dot(side, wheel.axle)
        if dot(out, out) - offset * offset > 1.5 * reach * reach or abs(straight) < 0.5:
            continue
        for k in range(len(teeth.rows)):
            along = (teeth.rows[k] - offset) / straight
            lever = begin[0] + along * side[0], begin[1] + along * side[1], begin[2] + along * side[2]
            wrench = _tooth_contact(teeth, ahead, up, state.angles[w], wheel, frames, i, lever, loads, wrench)
        wrench = _side_contact(teeth, wheel, frames, i, begin, out, loads, wrench)
    apply_reaction_to_wheel(parents, wheels, w, wheel, wrench, reaction, running_gear.loads)


@inlined
def _tooth_contact(
    teeth: Teeth,
    ahead: Vector,
    up: Vector,
    turn: float,
    wheel: WheelKinematics,
    frames: Frames,
    i: int,
    lever: Vector,
    loads: Loads,
    wrench: ContactWrench,
) -> ContactWrench:
    """Press a row of teeth on shoe i's bushing, met at `lever` from the shoe's centre of mass [m].

    Surfaces count where the bushing's centre is over or under them, corners where it is over none
    of their two surfaces. A centre inside a tooth is thus still pushed out.

    Args:
        teeth: Teeth of the wheel.
        ahead: x axis of the wheel's track frame, in the world.
        up: z axis of the wheel's track frame, in the world.
        turn: Angle of the wheel in its track frame [rad].
        wheel: Kinematics of the wheel.
        frames: Kinematics of the shoes.
        i: Index of the shoe.
        lever: From the shoe's centre of mass to the bushing's axis [m].
        loads: Added to: load on the shoe.
        wrench: Wrench of the wheel on shoes so far.

    Returns:
        The wrench, these contacts added.
    """
    p, o = row(frames.positions, i), wheel.position
    out = p[0] + lever[0] - o[0], p[1] + lever[1] - o[1], p[2] + lever[2] - o[2]
    x, z = dot(out, ahead), dot(out, up)
    distance = math.sqrt(x * x + z * z)
    if not 0 < distance < teeth.tip_radius + teeth.bushing_radius:
        return wrench
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
    for s in range(5):
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
        if gap < teeth.bushing_radius:
            normal = (
                na * tangential[0] + nb * radial[0],
                na * tangential[1] + nb * radial[1],
                na * tangential[2] + nb * radial[2],
            )
            at = lever[0] - gap * normal[0], lever[1] - gap * normal[1], lever[2] - gap * normal[2]
            point = out[0] - gap * normal[0], out[1] - gap * normal[1], out[2] - gap * normal[2]
            velocity = relative_velocity_at(frames, i, at, wheel, point)
            force = _tooth_force(teeth, teeth.bushing_radius - gap, normal, velocity)
            wrench = apply_contact_force(loads, i, at, point, force, wrench)
    return wrench


@inlined
def _tooth_force(teeth: Teeth, depth: float, normal: Vector, velocity: Vector) -> Vector:
    """Force of a tooth on a bushing [N], given the bushing's relative velocity (Omar 2014, 34-35).

    Friction grows with slip up to the slip speed and then stays; as it is printed, equation 35
    would let it fall again.
    """
    closing = dot(velocity, normal)
    elastic = teeth.stiffness * depth
    normal_force = max(0.0, elastic - teeth.damping * closing)
    x = velocity[0] - closing * normal[0]
    y = velocity[1] - closing * normal[1]
    z = velocity[2] - closing * normal[2]
    speed = math.sqrt(x * x + y * y + z * z)
    ratio = speed / teeth.slip_speed
    # Over the speed: S_mu / |v| has a limit where nothing slips.
    drag = (2 - ratio) / teeth.slip_speed if ratio < 1 else 1 / speed
    drag *= teeth.friction * elastic
    return (
        normal_force * normal[0] - drag * x,
        normal_force * normal[1] - drag * y,
        normal_force * normal[2] - drag * z,
    )


@inlined
def _side_contact(
    teeth: Teeth,
    wheel: WheelKinematics,
    frames: Frames,
    i: int,
    lever: Vector,
    out: Vector,
    loads: Loads,
    wrench: ContactWrench,
) -> ContactWrench:
    """Press the sides of teeth on shoe i, whose bushing's middle is `out` from the wheel centre [m].

    Teeth are chamfered: the force grows over one bushing radius inwards from the tips.

    Returns:
        The wrench of the wheel on shoes, this contact added.
    """
    offset = dot(out, wheel.axle)
    depth = abs(offset) - teeth.side_clearance
    inside = teeth.tip_radius - math.sqrt(max(0.0, dot(out, out) - offset * offset))
    if depth > 0 and inside > 0:
        sign = -1.0 if offset > 0 else 1.0
        closing = sign * dot(relative_velocity_at(frames, i, lever, wheel, out), wheel.axle)
        size = max(0.0, teeth.side_stiffness * depth - teeth.damping * closing)
        size *= sign * min(1.0, inside / teeth.bushing_radius)
        force = size * wheel.axle[0], size * wheel.axle[1], size * wheel.axle[2]
        return apply_contact_force(loads, i, lever, out, force, wrench)
    return wrench
