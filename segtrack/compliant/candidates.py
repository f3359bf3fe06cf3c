"""Search for sections of a belt that can touch the ground soon: what is far away costs nothing."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.compliant.belt import BeltArrays, place_on_path
from segtrack.compliant.memory import BeltMemory, release_place
from segtrack.ground import (
    LANES,
    MAX_EDGES,
    MAX_SOLIDS_PER_POINT,
    NONE,
    Contacts,
    Ground,
    Listed,
    box_in_world,
    faces_near,
    forget_edges,
    list_among,
    list_candidates,
    meets_listed,
)
from segtrack.kernels import Vector, compiled, cosine_sine, inlined, sum_of, without_share

MARGIN = 0.02
"""Parts of vehicles and of the ground that are nearer than this are candidates for contact [m]."""
AHEAD = 1.5
"""Steps at the speed of now that candidates are looked for beyond `MARGIN`: a vehicle may become faster."""
NEAR_BELT = 64
"""Solids, and edges, near a belt that are listed; with more, sections are compared with all of the ground."""
_SAME_TURN = 1e-12
"""Difference of angles that is none [rad]."""


class Candidates(NamedTuple):
    """Solids and edges that parts of a vehicle may touch before they are looked for again.

    The parts are up to R sections of belts near anything, and behind them H hulls. For N vehicles each array
    has a further first axis of length N.

    Attributes:
        near: Sections near anything, belt by belt (R,).
        near_starts: First of each belt there, and the number of all (T + 1,).
        solids: Solids near each part, as in `Ground.bounds` (R + H, s).
        faces: Faces of these that may count, see `broadphase.faces_near` (R + H, s).
        solid_counts: Number of solids near each part (R + H,).
        edges: Edges near each part (R + H, e).
        edge_counts: Number of edges near each part (R + H,).
        near_segments: 1 for segments of belts' paths that anything is near (S,).
        near_solids: Room for solids near a belt (`NEAR_BELT`,).
        near_edges: Room for edges near a belt (`NEAR_BELT`,).
        clear_until: Slack, which is the distance that any part may move before what is near is looked for
            again, down to which each section touches nothing (R,) [m]; infinity where it may at once.
    """

    near: NDArray[np.int32]
    near_starts: NDArray[np.int32]
    solids: NDArray[np.int32]
    faces: NDArray[np.int32]
    solid_counts: NDArray[np.int32]
    edges: NDArray[np.int32]
    edge_counts: NDArray[np.int32]
    near_segments: NDArray[np.int32]
    near_solids: NDArray[np.int32]
    near_edges: NDArray[np.int32]
    clear_until: NDArray[np.float64]


class Room(NamedTuple):
    """Numbers that lists of candidates, and contacts, have room for.

    Attributes:
        sections: Number of sections of belts near anything; at least 1 for a vehicle with belts.
        solids: Largest number of solids near one part.
        edges: Largest number of edges near one part.
        contacts: Number of lanes that contacts take.
    """

    sections: int
    solids: int
    edges: int
    contacts: int

    def grown(self, near: Room, most_sections: int) -> Room:
        """Room for what is near now, and for some more where it was too little.

        Args:
            near: Numbers that are near.
            most_sections: Number of all sections.
        """
        return Room(
            min(near.sections + near.sections // 4, most_sections)
            if near.sections > self.sections
            else self.sections,
            2 * near.solids if near.solids > self.solids else self.solids,
            2 * near.edges if near.edges > self.edges else self.edges,
            near.contacts + near.contacts // 4 if near.contacts > self.contacts else self.contacts,
        )


def room_of(candidates: Candidates, contacts: Contacts) -> Room:
    """Room in the lists of candidates of N vehicles, and for the contacts of one."""
    lists = candidates.near, candidates.solids, candidates.edges
    lanes = LANES * len(contacts.blocks)
    return Room(lists[0].shape[1], lists[1].shape[2], lists[2].shape[2], lanes)


def allocate_candidates(vehicles: int, room: Room, hulls: int, belts: int, segments: int) -> Candidates:
    """Return lists of nothing, for vehicles of so many hulls, belts and segments of their paths."""

    def zeros(*shape: int) -> NDArray[np.int32]:
        return np.zeros((vehicles, *shape), dtype=np.int32)

    parts = room.sections + hulls
    return Candidates(
        zeros(room.sections),
        zeros(belts + 1),
        zeros(parts, room.solids),
        zeros(parts, room.solids),
        zeros(parts),
        zeros(parts, room.edges),
        zeros(parts),
        zeros(segments),
        zeros(NEAR_BELT),
        zeros(NEAR_BELT),
        np.zeros((vehicles, room.sections)),
    )


@compiled
def list_part(
    ground: Ground, candidates: Candidates, part: int, low: Vector, high: Vector
) -> tuple[int, int]:
    """List what lies in a part's box in the world.

    Returns:
        Number of solids and edges, which may be more than there is room for.
    """
    found = list_candidates(ground, low, high, candidates.solids[part], candidates.edges[part])
    _write_counts(ground, candidates, part, found, low, high)
    return found


@inlined
def _write_counts(
    ground: Ground, candidates: Candidates, part: int, found: tuple[int, int], low: Vector, high: Vector
) -> None:
    """Write numbers of solids and edges found near a part, and the faces of these solids that may count."""
    candidates.solid_counts[part], candidates.edge_counts[part] = found
    for near in range(min(found[0], candidates.solids.shape[1])):
        solid = candidates.solids[part, near]
        if solid < len(ground.planes):
            candidates.faces[part, near] = faces_near(ground, solid, low, high)


@compiled
def find_section_candidates(
    ground: Ground,
    belts: BeltArrays,
    belt: int,
    origin: NDArray[np.float64],
    rotation: NDArray[np.float64],
    travel: float,
    margin: float,
    candidates: Candidates,
    memory: BeltMemory,
    axes: NDArray[np.float64],
) -> tuple[int, int]:
    """List what lies within `margin` [m] of each section of a belt; sections near nothing are forgotten.

    Args:
        ground: The ground.
        belts: The vehicle's.
        belt: Index of the belt.
        origin: Origin of its track frame in the world (3,) [m].
        rotation: Rotation of its track frame in the world (3, 3).
        travel: Travel of the belt [m].
        margin: [m]
        candidates: Filled in, belt after belt.
        memory: Contact memory of the vehicle.
        axes: Room for a section's axes (3, 3).

    Returns:
        The largest numbers of solids and edges near one section.
    """
    near, most_solids, most_edges = candidates.near_starts[belt], 0, 0
    points, last, place = belts.points.shape[1], len(candidates.near) - 1, (origin[0], origin[1], origin[2])
    listed = _list_near_belt(ground, belts, belt, place, rotation, margin, candidates)
    few = listed.solid_count <= len(listed.solids) and listed.edge_count <= len(listed.edges)
    # Neighbours mostly lie on one segment. On a straight one the boxes of a kind are equal, and around an arc
    # a section is turned from the one before, by an angle that is the same for most.
    begin, end, segment, boxed, low, high = 0.0, -1.0, 0, NONE, place, place
    turn, turn_cosine, turn_sine, cosine, sine, before = 0.0, 1.0, 0.0, 1.0, 0.0, 0.0
    perimeter, last_segment = belts.perimeters[belt], belts.segment_starts[belt + 1] - 1
    shift = belts.riding[belt] * (travel - perimeter * math.floor(travel / perimeter))
    for section in range(belts.section_starts[belt], belts.section_starts[belt + 1]):
        along, solids, edges = belts.coordinates[section] + shift, 0, 0
        if not 0.0 <= along < perimeter:
            along -= perimeter * math.floor(along / perimeter)
        if not begin <= along < end:
            segment, _ = place_on_path(belts, belt, along)
            begin, boxed = belts.segments[segment, 0], NONE
            end = belts.segments[segment + 1, 0] if segment < last_segment else perimeter
            before, cosine, sine = begin, belts.segments[segment, 4], belts.segments[segment, 5]
        if candidates.near_segments[segment] != 0:
            kind, data = belts.kinds[section], belts.segments[segment]
            x, z, curvature = data[1], data[2], data[6]
            if curvature == 0.0:
                x, z = x + (along - begin) * cosine, z - (along - begin) * sine
            else:
                by = (along - before) * curvature
                if abs(by - turn) > _SAME_TURN:
                    turn = by
                    turn_cosine, turn_sine = cosine_sine(by)
                cosine, sine = (
                    cosine * turn_cosine - sine * turn_sine,
                    sine * turn_cosine + cosine * turn_sine,
                )
                x, z = x + (sine - data[5]) / curvature, z + (cosine - data[4]) / curvature
                before = along
            if kind != boxed or curvature != 0.0:
                boxed = kind
                for k in range(3):
                    axes[k, 0] = cosine * rotation[k, 0] - sine * rotation[k, 2]
                    axes[k, 1] = rotation[k, 1]
                    axes[k, 2] = sine * rotation[k, 0] + cosine * rotation[k, 2]
                low, high = box_in_world(axes, belts.boxes[kind])
            cx = place[0] + x * rotation[0, 0] + z * rotation[0, 2]
            cy = place[1] + x * rotation[1, 0] + z * rotation[1, 2]
            cz = place[2] + x * rotation[2, 0] + z * rotation[2, 2]
            least = cx + low[0] - margin, cy + low[1] - margin, cz + low[2] - margin
            most = cx + high[0] + margin, cy + high[1] + margin, cz + high[2] + margin
            if not few or meets_listed(ground, listed, least, most):
                # Where there is no room, the last list serves for counting.
                part = min(near, last)
                own, mine = candidates.solids[part], candidates.edges[part]
                if few:
                    solids, edges = list_among(ground, listed, least, most, own, mine)
                else:
                    solids, edges = list_candidates(ground, least, most, own, mine)
                _write_counts(ground, candidates, part, (solids, edges), least, most)
        if solids == 0:
            if memory.places[section] != NONE:
                release_place(memory, section, points)
            continue
        if edges == 0 and memory.places[section] != NONE:
            forget_edges(memory.contacts, memory.places[section] * MAX_EDGES, MAX_EDGES)
        candidates.near[min(near, last)] = section
        candidates.clear_until[min(near, last)] = math.inf
        near += 1
        most_solids, most_edges = max(most_solids, solids), max(most_edges, edges)
    candidates.near_starts[belt + 1] = near
    return most_solids, most_edges


@compiled
def _list_near_belt(
    ground: Ground,
    belts: BeltArrays,
    belt: int,
    origin: Vector,
    rotation: NDArray[np.float64],
    margin: float,
    candidates: Candidates,
) -> Listed:
    """List what is near a belt, and tell which segments of its path anything is near.

    Numbers may be more than there is room for.
    """
    first, end = belts.segment_starts[belt], belts.segment_starts[belt + 1]
    least, most = (math.inf, math.inf, math.inf), (-math.inf, -math.inf, -math.inf)
    for s in range(first, end):
        low, high = box_in_world(rotation, belts.segment_boxes[s])
        least = min(least[0], low[0]), min(least[1], low[1]), min(least[2], low[2])
        most = max(most[0], high[0]), max(most[1], high[1]), max(most[2], high[2])
    back, ahead = (
        without_share(origin, margin, (1.0, 1.0, 1.0)),
        without_share(origin, -margin, (1.0, 1.0, 1.0)),
    )
    own, mine = candidates.near_solids, candidates.near_edges
    solids, edges = list_candidates(ground, sum_of(back, least), sum_of(ahead, most), own, mine)
    listed = Listed(own, solids, mine, edges)
    for s in range(first, end):
        low, high = box_in_world(rotation, belts.segment_boxes[s])
        near = solids > len(own) or meets_listed(ground, listed, sum_of(back, low), sum_of(ahead, high))
        candidates.near_segments[s] = near
    return listed


@compiled
def count_section_contacts(belts: BeltArrays, candidates: Candidates) -> int:
    """Most lanes that contacts of sections of belts with what is near them can take."""
    most = (LANES - 1) * (len(candidates.near_starts) - 1)
    for near in range(min(candidates.near_starts[len(candidates.near_starts) - 1], len(candidates.near))):
        points = belts.point_counts[belts.kinds[candidates.near[near]]]
        # Either one by one, or those with one face in blocks of their own.
        one_by_one = points * min(candidates.solid_counts[near], MAX_SOLIDS_PER_POINT)
        most += max(one_by_one, LANES * ((points + LANES - 1) // LANES))
        if candidates.edge_counts[near] > 0:
            most += 2 * MAX_EDGES
    return most
