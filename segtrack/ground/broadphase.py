"""Contact candidates near a part (proximity list of Omar 2014, section 5), and memory of contacts."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.ground.pack import RIGID, Ground
from segtrack.kernels import Vector, compiled, dot, inlined, sum_of, without_share

MAX_SOLIDS_PER_POINT = 3
"""Solids that one point touches at a time, as in a corner; a further one does not act."""

MAX_EDGES = 4
"""Edges of solids that touch one part at a time; a further one does not act."""

ALL_FACES = -1
"""In place of chosen faces of a solid: none is left out."""
_MAX_CHOSEN = 30
"""Most faces of a solid of which some are chosen."""
_SURE = 1e-6
"""Difference of heights that is more than rounding [m]."""

NONE = -1
"""In place of a solid or an edge: there is none."""

_LOST = -2
"""Minus an edge that has just ceased to touch: what is remembered of it."""


class ContactHistory(NamedTuple):
    """Memory of the contacts of parts with points; kernels change it in place.

    For N vehicles each array has a further first axis of length N.

    Attributes:
        solid_ids: Surface of `Ground.surfaces` that each contact of a point is with, or `NONE` (points * 3,).
        shear_displacements: Shear displacements of these contacts in the world (points * 3, 3) [m].
        sinkages: Their greatest sinkage, for soil (points * 3,) [m].
        edge_ids: Edge that touches, and which piece of the part, as edge * pieces + piece, or `NONE`; -2
            minus that for one that has just ceased to (parts * 4,).
        edge_shear_displacements: Displacements at the ends of its stretch in the part (parts * 4, 2, 3) [m].
    """

    solid_ids: NDArray[np.int32]
    shear_displacements: NDArray[np.float64]
    sinkages: NDArray[np.float64]
    edge_ids: NDArray[np.int32]
    edge_shear_displacements: NDArray[np.float64]

    def copy(self) -> ContactHistory:
        """Return the same memory with arrays of its own."""
        return ContactHistory(
            self.solid_ids.copy(),
            self.shear_displacements.copy(),
            self.sinkages.copy(),
            self.edge_ids.copy(),
            self.edge_shear_displacements.copy(),
        )


@compiled
def greatest_sinkage(history: ContactHistory, point_index: int) -> float:
    """Return the greatest sinkage of a point in what it touches, since it touched [m]."""
    first, greatest = point_index * MAX_SOLIDS_PER_POINT, 0.0
    for slot in range(first, first + MAX_SOLIDS_PER_POINT):
        if history.solid_ids[slot] != NONE:
            greatest = max(greatest, history.sinkages[slot])
    return greatest


def allocate_contact_history(points: int, parts: int, vehicles: tuple[int, ...] = ()) -> ContactHistory:
    """Return the memory of parts that touch nothing yet.

    Args:
        points: Number of all points.
        parts: Number of parts.
        vehicles: First axes of the arrays; (N,) for N vehicles side by side.
    """
    contacts, edges = points * MAX_SOLIDS_PER_POINT, parts * MAX_EDGES
    return ContactHistory(
        np.full((*vehicles, contacts), NONE, dtype=np.int32),
        np.zeros((*vehicles, contacts, 3)),
        np.zeros((*vehicles, contacts)),
        np.full((*vehicles, edges), NONE, dtype=np.int32),
        np.zeros((*vehicles, edges, 2, 3)),
    )


@compiled
def forget_contacts(history: ContactHistory, first_point: int, points: int) -> None:
    """Forget all contacts of a part's points."""
    begin = first_point * MAX_SOLIDS_PER_POINT
    for slot in range(begin, begin + points * MAX_SOLIDS_PER_POINT):
        history.solid_ids[slot] = NONE


@compiled
def forget_edges(history: ContactHistory, first: int, count: int) -> None:
    """Forget all edges of a part's `count` slots from `first`, at once."""
    for slot in range(first, first + count):
        history.edge_ids[slot] = NONE


@compiled
def forget_lost_edges(history: ContactHistory, first: int, count: int, touched: int) -> None:
    """Forget the edges of a part's `count` slots from `first` whose bit in `touched` is not set.

    What they remember is kept until the next call, for a neighbour that they may have passed to.
    """
    for slot in range(count):
        if not touched & (1 << slot):
            known = history.edge_ids[first + slot]
            history.edge_ids[first + slot] = _LOST - known if known >= 0 else NONE


@compiled
def find_edge_slot(history: ContactHistory, first: int, count: int, contact: int) -> int:
    """Slot, of `count` from `first`, that remembers a contact with an edge; `NONE` if all are taken.

    A new one has no shear.
    """
    slot = find_slot(history.edge_ids, first, first + count, contact)
    if slot != NONE and history.edge_ids[slot] != contact:
        history.edge_ids[slot] = contact
        for end in range(2):
            for k in range(3):
                history.edge_shear_displacements[slot, end, k] = 0.0
    return slot


@compiled
def knows_edge(history: ContactHistory, first: int, count: int, contact: int) -> bool:
    """Return whether one of `count` slots from `first` remembers a contact with an edge."""
    for slot in range(first, first + count):
        if history.edge_ids[slot] == contact:
            return True
    return False


@compiled
def take_edge_over(history: ContactHistory, slot: int, first: int, count: int, contact: int) -> bool:
    """Give a slot what a neighbour remembers of the same contact, or has just lost; true if that is so.

    Args:
        history: Memory, changed in place.
        slot: Slot of the contact.
        first: First slot of the neighbour.
        count: Number of its slots.
        contact: The contact, as in `ContactHistory.edge_ids`.
    """
    taken = False
    for other in range(first, first + count):
        known = history.edge_ids[other]
        if known == contact or known == _LOST - contact:
            taken = True
            for end in range(2):
                for k in range(3):
                    shear = history.edge_shear_displacements[other, end, k]
                    history.edge_shear_displacements[slot, end, k] = shear
    return taken


@inlined
def find_slot(ids: NDArray[np.int32], first: int, last: int, wanted: int) -> int:
    """Slot from `first` to before `last` that remembers a contact.

    Where none has the wanted id, it is one that is free, or `NONE` if there is none.
    """
    free = NONE
    for slot in range(first, last):
        if ids[slot] == wanted:
            return slot
        if ids[slot] < 0:
            free = slot
    return free


@compiled
def list_candidates(
    ground: Ground, low: Vector, high: Vector, solids: NDArray[np.int32], edges: NDArray[np.int32]
) -> tuple[int, int]:
    """List the solids whose bounds meet a box in the world, and the edges of rigid ones that do.

    Args:
        ground: The ground.
        low: Least corner of the box [m].
        high: Greatest corner [m].
        solids: Filled as far as it reaches (s,).
        edges: Likewise (e,).

    Returns:
        Number of solids and edges, which may be more than the lists hold.
    """
    solid_count, edge_count = 0, 0
    for solid in range(len(ground.bounds)):
        if _misses(low, high, ground.bounds[solid]):
            continue
        if solid_count < len(solids):
            solids[solid_count] = solid
        solid_count += 1
        if solid < len(ground.planes) and ground.solid_soils[solid] == RIGID:
            for edge in range(ground.edge_starts[solid], ground.edge_starts[solid + 1]):
                if not _passes(low, high, ground.edges[edge]):
                    continue
                if edge_count < len(edges):
                    edges[edge_count] = edge
                edge_count += 1
    return solid_count, edge_count


class Listed(NamedTuple):
    """Candidates of a larger box, among which those of a box within it are.

    Attributes:
        solids: Solids (s,).
        solid_count: Number of them, the first ones.
        edges: Edges (e,).
        edge_count: Number of them, the first ones.
    """

    solids: NDArray[np.int32]
    solid_count: int
    edges: NDArray[np.int32]
    edge_count: int


@inlined
def list_among(
    ground: Ground,
    listed: Listed,
    low: Vector,
    high: Vector,
    solids: NDArray[np.int32],
    edges: NDArray[np.int32],
) -> tuple[int, int]:
    """List candidates as `list_candidates` does, of a box within the one of which they are `listed`."""
    solid_count, edge_count = 0, 0
    for k in range(listed.solid_count):
        solid = listed.solids[k]
        if not _misses(low, high, ground.bounds[solid]):
            if solid_count < len(solids):
                solids[solid_count] = solid
            solid_count += 1
    for k in range(listed.edge_count):
        edge = listed.edges[k]
        if _passes(low, high, ground.edges[edge]):
            if edge_count < len(edges):
                edges[edge_count] = edge
            edge_count += 1
    return solid_count, edge_count


@inlined
def meets_listed(ground: Ground, listed: Listed, low: Vector, high: Vector) -> bool:
    """Return whether a box in the world meets the bounds of any listed solid."""
    for k in range(listed.solid_count):
        if not _misses(low, high, ground.bounds[listed.solids[k]]):
            return True
    return False


@inlined
def faces_near(ground: Ground, solid: int, low: Vector, high: Vector) -> int:
    """Faces of a convex solid that any point of a box in the world may be over, or be nearest to.

    Nearest is the face over which the point is highest, of those that are not buried.

    Args:
        ground: The ground.
        solid: Index of the solid.
        low: Least corner of the box [m].
        high: Greatest corner [m].

    Returns:
        The sum of 2^f of these faces f; `ALL_FACES` where there are too many for that.
    """
    faces, nearest, chosen = ground.faces[solid], -math.inf, 0
    if faces > _MAX_CHOSEN:
        return ALL_FACES
    for f in range(faces):
        plane = ground.planes[solid, f]
        if plane[4] == 0.0:
            nearest = max(nearest, _height_over(plane, low, high))
    for f in range(faces):
        plane = ground.planes[solid, f]
        highest = _height_over(plane, high, low)
        if highest > -_SURE or (plane[4] == 0.0 and highest > nearest - _SURE):
            chosen |= 1 << f
    return chosen


@inlined
def _height_over(plane: NDArray[np.float64], low: Vector, high: Vector) -> float:
    """Least height of a box over a plane [m]; the greatest one, with its corners exchanged."""
    height = -plane[3]
    for k in range(3):
        height += plane[k] * (low[k] if plane[k] > 0.0 else high[k])
    return height


@inlined
def clearance(
    ground: Ground,
    solids: NDArray[np.int32],
    faces: NDArray[np.int32],
    count: int,
    center: Vector,
    axes: tuple[Vector, Vector, Vector],
    half: Vector,
    reach: float,
) -> tuple[float, int, int]:
    """Distance by which a box is at least off all solids near it, by one of their faces; what is in reach.

    With the height of the box's lowest corner over a face, n.c - offset - sum of half_k |n.x_k|, that is the
    least over solids of the greatest over faces, and 0 where it meets one. What is returned depends on where
    the box is, not on the larger one for which candidates were listed.

    Args:
        ground: The ground.
        solids: Candidates as in `Ground.bounds` (n,).
        faces: Faces of these that count, see `faces_near` (n,).
        count: Number of them that count, the first ones.
        center: Centre of the box in the world [m].
        axes: Its axes x_k in the world.
        half: Its half extents along them [m].
        reach: Distance within which a solid is in reach, more than 0 [m].

    Returns:
        The distance [m]; the place of the only candidate in reach, or `NONE` if there are none or several;
        and the face of this one that alone decides over depths in the box, which is rigid, or `NONE`.
    """
    least, only, within, face = math.inf, NONE, 0, NONE
    for k in range(count):
        solid, highest = solids[k], 0.0
        if solid < len(ground.planes):
            nearest, lone, chosen = -math.inf, NONE, faces[k]
            for f in range(ground.faces[solid]):
                if chosen != ALL_FACES:
                    if chosen >> f == 0:
                        break
                    if chosen >> f & 1 == 0:
                        continue
                height, span = _box_over(ground.planes[solid, f], center, axes, half)
                highest = max(highest, height - span)
                if ground.planes[solid, f, 4] == 0.0 and height - span > nearest:
                    nearest, lone = height - span, f
            if highest <= reach:
                only, within, face = k, within + 1, NONE
                # Of several that were listed the others are to be out of the box, see `faces_near`.
                sole = lone != NONE and ground.solid_soils[solid] == RIGID
                if chosen == ALL_FACES or chosen & (chosen - 1) != 0:
                    for f in range(ground.faces[solid]):
                        if f != lone and (chosen == ALL_FACES or chosen >> f & 1 != 0):
                            height, span = _box_over(ground.planes[solid, f], center, axes, half)
                            exposed = ground.planes[solid, f, 4] == 0.0
                            if height + span > -_SURE or (exposed and height + span > nearest - _SURE):
                                sole = False
                if sole:
                    face = lone
        else:
            height = center[2] - ground.bounds[solid, 5]
            for j in range(3):
                height -= half[j] * abs(axes[j][2])
            highest = max(highest, height)
            if highest <= reach:
                only, within, face = k, within + 1, NONE
        least = min(least, highest)
    return (least, only, face) if within == 1 else (least, NONE, NONE)


@inlined
def _box_over(
    plane: NDArray[np.float64], center: Vector, axes: tuple[Vector, Vector, Vector], half: Vector
) -> tuple[float, float]:
    """Height of the centre of a turned box over a plane, and that of its highest corner over this [m]."""
    n = plane[0], plane[1], plane[2]
    span = half[0] * abs(dot(n, axes[0])) + half[1] * abs(dot(n, axes[1])) + half[2] * abs(dot(n, axes[2]))
    return dot(n, center) - plane[3], span


@inlined
def meets_edge(
    ground: Ground,
    edges: NDArray[np.int32],
    count: int,
    center: Vector,
    axes: tuple[Vector, Vector, Vector],
    half: Vector,
    margin: float,
) -> bool:
    """Return whether an edge, of so many candidates (n,), may be within `margin` [m] of a turned box."""
    spans = (margin, margin, margin)
    for j in range(3):
        x, y, z = axes[j]
        spans = spans[0] + half[j] * abs(x), spans[1] + half[j] * abs(y), spans[2] + half[j] * abs(z)
    low, high = without_share(center, 1.0, spans), sum_of(center, spans)
    for k in range(count):
        if _passes(low, high, ground.edges[edges[k]]):
            return True
    return False


@compiled
def box_in_world(rotation: NDArray[np.float64], box: NDArray[np.float64]) -> tuple[Vector, Vector]:
    """Least and greatest corner [m] of a turned box (6,), centre and half extents, from its frame origin."""
    x, y, z = _span(rotation, box, 0), _span(rotation, box, 1), _span(rotation, box, 2)
    return (x[0], y[0], z[0]), (x[1], y[1], z[1])


@compiled
def _span(rotation: NDArray[np.float64], box: NDArray[np.float64], k: int) -> tuple[float, float]:
    middle, half = 0.0, 0.0
    for j in range(3):
        middle += rotation[k, j] * box[j]
        half += abs(rotation[k, j]) * box[3 + j]
    return middle - half, middle + half


@inlined
def _misses(low: Vector, high: Vector, bounds: NDArray[np.float64]) -> bool:
    """Return whether a box is off the bounds (6,) of something."""
    for k in range(3):
        if high[k] < bounds[k] or low[k] > bounds[3 + k]:
            return True
    return False


@inlined
def _passes(low: Vector, high: Vector, edge: NDArray[np.float64]) -> bool:
    """Return whether the box of an edge (6,) meets another one."""
    for k in range(3):
        if min(edge[k], edge[3 + k]) > high[k] or max(edge[k], edge[3 + k]) < low[k]:
            return False
    return True
