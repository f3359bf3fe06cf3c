"""Contact of rails with wheels (Omar 2014, section 4.2)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.running_gear_arrays import RunningGearArrays, WheelContactParameters, Wheels
from segtrack.chain.shoe_dynamics import Frames, Loads
from segtrack.chain.shoes import Vector
from segtrack.chain.wheel_dynamics import (
    ContactWrench,
    WheelKinematics,
    add_to_wrench,
    apply_reaction_to_wheel,
    relative_velocity_at,
    wheel_kinematics,
)
from segtrack.ground.kernels import compiled, inlined
from segtrack.ground.parent_frames import ParentFrames, Reaction
from segtrack.ground.vectors import add, arm, axis, cross, dot, row, sum_of

Pair = tuple[float, float]
"""Components around the axle and across."""


@compiled
def find_wheel_candidates(
    running_gear: RunningGearArrays, parents: ParentFrames, frames: Frames, most: float = math.inf
) -> None:
    """List the shoes that can touch each wheel until a point has moved by `Wheels.margin`, or by `most` [m].

    Shear displacements on shoes that are far away are forgotten.
    """
    wheels, state, candidates = running_gear.wheels, running_gear.state, running_gear.candidates
    for w in range(len(candidates.counts)):
        wheel = wheel_kinematics(parents, wheels, state, w)
        reach, o = wheels.reaches[w] + min(wheels.margin, most), wheel.position
        candidates.counts[w] = 0
        for i in range(candidates.shoes.shape[1]):
            p = row(frames.positions, i)
            away = p[0] - o[0], p[1] - o[1], p[2] - o[2]
            side = axis(frames.rotations, i, 1)
            if not _is_out_of_reach(away, side, wheel.axle, reach, wheels.max_lateral_offset):
                candidates.shoes[w, candidates.counts[w]] = i
                candidates.counts[w] += 1
            else:
                _release(state.shear_displacements, w, i)


@compiled
def add_wheel_contacts(
    running_gear: RunningGearArrays,
    parents: ParentFrames,
    frames: Frames,
    loads: Loads,
    reaction: Reaction,
    sub_step: float,
) -> None:
    """Add the contact forces between wheels and rails (Omar 2014, equations 38-46).

    With d the depth of a rail in a wheel, the normal force is K d^1.5 + C d', and never pulls
    (equation 44). Friction is not a function of slip velocity, as in equation 35, but an elastic
    displacement, the integral of slip, with a force K_s s + C s' within the cone of friction. A
    braked wheel thus holds a chain without creeping.

    Args:
        running_gear: Wheels; their shear displacements go on by the slip of this instant.
        parents: Parent links of the wheels.
        frames: Kinematics of n shoes and two anchors.
        loads: Added to: loads on the shoes.
        reaction: Added to: loads on the parent links.
        sub_step: Time since the last call [s].
    """
    wheels, state, candidates = running_gear.wheels, running_gear.state, running_gear.candidates
    shear, lateral = state.shear_displacements, wheels.max_lateral_offset
    for w in range(len(candidates.counts)):
        if wheels.rolls[w]:
            wheel = wheel_kinematics(parents, wheels, state, w)
            o, reach = wheel.position, wheels.reaches[w]
            wrench = ContactWrench((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
            for entry in range(candidates.counts[w]):
                i = candidates.shoes[w, entry]
                p = row(frames.positions, i)
                away = p[0] - o[0], p[1] - o[1], p[2] - o[2]
                if _is_out_of_reach(away, axis(frames.rotations, i, 1), wheel.axle, reach, lateral):
                    _release(shear, w, i)
                else:
                    wrench = _rail_contacts(wheels, w, wheel, shear, frames, i, away, loads, sub_step, wrench)
            apply_reaction_to_wheel(parents, wheels, w, wheel, wrench, reaction, running_gear.loads)


@inlined
def _is_out_of_reach(away: Vector, side: Vector, axle: Vector, reach: float, lateral: float) -> bool:
    """Return whether no point of a shoe can touch a wheel.

    Args:
        away: From the wheel centre to the shoe's centre of mass [m].
        side: y axis of the shoe.
        axle: Direction of the wheel's axle.
        reach: Reach of the wheel where the two are parallel [m].
        lateral: Largest lateral offset of the shoe's points [m]; its component across the axle adds
            to the reach.
    """
    offset, straight = dot(away, axle), dot(side, axle)
    square = dot(away, away) - offset * offset
    if square <= reach * reach:
        return False
    farthest = reach + lateral * math.sqrt(max(0.0, 1 - straight * straight))
    return square > farthest * farthest


@inlined
def _rail_contacts(
    wheels: Wheels,
    w: int,
    wheel: WheelKinematics,
    shear: NDArray[np.float64],
    frames: Frames,
    i: int,
    away: Vector,
    loads: Loads,
    sub_step: float,
    wrench: ContactWrench,
) -> ContactWrench:
    """Press wheel w on the rails of shoe i, `away` from it [m]; returns the wrench with theirs added."""
    begin, span = arm(frames.rotations, i, wheels.rail_start), arm(frames.rotations, i, wheels.rail_span)
    side, axle, law, radius = axis(frames.rotations, i, 1), wheel.axle, wheels.contact, wheels.radii[w]
    skew = dot(span, axle)
    flat = span[0] - skew * axle[0], span[1] - skew * axle[1], span[2] - skew * axle[2]
    square_length, ahead, beside = dot(flat, flat), dot(away, flat) + dot(begin, flat), dot(side, flat)
    per_length = 1 / square_length if square_length > 0 else 0.0
    total, torque = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for s in range(len(wheels.stations)):
        y = wheels.stations[s]
        first = begin[0] + y * side[0], begin[1] + y * side[1], begin[2] + y * side[2]
        fraction = min(max(-(ahead + y * beside) * per_length, 0.0), 1.0)
        lever = (first[0] + fraction * span[0], first[1] + fraction * span[1], first[2] + fraction * span[2])
        out = away[0] + lever[0], away[1] + lever[1], away[2] + lever[2]
        offset = dot(out, axle)
        square = dot(out, out) - offset * offset
        depth, slope, far = -1.0, 0.0, 0.0
        if 0 < square < radius * radius:
            far = 1 / math.sqrt(square)
            depth, slope = _profile_depth(wheels.profile_pieces, w, offset, square * far)
        if depth <= 0:
            shear[w, i, s, 0] = shear[w, i, s, 1] = 0.0
            continue

        steep = 1 / math.sqrt(1 + slope * slope) if slope != 0.0 else 1.0
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
        velocity = relative_velocity_at(frames, i, lever, wheel, out)
        rising = dot(velocity, normal)
        normal_force = max(0.0, law.stiffness * depth * math.sqrt(depth) - law.damping * rising)
        slip = dot(velocity, around), dot(velocity, across)
        displacement = shear[w, i, s, 0] + sub_step * slip[0], shear[w, i, s, 1] + sub_step * slip[1]
        displacement, friction = _rail_friction(law, displacement, slip, normal_force)
        shear[w, i, s, 0], shear[w, i, s, 1] = displacement
        force = (
            normal_force * normal[0] + friction[0] * around[0] + friction[1] * across[0],
            normal_force * normal[1] + friction[0] * around[1] + friction[1] * across[1],
            normal_force * normal[2] + friction[0] * around[2] + friction[1] * across[2],
        )
        total, torque = sum_of(total, force), sum_of(torque, cross(lever, force))
        wrench = add_to_wrench(wrench, out, force)
    add(loads.forces, i, total, 1.0)
    add(loads.torques, i, torque, 1.0)
    return wrench


@inlined
def _release(shear: NDArray[np.float64], w: int, i: int) -> None:
    """Set shear displacements of shoe i's rails on wheel w to zero; by single numbers, which is fastest."""
    for s in range(shear.shape[2]):
        shear[w, i, s, 0] = shear[w, i, s, 1] = 0.0


@inlined
def _profile_depth(pieces: NDArray[np.float64], w: int, offset: float, radius: float) -> Pair:
    """Height of wheel w's profile above a radius at an axial offset [m], and its slope there.

    Beside the wheel the height is negative.
    """
    if offset >= pieces[w, 0, 0]:
        for k in range(pieces.shape[1]):
            if offset <= pieces[w, k, 1]:
                past = offset - pieces[w, k, 0]
                slope = pieces[w, k, 3] + past * pieces[w, k, 4]
                return pieces[w, k, 2] + past * (slope - past * pieces[w, k, 4] / 2) - radius, slope
    return -1.0, 0.0


@inlined
def _rail_friction(
    law: WheelContactParameters, displacement: Pair, slip: Pair, normal_force: float
) -> tuple[Pair, Pair]:
    """Project a shear displacement [m] on the cone of friction; returns it and the friction force [N]."""
    k, c = law.tangential_stiffness, law.damping
    limit = law.friction * normal_force
    u, v = displacement
    square = k * k * (u * u + v * v)
    if square > limit * limit:
        cone_scale = limit / math.sqrt(square)
        u, v = cone_scale * u, cone_scale * v
    a, b = -k * u - c * slip[0], -k * v - c * slip[1]
    square = a * a + b * b
    if square > limit * limit:
        cone_scale = limit / math.sqrt(square)
        a, b = cone_scale * a, cone_scale * b
    return (u, v), (a, b)
