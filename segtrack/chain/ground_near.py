"""Finding what a shoe may touch (the proximity list in section 5 of Omar 2014)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.ground import RIGID, Ground
from segtrack.chain.ground_state import EDGES, NONE, SURFACES, GroundMotion, Nearby
from segtrack.chain.ground_tread import Treads
from segtrack.chain.shoes.loads import Frames
from segtrack.chain.shoes.model import Vector
from segtrack.chain.vectors import compiled


@compiled
def _apart(low: Vector, high: Vector, bounds: NDArray[np.float64]) -> bool:
    """Whether a box is off the bounds (6,) of something."""
    for k in range(3):
        if high[k] < bounds[k] or low[k] > bounds[3 + k]:
            return True
    return False


@compiled
def box_ground(
    ground: Ground, treads: Treads, frames: Frames, margin: float, nearby: Nearby, motion: GroundMotion
) -> None:
    """List the solids and edges that lie within `margin` [m] of each link's box.

    The list serves as long as no shoe moves further than the margin. Links with nothing near
    forget their contacts.
    """
    contacts = treads.markers.shape[1] * SURFACES
    for i in range(len(treads.kinds)):
        box, r = treads.boxes[treads.kinds[i]], frames.rotations[i]
        spans = _spans(r, box, 0), _spans(r, box, 1), _spans(r, box, 2)
        x, y, z = frames.positions[i, 0], frames.positions[i, 1], frames.positions[i, 2]
        low = x + spans[0][0] - margin, y + spans[1][0] - margin, z + spans[2][0] - margin
        high = x + spans[0][1] + margin, y + spans[1][1] + margin, z + spans[2][1] + margin
        solids, edges = 0, 0
        for owner in range(len(ground.bounds)):
            if _apart(low, high, ground.bounds[owner]):
                continue
            nearby.solids[i, solids] = owner
            solids += 1
            if owner < len(ground.planes) and ground.solid_soils[owner] == RIGID:
                for edge in range(ground.edge_starts[owner], ground.edge_starts[owner + 1]):
                    if not _passes(low, high, ground.edges[edge]):
                        continue
                    nearby.edges[i, edges] = edge
                    edges += 1
        nearby.solid_counts[i], nearby.edge_counts[i] = solids, edges
        if solids == 0:
            motion.owners[i * contacts : (i + 1) * contacts] = NONE
            motion.edges[i * EDGES : (i + 1) * EDGES] = NONE


@compiled
def _spans(rotation: NDArray[np.float64], box: NDArray[np.float64], k: int) -> tuple[float, float]:
    """Least and greatest coordinate k of a turned box (centre and half extents), from the frame's origin."""
    middle, half = 0.0, 0.0
    for j in range(3):
        middle += rotation[k, j] * box[j]
        half += abs(rotation[k, j]) * box[3 + j]
    return middle - half, middle + half


@compiled
def _passes(low: Vector, high: Vector, edge: NDArray[np.float64]) -> bool:
    """Whether the box of an edge (6,) meets another one."""
    for k in range(3):
        if min(edge[k], edge[3 + k]) > high[k] or max(edge[k], edge[3 + k]) < low[k]:
            return False
    return True
