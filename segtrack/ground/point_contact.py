"""Contact of points and of the ground's edges with a part, from their depth in the ground."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from segtrack.ground.broadphase import ALL_FACES, MAX_SOLIDS_PER_POINT, NONE, ContactHistory, find_slot
from segtrack.ground.contact_laws import ContactParameters, rigid_friction, soil_pressure, soil_shear
from segtrack.ground.depth import Corners, penetration_depth_grid, penetration_depth_solid
from segtrack.ground.pack import RIGID, Ground
from segtrack.kernels import Vector, compiled, dot, inlined, row, sum_of, without_share
from segtrack.terrain import SoilConstants


@inlined
def stands_for_floor(
    ground: Ground, solids: NDArray[np.int32], count: int, near: int, point: Vector, depth: float
) -> bool:
    """Return whether a point that is in several solids of one floor touches the floor in this one.

    It does in the solid in which it is deepest, the first of equals, since the way out of all of them is at
    least that long.

    Args:
        ground: The ground.
        solids: Candidates as in `Ground.bounds` (n,).
        count: Number of them that count, the first ones.
        near: Place of the solid among them.
        point: Point in the world [m].
        depth: Its depth in that solid [m].
    """
    for k in range(count):
        if k != near and ground.surfaces[solids[k]] == ground.surfaces[solids[near]]:
            other, _ = penetration_depth_solid(ground, solids[k], ALL_FACES, point, math.inf, True)
            if other > depth or (other == depth and k < near):
                return False
    return True


@compiled
def soil_row(soils: NDArray[np.float64], i: int) -> SoilConstants:
    """Soil constants in row `i` of `Ground.soils`."""
    return SoilConstants(
        soils[i, 0],
        soils[i, 1],
        soils[i, 2],
        soils[i, 3],
        soils[i, 4],
        soils[i, 5],
        soils[i, 6],
        soils[i, 7],
        soils[i, 8],
        soils[i, 9],
        soils[i, 10],
        soils[i, 11],
    )


@compiled
def soil_between(ground: Ground, corners: Corners) -> SoilConstants:
    """Soil at a place in a triangle of a height grid (Omar 2014, equation 47).

    Each constant is the mean of those at the three corners, weighted by their shares; for friction, the
    tangent of its angle is averaged, not the angle. The shear law, `tanh`, is that of the first corner.

    Args:
        ground: The ground.
        corners: Corners and their shares of the place, as `penetration_depth_grid` returns them.
    """
    a = soil_row(ground.soils, ground.point_soils[corners[0][0]])
    b = soil_row(ground.soils, ground.point_soils[corners[0][1]])
    c = soil_row(ground.soils, ground.point_soils[corners[0][2]])
    p, q, r = corners[1]
    return SoilConstants(
        p * a.sinkage_exponent + q * b.sinkage_exponent + r * c.sinkage_exponent,
        p * a.cohesive_modulus + q * b.cohesive_modulus + r * c.cohesive_modulus,
        p * a.frictional_modulus + q * b.frictional_modulus + r * c.frictional_modulus,
        p * a.cohesion + q * b.cohesion + r * c.cohesion,
        p * a.friction + q * b.friction + r * c.friction,
        p * a.shear_deformation_modulus + q * b.shear_deformation_modulus + r * c.shear_deformation_modulus,
        p * a.unloading_stiffness + q * b.unloading_stiffness + r * c.unloading_stiffness,
        p * a.unloading_growth + q * b.unloading_growth + r * c.unloading_growth,
        p * a.unloading_ratio + q * b.unloading_ratio + r * c.unloading_ratio,
        p * a.slip_damping + q * b.slip_damping + r * c.slip_damping,
        p * a.slip_speed + q * b.slip_speed + r * c.slip_speed,
        a.tanh,
    )


@inlined
def touch_point(
    ground: Ground,
    law: ContactParameters,
    history: ContactHistory,
    point_index: int,
    solids: NDArray[np.intp],
    count: int,
    point: Vector,
    velocity: Vector,
    lateral: Vector,
    area: float,
    side: float,
    weight: float,
    step: float,
) -> tuple[Vector, Vector, float, float, float]:
    """Force of the ground on one point; its contacts are advanced by `step` [s].

    With a step of zero contacts are found, but not sheared.

    Args:
        ground: The ground.
        law: Contact parameters of the part.
        history: Memory of the contacts, changed in place.
        point_index: Index of the point there.
        solids: Candidates as in `Ground.bounds` (n,).
        count: Number of them that count, the first ones.
        point: Point in the world [m].
        velocity: Velocity in the world [m/s].
        lateral: Direction across the track, in the world.
        area: Area that the point stands for, in soil [m^2].
        side: Smaller side b of the face to which it belongs, in soil [m].
        weight: Fraction of the law's stiffness and damping that the point has.
        step: Duration [s].

    Returns:
        Force [N] and its part along surfaces [N], in the world; sum of the normal forces [N];
        greatest depth [m]; and greatest pressure [Pa].
    """
    convex = len(ground.planes)
    total, drag, normal_force, deepest, highest = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0, 0.0, 0.0
    first, touched = point_index * MAX_SOLIDS_PER_POINT, 0
    solid_ids, shears, sinkages = history.solid_ids, history.shear_displacements, history.sinkages
    for near in range(count):
        solid = solids[near]
        surface = ground.surfaces[solid]
        if solid < convex:
            depth, normal = penetration_depth_solid(ground, solid, ALL_FACES, point, 0.0, False)
            soil, corners = ground.solid_soils[solid], ((0, 0, 0), (1.0, 0.0, 0.0))
        else:
            depth, normal, corners = penetration_depth_grid(ground, solid - convex, point)
            soil = ground.point_soils[corners[0][0]]
        if depth <= 0:
            continue
        if surface != solid and not stands_for_floor(ground, solids, count, near, point, depth):
            continue
        slot = find_slot(solid_ids, first, first + MAX_SOLIDS_PER_POINT, surface)
        if slot == NONE:
            continue
        if solid_ids[slot] == NONE:
            solid_ids[slot], sinkages[slot] = surface, 0.0
            shears[slot, 0], shears[slot, 1], shears[slot, 2] = 0.0, 0.0, 0.0
        touched |= 1 << (slot - first)

        rising = dot(velocity, normal)
        slip = without_share(velocity, rising, normal)
        shear = row(shears, slot)
        # N = max(0, k d - c v_n) on rigid ground; in soil max(0, p A - c v_n).
        if soil == RIGID:
            push = max(0.0, weight * (law.stiffness * depth - law.damping * rising))
            limit = law.friction * ground.friction[solid] * push
            shear, along = rigid_friction(shear, normal, lateral, slip, limit, law, weight, step)
        else:
            there = soil_row(ground.soils, soil) if solid < convex else soil_between(ground, corners)
            steepest = weight * law.stiffness / area
            pressure, slope = soil_pressure(there, side, depth, sinkages[slot], steepest)
            sinkages[slot] = max(depth, sinkages[slot])
            if pressure == 0:
                continue
            damping = weight * law.damping * math.sqrt(slope / steepest)
            push = max(0.0, pressure * area - damping * rising)
            shear, along = soil_shear(shear, normal, slip, pressure, push, area, there, law, weight, step)
        shears[slot, 0], shears[slot, 1], shears[slot, 2] = shear
        total, drag = sum_of(total, without_share(along, -push, normal)), sum_of(drag, along)
        normal_force += push
        deepest, highest = max(deepest, depth), max(highest, push / area)
    for slot in range(MAX_SOLIDS_PER_POINT):
        if solid_ids[first + slot] != NONE and not touched & (1 << slot):
            solid_ids[first + slot] = NONE
    return total, drag, normal_force, deepest, highest


FACE = 5
"""Numbers a face of a piece has: outward normal, offset, and whether it is exposed (1) or not (0)."""


@compiled
def point_between(begin: Vector, end: Vector, fraction: float) -> Vector:
    """Point at a fraction of the way from `begin` to `end`."""
    return (
        begin[0] + fraction * (end[0] - begin[0]),
        begin[1] + fraction * (end[1] - begin[1]),
        begin[2] + fraction * (end[2] - begin[2]),
    )


@compiled
def edge_in_piece(
    piece: NDArray[np.float64], count: int, begin: Vector, end: Vector
) -> tuple[float, float, Vector, float]:
    """Stretch of an edge inside a convex piece, and the way out.

    Args:
        piece: Its faces (faces, 5), see `FACE`.
        count: Number of its faces.
        begin: One end of the edge, in the piece's frame [m].
        end: The other end [m].

    Returns:
        Fractions of the edge between which it lies inside, the first greater than the last where it
        does not touch; outward normal and offset [m] of the exposed face nearest to the middle.
    """
    first, last = 0.0, 1.0
    outside = (1.0, 0.0, (0.0, 0.0, 1.0), 0.0)
    for f in range(count):
        # Heights of the ends over face n.x = c; the edge passes it at their ratio.
        at = piece[f, 0] * begin[0] + piece[f, 1] * begin[1] + piece[f, 2] * begin[2] - piece[f, 3]
        to = piece[f, 0] * end[0] + piece[f, 1] * end[1] + piece[f, 2] * end[2] - piece[f, 3]
        if at > 0 and to > 0:
            return outside
        if at > 0:
            first = max(first, at / (at - to))
        elif to > 0:
            last = min(last, at / (at - to))
    # The way out is over the exposed face that the middle of the stretch is nearest to: least c - n.x.
    if not first < last:
        return outside
    middle = point_between(begin, end, (first + last) / 2)
    least, nearest = math.inf, 0
    for f in range(count):
        depth = piece[f, 3] - piece[f, 0] * middle[0] - piece[f, 1] * middle[1] - piece[f, 2] * middle[2]
        if depth < least and piece[f, 4] != 0.0:
            least, nearest = depth, f
    return first, last, (piece[nearest, 0], piece[nearest, 1], piece[nearest, 2]), piece[nearest, 3]


@compiled
def touch_edge_end(
    law: ContactParameters,
    shear: Vector,
    depth: float,
    velocity: Vector,
    inwards: Vector,
    lateral: Vector,
    friction: float,
    weight: float,
    step: float,
) -> tuple[Vector, Vector, Vector, float]:
    """Force of one end of an edge's stretch on the part that it has entered.

    Args:
        law: Contact parameters of the part.
        shear: Shear displacement before the step, in the world [m].
        depth: Depth of the end under the face through which it is pushed out [m].
        velocity: Velocity of the part at the end, in the world [m/s].
        inwards: Normal of that face into the part, in the world.
        lateral: Direction across the track, in the world.
        friction: Coefficient between part and ground [-].
        weight: Fraction of the law's stiffness and damping that the end has.
        step: Duration [s].

    Returns:
        Force on the part [N], its component along the face [N], the shear displacement after the
        step [m], all in the world, and the normal force [N].
    """
    rising = dot(velocity, inwards)
    push = max(0.0, weight * (law.stiffness * depth - law.damping * rising))
    slip = without_share(velocity, rising, inwards)
    shear, along = rigid_friction(shear, inwards, lateral, slip, friction * push, law, weight, step)
    return without_share(along, -push, inwards), along, shear, push
