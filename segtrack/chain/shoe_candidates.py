"""What the ground does to shoes, and what lies near each of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.shoes.loads import Frames
from segtrack.ground.broadphase import box_in_world, list_candidates
from segtrack.ground.history import ContactHistory, allocate_contact_history, forget_contacts
from segtrack.ground.pack import Ground
from segtrack.ground.tread import Treads
from segtrack.ground.vectors import compiled


class ShoeContactLoads(NamedTuple):
    """Ground contact of n shoes at the last sub-step; its forces are contained in `Loads`, too.

    Attributes:
        normal_forces: Sum of the normal forces on each shoe (n,) [N].
        shear_forces: Sum of the forces along the surfaces in the world (n, 3) [N].
        sinkages: Of the deepest contact point (n,) [m].
        pressures: At the contact point that is pressed most, over its area (n,) [Pa].
    """

    normal_forces: NDArray[np.float64]
    shear_forces: NDArray[np.float64]
    sinkages: NDArray[np.float64]
    pressures: NDArray[np.float64]


class ContactCandidates(NamedTuple):
    """What each of n shoes may touch before it is looked for again.

    Attributes:
        solids: Convex solids, and behind them grids as in `Ground.bounds` (n, S + G).
        solid_counts: How many there are for each shoe (n,).
        edges: Edges of rigid solids (n, E).
        edge_counts: How many there are for each shoe (n,).
    """

    solids: NDArray[np.intp]
    solid_counts: NDArray[np.intp]
    edges: NDArray[np.intp]
    edge_counts: NDArray[np.intp]


def allocate_shoe_history(treads: Treads) -> ContactHistory:
    """Return the memory of shoes that touch nothing yet."""
    n, k = len(treads.kinds), treads.contact_points.shape[1]
    return allocate_contact_history(n * k, n)


def allocate_contact_arrays(ground: Ground, treads: Treads) -> tuple[ShoeContactLoads, ContactCandidates]:
    """Return arrays for the loads and the candidates, with nothing near yet."""
    n = len(treads.kinds)
    return (
        ShoeContactLoads(np.zeros(n), np.zeros((n, 3)), np.zeros(n), np.zeros(n)),
        ContactCandidates(
            np.zeros((n, len(ground.bounds)), dtype=np.intp),
            np.zeros(n, dtype=np.intp),
            np.zeros((n, len(ground.edges)), dtype=np.intp),
            np.zeros(n, dtype=np.intp),
        ),
    )


@compiled
def find_contact_candidates(
    ground: Ground,
    treads: Treads,
    frames: Frames,
    margin: float,
    candidates: ContactCandidates,
    history: ContactHistory,
) -> None:
    """List the solids and edges that lie within `margin` [m] of each shoe's box.

    The list serves as long as no shoe moves further than the margin. Shoes with nothing near
    forget their contacts.
    """
    points = treads.contact_points.shape[1]
    for i in range(len(treads.kinds)):
        low, high = box_in_world(frames.rotations[i], treads.boxes[treads.kinds[i]])
        x, y, z = frames.positions[i, 0], frames.positions[i, 1], frames.positions[i, 2]
        low = x + low[0] - margin, y + low[1] - margin, z + low[2] - margin
        high = x + high[0] + margin, y + high[1] + margin, z + high[2] + margin
        solids, edges = list_candidates(ground, low, high, candidates.solids[i], candidates.edges[i])
        candidates.solid_counts[i], candidates.edge_counts[i] = solids, edges
        if solids == 0:
            forget_contacts(history, i * points, points, i)
