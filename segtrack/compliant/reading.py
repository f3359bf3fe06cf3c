"""What can be looked at of a compliant belt: the load, slip and sinkage of each of its contacts."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class GrouserReading:
    """Contacts of a belt with the ground at an instant; arrays are read-only, a row for each of n contacts.

    Attributes:
        points: Places in the world (n, 3) [m].
        grousers: Index of the grouser along the belt; -1 for the belt's face (n,).
        normal_force: Sum over the surfaces that a point touches (n,) [N].
        tangential_force: Friction, on the belt, in the world (n, 3) [N].
        slip_velocity: Velocity over the ground in the world (n, 3) [m/s].
        sinkage: Depth of the point in the ground, which on rigid ground is elastic (n,) [m].
        pressure: Normal force over the area that the point stands for: a grouser's tip or the
            belt's face, whose smaller side is, in soil, the b of pressure-sinkage (n,) [Pa].
        grouser_count: How many grousers the belt has.
    """

    points: NDArray[np.float64]
    grousers: NDArray[np.intp]
    normal_force: NDArray[np.float64]
    tangential_force: NDArray[np.float64]
    slip_velocity: NDArray[np.float64]
    sinkage: NDArray[np.float64]
    pressure: NDArray[np.float64]
    grouser_count: int

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    @classmethod
    def from_report(cls, rows: NDArray[np.float64], first: int, count: int) -> GrouserReading:
        """Read a belt's rows of a contact report.

        Args:
            rows: Of the belt (n, `belt_contact.REPORT`).
            first: Index of the belt's first section.
            count: How many grousers it has, which are its first sections.
        """
        own = rows[:, 13].astype(np.intp) - first
        return cls(
            points=rows[:, :3].copy(),
            grousers=np.where(own < count, own, -1),
            normal_force=rows[:, 3].copy(),
            tangential_force=rows[:, 4:7].copy(),
            slip_velocity=rows[:, 7:10].copy(),
            sinkage=rows[:, 10].copy(),
            pressure=rows[:, 11].copy(),
            grouser_count=count,
        )

    @property
    def load(self) -> NDArray[np.float64]:
        """Normal force on each grouser (grouser_count,) [N]; what the belt's face carries is left out."""
        on = self.grousers >= 0
        load = np.zeros(self.grouser_count)
        np.add.at(load, self.grousers[on], self.normal_force[on])
        return load
