"""Contact of the ground with a belt whose sections ride its path, or whose face slides along it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from segtrack.compliant.belt import BeltArrays, section_pose
from segtrack.compliant.candidates import Candidates
from segtrack.ground.broadphase import (
    MAX_EDGES,
    NONE,
    ContactHistory,
    find_edge_slot,
    forget_lost_edges,
    greatest_sinkage,
    knows_edge,
    take_edge_over,
)
from segtrack.ground.contact_laws import ContactParameters
from segtrack.ground.contact_loads import ContactLoads, add_belt_contact, add_contact
from segtrack.ground.implicit_contact import edge_end_load, point_load
from segtrack.ground.kernels import compiled, inlined
from segtrack.ground.pack import Ground
from segtrack.ground.point_contact import edge_in_piece, point_between
from segtrack.ground.vectors import Vector, cross, dot, row, scaled, sum_of

REPORT = 15
"""Numbers a contact is reported by: place, normal force, force along surfaces, velocity over the ground,
depth, pressure, belt and section; and of points, greatest sinkage in soil."""


@compiled
def contact_law(laws: NDArray[np.float64], belt: int, friction: float) -> ContactParameters:
    """Contact parameters of a metre of a belt, with its friction of now."""
    law = laws[belt]
    return ContactParameters(friction, law[1], law[2], law[3], law[4], law[5], law[6])


@compiled
def along_axes(x: Vector, y: Vector, z: Vector, point: Vector) -> Vector:
    """A vector (3,) given along three axes of the world."""
    return (
        x[0] * point[0] + y[0] * point[1] + z[0] * point[2],
        x[1] * point[0] + y[1] * point[1] + z[1] * point[2],
        x[2] * point[0] + y[2] * point[1] + z[2] * point[2],
    )


@compiled
def report_contact(
    report: NDArray[np.float64],
    index: int,
    place: Vector,
    normal_force: float,
    along: Vector,
    velocity: Vector,
    depth: float,
    pressure: float,
    belt: int,
    section: int,
) -> None:
    """Write a contact that carries anything into row `index` of a report, if it has rows."""
    if len(report) == 0 or normal_force == 0.0:
        return
    out = report[index]
    for k in range(3):
        out[k], out[4 + k], out[7 + k] = place[k], along[k], velocity[k]
    out[3], out[10], out[11], out[12], out[13] = normal_force, depth, pressure, belt, section


@inlined
def add_belt_contacts(
    ground: Ground,
    belts: BeltArrays,
    belt: int,
    friction: float,
    origin: Vector,
    ex: Vector,
    ey: Vector,
    ez: Vector,
    center: Vector,
    velocity: Vector,
    angular_velocity: Vector,
    travel: float,
    speed: float,
    candidates: Candidates,
    history: ContactHistory,
    loads: ContactLoads,
    link: int,
    report: NDArray[np.float64],
    gravity: Vector,
    ahead: float,
    step: float,
) -> None:
    """Add what the ground does to a belt in a step to the loads, and advance its contacts to now.

    Args:
        ground: The ground.
        belts: The vehicle's.
        belt: Index of the belt.
        friction: Its coefficient along the track [-].
        origin: Origin of its track frame in the world [m].
        ex: x axis of its track frame in the world.
        ey: y axis.
        ez: z axis.
        center: Centre of the link that carries it, in the world [m].
        velocity: Velocity of that centre in the world [m/s].
        angular_velocity: Angular velocity of that link in the world [rad/s].
        travel: Travel of the belt [m].
        speed: Speed of the belt [m/s].
        candidates: Candidates of the vehicle.
        history: Contact memory of the vehicle.
        loads: Loads of the vehicle, about the links' centres.
        link: Index of the link there.
        report: Filled with contacts (rows, `REPORT`), points first, then edges' ends; may have no rows.
        gravity: Gravity in the world [m/s^2].
        ahead: Distance that no point moves further than in the step [m].
        step: Duration [s]; with zero contacts are found as they are.
    """
    law = contact_law(belts.laws, belt, friction)
    first, points = belts.section_starts[belt], belts.points.shape[1]
    for near in range(candidates.near_counts[belt]):
        part = candidates.near[first + near]
        kind, length = belts.kinds[part], belts.lengths[part]
        x, z, cosine, sine, curvature = section_pose(
            belts, belt, belts.coordinates[part] + belts.riding[belt] * travel
        )
        out = along_axes(ex, ey, ez, (sine, 0.0, cosine))
        forward = along_axes(ex, ey, ez, (cosine, 0.0, -sine))
        base = sum_of(origin, along_axes(ex, ey, ez, (x, 0.0, z)))
        lever = (base[0] - center[0], base[1] - center[1], base[2] - center[2])
        # A section moves along the path with the belt, and turns with it around an arc.
        spin = sum_of(angular_velocity, scaled(ey, speed * curvature))
        moving = sum_of(sum_of(velocity, cross(angular_velocity, lever)), scaled(forward, speed))
        bend = scaled(ey, curvature)
        # A section that an edge across the track has entered lies on that, and not on faces of the solid.
        edged = NONE
        if candidates.edge_counts[part] > 0:
            # An edge passes from one piece of a face that stands still to the next.
            last = belts.section_starts[belt + 1] - 1
            before, behind = NONE, NONE
            if belts.riding[belt] == 0.0:
                before, behind = part - 1 if part > first else last, part + 1 if part < last else first
            entered = add_edges(
                ground,
                law,
                belts.edge_weights[kind] * length,
                belts.pieces[kind],
                belts.face_counts[kind],
                belts.piece_counts[kind],
                candidates.edges[part],
                candidates.edge_counts[part],
                part * MAX_EDGES,
                MAX_EDGES,
                before,
                behind,
                base,
                forward,
                ey,
                out,
                moving,
                spin,
                lever,
                bend,
                history,
                loads,
                link,
                belt,
                report,
                belt,
                part,
                gravity,
                step,
            )
            if entered != NONE:
                edged = solid_of_edge(ground, candidates.solids[part], candidates.solid_counts[part], entered)
        for p in range(belts.point_counts[kind]):
            arm = along_axes(forward, ey, out, row(belts.points[kind], p))
            point = sum_of(base, arm)
            force, added, acts, along, push, depth, pressure = point_load(
                ground,
                law,
                history,
                part * points + p,
                candidates.solids[part],
                candidates.solid_counts[part],
                edged,
                point,
                moving,
                spin,
                arm,
                ey,
                belts.areas[kind, p],
                belts.sides[kind, p],
                belts.weights[kind, p] * length,
                gravity,
                ahead,
                step,
            )
            if acts:
                own = sum_of(lever, arm)
                add_contact(loads, link, own, force, added)
                add_belt_contact(loads, belt, sum_of(forward, cross(bend, arm)), own, force, added)
                if len(report) > 0:
                    index, here = part * points + p, sum_of(moving, cross(spin, arm))
                    report_contact(report, index, point, push, along, here, depth, pressure, belt, part)
                    report[index, 14] = greatest_sinkage(history, index)


@compiled
def add_edges(
    ground: Ground,
    law: ContactParameters,
    weight: float,
    pieces: NDArray[np.float64],
    face_counts: NDArray[np.intp],
    piece_count: int,
    edges: NDArray[np.int32],
    edge_count: int,
    first_slot: int,
    slot_count: int,
    before: int,
    behind: int,
    base: Vector,
    x: Vector,
    y: Vector,
    z: Vector,
    moving: Vector,
    spin: Vector,
    lever: Vector,
    bend: Vector,
    history: ContactHistory,
    loads: ContactLoads,
    link: int,
    belt: int,
    report: NDArray[np.float64],
    group: int,
    part: int,
    gravity: Vector,
    step: float,
) -> int:
    """Add what the edges near a part do to it in a step to the loads, and advance their contacts to now.

    Args:
        ground: The ground.
        law: Contact parameters of the part.
        weight: Fraction of their stiffness and damping at either end of an edge.
        pieces: Faces of the part's convex pieces (pieces, faces, 5).
        face_counts: Number of each piece's faces (pieces,).
        piece_count: Number of pieces.
        edges: Candidates (n,).
        edge_count: Number of candidates, the first ones of `edges`.
        first_slot: First slot of the history, for the part.
        slot_count: Number of the part's slots.
        before: Part from which an edge may pass to this one, or `NONE`.
        behind: Likewise.
        base: Origin of the part's frame in the world [m].
        x: x axis of the part's frame in the world, along which a belt moves.
        y: y axis, across the track.
        z: z axis.
        moving: Velocity of the part's origin in the world [m/s].
        spin: Angular velocity of the part in the world [rad/s].
        lever: From the link's centre to the part's origin, in the world [m].
        bend: Angular velocity of the part over its link, per belt speed, in the world [rad/m].
        history: Contact memory of the vehicle.
        loads: Loads of the vehicle.
        link: Index of the link there.
        belt: Index of the belt there, or `NONE` for a part that moves with its link.
        report: Report as in `add_belt_contacts`.
        group: Group by which the report names the belt, or the hull.
        part: Index of the part.
        gravity: Gravity in the world [m/s^2].
        step: Duration [s].

    Returns:
        Edge across the track that has entered the part, or `NONE`.
    """
    entered = NONE
    touched, first_row = 0, len(report) - 2 * len(history.edge_ids)
    for e in range(edge_count):
        edge = edges[e]
        begin = _in_frame(base, x, y, z, row(ground.edges[:, :3], edge))
        end = _in_frame(base, x, y, z, row(ground.edges[:, 3:], edge))
        for piece in range(piece_count):
            start, stop, normal, offset = edge_in_piece(pieces[piece], face_counts[piece], begin, end)
            if not start < stop:
                continue
            contact = edge * len(pieces) + piece
            known = knows_edge(history, first_slot, slot_count, contact)
            slot = find_edge_slot(history, first_slot, slot_count, contact)
            if slot == NONE:
                continue
            if before != NONE and not known:
                take_edge_over(history, slot, before * MAX_EDGES, MAX_EDGES, contact)
                take_edge_over(history, slot, behind * MAX_EDGES, MAX_EDGES, contact)
            touched |= 1 << (slot - first_slot)
            if abs(end[1] - begin[1]) >= abs(end[0] - begin[0]):
                entered = edge
            inwards = along_axes(x, y, z, (-normal[0], -normal[1], -normal[2]))
            shears = history.edge_shear_displacements[slot]
            for tip in range(2):
                place = point_between(begin, end, stop if tip else start)
                arm = along_axes(x, y, z, place)
                here = sum_of(moving, cross(spin, arm))
                depth = offset - dot(place, normal)
                force, added, shear, along, push = edge_end_load(
                    law,
                    row(shears, tip),
                    depth,
                    here,
                    inwards,
                    y,
                    law.friction * ground.edge_friction[edge],
                    weight,
                    step * dot(gravity, inwards),
                    known,
                    step,
                )
                shears[tip, 0], shears[tip, 1], shears[tip, 2] = shear
                own = sum_of(lever, arm)
                add_contact(loads, link, own, force, added)
                if belt != NONE:
                    add_belt_contact(loads, belt, sum_of(x, cross(bend, arm)), own, force, added)
                index, point = first_row + 2 * slot + tip, sum_of(base, arm)
                report_contact(report, index, point, push, along, here, depth, 0.0, group, part)
    forget_lost_edges(history, first_slot, slot_count, touched)
    return entered


@compiled
def solid_of_edge(ground: Ground, solids: NDArray[np.int32], count: int, edge: int) -> int:
    """Solid, of `count` candidates (n,), to which an edge belongs."""
    for near in range(count):
        solid = solids[near]
        if solid < len(ground.planes) and ground.edge_starts[solid] <= edge < ground.edge_starts[solid + 1]:
            return solid
    return NONE


@compiled
def _in_frame(base: Vector, x: Vector, y: Vector, z: Vector, point: Vector) -> Vector:
    """A point of the world, in a frame."""
    lever = (point[0] - base[0], point[1] - base[1], point[2] - base[2])
    return dot(x, lever), dot(y, lever), dot(z, lever)
