"""A sprocket's teeth and the bushings between them, compiled (Omar 2014, section 4.2)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.parent_frames import Carriers, Reaction
from segtrack.chain.running_gear.arrays import Teeth, WheelLoads, WheelMotion, Wheels
from segtrack.chain.running_gear.wheel_kinematics import Hub, bear, hub_of, push, slip_at
from segtrack.chain.shoes.loads import Frames, Loads
from segtrack.chain.shoes.model import Constants, Vector
from segtrack.ground.vectors import arm, axis, compiled, dot, inlined, row


@compiled
def add_sprocket(
    carriers: Carriers,
    wheels: Wheels,
    motion: WheelMotion,
    teeth: Teeth,
    near: NDArray[np.intp],
    counts: NDArray[np.intp],
    frames: Frames,
    loads: Loads,
    reaction: Reaction,
    wheel_loads: WheelLoads,
    constants: Constants,
) -> None:
    """Add what a sprocket and the bushings near it do to each other (Omar 2014, equations 26-37).

    A bushing is met where its axis crosses the plane of a row of teeth.

    Args:
        carriers: Of the wheels.
        wheels: W of them.
        motion: The wheels'.
        teeth: Of the driven wheel.
        near: Links near each wheel (W, n).
        counts: How many those are (W,).
        frames: Of n links and two anchors.
        loads: To which the links' are added.
        reaction: To which the carrier's is added.
        wheel_loads: To which the wheels' are added.
        constants: Of the chain, whose rear markers are the bushings.
    """
    if len(teeth.rows) == 0:
        return
    w = teeth.wheel
    hub = hub_of(carriers, wheels, motion, w)
    reach = teeth.tip_radius + teeth.bushing_radius
    total = moment = (0.0, 0.0, 0.0)
    for entry in range(counts[w]):
        i = near[w, entry]
        begin, side = arm(frames.rotations, i, constants.rear), axis(frames.rotations, i, 1)
        p, o = row(frames.positions, i), hub.position
        out = p[0] + begin[0] - o[0], p[1] + begin[1] - o[1], p[2] + begin[2] - o[2]
        offset, straight = dot(out, hub.axle), dot(side, hub.axle)
        if dot(out, out) - offset * offset > 1.5 * reach * reach or abs(straight) < 0.5:
            continue
        for k in range(len(teeth.rows)):
            along = (teeth.rows[k] - offset) / straight
            lever = begin[0] + along * side[0], begin[1] + along * side[1], begin[2] + along * side[2]
            total, moment = _engage(
                carriers,
                wheels.carriers[w],
                motion.angles[w],
                teeth,
                hub,
                frames,
                i,
                lever,
                loads,
                total,
                moment,
            )
        total, moment = _hold(teeth, hub, frames, i, begin, out, loads, total, moment)
    bear(carriers, wheels, w, hub, total, moment, reaction, wheel_loads)


@inlined
def _engage(
    carriers: Carriers,
    carrier: int,
    turn: float,
    teeth: Teeth,
    hub: Hub,
    frames: Frames,
    i: int,
    lever: Vector,
    loads: Loads,
    total: Vector,
    moment: Vector,
) -> tuple[Vector, Vector]:
    """Press a row of teeth on link i's bushing, met at `lever` from the link's centre of mass [m].

    Surfaces count where the bushing's centre is over or under them, corners where it is over none
    of their two surfaces. A centre inside a tooth is thus still pushed out. For what is returned
    see `push`.
    """
    p, o = row(frames.positions, i), hub.position
    out = p[0] + lever[0] - o[0], p[1] + lever[1] - o[1], p[2] + lever[2] - o[2]
    ahead, up = axis(carriers.rotation, carrier, 0), axis(carriers.rotation, carrier, 2)
    x, z = dot(out, ahead), dot(out, up)
    distance = math.sqrt(x * x + z * z)
    if not 0 < distance < teeth.tip_radius + teeth.bushing_radius:
        return total, moment
    turned = math.atan2(x, z) - turn
    angle = turned - teeth.turn * math.floor(turned / teeth.turn + 0.5)
    cosine, sine = math.cos(angle), math.sin(angle)
    a, b = distance * sine, distance * cosine - teeth.pitch_radius
    # Of the seat's radial direction in the track frame: the bushing's direction turned back.
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
            slip = slip_at(frames, i, at, hub, point)
            force = _press(teeth, teeth.bushing_radius - gap, normal, slip)
            total, moment = push(loads, i, at, point, force, total, moment)
    return total, moment


@compiled
def _press(teeth: Teeth, depth: float, normal: Vector, slip: Vector) -> Vector:
    """The force of a tooth on a bushing [N] (Omar 2014, equations 34-35).

    Friction grows with slip up to the slip speed and then stays; as it is printed, equation 35
    would let it fall again.
    """
    closing = dot(slip, normal)
    elastic = teeth.stiffness * depth
    size = max(0.0, elastic - teeth.damping * closing)
    x, y, z = slip[0] - closing * normal[0], slip[1] - closing * normal[1], slip[2] - closing * normal[2]
    speed = math.sqrt(x * x + y * y + z * z)
    share = speed / teeth.slip_speed
    # Over the speed: S_mu / |v| has a limit where nothing slips.
    drag = (2 - share) / teeth.slip_speed if share < 1 else 1 / speed
    drag *= teeth.friction * elastic
    return size * normal[0] - drag * x, size * normal[1] - drag * y, size * normal[2] - drag * z


@compiled
def _hold(
    teeth: Teeth,
    hub: Hub,
    frames: Frames,
    i: int,
    lever: Vector,
    out: Vector,
    loads: Loads,
    total: Vector,
    moment: Vector,
) -> tuple[Vector, Vector]:
    """Press the sides of teeth on link i, whose bushing's middle is `out` from the hub [m].

    Teeth are chamfered: the force grows over one bushing radius inwards from the tips. For
    what is returned see `push`.
    """
    offset = dot(out, hub.axle)
    depth = abs(offset) - teeth.side_clearance
    inside = teeth.tip_radius - math.sqrt(max(0.0, dot(out, out) - offset * offset))
    if depth > 0 and inside > 0:
        sign = -1.0 if offset > 0 else 1.0
        closing = sign * dot(slip_at(frames, i, lever, hub, out), hub.axle)
        size = max(0.0, teeth.side_stiffness * depth - teeth.damping * closing)
        size *= sign * min(1.0, inside / teeth.bushing_radius)
        force = size * hub.axle[0], size * hub.axle[1], size * hub.axle[2]
        return push(loads, i, lever, out, force, total, moment)
    return total, moment
