"""Search for sections of a belt that can touch the ground soon: what is far away costs nothing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.compliant.belt import BeltArrays, section_pose, segment_of
from segtrack.ground.broadphase import (
    MAX_EDGES,
    ContactHistory,
    box_in_world,
    forget_contacts,
    forget_edges,
    list_candidates,
    meets_ground,
)
from segtrack.ground.kernels import compiled
from segtrack.ground.pack import Ground
from segtrack.ground.vectors import Vector

MARGIN = 0.01
"""Parts of vehicles and of the ground that are nearer than this are candidates for contact [m]."""
AHEAD = 1.5
"""Steps at the speed of now that candidates are looked for beyond `MARGIN`: a vehicle may become faster."""


class Candidates(NamedTuple):
    """Solids and edges that each of P parts of a vehicle may touch before they are looked for again.

    For N vehicles each array has a further first axis of length N.

    Attributes:
        near: Parts near anything, in the order of the groups that they belong to (P,).
        near_counts: Number of them in each group: belts, and behind them the hull (groups,).
        solids: Solids near each part, as in `Ground.bounds` (P, s).
        solid_counts: Number of solids near each part; 0 for a part that is near nothing (P,).
        edges: Edges near each part (P, e).
        edge_counts: Number of edges near each part (P,).
        near_segments: 1 for segments of belts' paths that anything is near (S,).
    """

    near: NDArray[np.int32]
    near_counts: NDArray[np.int32]
    solids: NDArray[np.int32]
    solid_counts: NDArray[np.int32]
    edges: NDArray[np.int32]
    edge_counts: NDArray[np.int32]
    near_segments: NDArray[np.int32]


def allocate_candidates(
    vehicles: int, parts: int, groups: int, segments: int, solids: int, edges: int
) -> Candidates:
    """Return lists of nothing, with room for so many solids and edges near each part."""

    def zeros(*shape: int) -> NDArray[np.int32]:
        return np.zeros((vehicles, *shape), dtype=np.int32)

    return Candidates(
        zeros(parts),
        zeros(groups),
        zeros(parts, solids),
        zeros(parts),
        zeros(parts, edges),
        zeros(parts),
        zeros(segments),
    )


@compiled
def list_part(
    ground: Ground,
    candidates: Candidates,
    history: ContactHistory,
    part: int,
    first_point: int,
    points: int,
    slots: int,
    low: Vector,
    high: Vector,
) -> tuple[int, int]:
    """List what lies in a part's box in the world; a part with nothing near forgets its contacts.

    Returns:
        Number of solids and edges, which may be more than there is room for.
    """
    solids, edges = list_candidates(ground, low, high, candidates.solids[part], candidates.edges[part])
    if solids == 0 and candidates.solid_counts[part] > 0:
        forget_contacts(history, first_point, points)
    if edges == 0 and candidates.edge_counts[part] > 0:
        forget_edges(history, part * MAX_EDGES, slots)
    candidates.solid_counts[part], candidates.edge_counts[part] = solids, edges
    return solids, edges


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
    history: ContactHistory,
    axes: NDArray[np.float64],
) -> tuple[int, int]:
    """List what lies within `margin` [m] of each section of a belt.

    Args:
        ground: The ground.
        belts: The vehicle's.
        belt: Index of the belt.
        origin: Origin of its track frame in the world (3,) [m].
        rotation: Rotation of its track frame in the world (3, 3).
        travel: Travel of the belt [m].
        margin: [m]
        candidates: Filled in.
        history: Contact memory of the vehicle.
        axes: Room for a section's axes (3, 3).

    Returns:
        The largest numbers of solids and edges near one section.
    """
    first, count, most_solids, most_edges = belts.section_starts[belt], 0, 0, 0
    points = belts.points.shape[1]
    for s in range(belts.segment_starts[belt], belts.segment_starts[belt + 1]):
        low, high = box_in_world(rotation, belts.segment_boxes[s])
        candidates.near_segments[s] = meets_ground(
            ground,
            (origin[0] + low[0] - margin, origin[1] + low[1] - margin, origin[2] + low[2] - margin),
            (origin[0] + high[0] + margin, origin[1] + high[1] + margin, origin[2] + high[2] + margin),
        )
    for part in range(first, belts.section_starts[belt + 1]):
        coordinate = belts.coordinates[part] + belts.riding[belt] * travel
        if candidates.near_segments[segment_of(belts, belt, coordinate)] == 0:
            if candidates.solid_counts[part] > 0:
                forget_contacts(history, part * points, points)
                forget_edges(history, part * MAX_EDGES, MAX_EDGES)
                candidates.solid_counts[part] = candidates.edge_counts[part] = 0
            continue
        x, z, cosine, sine, _ = section_pose(belts, belt, coordinate)
        for k in range(3):
            axes[k, 0] = cosine * rotation[k, 0] - sine * rotation[k, 2]
            axes[k, 1] = rotation[k, 1]
            axes[k, 2] = sine * rotation[k, 0] + cosine * rotation[k, 2]
        low, high = box_in_world(axes, belts.boxes[belts.kinds[part]])
        cx = origin[0] + x * rotation[0, 0] + z * rotation[0, 2]
        cy = origin[1] + x * rotation[1, 0] + z * rotation[1, 2]
        cz = origin[2] + x * rotation[2, 0] + z * rotation[2, 2]
        solids, edges = list_part(
            ground,
            candidates,
            history,
            part,
            part * points,
            points,
            MAX_EDGES,
            (cx + low[0] - margin, cy + low[1] - margin, cz + low[2] - margin),
            (cx + high[0] + margin, cy + high[1] + margin, cz + high[2] + margin),
        )
        if solids > 0:
            candidates.near[first + count] = part
            count += 1
        most_solids, most_edges = max(most_solids, solids), max(most_edges, edges)
    candidates.near_counts[belt] = count
    return most_solids, most_edges
