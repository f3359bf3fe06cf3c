"""Contact of points and edges with the ground, linearly implicit in a step's velocities (`implicit_laws`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.ground.active_contacts import ContactPart, Contacts, write_contact
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


class StepTimes(NamedTuple):
    """Step for which contacts are found.

    Attributes:
        step: Duration [s].
        horizon: Time that friction is predicted for [s]: that of the step, or 0 for the friction of now.
        ahead: Distance that no point moves further than in the step [m].
    """

    step: float
    horizon: float
    ahead: float


class LinkMotion(NamedTuple):
    """Motion of a link, and of a belt on it.

    Attributes:
        link: Index of the link.
        belt: Index of the belt, or `NONE` for what moves with the link.
        center: Centre of mass in the world [m].
        velocity: Velocity of the centre, in the world [m/s].
        spin: Angular velocity of the link, in the world [rad/s].
        speed: Speed of the belt [m/s].
        slides: True if the belt slides along its sections, and does not carry them.
    """

    link: int
    belt: int
    center: Vector
    velocity: Vector
    spin: Vector
    speed: float
    slides: bool


class SolidsNear(NamedTuple):
    """Solids that a point may touch.

    Attributes:
        solids: Candidates as in `Ground.bounds` (n,).
        faces: Faces of these that count, see `broadphase.faces_near` (n,).
        number: Number of them that count, the first ones.
        left_out: Solid whose edge enters the part and carries it there, or `NONE`: of the faces of its
            surface only those that face the part touch.
        outwards: Direction out of the part, in the world.
    """

    solids: NDArray[np.int32]
    faces: NDArray[np.int32]
    number: int
    left_out: int
    outwards: Vector


class PointShare(NamedTuple):
    """Area, side and stiffness that a contact point stands for.

    Attributes:
        area: Area, in soil [m^2].
        side: Smaller side b of the face to which it belongs, in soil [m].
        weight: Fraction of the law's stiffness and damping.
    """

    area: float
    side: float
    weight: float


class ContactPoint(NamedTuple):
    """Geometry and motion of a contact.

    Attributes:
        normal: Normal of the surface, out of the ground.
        lateral: Direction across the track, in the world.
        depth: Depth [m]; negative before it touches.
        rising: Velocity out of the ground [m/s].
        slip: Velocity along the surface [m/s].
        known: True if there was contact before.
    """

    normal: Vector
    lateral: Vector
    depth: float
    rising: float
    slip: Vector
    known: bool


@inlined
def velocity_over_ground(motion: LinkMotion, lever: Vector, along_belt: Vector) -> Vector:
    """Velocity of a place on a link or its belt, v + w x r + s t, in the world [m/s].

    Args:
        motion: Motion of the link.
        lever: Place r from the link's centre, in the world [m].
        along_belt: Velocity t of the place over the link per belt speed s, in the world [-].
    """
    moving = sum_of(motion.velocity, cross(motion.spin, lever))
    return sum_of(moving, scaled(along_belt, motion.speed))


@inlined
def rigid_contact(
    touch: ContactPoint,
    shear: Vector,
    friction: float,
    law: ContactParameters,
    weight: float,
    times: StepTimes,
    contacts: Contacts,
    part: ContactPart,
) -> tuple[Vector, Vector, float]:
    """Write a contact with rigid ground in a step; one that rebounds has no friction.

    Args:
        touch: The contact.
        shear: Shear displacement before the last step's motion, in the world [m].
        friction: Coefficient between part and ground [-].
        law: Contact parameters of the part.
        weight: Fraction of the law's stiffness and damping that the contact has.
        times: The step.
        contacts: Contacts of the vehicle, written behind those that are there.
        part: Place on the vehicle.

    Returns:
        Shear displacement now [m], force along the surface [N], nothing where that is predicted, and normal
        force now [N].
    """
    still, normal = (0.0, 0.0, 0.0), touch.normal
    rebound = rebound_speed(law, touch.known, touch.rising)
    force, resistance, now = normal_load(law, weight, touch.depth, touch.rising, rebound, times.step)
    limit, moved, holding, grip, across, less = friction * now, still, still, 0.0, still, 0.0
    if rebound < 0.0:
        moved, holding, grip, across, less = friction_load(
            shear, normal, touch.lateral, touch.slip, limit, law, weight, times.step, times.horizon
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
    along = scaled(holding, friction_cut(holding, across, less, limit)) if times.horizon == 0.0 else still
    return moved, along, now


@inlined
def soil_contact(
    touch: ContactPoint,
    history: ContactHistory,
    slot: int,
    soil: SoilConstants,
    law: ContactParameters,
    share: PointShare,
    step: float,
    contacts: Contacts,
    part: ContactPart,
) -> tuple[Vector, float]:
    """Write the contact of a point with soil in a step; its shear is advanced to now.

    With the pressure p of Bekker and Wong (Omar 2014, equation 48) over the area A and its slope k / A, the
    strength S = (cohesion + p tan(phi)) A (49) and the shear deformation modulus K, as in `implicit_laws`:

        N_0 = p A - (c + h k) v_n             D_n = h (c + h k)
        s_0 = -S / K e - (c_t + h S / K) v_t    D_t = h (c_t + h S / K)

    Args:
        touch: The contact.
        history: Memory of the contacts, changed in place.
        slot: Slot of the contact there.
        soil: The soil at the point.
        law: Contact parameters of the part.
        share: Area, side and stiffness that the point stands for.
        step: Duration [s].
        contacts: Contacts of the vehicle, written behind those that are there.
        part: Place on the vehicle.

    Returns:
        Force along the surface now [N] and normal force now [N]; nothing where soil does not reach the point.
    """
    depth, rising, slip, area, weight = touch.depth, touch.rising, touch.slip, share.area, share.weight
    steepest = weight * law.stiffness / area
    pressure, slope = soil_pressure(soil, share.side, depth, history.sinkages[slot], steepest)
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
        touch.normal,
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
        touch.normal,
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
    near: SolidsNear,
    point: Vector,
    motion: LinkMotion,
    lever: Vector,
    along_belt: Vector,
    lateral: Vector,
    share: PointShare,
    times: StepTimes,
    contacts: Contacts,
) -> tuple[Vector, Vector, float, float, float]:
    """Write the contacts of the ground with one point in a step; they are advanced to now.

    Args:
        ground: The ground.
        law: Contact parameters of the part.
        history: Memory of the contacts, changed in place.
        point_index: Index of the point there.
        near: Solids that it may touch.
        point: Point in the world [m].
        motion: Motion of the point's link and belt.
        lever: Point from the link's centre, in the world [m].
        along_belt: Velocity of the point over the link per belt speed, in the world [-].
        lateral: Direction across the track, in the world.
        share: Area, side and stiffness that the point stands for.
        times: The step.
        contacts: Contacts of the vehicle, written behind those that are there.

    Returns:
        Normal force and force along surfaces in the world [N], nothing of that where friction is predicted,
        sum of the normal forces [N], greatest depth [m] and greatest pressure [Pa], all of now.
    """
    convex, ahead, step = len(ground.planes), times.ahead, times.step
    normals, drag, push, deepest, highest = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0, 0.0, 0.0
    first, touched = point_index * MAX_SOLIDS_PER_POINT, 0
    solid_ids, shears = history.solid_ids, history.shear_displacements
    carried = ground.surfaces[near.left_out] if near.left_out != NONE else NONE
    for k in range(near.number):
        solid = near.solids[k]
        surface = ground.surfaces[solid]
        if solid < convex:
            depth, normal = penetration_depth_solid(ground, solid, near.faces[k], point, ahead, False)
            soil, corners = ground.solid_soils[solid], ((0, 0, 0), (1.0, 0.0, 0.0))
        else:
            depth, normal, corners = penetration_depth_grid(ground, solid - convex, point)
            soil = ground.point_soils[corners[0][0]]
        if surface == carried and dot(normal, near.outwards) > -_FACING:
            continue
        if depth <= -ahead or (depth <= 0.0 and soil != RIGID):
            continue
        if surface != solid and not stands_for_floor(ground, near.solids, near.number, k, point, depth):
            continue
        # A face along which a belt slides comes no nearer by that.
        along = along_belt
        if motion.slides:
            along = without_share(along_belt, dot(along_belt, normal), normal)
        moving = velocity_over_ground(motion, lever, along)
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
        touch = ContactPoint(normal, lateral, depth, rising, without_share(moving, rising, normal), known)
        part = ContactPart(motion.link, motion.belt, lever, along)
        if soil == RIGID:
            friction = law.friction * ground.friction[solid]
            shear, held, now = rigid_contact(
                touch, row(shears, slot), friction, law, share.weight, times, contacts, part
            )
            shears[slot, 0], shears[slot, 1], shears[slot, 2] = shear
        else:
            there = soil_row(ground.soils, soil) if solid < convex else soil_between(ground, corners)
            held, now = soil_contact(touch, history, slot, there, law, share, step, contacts, part)
        normals, drag = without_share(normals, -now, normal), sum_of(drag, held)
        push += now
        deepest, highest = max(deepest, depth), max(highest, now / share.area)
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
    times: StepTimes,
    contacts: Contacts,
    part: ContactPart,
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
        times: The step.
        contacts: Contacts of the vehicle, written behind those that are there.
        part: Place on the vehicle.

    Returns:
        Normal force now in the world [N], shear displacement now [m], force along the face [N], nothing
        where friction is predicted, and that along the normal now [N].
    """
    rising = dot(velocity, inwards)
    slip = without_share(velocity, rising, inwards)
    touch = ContactPoint(inwards, lateral, depth, rising, slip, known)
    moved, along, now = rigid_contact(touch, shear, friction, law, weight, times, contacts, part)
    return scaled(inwards, now), moved, along, now
