"""Readings of a compliant belt: the load, slip and sinkage of each of its contacts."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from segtrack.compliant.belt import BeltDesign


@dataclass(frozen=True, eq=False)
class GrouserReading:
    """Contacts of a belt with the ground at an instant; arrays are read-only, a row for each of n contacts.

    Attributes:
        points: Places in the world (n, 3) [m].
        grousers: Index of the grouser along the belt; -1 for the belt's face (n,).
        normal_force: Sum over the surfaces that a point touches (n,) [N].
        tangential_force: Friction, on the belt, in the world (n, 3) [N].
        force: Force of the ground on the belt, normal and tangential, in the world; of contacts that come
            apart in the next step the tangential one alone (n, 3) [N].
        slip_velocity: Velocity over the ground in the world (n, 3) [m/s].
        sinkage: Depth of the point in the ground, which on rigid ground is elastic (n,) [m].
        pressure: Normal force over the area that the point stands for, of its footing: the tip of its
            grouser, or the belt's face; 0 at an edge of the ground (n,) [Pa].
        footing_width: Smaller side of that face, in soil the b of p = (k_c / b + k_phi) z^n, which is
            `pressure` of `sinkage` at rest where that is `max_sinkage` (n,) [m].
        footing_length: Its larger side (n,) [m].
        bed_stiffness: Pressure over sinkage on rigid ground, which no soil's slope exceeds (n,) [N/m^3].
        max_sinkage: Greatest sinkage in soil since the point touched; below it soil unloads by Wong's
            repetitive loading (n,) [m].
        grouser_count: Number of the belt's grousers.
    """

    points: NDArray[np.float64]
    grousers: NDArray[np.intp]
    normal_force: NDArray[np.float64]
    tangential_force: NDArray[np.float64]
    force: NDArray[np.float64]
    slip_velocity: NDArray[np.float64]
    sinkage: NDArray[np.float64]
    pressure: NDArray[np.float64]
    footing_width: NDArray[np.float64]
    footing_length: NDArray[np.float64]
    bed_stiffness: NDArray[np.float64]
    max_sinkage: NDArray[np.float64]
    grouser_count: int

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    @classmethod
    def from_report(cls, rows: NDArray[np.float64], belt: BeltDesign, first: int) -> GrouserReading:
        """Read a belt's rows of a contact report.

        Args:
            rows: Rows of the belt (n, `belt_contact.REPORT`).
            belt: The belt.
            first: Index of the belt's first section.
        """
        own = rows[:, 13].astype(np.intp) - first
        sides = np.array([section.sides[0] for section in belt.sections])
        areas = np.array([section.areas.sum() for section in belt.sections])
        kinds = belt.kinds[own]
        return cls(
            points=rows[:, :3].copy(),
            grousers=np.where(own < belt.grouser_count, own, -1),
            normal_force=rows[:, 3].copy(),
            tangential_force=rows[:, 4:7].copy(),
            force=rows[:, 15:18].copy(),
            slip_velocity=rows[:, 7:10].copy(),
            sinkage=rows[:, 10].copy(),
            pressure=rows[:, 11].copy(),
            footing_width=sides[kinds],
            footing_length=(areas / sides)[kinds],
            bed_stiffness=belt.law.stiffness * belt.lengths[own] / areas[kinds],
            max_sinkage=rows[:, 14].copy(),
            grouser_count=belt.grouser_count,
        )

    @property
    def load(self) -> NDArray[np.float64]:
        """Normal force on each grouser (grouser_count,) [N]; what the belt's face carries is left out."""
        on = self.grousers >= 0
        load = np.zeros(self.grouser_count)
        np.add.at(load, self.grousers[on], self.normal_force[on])
        return load
