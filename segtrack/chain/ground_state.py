"""What ground contact remembers between sub-steps, what it reports, and what lies near."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.ground import Ground
from segtrack.chain.ground_tread import Treads
from segtrack.chain.vectors import compiled

SURFACES = 3
"""Solids that one marker touches at a time, as in a corner; a further one does not act."""

EDGES = 4
"""Edges of solids that touch one shoe at a time; a further one does not act."""

NONE = -1
"""In place of a solid or an edge: there is none."""


class GroundMotion(NamedTuple):
    """The memory of the contacts of n links with k markers; kernels change it in place.

    Attributes:
        owners: Solid that each contact of a marker is with, or `NONE` (n * k * SURFACES,).
        shears: Shear displacement of these contacts in the world (n * k * SURFACES, 3) [m].
        sinkages: Their greatest sinkage, for soil (n * k * SURFACES,) [m].
        edges: Edge that touches, and where, as edge * sections + section, or `NONE` (n * EDGES,).
        edge_shears: Shear displacement at the two ends of its part under the shoe (n * EDGES, 2, 3) [m].
    """

    owners: NDArray[np.intp]
    shears: NDArray[np.float64]
    sinkages: NDArray[np.float64]
    edges: NDArray[np.intp]
    edge_shears: NDArray[np.float64]

    def copy(self) -> GroundMotion:
        """The same, with arrays of its own."""
        return GroundMotion(
            self.owners.copy(),
            self.shears.copy(),
            self.sinkages.copy(),
            self.edges.copy(),
            self.edge_shears.copy(),
        )


class GroundLoads(NamedTuple):
    """What the ground does to n links at the last sub-step; it is contained in `Loads`, too.

    Attributes:
        normals: Sum of the normal forces' sizes (n,) [N].
        shears: Sum of the forces along the surfaces in the world (n, 3) [N].
        sinkages: Of the deepest marker (n,) [m].
        pressures: At the marker that is pressed most, over its area (n,) [Pa].
    """

    normals: NDArray[np.float64]
    shears: NDArray[np.float64]
    sinkages: NDArray[np.float64]
    pressures: NDArray[np.float64]


class Nearby(NamedTuple):
    """What each of n links may touch before it is looked for again.

    Attributes:
        solids: Convex solids, and behind them grids as in `Ground.bounds` (n, S + G).
        solid_counts: How many there are for each link (n,).
        edges: Edges of rigid solids (n, E).
        edge_counts: How many there are for each link (n,).
    """

    solids: NDArray[np.intp]
    solid_counts: NDArray[np.intp]
    edges: NDArray[np.intp]
    edge_counts: NDArray[np.intp]


def ground_motion_of(treads: Treads) -> GroundMotion:
    """The memory of links that touch nothing yet."""
    n, k = len(treads.kinds), treads.markers.shape[1]
    return GroundMotion(
        np.full(n * k * SURFACES, NONE, dtype=np.intp),
        np.zeros((n * k * SURFACES, 3)),
        np.zeros(n * k * SURFACES),
        np.full(n * EDGES, NONE, dtype=np.intp),
        np.zeros((n * EDGES, 2, 3)),
    )


def room_on_ground(ground: Ground, treads: Treads) -> tuple[GroundLoads, Nearby]:
    """Arrays for the reports and for what is near, with nothing near yet."""
    n = len(treads.kinds)
    return (
        GroundLoads(np.zeros(n), np.zeros((n, 3)), np.zeros(n), np.zeros(n)),
        Nearby(
            np.zeros((n, len(ground.bounds)), dtype=np.intp),
            np.zeros(n, dtype=np.intp),
            np.zeros((n, len(ground.edges)), dtype=np.intp),
            np.zeros(n, dtype=np.intp),
        ),
    )


@compiled
def slot_of(owners: NDArray[np.intp], first: int, last: int, owner: int) -> int:
    """Which place from `first` to before `last` remembers a contact with an owner.

    Where none has this owner, it is one that is free, or `NONE` if there is none.
    """
    free = NONE
    for slot in range(first, last):
        if owners[slot] == owner:
            return slot
        if owners[slot] == NONE:
            free = slot
    return free
