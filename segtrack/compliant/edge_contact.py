"""Contact of the ground's edges with parts of a belt or of a hull."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.ground import (
    MAX_EDGES,
    NONE,
    ContactHistory,
    ContactParameters,
    Contacts,
    Ground,
    edge_end_load,
    edge_in_piece,
    find_edge_slot,
    forget_lost_edges,
    knows_edge,
    point_between,
    take_edge_over,
)
from segtrack.kernels import Vector, compiled, cross, dot, row, scaled, sum_of, without_share

REPORT = 18
"""Numbers a contact is reported by: place, normal force, force along surfaces, velocity over the ground,
depth, pressure, belt and section, or behind the belts and hull; of points, the greatest sinkage; force."""


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
    normal: Vector,
    normal_force: float,
    along: Vector,
    velocity: Vector,
    depth: float,
    pressure: float,
    belt: int,
    section: int,
) -> None:
    """Write a contact that carries anything into row `index` of a report, if it has rows.

    Args:
        report: Rows of contacts (n, `REPORT`).
        index: Row.
        place: Place of the contact in the world [m].
        normal: Normal force in the world [N].
        normal_force: Sum of the sizes of the normal forces [N].
        along: Force along surfaces in the world [N].
        velocity: Velocity over the ground in the world [m/s].
        depth: Greatest depth [m].
        pressure: Greatest pressure [Pa].
        belt: Group of the contact.
        section: Part of the group.
    """
    if len(report) == 0 or normal_force == 0.0:
        return
    out = report[index]
    for k in range(3):
        out[k], out[4 + k], out[7 + k] = place[k], along[k], velocity[k]
        out[15 + k] = along[k] + normal[k]
    out[3], out[10], out[11], out[12], out[13] = normal_force, depth, pressure, belt, section


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
    velocity: Vector,
    spin: Vector,
    lever: Vector,
    speed: float,
    slides: bool,
    ride: PartMotion,
    history: ContactHistory,
    contacts: Contacts,
    link: int,
    belt: int,
    report: NDArray[np.float64],
    first_row: int,
    group: int,
    part: int,
    step: float,
) -> int:
    """Write the contacts of the edges near a part in a step; they are advanced to now.

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
        before: First slot of a part from which an edge may pass to this one, or `NONE`.
        behind: Likewise.
        base: Origin of the part's frame in the world [m].
        x: x axis of the part's frame in the world, along which a belt moves.
        y: y axis, across the track.
        z: z axis.
        velocity: Velocity of the link's centre, in the world [m/s].
        spin: Angular velocity of the link, in the world [rad/s].
        lever: From the link's centre to the part's origin, in the world [m].
        speed: Speed of the belt [m/s].
        slides: True if the belt slides along the part, and does not carry it.
        ride: Motion of the part over its link, per metre of the belt.
        history: Contact memory of the vehicle.
        contacts: Contacts of the vehicle, written behind those that are there.
        link: Index of the link.
        belt: Index of the belt, or `NONE` for a part that moves with its link.
        report: Report as in `add_belt_contacts`.
        first_row: Row there of the first end of the first slot.
        group: Group by which the report names the belt, or the hull.
        part: Index of the part.
        step: Duration [s].

    Returns:
        Edge across the track that has entered the part, or `NONE`.
    """
    entered = NONE
    touched = 0
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
            if not known:
                for neighbour in (before, behind):
                    if neighbour != NONE:
                        known |= take_edge_over(history, slot, neighbour, MAX_EDGES, contact)
            touched |= 1 << (slot - first_slot)
            dx, dy, dz = end[0] - begin[0], end[1] - begin[1], end[2] - begin[2]
            if dy * dy >= dx * dx + dz * dz:
                entered = edge
            inwards = along_axes(x, y, z, (-normal[0], -normal[1], -normal[2]))
            shears = history.edge_shear_displacements[slot]
            for tip in range(2):
                place = point_between(begin, end, stop if tip else start)
                arm = along_axes(x, y, z, place)
                own, along_belt = sum_of(lever, arm), motion_at(ride, place)
                if slides:
                    along_belt = without_share(along_belt, dot(along_belt, inwards), inwards)
                here = sum_of(sum_of(velocity, cross(spin, own)), scaled(along_belt, speed))
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
                    step,
                    horizon_of(report, step),
                    contacts,
                    (link, belt, own, along_belt),
                )
                shears[tip, 0], shears[tip, 1], shears[tip, 2] = shear
                index, point = first_row + 2 * (slot - first_slot) + tip, sum_of(base, arm)
                report_contact(report, index, point, pressing, push, along, here, depth, 0.0, group, part)
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
