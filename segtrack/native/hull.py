"""The body of a vehicle where it touches the ground: convex solids of its root link."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.compliant.candidates import Candidates, list_part
from segtrack.compliant.edge_contact import add_edges, report_contact
from segtrack.ground.broadphase import MAX_EDGES, NONE, ContactHistory, box_in_world
from segtrack.ground.contact_laws import ContactParameters
from segtrack.ground.contact_loads import add_contact
from segtrack.ground.implicit_contact import point_load
from segtrack.ground.kernels import compiled, inlined
from segtrack.ground.pack import Ground
from segtrack.ground.vectors import Vector, arm, axis, cross, row, sum_of
from segtrack.native.tree import TreeWork

MAX_HULL_EDGES = 60
"""Edges of solids that touch the hull at a time; a further one does not act."""

EDGE_WEIGHT = 1.0
"""Fraction of a hull point's stiffness at either end of an edge that enters."""


class HullArrays(NamedTuple):
    """Convex solids of the root link, in its frame.

    Attributes:
        points: Contact points (H, 3) [m].
        areas: Areas that they stand for in soil (H,) [m^2].
        sides: Smaller side of their faces (H,) [m].
        pieces: Faces of the solids (Q, faces, 5), see `ground.point_contact.FACE`.
        face_counts: Number of each one's faces (Q,).
        box: Centre and half extents of the box around all of it (6,) [m].
        law: `ContactParameters` of each point.
    """

    points: NDArray[np.float64]
    areas: NDArray[np.float64]
    sides: NDArray[np.float64]
    pieces: NDArray[np.float64]
    face_counts: NDArray[np.intp]
    box: NDArray[np.float64]
    law: ContactParameters


@compiled
def _root_origin(root_center: Vector, work: TreeWork, center: Vector) -> Vector:
    """Origin of the root's frame in the world, given its centre of mass in that frame."""
    out = arm(work.rotations, 0, center)
    return root_center[0] - out[0], root_center[1] - out[1], root_center[2] - out[2]


@compiled
def find_hull_candidates(
    ground: Ground,
    hull: HullArrays,
    center: Vector,
    work: TreeWork,
    margin: float,
    candidates: Candidates,
    history: ContactHistory,
    part: int,
    first_point: int,
) -> tuple[int, int]:
    """List what lies within `margin` [m] of the hull; how many solids and edges that are.

    Args:
        ground: The ground.
        hull: The vehicle's.
        center: Root's centre of mass in its frame [m].
        work: Work arrays with the links in place.
        margin: [m]
        candidates: Filled in.
        history: Contact memory of the vehicle.
        part: Index of the hull among the vehicle's parts.
        first_point: Index of its first point among the vehicle's points.
    """
    if len(hull.points) == 0:
        return 0, 0
    x, y, z = _root_origin(row(work.centers, 0), work, center)
    low, high = box_in_world(work.rotations[0], hull.box)
    return list_part(
        ground,
        candidates,
        history,
        part,
        first_point,
        len(hull.points),
        MAX_HULL_EDGES,
        (x + low[0] - margin, y + low[1] - margin, z + low[2] - margin),
        (x + high[0] + margin, y + high[1] + margin, z + high[2] + margin),
    )


@inlined
def add_hull_contacts(
    ground: Ground,
    hull: HullArrays,
    center: Vector,
    work: TreeWork,
    candidates: Candidates,
    history: ContactHistory,
    part: int,
    first_point: int,
    report: NDArray[np.float64],
    group: int,
    gravity: Vector,
    step: float,
) -> None:
    """Add what the ground does to the hull in a step to the loads, and advance its contacts to now.

    Args:
        ground: The ground.
        hull: The vehicle's.
        center: Root's centre of mass in its frame [m].
        work: Work arrays with the links in place; the root's loads are added to.
        candidates: Candidates of the vehicle.
        history: Contact memory of the vehicle.
        part: Index of the hull among the vehicle's parts.
        first_point: Index of its first point among the vehicle's points.
        report: Filled with contacts; may have no rows.
        group: Group by which the report names the hull.
        gravity: Gravity in the world [m/s^2].
        step: Duration [s]; with zero contacts are found as they are.
    """
    count = candidates.solid_counts[part]
    if count == 0:
        return
    middle = row(work.centers, 0)
    origin = _root_origin(middle, work, center)
    velocity, spin = row(work.velocities, 0), row(work.angular_velocities, 0)
    lateral, law = axis(work.rotations, 0, 1), hull.law
    for p in range(len(hull.points)):
        point = sum_of(origin, arm(work.rotations, 0, row(hull.points, p)))
        lever = (point[0] - middle[0], point[1] - middle[1], point[2] - middle[2])
        here = sum_of(velocity, cross(spin, lever))
        force, added, acts, along, push, depth, pressure = point_load(
            ground,
            law,
            history,
            first_point + p,
            candidates.solids[part],
            count,
            NONE,
            point,
            here,
            lateral,
            hull.areas[p],
            hull.sides[p],
            1.0,
            gravity,
            step,
        )
        if acts:
            add_contact(work.loads, 0, lever, force, added)
            report_contact(report, first_point + p, point, push, along, here, depth, pressure, group, part)
    if candidates.edge_counts[part] == 0:
        return
    lever = (origin[0] - middle[0], origin[1] - middle[1], origin[2] - middle[2])
    add_edges(
        ground,
        law,
        EDGE_WEIGHT,
        hull.pieces,
        hull.face_counts,
        len(hull.pieces),
        candidates.edges[part],
        candidates.edge_counts[part],
        part * MAX_EDGES,
        MAX_HULL_EDGES,
        NONE,
        NONE,
        origin,
        axis(work.rotations, 0, 0),
        lateral,
        axis(work.rotations, 0, 2),
        sum_of(velocity, cross(spin, lever)),
        spin,
        lever,
        (0.0, 0.0, 0.0),
        history,
        work.loads,
        0,
        NONE,
        report,
        group,
        part,
        gravity,
        step,
    )
