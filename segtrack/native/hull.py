"""The links of a vehicle where they touch the ground besides belts: convex solids."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.compliant import (
    AHEAD,
    MARGIN,
    Candidates,
    EdgeSlots,
    PartFrame,
    PartMotion,
    Pieces,
    ReportRows,
    add_edges,
    horizon_of,
    list_part,
    report_contact,
)
from segtrack.ground import (
    LANES,
    MAX_EDGES,
    MAX_SOLIDS_PER_POINT,
    NONE,
    ContactHistory,
    ContactParameters,
    Ground,
    LinkMotion,
    PointShare,
    SolidsNear,
    StepTimes,
    box_in_world,
    forget_contacts,
    forget_edges,
    point_load,
)
from segtrack.kernels import Vector, arm, axis, compiled, cross, dot, inlined, row, sum_of
from segtrack.native.tree import TreeArrays, TreeWork

MAX_HULL_EDGES = 60
"""Edges of solids that touch the hull of a link at a time; a further one does not act."""
HULL_PARTS = MAX_HULL_EDGES // MAX_EDGES
"""Parts whose slots for edges the hull of a link has in the memory of contacts."""
EDGE_WEIGHT = 1.0
"""Fraction of a hull point's stiffness at either end of an edge that enters."""
_LEAST_AREA = 1e-9
"""Area of a point that looks up, by which pressures can be divided [m^2]."""


class HullArrays(NamedTuple):
    """Convex solids of H links, in the links' frames.

    Attributes:
        links: Links that have any (H,).
        point_starts: First contact point of each, and the number of all (H + 1,).
        piece_starts: First solid of each, and the number of all (H + 1,).
        points: Contact points (n, 3) [m].
        areas: Areas times outward normals that they stand for in soil (n, 3) [m^2].
        sides: Smaller side of their faces (n,) [m].
        pieces: Faces of the solids (Q, faces, 5), see `ground.point_contact.FACE`.
        face_counts: Number of each one's faces (Q,).
        boxes: Centre and half extents of the box around all of each link (H, 6) [m].
        law: `ContactParameters` of each point.
    """

    links: NDArray[np.intp]
    point_starts: NDArray[np.intp]
    piece_starts: NDArray[np.intp]
    points: NDArray[np.float64]
    areas: NDArray[np.float64]
    sides: NDArray[np.float64]
    pieces: NDArray[np.float64]
    face_counts: NDArray[np.intp]
    boxes: NDArray[np.float64]
    law: ContactParameters


@compiled
def _link_origin(tree: TreeArrays, work: TreeWork, link: int) -> Vector:
    """Origin of a link's frame in the world [m]."""
    out = arm(work.rotations, link, row(tree.centers, link))
    x, y, z = row(work.centers, link)
    return x - out[0], y - out[1], z - out[2]


@compiled
def hull_speed(hull: HullArrays, tree: TreeArrays, work: TreeWork, h: int) -> float:
    """Bound on the speed of the points of a hull, |v| + |w| max |x - c| [m/s]."""
    link, box = hull.links[h], hull.boxes[h]
    velocity, spin = row(work.velocities, link), row(work.angular_velocities, link)
    reach = 0.0
    for k in range(3):
        side = abs(box[k] - tree.centers[link, k]) + box[3 + k]
        reach += side * side
    return math.sqrt(dot(velocity, velocity)) + math.sqrt(dot(spin, spin) * reach)


@compiled
def find_hull_candidates(
    ground: Ground,
    hull: HullArrays,
    h: int,
    tree: TreeArrays,
    work: TreeWork,
    margin: float,
    candidates: Candidates,
    history: ContactHistory,
) -> tuple[int, int]:
    """List what lies within `margin` [m] of the hull of a link; how many solids and edges that are.

    A hull that is near nothing forgets its contacts.

    Args:
        ground: The ground.
        hull: The vehicle's.
        h: Index of the hull.
        tree: The vehicle's links.
        work: Work arrays with the links in place.
        margin: [m]
        candidates: Filled in.
        history: Contact memory of the hulls.
    """
    link, start, part = hull.links[h], hull.point_starts[h], len(candidates.near) + h
    x, y, z = _link_origin(tree, work, link)
    low, high = box_in_world(work.rotations[link], hull.boxes[h])
    solids_before, edges_before = candidates.solid_counts[part], candidates.edge_counts[part]
    solids, edges = list_part(
        ground,
        candidates,
        part,
        (x + low[0] - margin, y + low[1] - margin, z + low[2] - margin),
        (x + high[0] + margin, y + high[1] + margin, z + high[2] + margin),
    )
    if solids == 0 and solids_before > 0:
        forget_contacts(history, start, hull.point_starts[h + 1] - start)
    if edges == 0 and edges_before > 0:
        forget_edges(history, h * MAX_HULL_EDGES, MAX_HULL_EDGES)
    return solids, edges


@inlined
def find_hulls(
    ground: Ground,
    hull: HullArrays,
    tree: TreeArrays,
    work: TreeWork,
    slack: NDArray[np.float64],
    looks: bool,
    margin: float,
    candidates: Candidates,
    history: ContactHistory,
    step: float,
) -> tuple[int, int]:
    """List what is near hulls that may have moved too far; the most solids and edges near one.

    Args:
        ground: The ground.
        hull: The vehicle's.
        tree: The vehicle's links.
        work: Work arrays with the links in place.
        slack: Distances that the hulls of links may move, counted down; the root's is not.
        looks: True to look for what is near the root's hull.
        margin: Distance within which that is near [m].
        candidates: Filled in.
        history: Contact memory of the hulls.
        step: Duration of a step [s].
    """
    solids, edges = 0, 0
    for h in range(len(hull.links)):
        link, due, near = hull.links[h], looks, margin
        if link > 0:
            way = step * hull_speed(hull, tree, work, h)
            slack[link] -= way
            due, near = slack[link] <= 0.0, MARGIN + AHEAD * way
        if due:
            a, b = find_hull_candidates(ground, hull, h, tree, work, near, candidates, history)
            solids, edges = max(solids, a), max(edges, b)
            if link > 0:
                slack[link] = MARGIN
    return solids, edges


@compiled
def count_hull_contacts(hull: HullArrays, candidates: Candidates) -> int:
    """Most lanes that contacts of hulls with what is near them can take."""
    most = 0
    for h in range(len(hull.links)):
        part, points = len(candidates.near) + h, hull.point_starts[h + 1] - hull.point_starts[h]
        if candidates.solid_counts[part] > 0 or candidates.edge_counts[part] > 0:
            most += LANES - 1
        most += points * min(candidates.solid_counts[part], MAX_SOLIDS_PER_POINT)
        if candidates.edge_counts[part] > 0:
            most += 2 * MAX_HULL_EDGES
    return most


@inlined
def add_hull_contacts(
    ground: Ground,
    hull: HullArrays,
    tree: TreeArrays,
    work: TreeWork,
    candidates: Candidates,
    history: ContactHistory,
    report: NDArray[np.float64],
    first_row: int,
    group: int,
    ahead: float,
    step: float,
) -> None:
    """Write the contacts of the ground with the hulls in a step; they are advanced to now.

    Args:
        ground: The ground.
        hull: The vehicle's.
        tree: The vehicle's links.
        work: Work arrays with the links in place; contacts are written behind those that are there.
        candidates: Candidates of the vehicle.
        history: Contact memory of the hulls.
        report: Filled with contacts; may have no rows.
        first_row: First row of those of the hulls.
        group: Group by which the report names the hulls.
        ahead: Distance that no point of the root moves further than in the step [m].
        step: Duration [s].
    """
    for h in range(len(hull.links)):
        part, link = len(candidates.near) + h, hull.links[h]
        count = candidates.solid_counts[part]
        if count == 0:
            continue
        near = ahead if link == 0 else step * hull_speed(hull, tree, work, h)
        origin, lateral, law = _link_origin(tree, work, link), axis(work.rotations, link, 1), hull.law
        motion = LinkMotion(
            link=link,
            belt=NONE,
            center=row(work.centers, link),
            velocity=row(work.velocities, link),
            spin=row(work.angular_velocities, link),
            speed=0.0,
            slides=False,
        )
        times, still = StepTimes(step, horizon_of(report, step), near), (0.0, 0.0, 0.0)
        solids = SolidsNear(candidates.solids[part], candidates.faces[part], count, NONE, still)
        upwards = (work.rotations[link, 2, 0], work.rotations[link, 2, 1], work.rotations[link, 2, 2])
        # Points lie on corners and faces of the hull; they turn and move with the link.
        for p in range(hull.point_starts[h], hull.point_starts[h + 1]):
            point = sum_of(origin, arm(work.rotations, link, row(hull.points, p)))
            # Soil presses on what looks down: A = -a . z, of the area vector a.
            area = max(_LEAST_AREA, -dot(upwards, row(hull.areas, p)))
            center = motion.center
            lever = (point[0] - center[0], point[1] - center[1], point[2] - center[2])
            pressing, along, push, depth, pressure = point_load(
                ground,
                law,
                history,
                p,
                solids,
                point,
                motion,
                lever,
                still,
                lateral,
                PointShare(area, hull.sides[p], 1.0),
                times,
                work.contacts,
            )
            if len(report) > 0:
                here = sum_of(motion.velocity, cross(motion.spin, lever))
                report_contact(
                    report, first_row + p, point, pressing, push, along, here, depth, pressure, group, h
                )
        if candidates.edge_counts[part] == 0:
            continue
        # Edges of the ground enter the hull's convex pieces.
        first, last = hull.piece_starts[h], hull.piece_starts[h + 1]
        add_edges(
            ground,
            law,
            EDGE_WEIGHT,
            Pieces(hull.pieces[first:last], hull.face_counts[first:last], last - first),
            candidates.edges[part],
            candidates.edge_counts[part],
            EdgeSlots(h * MAX_HULL_EDGES, MAX_HULL_EDGES, NONE, NONE),
            PartFrame(origin, axis(work.rotations, link, 0), lateral, axis(work.rotations, link, 2)),
            motion,
            PartMotion(still, still, still),
            history,
            work.contacts,
            ReportRows(report, first_row + len(hull.points) + 2 * h * MAX_HULL_EDGES, group, h),
            times,
        )
