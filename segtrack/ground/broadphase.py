"""Finding what a part may touch (the proximity list in section 5 of Omar 2014)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from segtrack.ground.pack import RIGID, Ground
from segtrack.ground.vectors import Vector, compiled


@compiled
def list_candidates(
    ground: Ground, low: Vector, high: Vector, solids: NDArray[np.intp], edges: NDArray[np.intp]
) -> tuple[int, int]:
    """List the solids whose bounds meet a box in the world, and the edges of rigid ones that do.

    Args:
        ground: The ground.
        low: Least corner of the box [m].
        high: Greatest corner [m].
        solids: Filled as far as it reaches (s,).
        edges: Likewise (e,).

    Returns:
        How many solids and edges there are, which may be more than the lists hold.
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


@compiled
def _misses(low: Vector, high: Vector, bounds: NDArray[np.float64]) -> bool:
    """Whether a box is off the bounds (6,) of something."""
    for k in range(3):
        if high[k] < bounds[k] or low[k] > bounds[3 + k]:
            return True
    return False


@compiled
def _passes(low: Vector, high: Vector, edge: NDArray[np.float64]) -> bool:
    """Whether the box of an edge (6,) meets another one."""
    for k in range(3):
        if min(edge[k], edge[3 + k]) > high[k] or max(edge[k], edge[3 + k]) < low[k]:
            return False
    return True
