"""Contact of one point of a moving part with the ground (Omar 2014, section 5).

The point is pushed out of the solid in which it is, through the nearest face, so that a step's
upright face is met as well as its top. Where solids meet, a point touches more than one of them, and
each contact remembers its own shear. A point that loses touch forgets its contact, and soil there
is untouched for the next one.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from segtrack.ground.contact_laws import rigid_friction, soil_pressure, soil_shear
from segtrack.ground.history import MAX_SOLIDS_PER_POINT, NONE, ContactHistory, find_slot
from segtrack.ground.pack import RIGID, Ground
from segtrack.ground.parameters import ContactParameters
from segtrack.ground.penetration import (
    penetration_depth_grid,
    penetration_depth_solid,
    soil_between,
    soil_row,
)
from segtrack.ground.vectors import Vector, dot, inlined, row, sum_of, without_share

_STICKING = 0.98
"""Square of a friction force over that of its limit, below which a point sticks [-]. Across a track whose
ellipse is narrower there, a sliding point counts as sticking."""


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
) -> tuple[Vector, Vector, float, float, float, bool]:
    """Force of the ground on one point; its contacts are advanced by `step` [s].

    With a step of zero contacts are found, but not sheared.

    Args:
        ground: The ground.
        law: Contact parameters of the part.
        history: Memory of the contacts, changed in place.
        point_index: Index of the point there.
        solids: Candidates as in `Ground.bounds` (n,).
        count: How many of them count.
        point: In the world [m].
        velocity: In the world [m/s].
        lateral: Direction across the track, in the world.
        area: That the point stands for, in soil [m^2].
        side: Smaller side b of the face to which it belongs, in soil [m].
        weight: Fraction of the law's stiffness and damping that the point has.
        step: Duration [s].

    Returns:
        Force [N] and its part along surfaces [N], in the world; sum of the normal forces [N];
        greatest depth [m]; greatest pressure [Pa]; and whether it sticks to a surface, whose shear then
        is a spring.
    """
    convex = len(ground.planes)
    total, drag, normal_force, deepest, highest = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0, 0.0, 0.0
    first, touched, sticks = point_index * MAX_SOLIDS_PER_POINT, 0, False
    solid_ids, shears, sinkages = history.solid_ids, history.shear_displacements, history.sinkages
    for near in range(count):
        solid = solids[near]
        if solid < convex:
            depth, normal = penetration_depth_solid(ground.planes, ground.faces[solid], solid, point)
            soil, corners = ground.solid_soils[solid], ((0, 0, 0), (1.0, 0.0, 0.0))
        else:
            depth, normal, corners = penetration_depth_grid(ground, solid - convex, point)
            soil = ground.point_soils[corners[0][0]]
        if depth <= 0:
            continue
        slot = find_slot(solid_ids, first, first + MAX_SOLIDS_PER_POINT, solid)
        if slot == NONE:
            continue
        if solid_ids[slot] == NONE:
            solid_ids[slot], sinkages[slot] = solid, 0.0
            shears[slot, 0], shears[slot, 1], shears[slot, 2] = 0.0, 0.0, 0.0
        touched |= 1 << (slot - first)

        rising = dot(velocity, normal)
        slip = without_share(velocity, rising, normal)
        shear = row(shears, slot)
        if soil == RIGID:
            push = max(0.0, weight * (law.stiffness * depth - law.damping * rising))
            limit = law.friction * ground.friction[solid] * push
            shear, along = rigid_friction(shear, normal, lateral, slip, limit, law, weight, step)
            sticks |= dot(along, along) < _STICKING * limit * limit
        else:
            there = soil_row(ground.soils, soil) if solid < convex else soil_between(ground, corners)
            steepest = weight * law.stiffness / area
            pressure, slope = soil_pressure(there, side, depth, sinkages[slot], steepest)
            sinkages[slot] = max(depth, sinkages[slot])
            if pressure == 0:
                continue
            damping = weight * law.damping * math.sqrt(slope / steepest)
            push = max(0.0, pressure * area - damping * rising)
            shear, along = soil_shear(shear, normal, slip, pressure, area, there, law, weight, step)
            sticks = True
        shears[slot, 0], shears[slot, 1], shears[slot, 2] = shear
        total, drag = sum_of(total, without_share(along, -push, normal)), sum_of(drag, along)
        normal_force += push
        deepest, highest = max(deepest, depth), max(highest, push / area)
    for slot in range(MAX_SOLIDS_PER_POINT):
        if solid_ids[first + slot] != NONE and not touched & (1 << slot):
            solid_ids[first + slot] = NONE
    return total, drag, normal_force, deepest, highest, sticks
