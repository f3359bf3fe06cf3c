"""Terrain from a user's own data: heightfields, meshes, and convex solids at any pose."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import FileAccessError, InvalidValueError, truth
from segtrack.terrain.base import Sampler, Terrain
from segtrack.terrain.checks import Length, Limits, array_of_numbers, settle_vector
from segtrack.terrain.columns import section_breaks
from segtrack.terrain.soil import Soil
from segtrack.terrain.solids import (
    UPRIGHT,
    Box,
    Cylinder,
    HalfSpace,
    HeightGrid,
    Hull,
    Quaternion,
    Solid,
    TriangleMesh,
    Vector,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Heightfield(Terrain):
    """Heightfield over a square grid, two triangles per cell; without a floor around it.

    Attributes:
        heights: Heights of the grid points [m], shape (points along x, points
            along y), at least 2 x 2; copied, read-only.
        spacing: Distance between neighbouring points [m].
        center: World x and y of the grid's centre [m].
        soils: `Soil` at each grid point, in the shape of the heights and all of one
            shear law, between which tracks interpolate (equation 47 of Omar 2014);
            copied, read-only. It takes the place of `soil`.
        rising: True if the triangles of a cell meet along the line from its corner of smaller x
            and y to that of larger x and y, as in MuJoCo; else, as in PyBullet, along the other one.
    """

    heights: NDArray[np.float64]
    spacing: Length
    center: tuple[float, float] = (0.0, 0.0)
    soils: NDArray[np.object_] | None = None
    rising: bool = False

    def __post_init__(self) -> None:
        """Copy the heights read-only, and refuse values that make no grid."""
        super().__post_init__()
        given = array_of_numbers(self.heights)
        if given is None:
            raise InvalidValueError("Heightfield.heights", "an array of numbers [m]", self.heights)
        heights = given.copy()
        if heights.ndim != 2 or min(heights.shape) < 2:
            raise InvalidValueError("Heightfield.heights", "of at least 2 x 2 points", heights.shape)
        if not np.isfinite(heights).all():
            where = tuple(int(i) for i in np.argwhere(~np.isfinite(heights))[0])
            raise InvalidValueError(
                f"Heightfield.heights{list(where)}", "a finite number [m]", float(heights[where])
            )
        heights.flags.writeable = False
        object.__setattr__(self, "heights", heights)
        settle_vector(self, "center", 2, "m")
        truth("Heightfield.rising", self.rising)
        if self.soils is not None:
            self._settle_soils()

    def _settle_soils(self) -> None:
        """Copy the soils read-only, and refuse any that do not fit the grid."""
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
        """Return world x and world y of the grid lines [m]."""
        nx, ny = self.heights.shape
        return (
            self.center[0] + self.spacing * (np.arange(nx) - (nx - 1) / 2),
            self.center[1] + self.spacing * (np.arange(ny) - (ny - 1) / 2),
        )

    def solids(self) -> tuple[Solid, ...]:
        """Return the grid as the only solid."""
        return (HeightGrid(self.heights, self.spacing, self.center, self.rising),)

    def x_breaks(self) -> tuple[float, ...]:
        """Return world x of the grid lines [m]."""
        return tuple(self._edges()[0].tolist())

    @cached_property
    def _sampler(self) -> Sampler:
        return self._interpolate

    def _interpolate(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Heights of the triangles at places (n,) [m]; -inf outside the grid."""
        (x_edges, y_edges), heights = self._edges(), self.heights
        if self.rising:  # Seen in a mirror, cells are cut the usual way.
            x, heights = 2 * self.center[0] - x, heights[::-1]
        i = np.clip(np.searchsorted(x_edges, x, side="right") - 1, 0, len(x_edges) - 2)
        j = np.clip(np.searchsorted(y_edges, y, side="right") - 1, 0, len(y_edges) - 2)
        u, v = (x - x_edges[i]) / self.spacing, (y - y_edges[j]) / self.spacing
        near, along_x = heights[i, j], heights[i + 1, j]
        along_y, far = heights[i, j + 1], heights[i + 1, j + 1]
        height = np.where(
            u + v <= 1,
            near + u * (along_x - near) + v * (along_y - near),
            far + (1 - u) * (along_y - far) + (1 - v) * (along_x - far),
        )
        inside = (x >= x_edges[0]) & (x <= x_edges[-1]) & (y >= y_edges[0]) & (y <= y_edges[-1])
        return np.where(inside, height, -np.inf)


@dataclass(frozen=True, kw_only=True)
class Mesh(Terrain):
    """Concave triangle mesh from a file; without a floor around it, and without a height sampler.

    Attributes:
        file: OBJ or STL file; kept as an absolute path.
        scale: Factor from the file's unit to metres.
        position: World position of the file's origin [m].
        orientation: Rotation from the file's axes to the world's, quaternion (x, y, z, w).
    """

    file: str | Path
    scale: Annotated[float, Limits(least=0.0, inclusive=False)] = 1.0
    position: Vector = (0.0, 0.0, 0.0)
    orientation: Quaternion = UPRIGHT

    def __post_init__(self) -> None:
        """Refuse a file that is missing or of an unknown kind."""
        super().__post_init__()
        if not isinstance(self.file, str | Path):
            raise InvalidValueError("Mesh.file", "the path of a file", self.file)
        file = Path(self.file)
        if file.suffix.lower() not in {".obj", ".stl"}:
            raise InvalidValueError("Mesh.file", "an .obj or .stl file", str(file))
        if not os.path.isfile(file):
            raise FileAccessError("read mesh", file, "no such file")
        object.__setattr__(self, "file", file.resolve())
        settle_vector(self, "position", 3, "m")
        settle_vector(self, "orientation", 4)
        if abs(np.linalg.norm(self.orientation) - 1) > 1e-6:
            raise InvalidValueError("Mesh.orientation", "a unit quaternion (x, y, z, w)", self.orientation)

    def solids(self) -> tuple[Solid, ...]:
        """Return the mesh as the only solid."""
        return (TriangleMesh(Path(self.file), self.scale, self.position, self.orientation),)

    def x_breaks(self) -> NoReturn:
        """Raise an error: a mesh has no outline to sample.

        Raises:
            InvalidValueError: Always.
        """
        self._refuse()

    @property
    def _sampler(self) -> NoReturn:
        self._refuse()

    def _refuse(self) -> NoReturn:
        expected = "analytic or a heightfield (a mesh has no height sampler)"
        raise InvalidValueError("sampled terrain", expected, str(self.file))


@dataclass(frozen=True, kw_only=True)
class StaticBody(Terrain):
    """Convex solids at any pose, fixed in the world; without a floor around them.

    Attributes:
        parts: `Box`, `Cylinder`, `HalfSpace` or `Hull` of `segtrack.terrain.solids`, at least one.
        name: Name for error messages.
    """

    parts: tuple[Box | Cylinder | HalfSpace | Hull, ...]
    name: str = "static body"

    level_ground: ClassVar[float] = -math.inf

    def __post_init__(self) -> None:
        """Refuse anything but convex solids."""
        super().__post_init__()
        parts = tuple(self.parts) if isinstance(self.parts, Iterable) else ()
        if not parts or not all(isinstance(part, Box | Cylinder | HalfSpace | Hull) for part in parts):
            raise InvalidValueError("StaticBody.parts", "at least one convex solid", self.parts)
        for i, part in enumerate(parts):
            _check_extent(f"StaticBody.parts[{i}]", part)
        object.__setattr__(self, "parts", parts)

    def solids(self) -> tuple[Box | Cylinder | HalfSpace | Hull, ...]:
        """Return the convex solids."""
        return self.parts

    def x_breaks(self) -> tuple[float, ...]:
        """Return world x of the corners of each solid in y = 0 [m]; where two solids meet there is none."""
        return section_breaks(self.parts)


def _check_extent(name: str, solid: Box | Cylinder | HalfSpace | Hull) -> None:
    """Refuse a solid of zero extent.

    Raises:
        InvalidValueError: A size that is not above 0, or corners in one plane.
    """
    length = Limits("m", 0.0, inclusive=False)
    match solid:
        case Box(size):
            for axis, extent in zip("xyz", size, strict=True):
                length.check(f"{name}.size along {axis}", extent)
        case Cylinder(radius, extent):
            length.check(f"{name}.radius", radius)
            length.check(f"{name}.length", extent)
        case Hull():
            offsets = solid.points - solid.points.mean(axis=0)
            if np.linalg.matrix_rank(offsets, tol=1e-9 * max(1.0, np.abs(offsets).max())) < 3:
                expected = "corners that are not all in one plane"
                raise InvalidValueError(f"{name}.vertices", expected, solid.vertices)
