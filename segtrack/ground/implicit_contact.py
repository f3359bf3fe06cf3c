"""Contact of points and edges with the ground, linearly implicit in a step's velocities (`implicit_laws`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from segtrack.ground.active_contacts import Contacts, write_contact
from segtrack.ground.broadphase import MAX_SOLIDS_PER_POINT, NONE, ContactHistory, find_slot
from segtrack.ground.contact_laws import (
    ContactParameters,
    advance_soil_shear,
    friction_cut,
    soil_drag,
    soil_holding,
    soil_limit,
    soil_pressure,
)
from segtrack.ground.depth import penetration_depth_grid, penetration_depth_solid
from segtrack.ground.implicit_laws import friction_load, normal_load, rebound_speed
from segtrack.ground.pack import RIGID, Ground
from segtrack.ground.point_contact import soil_between, soil_row, stands_for_floor
from segtrack.kernels import Vector, compiled, cross, dot, inlined, row, scaled, sum_of, without_share
from segtrack.terrain import SoilConstants

_FACING = 0.97
"""Cosine between a part's direction inwards and the normal of a face that it lies on, at least [-].

A flat part into which an edge sinks by d comes under a face beside it only within d / tan of their angle from
the edge, which carries it there by the better normal. Tuned: at 0.75 a point that comes to lie there stalls a
belt without grousers at 0.87 of the step that statics allow (friction 0.6), from 0.97 it climbs 0.99 of it.
"""


@inlined
def rigid_contact(
    shear: Vector,
    normal: Vector,
    lateral: Vector,
    slip: Vector,
    friction: float,
    rising: float,
    depth: float,
    known: bool,
    law: ContactParameters,
    weight: float,
    step: float,
    horizon: float,
    contacts: Contacts,
    part: tuple[int, int, Vector, Vector],
) -> tuple[Vector, Vector, float]:
    """Write a contact with rigid ground in a step; one that rebounds has no friction.

    Args:
        shear: Shear displacement before the last step's motion, in the world [m].
        normal: Normal of the surface, out of the ground.
        lateral: Direction across the track, in the world.
        slip: Velocity along the surface [m/s].
        friction: Coefficient between part and ground [-].
        rising: Velocity out of the ground [m/s].
        depth: Depth [m]; negative before it touches.
        known: True if there was contact before.
        law: Contact parameters of the part.
        weight: Fraction of the law's stiffness and damping that the contact has.
        step: Duration [s].
        horizon: Time that friction is predicted for [s]: that of the step, or 0 for the friction of now.
        contacts: Contacts of the vehicle, written behind those that are there.
        part: Link and belt, see `write_contact`.

    Returns:
        Shear displacement now [m], force along the surface [N], nothing where that is predicted, and normal
        force now [N].
    """
    still = (0.0, 0.0, 0.0)
    rebound = rebound_speed(law, known, rising)
    force, resistance, now = normal_load(law, weight, depth, rising, rebound, step)
    limit, moved, holding, grip, across, less = friction * now, still, still, 0.0, still, 0.0
    if rebound < 0.0:
        moved, holding, grip, across, less = friction_load(
            shear, normal, lateral, slip, limit, law, weight, step, horizon
        )
    write_contact(
        contacts,
        part,
        normal,
        across,
        less,
        (force, resistance),
        (holding, grip),
        (friction if rebound < 0.0 else 0.0, 0.0, limit),
        (still, 0.0),
    )
    along = scaled(holding, friction_cut(holding, across, less, limit)) if horizon == 0.0 else still
    return moved, along, now


@inlined
def soil_contact(
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
    contacts: Contacts,
    part: tuple[int, int, Vector, Vector],
) -> tuple[Vector, float]:
    """Write the contact of a point with soil in a step; its shear is advanced to now.

    Returns:
        Force along the surface now [N] and normal force now [N]; nothing where soil does not reach the point.
    """
    steepest = weight * law.stiffness / area
    pressure, slope = soil_pressure(soil, side, depth, history.sinkages[slot], steepest)
    history.sinkages[slot] = max(depth, history.sinkages[slot])
    if pressure == 0.0:
        return (0.0, 0.0, 0.0), 0.0
    # A first loading is steeper than its secant by the exponent; `soil_pressure` keeps that below `steepest`.
    stiffness = slope * area * max(1.0, soil.sinkage_exponent)
    # What stays pressed down is not damped besides: loading it has no speed of its own.
    damping = weight * law.damping * slope / (steepest * soil.unloading_ratio)
    if rising > 0.0:
        damping = max(damping, stiffness * step)
    now = max(0.0, pressure * area - damping * rising)
    force, resistance = pressure * area - (damping + step * stiffness) * rising, damping + step * stiffness
    strength, drag = (soil.cohesion + pressure * soil.friction) * area, soil_drag(slip, area, soil)
    shear, shearing = advance_soil_shear(
        row(history.shear_displacements, slot),
        normal,
        slip,
        strength,
        soil,
        weight * law.tangential_stiffness,
        step,
    )
    for k in range(3):
        history.shear_displacements[slot, k] = shear[k]
    grip = shearing * max(law.tangential_damping / law.tangential_stiffness, step)
    holding = without_share(scaled(shear, -shearing), grip + step * shearing, slip)
    write_contact(
        contacts,
        part,
        normal,
        (0.0, 0.0, 0.0),
        0.0,
        (force, resistance),
        (holding, grip + step * shearing),
        (soil.friction, soil.cohesion * area, strength),
        (drag, soil.slip_damping * area),
    )
    held = soil_holding(shear, slip, shearing, grip, soil_limit(soil, area, now))
    return sum_of(held, drag), now


@inlined
def point_load(
    ground: Ground,
    law: ContactParameters,
    history: ContactHistory,
    point_index: int,
    solids: NDArray[np.int32],
    faces: NDArray[np.int32],
    count: int,
    left_out: int,
    outwards: Vector,
    point: Vector,
    velocity: Vector,
    spin: Vector,
    speed: float,
    slides: bool,
    lateral: Vector,
    area: float,
    side: float,
    weight: float,
    ahead: float,
    step: float,
    horizon: float,
    contacts: Contacts,
    part: tuple[int, int, Vector, Vector],
) -> tuple[Vector, Vector, float, float, float]:
    """Write the contacts of the ground with one point in a step; they are advanced to now.

    Args:
        ground: The ground.
        law: Contact parameters of the part.
        history: Memory of the contacts, changed in place.
        point_index: Index of the point there.
        solids: Candidates as in `Ground.bounds` (n,).
        faces: Faces of these that count, see `broadphase.faces_near` (n,).
        count: Number of them that count, the first ones.
        left_out: Solid whose edge enters the part and carries it there, or `NONE`: of the faces of its
            surface only those that face the part touch.
        outwards: Direction out of the part, in the world.
        point: Point in the world [m].
        velocity: Velocity of the centre of the point's link, in the world [m/s].
        spin: Angular velocity of the link, in the world [rad/s].
        speed: Speed of the point's belt [m/s].
        slides: True if the belt slides along the point, and does not carry it.
        lateral: Direction across the track, in the world.
        area: Area that the point stands for, in soil [m^2].
        side: Smaller side b of the face to which it belongs, in soil [m].
        weight: Fraction of the law's stiffness and damping that the point has.
        ahead: Distance that no point moves further than in the step [m].
        step: Duration [s].
        horizon: Time that friction is predicted for [s]: that of the step, or 0 for the friction of now.
        contacts: Contacts of the vehicle, written behind those that are there.
        part: Link and belt of the point, see `write_contact`.

    Returns:
        Normal force and force along surfaces in the world [N], nothing of that where friction is predicted,
        sum of the normal forces [N], greatest depth [m] and greatest pressure [Pa], all of now.
    """
    convex = len(ground.planes)
    normals, drag, push, deepest, highest = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0, 0.0, 0.0
    first, touched = point_index * MAX_SOLIDS_PER_POINT, 0
    solid_ids, shears = history.solid_ids, history.shear_displacements
    carried = ground.surfaces[left_out] if left_out != NONE else NONE
    for near in range(count):
        solid = solids[near]
        surface = ground.surfaces[solid]
        if solid < convex:
            depth, normal = penetration_depth_solid(ground, solid, faces[near], point, ahead, False)
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
        # A face along which a belt slides comes no nearer by that.
        along_belt = part[3]
        if slides:
            along_belt = without_share(along_belt, dot(along_belt, normal), normal)
        moving = sum_of(sum_of(velocity, cross(spin, part[2])), scaled(along_belt, speed))
        rising = dot(moving, normal)
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
        slip = without_share(moving, rising, normal)
        if soil == RIGID:
            shear, along, now = rigid_contact(
                row(shears, slot),
                normal,
                lateral,
                slip,
                law.friction * ground.friction[solid],
                rising,
                depth,
                known,
                law,
                weight,
                step,
                horizon,
                contacts,
                (part[0], part[1], part[2], along_belt),
            )
            shears[slot, 0], shears[slot, 1], shears[slot, 2] = shear
            normals, drag = without_share(normals, -now, normal), sum_of(drag, along)
        else:
            there = soil_row(ground.soils, soil) if solid < convex else soil_between(ground, corners)
            along, now = soil_contact(
                law,
                history,
                slot,
                there,
                depth,
                rising,
                slip,
                normal,
                area,
                side,
                weight,
                step,
                contacts,
                (part[0], part[1], part[2], along_belt),
            )
            normals, drag = without_share(normals, -now, normal), sum_of(drag, along)
        push += now
        deepest, highest = max(deepest, depth), max(highest, now / area)
    for slot in range(MAX_SOLIDS_PER_POINT):
        if solid_ids[first + slot] != NONE and not touched & (1 << slot):
            solid_ids[first + slot] = NONE
    return normals, drag, push, deepest, highest


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
    known: bool,
    step: float,
    horizon: float,
    contacts: Contacts,
    part: tuple[int, int, Vector, Vector],
) -> tuple[Vector, Vector, Vector, float]:
    """Write the contact of one end of an edge's stretch, in a step, with the part that it has entered.

    Args:
        law: Contact parameters of the part.
        shear: Shear displacement before the last step's motion, in the world [m].
        depth: Depth of the end under the face through which it is pushed out [m].
        velocity: Velocity of the part at the end, in the world [m/s].
        inwards: Normal of that face into the part, in the world.
        lateral: Direction across the track, in the world.
        friction: Coefficient between part and ground [-].
        weight: Fraction of the law's stiffness and damping that the end has.
        known: True if there was contact before.
        step: Duration [s].
        horizon: Time that friction is predicted for [s]: that of the step, or 0 for the friction of now.
        contacts: Contacts of the vehicle, written behind those that are there.
        part: Link and belt, see `write_contact`.

    Returns:
        Normal force now in the world [N], shear displacement now [m], force along the face [N], nothing
        where friction is predicted, and that along the normal now [N].
    """
    rising = dot(velocity, inwards)
    slip = without_share(velocity, rising, inwards)
    moved, along, now = rigid_contact(
        shear,
        inwards,
        lateral,
        slip,
        friction,
        rising,
        depth,
        known,
        law,
        weight,
        step,
        horizon,
        contacts,
        part,
    )
    return scaled(inwards, now), moved, along, now
