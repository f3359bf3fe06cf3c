"""What every terrain offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segtrack.errors import InvalidValueError
from segtrack.terrain.checks import check_not_negative
from segtrack.terrain.soil import Soil
from segtrack.terrain.solids import Solid


@dataclass(frozen=True, kw_only=True)
class Terrain(ABC):
    """Ground in the world frame.

    Attributes:
        friction: Coulomb friction [-]. Bullet multiplies it with the track's,
            so the bundled terrains have 1 and the track carries the number
            that a paper gives.
        soil: What it consists of, for link chains, which sink into it and shear it;
            without, and for Bullet, it is rigid.
    """

    friction: float = 1.0
    soil: Soil | None = None

    def __post_init__(self) -> None:
        """Refuse friction that is not a number, or negative, and what is no soil."""
        check_not_negative(self, "friction")
        if not isinstance(self.soil, Soil | None):
            raise InvalidValueError(f"{type(self).__name__}.soil", "a Soil or None", self.soil)

    @abstractmethod
    def solids(self) -> tuple[Solid, ...]:
        """Return the solids whose union is this terrain."""

    @abstractmethod
    def x_breaks(self) -> tuple[float, ...]:
        """Return the world x of corners and vertical faces along y = 0 [m]."""

    @abstractmethod
    def _sample(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the heights at x and y, which have one shape."""

    def height_at(self, x: ArrayLike, y: ArrayLike = 0.0) -> NDArray[np.float64]:
        """Sample the terrain's height; a point on a vertical face gets the higher value.

        Args:
            x: World x [m], any shape.
            y: World y [m], any shape that broadcasts with `x`.

        Returns:
            World z of the surface [m], in the broadcast shape. Flat ground is
            taken to be endless; where there is no ground at all, -inf.
        """
        x, y = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(y, dtype=float))
        return np.asarray(self._sample(x, y), dtype=float)
