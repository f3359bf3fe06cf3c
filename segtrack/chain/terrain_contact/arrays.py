"""Contact of a chain's shoes with the terrain as kernels read it: its loads and what lies near."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.ground.history import NONE, ContactHistory, allocate_contact_history
from segtrack.ground.pack import Ground
from segtrack.ground.parameters import ContactParameters
from segtrack.ground.tread import Treads


class ShoeContactLoads(NamedTuple):
    """Terrain contact of n shoes at the last sub-step; its forces are contained in `Loads`, too.

    Attributes:
        normal_forces: Sum of the normal forces on each shoe (n,) [N].
        shear_forces: Sum of the forces along the surfaces in the world (n, 3) [N].
        sinkages: Depth of each shoe's deepest contact point, or of an edge in it (n,) [m].
        pressures: At that contact point, force over the point's area (n,) [Pa].
        deepest_points: Which of the shoe's contact points it is; `NONE` for an edge, or no contact (n,).
    """

    normal_forces: NDArray[np.float64]
    shear_forces: NDArray[np.float64]
    sinkages: NDArray[np.float64]
    pressures: NDArray[np.float64]
    deepest_points: NDArray[np.intp]


class ContactCandidates(NamedTuple):
    """Solids and edges that each of n shoes may touch before they are looked for again.

    Attributes:
        solids: Convex solids, and behind them grids as in `Ground.bounds` (n, S + G).
        solid_counts: Number of them for each shoe (n,).
        edges: Edges of rigid solids (n, E).
        edge_counts: Number of them for each shoe (n,).
    """

    solids: NDArray[np.intp]
    solid_counts: NDArray[np.intp]
    edges: NDArray[np.intp]
    edge_counts: NDArray[np.intp]


class TerrainContact(NamedTuple):
    """Contact of a track's shoes with the terrain.

    Attributes:
        ground: Terrain in the world.
        treads: Outer sides of the shoes.
        parameters: Law of every contact point.
        history: Memory of the contacts.
        loads: Work array, loads of the terrain on shoes.
        candidates: Work array, solids and edges near the shoes.
        margin: Distance within which something is near [m].
    """

    ground: Ground
    treads: Treads
    parameters: ContactParameters
    history: ContactHistory
    loads: ShoeContactLoads
    candidates: ContactCandidates
    margin: float


def allocate_shoe_history(treads: Treads) -> ContactHistory:
    """Memory of shoes that touch nothing yet."""
    n, k = len(treads.kinds), treads.contact_points.shape[1]
    return allocate_contact_history(n * k, n)


def allocate_contact_arrays(ground: Ground, treads: Treads) -> tuple[ShoeContactLoads, ContactCandidates]:
    """Work arrays for the loads and the candidates, with nothing near yet."""
    n = len(treads.kinds)
    return (
        ShoeContactLoads(
            np.zeros(n), np.zeros((n, 3)), np.zeros(n), np.zeros(n), np.full(n, NONE, dtype=np.intp)
        ),
        ContactCandidates(
            np.zeros((n, len(ground.bounds)), dtype=np.intp),
            np.zeros(n, dtype=np.intp),
            np.zeros((n, len(ground.edges)), dtype=np.intp),
            np.zeros(n, dtype=np.intp),
        ),
    )


def allocate_terrain_contact(
    ground: Ground, treads: Treads, parameters: ContactParameters, margin: float
) -> TerrainContact:
    """Terrain contact of shoes that touch nothing yet."""
    loads, candidates = allocate_contact_arrays(ground, treads)
    return TerrainContact(
        ground, treads, parameters, allocate_shoe_history(treads), loads, candidates, margin
    )
