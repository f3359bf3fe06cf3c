"""Contact of the ground's edges with parts of a belt or of a hull."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.compliant.report import report_contact
from segtrack.ground import (
    MAX_EDGES,
    NONE,
    ContactHistory,
    ContactParameters,
    ContactPart,
    Contacts,
    Ground,
    LinkMotion,
    StepTimes,
    edge_end_load,
    edge_in_piece,
    find_edge_slot,
    forget_lost_edges,
    knows_edge,
    point_between,
    take_edge_over,
    velocity_over_ground,
)
from segtrack.kernels import Vector, compiled, dot, row, scaled, sum_of, without_share


@compiled
def along_axes(x: Vector, y: Vector, z: Vector, point: Vector) -> Vector:
    """A vector (3,) given along three axes of the world."""
    return (
        x[0] * point[0] + y[0] * point[1] + z[0] * point[2],
        x[1] * point[0] + y[1] * point[1] + z[1] * point[2],
        x[2] * point[0] + y[2] * point[1] + z[2] * point[2],
    )


class PartMotion(NamedTuple):
    """Motion of a part over its link with a belt, in the world, per metre of the belt [-, 1/m, 1/m]."""

    forward: Vector
    """Of the part's origin."""
    nose: Vector
    """Of the part's x axis, along which the belt moves."""
    top: Vector
    """Of the part's z axis."""


@compiled
def motion_at(ride: PartMotion, place: Vector) -> Vector:
    """Motion of a place in a part's frame [m] over the link, per metre of the belt, in the world [-]."""
    return sum_of(ride.forward, sum_of(scaled(ride.nose, place[0]), scaled(ride.top, place[2])))


@compiled
def horizon_of(report: NDArray[np.float64], step: float) -> float:
    """Time that friction is predicted for [s]: that of a step, or 0 where contacts are reported as of now."""
    return 0.0 if len(report) > 0 else step


class Pieces(NamedTuple):
    """Convex pieces of a part.

    Attributes:
        faces: Their faces (pieces, faces, 5), see `ground.point_contact.FACE`.
        face_counts: Number of each piece's faces (pieces,).
        number: Number of pieces.
    """

    faces: NDArray[np.float64]
    face_counts: NDArray[np.intp]
    number: int


class EdgeSlots(NamedTuple):
    """Slots of a part for edges in the memory of contacts.

    Attributes:
        first: The first one.
        number: Number of them.
        before: First slot of a part from which an edge may pass to this one, or `NONE`.
        behind: Likewise.
    """

    first: int
    number: int
    before: int
    behind: int


class PartFrame(NamedTuple):
    """Frame of a part in the world: its origin [m], and its axes along a belt, across it, and outwards."""

    origin: Vector
    x: Vector
    y: Vector
    z: Vector


class ReportRows(NamedTuple):
    """Rows of a report for a part: all rows, its first one there, its group, and its index in that."""

    rows: NDArray[np.float64]
    first: int
    group: int
    part: int


@compiled
def add_edges(
    ground: Ground,
    law: ContactParameters,
    weight: float,
    pieces: Pieces,
    edges: NDArray[np.int32],
    edge_count: int,
    slots: EdgeSlots,
    frame: PartFrame,
    motion: LinkMotion,
    ride: PartMotion,
    history: ContactHistory,
    contacts: Contacts,
    report: ReportRows,
    times: StepTimes,
) -> int:
    """Write the contacts of the edges near a part in a step; they are advanced to now.

    Args:
        ground: The ground.
        law: Contact parameters of the part.
        weight: Fraction of their stiffness and damping at either end of an edge.
        pieces: Convex pieces of the part.
        edges: Candidates (n,).
        edge_count: Number of candidates, the first ones of `edges`.
        slots: Slots of the part.
        frame: Frame of the part.
        motion: Motion of its link and belt.
        ride: Motion of the part over its link, per metre of the belt.
        history: Contact memory of the vehicle.
        contacts: Contacts of the vehicle, written behind those that are there.
        report: Rows of the part, two for each slot.
        times: The step.

    Returns:
        Edge across the track that has entered the part, or `NONE`.
    """
    entered, touched = NONE, 0
    x, y, z = frame.x, frame.y, frame.z
    lever = (
        frame.origin[0] - motion.center[0],
        frame.origin[1] - motion.center[1],
        frame.origin[2] - motion.center[2],
    )
    for e in range(edge_count):
        edge = edges[e]
        begin = _in_frame(frame, row(ground.edges[:, :3], edge))
        end = _in_frame(frame, row(ground.edges[:, 3:], edge))
        for piece in range(pieces.number):
            start, stop, normal, offset = edge_in_piece(
                pieces.faces[piece], pieces.face_counts[piece], begin, end
            )
            if not start < stop:
                continue
            # Memory: a contact goes on in its slot, or in one that a neighbour's slides over to.
            contact = edge * len(pieces.faces) + piece
            known = knows_edge(history, slots.first, slots.number, contact)
            slot = find_edge_slot(history, slots.first, slots.number, contact)
            if slot == NONE:
                continue
            if not known:
                for neighbour in (slots.before, slots.behind):
                    if neighbour != NONE:
                        known |= take_edge_over(history, slot, neighbour, MAX_EDGES, contact)
            touched |= 1 << (slot - slots.first)
            dx, dy, dz = end[0] - begin[0], end[1] - begin[1], end[2] - begin[2]
            if dy * dy >= dx * dx + dz * dz:
                entered = edge
            # Both ends of the stretch inside, a + t (b - a) for t = start and stop, leave by the face n.x = c
            # nearest to its middle, each with its depth c - n.x: they are contacts with the normal -n.
            inwards = along_axes(x, y, z, (-normal[0], -normal[1], -normal[2]))
            shears = history.edge_shear_displacements[slot]
            for tip in range(2):
                place = point_between(begin, end, stop if tip else start)
                arm = along_axes(x, y, z, place)
                own, along_belt = sum_of(lever, arm), motion_at(ride, place)
                if motion.slides:
                    along_belt = without_share(along_belt, dot(along_belt, inwards), inwards)
                here = velocity_over_ground(motion, own, along_belt)
                depth = offset - dot(place, normal)
                pressing, shear, along, push = edge_end_load(
                    law,
                    row(shears, tip),
                    depth,
                    here,
                    inwards,
                    y,
                    law.friction * ground.edge_friction[edge],
                    weight,
                    known,
                    times,
                    contacts,
                    ContactPart(motion.link, motion.belt, own, along_belt),
                )
                shears[tip, 0], shears[tip, 1], shears[tip, 2] = shear
                report_contact(
                    report.rows,
                    report.first + 2 * (slot - slots.first) + tip,
                    sum_of(frame.origin, arm),
                    pressing,
                    push,
                    along,
                    here,
                    depth,
                    0.0,
                    report.group,
                    report.part,
                )
    forget_lost_edges(history, slots.first, slots.number, touched)
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
def _in_frame(frame: PartFrame, point: Vector) -> Vector:
    """A point of the world, in a frame."""
    base = frame.origin
    lever = (point[0] - base[0], point[1] - base[1], point[2] - base[2])
    return dot(frame.x, lever), dot(frame.y, lever), dot(frame.z, lever)
