"""Rails that roll on wheels, compiled (Omar 2014, section 4.3).

A wheel is a surface of revolution, whose profile gives a radius over the axial offset from the
wheel's middle. Rails are straight lines in a shoe, at a few lateral stations. Each touches a
wheel where it is nearest to the axle (equations 38-39), be that within its length or at an end.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.parent_frames import Carriers, Reaction
from segtrack.chain.running_gear.arrays import WheelLoads, WheelMotion, Wheels
from segtrack.chain.running_gear.wheel_kinematics import Hub, bear, hub_of, push, slip_at
from segtrack.chain.shoes.loads import Frames, Loads
from segtrack.chain.shoes.model import Vector
from segtrack.ground.vectors import arm, axis, compiled, cross, dot, inlined, row

Pair = tuple[float, float]
Law = tuple[float, float, float, float]
"""Stiffness, damping, friction and shear stiffness of a contact, as in `Wheels`."""


@compiled
def box_wheels(
    carriers: Carriers,
    wheels: Wheels,
    motion: WheelMotion,
    frames: Frames,
    near: NDArray[np.intp],
    counts: NDArray[np.intp],
) -> None:
    """List the links that can touch each wheel until one of their points has moved by `wheels.margin`.

    Args:
        carriers: Of the wheels.
        wheels: W of them.
        motion: The wheels'; displacements on links that are far away are forgotten.
        frames: Of n links and two anchors.
        near: Filled with the links near each wheel (W, n).
        counts: Filled with how many those are (W,).
    """
    for w in range(len(counts)):
        hub = hub_of(carriers, wheels, motion, w)
        reach, o = wheels.reaches[w] + wheels.margin, hub.position
        counts[w] = 0
        for i in range(near.shape[1]):
            p = row(frames.positions, i)
            away = p[0] - o[0], p[1] - o[1], p[2] - o[2]
            if not _beyond(away, axis(frames.rotations, i, 1), hub.axle, reach, wheels.aside):
                near[w, counts[w]] = i
                counts[w] += 1
            else:
                _let_go(motion.shear, w, i)


@compiled
def add_wheels(
    carriers: Carriers,
    wheels: Wheels,
    motion: WheelMotion,
    near: NDArray[np.intp],
    counts: NDArray[np.intp],
    frames: Frames,
    loads: Loads,
    reaction: Reaction,
    wheel_loads: WheelLoads,
    sub_step: float,
) -> None:
    """Add what wheels and rails do to each other (Omar 2014, equations 38-46).

    With d the depth of a rail in a wheel, the normal force is K d^1.5 + C d', and never pulls
    (equation 44). Friction is not a function of slip velocity, as in equation 35, but an elastic
    displacement, the integral of slip, with a force K_s s + C s' within the cone of friction. A
    braked wheel thus holds a chain without creeping.

    Args:
        carriers: Of the wheels.
        wheels: W of them.
        motion: The wheels'; displacements go on by the slip of this instant.
        near: Links near each wheel (W, n).
        counts: How many those are (W,).
        frames: Of n links and two anchors.
        loads: To which the links' are added.
        reaction: To which the carrier's is added.
        wheel_loads: To which the wheels' are added.
        sub_step: Time since the last call [s].
    """
    stations, pieces, shear, aside = wheels.stations, wheels.pieces, motion.shear, wheels.aside
    rails = wheels.rail, wheels.span
    law = wheels.stiffness, wheels.damping, wheels.friction, wheels.shear_stiffness
    for w in range(len(counts)):
        if wheels.rolls[w]:
            hub = hub_of(carriers, wheels, motion, w)
            o, reach, radius = hub.position, wheels.reaches[w], wheels.radii[w]
            total = moment = (0.0, 0.0, 0.0)
            for entry in range(counts[w]):
                i = near[w, entry]
                p = row(frames.positions, i)
                away = p[0] - o[0], p[1] - o[1], p[2] - o[2]
                if _beyond(away, axis(frames.rotations, i, 1), hub.axle, reach, aside):
                    _let_go(shear, w, i)
                else:
                    total, moment = _roll(
                        rails,
                        stations,
                        pieces,
                        radius,
                        law,
                        shear,
                        w,
                        hub,
                        frames,
                        i,
                        away,
                        loads,
                        sub_step,
                        total,
                        moment,
                    )
            bear(carriers, wheels, w, hub, total, moment, reaction, wheel_loads)


@inlined
def _beyond(away: Vector, side: Vector, axle: Vector, reach: float, aside: float) -> bool:
    """Whether a link is out of a wheel's reach.

    Args:
        away: From the wheel's middle to the link's centre of mass [m].
        side: The link's y axis.
        axle: Of the wheel.
        reach: Of the wheel where the two are parallel [m].
        aside: Greatest lateral offset of the link's points [m]; it reaches farther by its share across
            the axle.
    """
    offset, straight = dot(away, axle), dot(side, axle)
    farthest = reach + aside * math.sqrt(max(0.0, 1 - straight * straight))
    return dot(away, away) - offset * offset > farthest * farthest


@inlined
def _roll(
    rails: tuple[Vector, Vector],
    stations: NDArray[np.float64],
    pieces: NDArray[np.float64],
    radius: float,
    law: Law,
    shear: NDArray[np.float64],
    w: int,
    hub: Hub,
    frames: Frames,
    i: int,
    away: Vector,
    loads: Loads,
    sub_step: float,
    total: Vector,
    moment: Vector,
) -> tuple[Vector, Vector]:
    """Press wheel w on link i, `away` from it [m]; for what is returned see `push`."""
    begin, span = arm(frames.rotations, i, rails[0]), arm(frames.rotations, i, rails[1])
    side, axle = axis(frames.rotations, i, 1), hub.axle
    stiffness, damping, _, _ = law
    skew = dot(span, axle)
    flat = span[0] - skew * axle[0], span[1] - skew * axle[1], span[2] - skew * axle[2]
    scale = dot(flat, flat)
    for s in range(len(stations)):
        y = stations[s]
        first = begin[0] + y * side[0], begin[1] + y * side[1], begin[2] + y * side[2]
        share = -(dot(away, flat) + dot(first, flat))
        share = min(max(share / scale, 0.0), 1.0) if scale > 0 else 0.0
        lever = first[0] + share * span[0], first[1] + share * span[1], first[2] + share * span[2]
        out = away[0] + lever[0], away[1] + lever[1], away[2] + lever[2]
        offset = dot(out, axle)
        square = dot(out, out) - offset * offset
        depth, slope = -1.0, 0.0
        if 0 < square < radius * radius:
            depth, slope = _depth(pieces, w, offset, math.sqrt(square))
        if depth <= 0:
            shear[w, i, s, 0] = shear[w, i, s, 1] = 0.0
            continue

        steep, far = 1 / math.sqrt(1 + slope * slope), 1 / math.sqrt(square)
        depth *= steep
        radial = (
            far * (out[0] - offset * axle[0]),
            far * (out[1] - offset * axle[1]),
            far * (out[2] - offset * axle[2]),
        )
        normal = (
            steep * (radial[0] - slope * axle[0]),
            steep * (radial[1] - slope * axle[1]),
            steep * (radial[2] - slope * axle[2]),
        )
        around = cross(axle, radial)
        across = cross(normal, around)
        slip = slip_at(frames, i, lever, hub, out)
        size = max(0.0, stiffness * depth * math.sqrt(depth) - damping * dot(slip, normal))
        at, by = dot(slip, around), dot(slip, across)
        stretch = shear[w, i, s, 0] + sub_step * at, shear[w, i, s, 1] + sub_step * by
        stretch, grip = _grip(law, stretch, (at, by), size)
        shear[w, i, s, 0], shear[w, i, s, 1] = stretch
        force = (
            size * normal[0] + grip[0] * around[0] + grip[1] * across[0],
            size * normal[1] + grip[0] * around[1] + grip[1] * across[1],
            size * normal[2] + grip[0] * around[2] + grip[1] * across[2],
        )
        total, moment = push(loads, i, lever, out, force, total, moment)
    return total, moment


@inlined
def _let_go(shear: NDArray[np.float64], w: int, i: int) -> None:
    """Forget how far link i's rails are displaced on wheel w; by single numbers, which is fastest."""
    for s in range(shear.shape[2]):
        shear[w, i, s, 0] = shear[w, i, s, 1] = 0.0


@inlined
def _depth(pieces: NDArray[np.float64], w: int, offset: float, radius: float) -> Pair:
    """How much a wheel's profile is above a radius at an axial offset [m], and its slope there.

    Beside the wheel it is nowhere above.
    """
    if offset >= pieces[w, 0, 0]:
        for k in range(pieces.shape[1]):
            if offset <= pieces[w, k, 1]:
                past = offset - pieces[w, k, 0]
                slope = pieces[w, k, 3] + past * pieces[w, k, 4]
                return pieces[w, k, 2] + past * (slope - past * pieces[w, k, 4] / 2) - radius, slope
    return -1.0, 0.0


@inlined
def _grip(law: Law, stretch: Pair, slip: Pair, size: float) -> tuple[Pair, Pair]:
    """What of a displacement [m] friction holds, and the force [N], under a normal force `size` [N]."""
    _, c, friction, k = law
    limit = friction * size
    u, v = stretch
    square = k * k * (u * u + v * v)
    if square > limit * limit:
        kept = limit / math.sqrt(square)
        u, v = kept * u, kept * v
    a, b = -k * u - c * slip[0], -k * v - c * slip[1]
    square = a * a + b * b
    if square > limit * limit:
        kept = limit / math.sqrt(square)
        a, b = kept * a, kept * b
    return (u, v), (a, b)
