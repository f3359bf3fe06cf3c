"""A surface given by heights on a grid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import InvalidValueError
from segtrack.terrain.base import Terrain
from segtrack.terrain.checks import check_positive, settle_vector
from segtrack.terrain.soil import Soil
from segtrack.terrain.solids import HeightGrid, Solid


@dataclass(frozen=True, kw_only=True, eq=False)
class Heightfield(Terrain):
    """A surface of triangles over a square grid, two a cell; no floor around it.

    Attributes:
        heights: Heights of the grid points [m], shape (points along x, points
            along y), at least 2 x 2; copied, read-only.
        cell: Distance between neighbouring points [m].
        center: World x and y of the grid's centre [m].
        soils: The `Soil` at each grid point, in the shape of the heights and all of one
            shear law, between which link chains interpolate (equation 47 of Omar 2014);
            copied, read-only. It takes the place of `soil`.
    """

    heights: NDArray[np.float64]
    cell: float
    center: tuple[float, float] = (0.0, 0.0)
    soils: NDArray[np.object_] | None = None

    def __post_init__(self) -> None:
        """Take a read-only copy of the heights, and refuse what is no grid."""
        super().__post_init__()
        try:
            heights = np.array(self.heights, dtype=float)
        except (TypeError, ValueError):
            raise InvalidValueError("Heightfield.heights", "an array of numbers [m]", self.heights) from None
        if heights.ndim != 2 or min(heights.shape) < 2:
            raise InvalidValueError("Heightfield.heights", "of at least 2 x 2 points", heights.shape)
        if not np.isfinite(heights).all():
            where = tuple(int(i) for i in np.argwhere(~np.isfinite(heights))[0])
            raise InvalidValueError(
                f"Heightfield.heights{list(where)}", "a finite number [m]", float(heights[where])
            )
        heights.flags.writeable = False
        object.__setattr__(self, "heights", heights)
        check_positive(self, "cell", "m")
        settle_vector(self, "center", 2, "m")
        if self.soils is not None:
            self._settle_soils()

    def _settle_soils(self) -> None:
        """Take a read-only copy of the soils, and refuse what is none for this grid."""
        if self.soil is not None:
            raise InvalidValueError("Heightfield.soil", "left out where there are soils", self.soil)
        soils = np.array(self.soils, dtype=object)
        if soils.shape != self.heights.shape:
            expected = f"of the heights' shape {self.heights.shape}"
            raise InvalidValueError("Heightfield.soils", expected, soils.shape)
        for where, soil in np.ndenumerate(soils):
            if not isinstance(soil, Soil):
                raise InvalidValueError(f"Heightfield.soils{list(where)}", "a Soil", soil)
        laws = sorted({soil.shear_law for soil in soils.flat})
        if len(laws) > 1:
            raise InvalidValueError("Heightfield.soils", "of one shear law", laws)
        soils.flags.writeable = False
        object.__setattr__(self, "soils", soils)

    def _edges(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the world x and the world y of the grid lines [m]."""
        nx, ny = self.heights.shape
        return (
            self.center[0] + self.cell * (np.arange(nx) - (nx - 1) / 2),
            self.center[1] + self.cell * (np.arange(ny) - (ny - 1) / 2),
        )

    def solids(self) -> tuple[Solid, ...]:
        """Return the surface."""
        return (HeightGrid(self.heights, self.cell, self.center),)

    def x_breaks(self) -> tuple[float, ...]:
        """Return the grid lines [m]."""
        return tuple(self._edges()[0].tolist())

    def _sample(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        x_edges, y_edges = self._edges()
        i = np.clip(np.searchsorted(x_edges, x, side="right") - 1, 0, len(x_edges) - 2)
        j = np.clip(np.searchsorted(y_edges, y, side="right") - 1, 0, len(y_edges) - 2)
        u, v = (x - x_edges[i]) / self.cell, (y - y_edges[j]) / self.cell
        near, along_x = self.heights[i, j], self.heights[i + 1, j]
        along_y, far = self.heights[i, j + 1], self.heights[i + 1, j + 1]
        height = np.where(
            u + v <= 1,
            near + u * (along_x - near) + v * (along_y - near),
            far + (1 - u) * (along_y - far) + (1 - v) * (along_x - far),
        )
        inside = (x >= x_edges[0]) & (x <= x_edges[-1]) & (y >= y_edges[0]) & (y <= y_edges[-1])
        return np.where(inside, height, -np.inf)
