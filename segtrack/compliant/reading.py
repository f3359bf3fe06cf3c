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
        pressure: In soil, normal force over the area that the point stands for: a grouser's tip or the
            belt's face, whose smaller side is the b of pressure-sinkage (n,) [Pa].
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

    @property
    def load(self) -> NDArray[np.float64]:
        """Normal force on each grouser (grouser_count,) [N]; what the belt's face carries is left out."""
        on = self.grousers >= 0
        load = np.zeros(self.grouser_count)
        np.add.at(load, self.grousers[on], self.normal_force[on])
        return load
