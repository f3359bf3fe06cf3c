"""Contact of the ground with a belt whose sections ride its path, or whose face slides along it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from segtrack.compliant.belt import BeltArrays, section_pose
from segtrack.compliant.candidates import Candidates
from segtrack.compliant.edge_contact import (
    PartMotion,
    add_edges,
    along_axes,
    horizon_of,
    motion_at,
    report_contact,
    solid_of_edge,
)
from segtrack.compliant.memory import BeltMemory
from segtrack.ground import MAX_EDGES, NONE, ContactParameters, Contacts, Ground, greatest_sinkage, point_load
from segtrack.kernels import Vector, compiled, cross, dot, inlined, row, scaled, sum_of, without_share

_NO_RUN = 1e-7
"""Way of a belt in a step below which its chords are its tangents [m]."""


@compiled
def contact_law(laws: NDArray[np.float64], belt: int, friction: float) -> ContactParameters:
    """Contact parameters of a metre of a belt, with its friction of now."""
    law = laws[belt]
    return ContactParameters(friction, law[1], law[2], law[3], law[4], law[5], law[6])


@compiled
def _first_slot(memory: BeltMemory, section: int) -> int:
    """First slot for edges of a section, or `NONE` if it has no place."""
    place = memory.places[section]
    return NONE if place == NONE else place * MAX_EDGES


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
    memory: BeltMemory,
    contacts: Contacts,
    link: int,
    report: NDArray[np.float64],
    ahead: float,
    step: float,
) -> None:
    """Write the contacts of the ground with a belt in a step; they are advanced to now.

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
        memory: Contact memory of the vehicle.
        contacts: Contacts of the vehicle, written behind those that are there.
        link: Index of the link that carries the belt.
        report: Filled with contacts (rows, `REPORT`), points of all sections first, then ends of their edges;
            may have no rows.
        ahead: Distance that no point moves further than in the step [m].
        step: Duration [s].
    """
    law, horizon = contact_law(belts.laws, belt, friction), horizon_of(report, step)
    first, points, history = belts.section_starts[belt], belts.points.shape[1], memory.contacts
    # What is reported acted in the step before: its chords lead here.
    run = belts.riding[belt] * speed * (horizon if horizon > 0.0 else -step)
    slides = belts.riding[belt] == 0.0
    for near in range(candidates.near_starts[belt], candidates.near_starts[belt + 1]):
        part = candidates.near[near]
        place = memory.places[part]
        kind, length = belts.kinds[part], belts.lengths[part]
        coordinate = belts.coordinates[part] + belts.riding[belt] * travel
        x, z, cosine, sine, curvature = section_pose(belts, belt, coordinate)
        out = along_axes(ex, ey, ez, (sine, 0.0, cosine))
        forward = along_axes(ex, ey, ez, (cosine, 0.0, -sine))
        base = sum_of(origin, along_axes(ex, ey, ez, (x, 0.0, z)))
        lever = (base[0] - center[0], base[1] - center[1], base[2] - center[2])
        ride = PartMotion(forward, scaled(out, -curvature), scaled(forward, curvature))
        if abs(run) > _NO_RUN:
            # Around an arc the chord of the step, not its tangent, which leads run^2 / 2 r too deep.
            end_x, end_z, end_cosine, end_sine, _ = section_pose(belts, belt, coordinate + run)
            if curvature != 0.0 or end_cosine != cosine or end_sine != sine:
                ride = PartMotion(
                    along_axes(ex, ey, ez, ((end_x - x) / run, 0.0, (end_z - z) / run)),
                    along_axes(ex, ey, ez, ((end_cosine - cosine) / run, 0.0, (sine - end_sine) / run)),
                    along_axes(ex, ey, ez, ((end_sine - sine) / run, 0.0, (end_cosine - cosine) / run)),
                )
        # A section that an edge across the track has entered lies on that, and on faces that face it.
        edged = NONE
        if candidates.edge_counts[near] > 0:
            # An edge passes from one piece of a face that stands still to the next.
            last = belts.section_starts[belt + 1] - 1
            before, behind = NONE, NONE
            if slides:
                before = _first_slot(memory, part - 1 if part > first else last)
                behind = _first_slot(memory, part + 1 if part < last else first)
            entered = add_edges(
                ground,
                law,
                belts.edge_weights[kind] * length,
                belts.pieces[kind],
                belts.face_counts[kind],
                belts.piece_counts[kind],
                candidates.edges[near],
                candidates.edge_counts[near],
                place * MAX_EDGES,
                MAX_EDGES,
                before,
                behind,
                base,
                forward,
                ey,
                out,
                velocity,
                angular_velocity,
                lever,
                speed,
                slides,
                ride,
                history,
                contacts,
                link,
                belt,
                report,
                len(belts.kinds) * points + 2 * MAX_EDGES * part,
                belt,
                part,
                step,
            )
            if entered != NONE:
                edged = solid_of_edge(ground, candidates.solids[near], candidates.solid_counts[near], entered)
        for p in range(belts.point_counts[kind]):
            arm = along_axes(forward, ey, out, row(belts.points[kind], p))
            point = sum_of(base, arm)
            own, along_belt = sum_of(lever, arm), motion_at(ride, row(belts.points[kind], p))
            pressing, along, push, depth, pressure = point_load(
                ground,
                law,
                history,
                place * points + p,
                candidates.solids[near],
                candidates.faces[near],
                candidates.solid_counts[near],
                edged,
                out,
                point,
                velocity,
                angular_velocity,
                speed,
                slides,
                ey,
                belts.areas[kind, p],
                belts.sides[kind, p],
                belts.weights[kind, p] * length,
                ahead,
                step,
                horizon,
                contacts,
                (link, belt, own, along_belt),
            )
            if len(report) > 0:
                index, size = part * points + p, math.sqrt(dot(pressing, pressing))
                if slides and size > 0.0:  # As the law has it.
                    normal = scaled(pressing, 1 / size)
                    along_belt = without_share(along_belt, dot(along_belt, normal), normal)
                here = sum_of(sum_of(velocity, cross(angular_velocity, own)), scaled(along_belt, speed))
                report_contact(report, index, point, pressing, push, along, here, depth, pressure, belt, part)
                report[index, 14] = greatest_sinkage(history, place * points + p)
