"""Contact of rails with wheels (Omar 2014, section 4.2)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.contact_rows import (
    CLOSING_SPEED,
    LATERAL,
    NORMAL,
    SHEAR,
    ContactRows,
    close_pair,
    press_pair,
    turned,
    vector_in,
    write_row,
)
from segtrack.chain.running_gear_arrays import RunningGearArrays, WheelContactParameters, Wheels
from segtrack.chain.shoe_dynamics import Frames, Loads
from segtrack.chain.shoes import Vector
from segtrack.chain.wheel_dynamics import (
    ContactWrench,
    WheelKinematics,
    apply_reaction_to_wheel,
    apply_to_shoe,
    relative_twist,
    wheel_kinematics,
)
from segtrack.ground import ContactParameters, ParentFrames, Reaction
from segtrack.kernels import arm, axis, compiled, cross, dot, inlined, row, scaled, sum_of

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
def find_wheel_contacts(
    running_gear: RunningGearArrays, parents: ParentFrames, frames: Frames, ahead: float
) -> None:
    """Find the contacts between wheels and rails, and those that may begin before the next search.

    Args:
        running_gear: Wheels; `rails` is written, and shear displacements of what does not touch are cleared.
        parents: Parent links of the wheels.
        frames: Kinematics of n shoes and two anchors.
        ahead: Time for which the contacts serve, 0 for this instant alone [s].
    """
    wheels, state, candidates = running_gear.wheels, running_gear.state, running_gear.candidates
    shear, rows, lateral = state.shear_displacements, running_gear.rails, wheels.max_lateral_offset
    near, row_index, pair = CLOSING_SPEED * ahead, 0, 0
    for w in range(len(candidates.counts)):
        if wheels.rolls[w]:
            wheel = wheel_kinematics(parents, wheels, state, w)
            o, reach = wheel.position, wheels.reaches[w] + near
            for entry in range(candidates.counts[w]):
                i = candidates.shoes[w, entry]
                p = row(frames.positions, i)
                away = p[0] - o[0], p[1] - o[1], p[2] - o[2]
                if _is_out_of_reach(away, axis(frames.rotations, i, 1), wheel.axle, reach, lateral):
                    _release(shear, w, i)
                else:
                    last = _find_rail_contacts(
                        wheels, w, wheel, shear, frames, i, away, near, rows, row_index
                    )
                    pair, row_index = close_pair(rows, pair, i, row_index, last), last
        rows.pair_ends[w] = pair


@compiled
def add_wheel_contacts(
    running_gear: RunningGearArrays,
    parents: ParentFrames,
    frames: Frames,
    loads: Loads,
    reaction: Reaction,
    age: float,
    sub_step: float,
) -> None:
    """Add the forces of the contacts between wheels and rails (Omar 2014, equations 38-46).

    With d the depth of a rail in a wheel, the normal force is K d^1.5 + C d', and never pulls
    (equation 44). Friction is not a function of slip velocity, as in equation 35, but an elastic
    displacement, the integral of slip, with a force K_s s + C s' within the cone of friction. A
    braked wheel thus holds a chain without creeping.

    Held contacts stay where they are under the wheel's centre, and turn with their shoe: a rail is straight,
    and its nearest point is where a wheel's radius stands on it.

    Args:
        running_gear: Wheels, and their contacts as they were found.
        parents: Parent links of the wheels.
        frames: Kinematics of n shoes and two anchors.
        loads: Added to: loads on the shoes.
        reaction: Added to: loads on the parent links.
        age: Time since the contacts were found [s].
        sub_step: [s]
    """
    wheels, rows = running_gear.wheels, running_gear.rails
    pair, begin = 0, 0
    for w in range(len(rows.pair_ends)):
        if pair == rows.pair_ends[w]:
            continue
        law = _law(wheels, w)
        wheel = wheel_kinematics(parents, wheels, running_gear.state, w)
        wrench = ContactWrench((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
        while pair < rows.pair_ends[w]:
            i, end = rows.shoes[pair], rows.ends[pair]
            away, velocity, spin = relative_twist(frames, i, wheel)
            turn = scaled(row(frames.angular_velocities_world, i), age)
            force, moment = press_pair(
                rows,
                begin,
                end,
                turned(velocity, turn, -1.0),
                turned(spin, turn, -1.0),
                law,
                True,
                age > 0,
                sub_step,
            )
            force, moment = turned(force, turn, 1.0), turned(moment, turn, 1.0)
            wrench = apply_to_shoe(loads, i, away, force, moment, wrench)
            pair, begin = pair + 1, end
        apply_reaction_to_wheel(parents, wheels, w, wheel, wrench, reaction, running_gear.loads)


@compiled
def keep_rail_shear(running_gear: RunningGearArrays) -> None:
    """Write the shear displacements of the contacts to where the next search looks for them."""
    shear, rows = running_gear.state.shear_displacements, running_gear.rails
    begin, pair = 0, 0
    for w in range(len(rows.pair_ends)):
        while pair < rows.pair_ends[w]:
            for r in range(begin, rows.ends[pair]):
                own, across = vector_in(rows.numbers, r, SHEAR), vector_in(rows.numbers, r, LATERAL)
                around = cross(across, vector_in(rows.numbers, r, NORMAL))
                i, s = rows.shoes[pair], rows.places[r]
                shear[w, i, s, 0], shear[w, i, s, 1] = dot(own, around), dot(own, across)
            pair, begin = pair + 1, rows.ends[pair]


@inlined
def _law(wheels: Wheels, w: int) -> ContactParameters:
    """Law of a rail on wheel w: it damps along the surface as along the normal."""
    laws = wheels.contacts
    law = WheelContactParameters(laws[w, 0], laws[w, 1], laws[w, 2], laws[w, 3])
    return ContactParameters(
        law.friction, law.stiffness, law.damping, law.tangential_stiffness, law.damping, 1.0, 0.0
    )


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
def _find_rail_contacts(
    wheels: Wheels,
    w: int,
    wheel: WheelKinematics,
    shear: NDArray[np.float64],
    frames: Frames,
    i: int,
    away: Vector,
    near: float,
    rows: ContactRows,
    r: int,
) -> int:
    """Write the contacts of wheel w with the rails of shoe i, `away` from it [m], from row r on.

    Returns:
        The row behind the last one.
    """
    begin, span = arm(frames.rotations, i, wheels.rail_start), arm(frames.rotations, i, wheels.rail_span)
    side, axle, radius = axis(frames.rotations, i, 1), wheel.axle, wheels.radii[w] + near
    skew = dot(span, axle)
    flat = span[0] - skew * axle[0], span[1] - skew * axle[1], span[2] - skew * axle[2]
    square_length, ahead, beside = dot(flat, flat), dot(away, flat) + dot(begin, flat), dot(side, flat)
    per_length = 1 / square_length if square_length > 0 else 0.0
    friction = _law(wheels, w).friction
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
        if depth <= -near:
            shear[w, i, s, 0] = shear[w, i, s, 1] = 0.0
            continue

        steep = 1 / math.sqrt(1 + slope * slope) if slope != 0.0 else 1.0
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
        own = sum_of(scaled(around, shear[w, i, s, 0]), scaled(across, shear[w, i, s, 1]))
        write_row(rows, r, s, out, normal, across, steep * depth, own, friction)
        r += 1
    return r


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
