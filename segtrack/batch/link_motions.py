"""Poses and velocities of all links of N vehicles in one reading."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.batch.fleet import Fleet
from segtrack.batch.fleet_arrays import runs_of_one_kind
from segtrack.kernels import Packed, entry, item
from segtrack.native import TreeWork, move_links, vehicle_of, vehicle_view


class LinkMotions(NamedTuple):
    """Poses and velocities of L links and T track frames of N vehicles, in the world.

    Attributes:
        rotations: Rotations from the link frames to the world (N, L, 3, 3).
        centers: Centres of mass (N, L, 3) [m].
        velocities: Velocities of the centres of mass (N, L, 3) [m/s].
        angular_velocities: Angular velocities of the links (N, L, 3) [rad/s].
        belt_origins: Origins of the track frames (N, T, 3) [m].
        belt_rotations: Rotations from the track frames to the world (N, T, 3, 3).
    """

    rotations: NDArray[np.float64]
    centers: NDArray[np.float64]
    velocities: NDArray[np.float64]
    angular_velocities: NDArray[np.float64]
    belt_origins: NDArray[np.float64]
    belt_rotations: NDArray[np.float64]


def read_link_motions(fleet: Fleet) -> LinkMotions:
    """Return poses and velocities of a fleet's links; the state does not change."""
    count, links, tracks = len(fleet), fleet.own.masses.shape[1], fleet.state.travels.shape[1]
    shapes = (links, 3, 3), *((links, 3) for _ in range(3)), (tracks, 3), (tracks, 3, 3)
    motions = LinkMotions(*(np.empty((count, *shape)) for shape in shapes))
    packed = Packed.of(motions)
    for first, last, kind in runs_of_one_kind(fleet.kind_of, count):
        _read_links(fleet.kernel_arguments(0)[kind], packed, first, last)
    return motions


@entry
def _read_links(packed: Packed, motions: Packed, first: int, last: int) -> None:
    """Kernel: write the poses and velocities of vehicles first to last (exclusive)."""
    vehicles, _, states, _, _, _, work, _, _ = item(packed, 0)
    rotations, centers, velocities, angular_velocities, belt_origins, belt_rotations = item(motions, 0)
    for i in range(first, last):
        room = TreeWork(
            rotations[i],
            centers[i],
            velocities[i],
            angular_velocities[i],
            work.present_spins,
            work.accelerations,
            work.spin_accelerations,
            work.axes,
            work.joint_points,
            work.paces,
            work.pushes,
            work.giving,
            work.slipping,
            work.touching,
            work.path_rates,
            belt_origins[i],
            belt_rotations[i],
            work.given,
            work.loads,
            work.section_axes,
            work.contacts,
            work.changes,
            work.turns,
            work.belt_changes,
            work.equations,
            work.solutions,
        )
        move_links(vehicle_of(vehicles, i).tree, vehicle_view(states, i), room)
