"""Outermost points of a vehicle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from segtrack.compliant.belt import BeltDesign
from segtrack.native.state import VehicleState
from segtrack.native.step import VehicleArrays
from segtrack.native.tree import TreeWork


def outer_points(
    arrays: VehicleArrays, belts: Sequence[BeltDesign], state: VehicleState, work: TreeWork
) -> NDArray[np.float64]:
    """Points of hull, belts and grousers in the world (n, 3) [m].

    Args:
        arrays: The vehicle as kernels read it.
        belts: Its belts.
        state: Its state.
        work: With the links in place.
    """
    root = work.rotations[0]
    corners = [(arrays.hull.points - arrays.tree.centers[0]) @ root.T + work.centers[0]]
    for t, belt in enumerate(belts):
        points = belt.points(float(state.travels[t]))
        corners.append(points @ work.belt_rotations[t].T + work.belt_origins[t])
    return np.concatenate(corners)
