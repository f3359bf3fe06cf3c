"""Vehicles of a kind as the kernels of a step read them, and one of N."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.compliant import BeltArrays, BeltMemory, Candidates
from segtrack.ground import ContactHistory
from segtrack.kernels import compiled
from segtrack.native.hull import HullArrays
from segtrack.native.tree import TreeArrays, TreeWork, VehicleState, tree_view


class VehicleArrays(NamedTuple):
    """A kind of vehicle as kernels read it.

    Attributes:
        tree: Links, joints and what carries the belts.
        belts: Sections of the belts.
        hull: Convex solids of the links.
        drives: Top speed [m/s], largest driving force [N], largest brake force [N], whether the drive is
            self-locking, lag [s], and K rows of a speed [m/s] and a driving force [N], of each
            belt (T, 5 + 2 K); for N vehicles (N, T, 5 + 2 K).
        reaches: Farthest of any part from the root's centre of mass, flippers at any angle (1,) [m]; for N
            vehicles (N, 1).
        tip_speed: Largest speed of a belt's part over its vehicle, per belt speed [-].
    """

    tree: TreeArrays
    belts: BeltArrays
    hull: HullArrays
    drives: NDArray[np.float64]
    reaches: NDArray[np.float64]
    tip_speed: float


class Vehicles(NamedTuple):
    """N vehicles of one kind, with all that changes.

    Attributes:
        arrays: The kind; what may differ by vehicle has a first axis of length N (`TreeArrays`, drives,
            reaches).
        terrains: Index of the ground that each is on (N,).
        states: Their states.
        histories: Memory of the hulls' contacts.
        memories: Memory of the belts' contacts, with as many places as there are near sections of candidates.
        candidates: Contact candidates, kept from call to call.
        work: Room.
        done: Steps that each has taken of those that it is to take (N,).
        outcomes: Outcome of the last call for each, and where there is too little room, what there is: near
            sections, the most solids and edges near one part, and contacts (N, 5).
    """

    arrays: VehicleArrays
    terrains: NDArray[np.intp]
    states: VehicleState
    histories: ContactHistory
    memories: BeltMemory
    candidates: Candidates
    work: TreeWork
    done: NDArray[np.intp]
    outcomes: NDArray[np.intp]


@compiled
def vehicle_of(vehicles: VehicleArrays, i: int) -> VehicleArrays:
    """Vehicle `i` of N of one kind."""
    return VehicleArrays(
        tree_view(vehicles.tree, i),
        vehicles.belts,
        vehicles.hull,
        vehicles.drives[i],
        vehicles.reaches[i],
        vehicles.tip_speed,
    )
