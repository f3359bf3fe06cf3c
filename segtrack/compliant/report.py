"""Report of contacts with the ground: rows that kernels fill, and their columns by name."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.kernels import Vector, compiled, sum_of

PLACE, NORMAL_FORCE, ALONG, VELOCITY, DEPTH, PRESSURE, GROUP, PART, MAX_SINKAGE, FORCE = (
    0,
    3,
    4,
    7,
    10,
    11,
    12,
    13,
    14,
    15,
)
"""First columns of a row, in the order of `ContactReport`."""
REPORT = 18
"""Columns of a row."""


class ContactReport(NamedTuple):
    """Contacts with the ground, one for each of n rows.

    Attributes:
        places: Places in the world (n, 3) [m].
        normal_forces: Sums of the sizes of the normal forces (n,) [N].
        tangential_forces: Forces along surfaces, in the world (n, 3) [N].
        velocities: Velocities over the ground, in the world (n, 3) [m/s].
        depths: Greatest depths (n,) [m].
        pressures: Greatest pressures (n,) [Pa].
        groups: Index of the belt; behind those of all belts that of the hull (n,).
        parts: Index of the section of all belts, or of the link's hull (n,).
        max_sinkages: Greatest sinkages of points since they touched (n,) [m].
        forces: Normal and tangential forces together, in the world (n, 3) [N].
    """

    places: NDArray[np.float64]
    normal_forces: NDArray[np.float64]
    tangential_forces: NDArray[np.float64]
    velocities: NDArray[np.float64]
    depths: NDArray[np.float64]
    pressures: NDArray[np.float64]
    groups: NDArray[np.intp]
    parts: NDArray[np.intp]
    max_sinkages: NDArray[np.float64]
    forces: NDArray[np.float64]

    @classmethod
    def of(cls, rows: NDArray[np.float64]) -> ContactReport:
        """Contacts that press, of rows that were filled (rows, `REPORT`)."""
        pressing = rows[rows[:, NORMAL_FORCE] > 0]
        return cls(
            places=pressing[:, PLACE : PLACE + 3],
            normal_forces=pressing[:, NORMAL_FORCE],
            tangential_forces=pressing[:, ALONG : ALONG + 3],
            velocities=pressing[:, VELOCITY : VELOCITY + 3],
            depths=pressing[:, DEPTH],
            pressures=pressing[:, PRESSURE],
            groups=pressing[:, GROUP].astype(np.intp),
            parts=pressing[:, PART].astype(np.intp),
            max_sinkages=pressing[:, MAX_SINKAGE],
            forces=pressing[:, FORCE : FORCE + 3],
        )

    def of_group(self, group: int) -> ContactReport:
        """Contacts of one belt, or of the hull, in arrays of their own."""
        chosen = self.groups == group
        return ContactReport(*(array[chosen] for array in self))


@compiled
def report_contact(
    rows: NDArray[np.float64],
    index: int,
    place: Vector,
    normal: Vector,
    normal_force: float,
    along: Vector,
    velocity: Vector,
    depth: float,
    pressure: float,
    group: int,
    part: int,
) -> None:
    """Write a contact that carries anything into a row, if there are rows.

    Args:
        rows: Rows of contacts (n, `REPORT`).
        index: Row.
        place: Place of the contact in the world [m].
        normal: Normal force in the world [N].
        normal_force: Sum of the sizes of the normal forces [N].
        along: Force along surfaces in the world [N].
        velocity: Velocity over the ground in the world [m/s].
        depth: Greatest depth [m].
        pressure: Greatest pressure [Pa].
        group: Belt or hull.
        part: Part of the group.
    """
    if len(rows) == 0 or normal_force == 0.0:
        return
    out, force = rows[index], sum_of(along, normal)
    for k in range(3):
        out[PLACE + k], out[ALONG + k], out[VELOCITY + k] = place[k], along[k], velocity[k]
        out[FORCE + k] = force[k]
    out[NORMAL_FORCE], out[DEPTH], out[PRESSURE] = normal_force, depth, pressure
    out[GROUP], out[PART] = group, part
