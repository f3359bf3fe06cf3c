"""Search for solids and edges of the terrain near shoes (the proximity list in section 5 of Omar 2014)."""

from __future__ import annotations

import math

from segtrack.chain.shoes.loads import Frames
from segtrack.chain.terrain_contact.arrays import TerrainContact
from segtrack.ground.broadphase import box_in_world, list_candidates
from segtrack.ground.history import MAX_EDGES, forget_contacts, forget_lost_edges
from segtrack.ground.vectors import compiled


@compiled
def find_contact_candidates(contact: TerrainContact, frames: Frames, most: float = math.inf) -> None:
    """List the solids and edges that lie within the contact's margin, or `most` [m], of each shoe's box.

    The list serves as long as no shoe moves further than the margin. Shoes with nothing near
    forget their contacts.
    """
    ground, treads, margin = contact.ground, contact.treads, min(contact.margin, most)
    candidates, history = contact.candidates, contact.history
    points = treads.contact_points.shape[1]
    for i in range(len(treads.kinds)):
        low, high = box_in_world(frames.rotations[i], treads.boxes[treads.kinds[i]])
        x, y, z = frames.positions[i, 0], frames.positions[i, 1], frames.positions[i, 2]
        low = x + low[0] - margin, y + low[1] - margin, z + low[2] - margin
        high = x + high[0] + margin, y + high[1] + margin, z + high[2] + margin
        solids, edges = list_candidates(ground, low, high, candidates.solids[i], candidates.edges[i])
        candidates.solid_counts[i], candidates.edge_counts[i] = solids, edges
        if solids == 0:
            forget_contacts(history, i * points, points)
            forget_lost_edges(history, i * MAX_EDGES, MAX_EDGES, 0)
