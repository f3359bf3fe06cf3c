"""Outermost points of a vehicle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from segtrack.compliant.belt import BeltDesign
from segtrack.geometry.path import normal_of, tangent_of
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
        at = belt.coordinates + belt.riding * state.travels[t]
        places, headings = belt.path.point(at), belt.path.heading(at)
        for kind, section in enumerate(belt.sections):
            mine = belt.kinds == kind
            x, z = tangent_of(headings[mine])[:, None], normal_of(headings[mine])[:, None]
            plane = places[mine][:, None] + x * section.points[:, :1] + z * section.points[:, 2:]
            across = np.broadcast_to(section.points[:, 1], plane.shape[:2])
            points = np.stack([plane[..., 0], across, plane[..., 1]], axis=-1).reshape(-1, 3)
            corners.append(points @ work.belt_rotations[t].T + work.belt_origins[t])
    return np.concatenate(corners)
