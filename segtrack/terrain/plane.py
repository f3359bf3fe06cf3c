"""Flat ground and nothing else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.terrain.base import Terrain
from segtrack.terrain.floor import floor
from segtrack.terrain.solids import Solid


@dataclass(frozen=True, kw_only=True)
class Plane(Terrain):
    """Flat ground at z = 0."""

    def solids(self) -> tuple[Solid, ...]:
        """Return the floor."""
        return floor()

    def x_breaks(self) -> tuple[float, ...]:
        """Return no break."""
        return ()

    def _sample(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.zeros(x.shape)
