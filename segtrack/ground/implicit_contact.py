"""Contact of points and edges with the ground, linearly implicit in a step's velocities (`implicit_laws`)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from segtrack.ground.broadphase import MAX_SOLIDS_PER_POINT, NONE, ContactHistory, find_slot
from segtrack.ground.contact_laws import ContactParameters, soil_pressure, soil_shear
from segtrack.ground.implicit_laws import (
    Symmetric,
    contact_mass,
    friction_load,
    isotropic_and_along,
    normal_load,
    rebound_speed,
    sum_symmetric,
)
from segtrack.ground.kernels import compiled, inlined
from segtrack.ground.pack import RIGID, Ground
from segtrack.ground.point_contact import penetration_depth_grid, soil_between, soil_row, stands_for_floor
from segtrack.ground.vectors import Vector, cross, dot, row, sum_of, without_share
from segtrack.terrain.soil import SoilConstants

_FACING = 0.75
"""Cosine between a part's direction inwards and the normal of a face that it lies on, at least [-]."""


@inlined
def nearest_face(
    planes: NDArray[np.float64], faces: int, solid: int, point: Vector, ahead: float
) -> tuple[float, Vector]:
    """Depth of a point in a convex solid under its nearest face [m], and that face's normal.

    The depth of a point outside is negative. It is its distance from the face that it is over, if that is at
    most `ahead` [m] away and it is over no other; otherwise it is at least that, and says no more. A point
    leaves by no buried face: over one it is in another solid.
    """
    nearest, face, over = -math.inf, 0, 0
    for f in range(faces):
        above = (
            planes[solid, f, 0] * point[0]
            + planes[solid, f, 1] * point[1]
            + planes[solid, f, 2] * point[2]
            - planes[solid, f, 3]
        )
        buried = planes[solid, f, 4] != 0.0
        over += 1 if above > 0.0 else 0
        if above > nearest and not buried:
            nearest, face = above, f
        if above >= ahead or over > 1 or (buried and above > 0.0):
            nearest = math.inf
            break
    return -nearest, (planes[solid, face, 0], planes[solid, face, 1], planes[solid, face, 2])


@inlined
def soil_load(
    ground: Ground,
    law: ContactParameters,
    history: ContactHistory,
    slot: int,
    soil: SoilConstants,
    depth: float,
    rising: float,
    slip: Vector,
    normal: Vector,
    area: float,
    side: float,
    weight: float,
    step: float,
) -> tuple[Vector, Symmetric, Vector, float]:
    """Load of soil on a point in a step, and of its shear; see `point_load` for what is returned."""
    steepest = weight * law.stiffness / area
    pressure, slope = soil_pressure(soil, side, depth, history.sinkages[slot], steepest)
    history.sinkages[slot] = max(depth, history.sinkages[slot])
    if pressure == 0.0:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0
    # A first loading is steeper than its secant by the exponent; `soil_pressure` keeps that below `steepest`.
    stiffness = slope * area * max(1.0, soil.sinkage_exponent)
    # What stays pressed down is not damped besides: loading it has no speed of its own.
    damping = weight * law.damping * slope / (steepest * soil.unloading_ratio)
    if rising > 0.0:
        damping = max(damping, stiffness * step)
    now = max(0.0, pressure * area - damping * rising)
    force, resistance = pressure * area - (damping + step * stiffness) * rising, damping + step * stiffness
    if force <= 0.0:
        force = resistance = 0.0
    undamped = ContactParameters(law.friction, law.stiffness, 0.0, law.tangential_stiffness, 0.0)
    shear, along = soil_shear(
        row(history.shear_displacements, slot), normal, slip, pressure, area, soil, undamped, weight, step
    )
    for k in range(3):
        history.shear_displacements[slot, k] = shear[k]
    strength = (soil.cohesion + pressure * soil.friction) * area
    shearing = strength / max(soil.shear_deformation_modulus, strength / (weight * law.tangential_stiffness))
    grip = shearing * max(law.tangential_damping / law.tangential_stiffness, step)
    along = without_share(along, grip, slip)
    load = without_share(without_share(along, step * shearing, slip), -force, normal)
    added = step * (grip + soil.slip_damping * area + step * shearing)
    return load, isotropic_and_along(added, step * resistance - added, normal), along, now


@inlined
def point_load(
    ground: Ground,
    law: ContactParameters,
    history: ContactHistory,
    point_index: int,
    solids: NDArray[np.int32],
    count: int,
    left_out: int,
    outwards: Vector,
    point: Vector,
    moving: Vector,
    spin: Vector,
    arm: Vector,
    lateral: Vector,
    area: float,
    side: float,
    weight: float,
    gravity: Vector,
    ahead: float,
    step: float,
    horizon: float,
) -> tuple[Vector, Symmetric, bool, Vector, float, float, float]:
    """Load of the ground on one point in a step; its contacts are advanced to now.

    Args:
        ground: The ground.
        law: Contact parameters of the part.
        history: Memory of the contacts, changed in place.
        point_index: Index of the point there.
        solids: Candidates as in `Ground.bounds` (n,).
        count: Number of them that count, the first ones.
        left_out: Solid whose edge enters the part and carries it there, or `NONE`: of its faces only those
        that
            face the part touch.
        outwards: Direction out of the part, in the world.
        point: Point in the world [m].
        moving: Velocity of the origin of the point's part, in the world [m/s].
        spin: Angular velocity of the part, in the world [rad/s].
        arm: From the part's origin to the point, in the world [m].
        lateral: Direction across the track, in the world.
        area: Area that the point stands for, in soil [m^2].
        side: Smaller side b of the face to which it belongs, in soil [m].
        weight: Fraction of the law's stiffness and damping that the point has.
        gravity: Gravity in the world [m/s^2].
        ahead: Distance that no point moves further than in the step [m].
        step: Duration [s].
        horizon: Time that friction is predicted for [s]: that of the step, or 0 for the friction of now.

    Returns:
        Force predicted for the step's end [N], what the contacts add to the mass [kg], whether there is any
        contact, force along surfaces [N], and of now: sum of the normal forces [N], greatest depth [m] and
        greatest pressure [Pa].
    """
    convex = len(ground.planes)
    total, added = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    drag, push, deepest, highest, acts = (0.0, 0.0, 0.0), 0.0, 0.0, 0.0, False
    first, touched = point_index * MAX_SOLIDS_PER_POINT, 0
    solid_ids, shears = history.solid_ids, history.shear_displacements
    carried = ground.surfaces[left_out] if left_out != NONE else NONE
    for near in range(count):
        solid = solids[near]
        surface = ground.surfaces[solid]
        if solid < convex:
            depth, normal = nearest_face(ground.planes, ground.faces[solid], solid, point, ahead)
            soil, corners = ground.solid_soils[solid], ((0, 0, 0), (1.0, 0.0, 0.0))
        else:
            depth, normal, corners = penetration_depth_grid(ground, solid - convex, point)
            soil = ground.point_soils[corners[0][0]]
        if surface == carried and dot(normal, outwards) > -_FACING:
            continue
        if depth <= -ahead or (depth <= 0.0 and soil != RIGID):
            continue
        if surface != solid and not stands_for_floor(ground, solids, count, near, point, depth):
            continue
        velocity = sum_of(moving, cross(spin, arm))
        rising = dot(velocity, normal)
        if depth <= 0.0 and depth - step * rising <= 0.0:
            continue
        slot = find_slot(solid_ids, first, first + MAX_SOLIDS_PER_POINT, surface)
        if slot == NONE:
            continue
        known = solid_ids[slot] == surface
        if not known:
            solid_ids[slot], history.sinkages[slot] = surface, 0.0
            shears[slot, 0], shears[slot, 1], shears[slot, 2] = 0.0, 0.0, 0.0
        touched |= 1 << (slot - first)
        slip = without_share(velocity, rising, normal)
        if soil == RIGID:
            rebound, falling = rebound_speed(law, known, rising), step * dot(gravity, normal)
            force, resistance, now = normal_load(law, weight, depth, rising, falling, rebound, step)
            grip, across = 0.0, (0.0, 0.0, 0.0)
            total = without_share(total, -force, normal)
            if now > 0.0:
                shear, along, grip, across = friction_load(
                    row(shears, slot),
                    normal,
                    lateral,
                    slip,
                    law.friction * ground.friction[solid] * now,
                    law,
                    weight,
                    step,
                    horizon,
                )
                shears[slot, 0], shears[slot, 1], shears[slot, 2] = shear
                total, drag = sum_of(total, along), sum_of(drag, along)
            else:
                shears[slot, 0], shears[slot, 1], shears[slot, 2] = 0.0, 0.0, 0.0
            added = sum_symmetric(added, contact_mass(resistance, grip, normal, across, law))
        else:
            there = soil_row(ground.soils, soil) if solid < convex else soil_between(ground, corners)
            load, matrix, along, now = soil_load(
                ground, law, history, slot, there, depth, rising, slip, normal, area, side, weight, step
            )
            total, added, drag = sum_of(total, load), sum_symmetric(added, matrix), sum_of(drag, along)
        acts = True
        push += now
        deepest, highest = max(deepest, depth), max(highest, now / area)
    for slot in range(MAX_SOLIDS_PER_POINT):
        if solid_ids[first + slot] != NONE and not touched & (1 << slot):
            solid_ids[first + slot] = NONE
    return total, added, acts, drag, push, deepest, highest


@compiled
def edge_end_load(
    law: ContactParameters,
    shear: Vector,
    depth: float,
    velocity: Vector,
    inwards: Vector,
    lateral: Vector,
    friction: float,
    weight: float,
    falling: float,
    known: bool,
    step: float,
    horizon: float,
) -> tuple[Vector, Symmetric, Vector, Vector, float]:
    """Load of one end of an edge's stretch, in a step, on the part that it has entered.

    Args:
        law: Contact parameters of the part.
        shear: Shear displacement before the last step's motion, in the world [m].
        depth: Depth of the end under the face through which it is pushed out [m].
        velocity: Velocity of the part at the end, in the world [m/s].
        inwards: Normal of that face into the part, in the world.
        lateral: Direction across the track, in the world.
        friction: Coefficient between part and ground [-].
        weight: Fraction of the law's stiffness and damping that the end has.
        falling: Change of the velocity along `inwards` in a step of free fall [m/s].
        known: True if there was contact before.
        step: Duration [s].
        horizon: Time that friction is predicted for [s]: that of the step, or 0 for the friction of now.

    Returns:
        Force on the part predicted for the step's end [N], what the contact adds to the mass [kg], the shear
        displacement now [m], the force along the face [N], and that along the normal now [N].
    """
    rising = dot(velocity, inwards)
    rebound = rebound_speed(law, known, rising)
    force, resistance, now = normal_load(law, weight, depth, rising, falling, rebound, step)
    slip = without_share(velocity, rising, inwards)
    shear, along, grip, across = friction_load(
        shear, inwards, lateral, slip, friction * now, law, weight, step, horizon
    )
    added = contact_mass(resistance, grip, inwards, across, law)
    return without_share(along, -force, inwards), added, shear, along, now
