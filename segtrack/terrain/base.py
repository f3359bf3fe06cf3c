"""Base classes of terrain: solids in the world, the heights that follow from them, and side views."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segtrack.errors import InvalidValueError, whole
from segtrack.terrain.checks import Checked, Length, Place, Ratio, points_of
from segtrack.terrain.columns import section_breaks
from segtrack.terrain.heights import Heights
from segtrack.terrain.soil import Soil
from segtrack.terrain.solids import (
    FLOOR_DEPTH,
    Box,
    ConvexSolid,
    Cylinder,
    HeightGrid,
    Hull,
    Prism,
    Solid,
    TriangleMesh,
    floor,
)

Sampler: TypeAlias = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]
"""Function from world x and y (n,) [m] to heights (n,) [m]."""


@dataclass(frozen=True, kw_only=True)
class Terrain(Checked):
    """Base class of terrain: ground in the world frame.

    Attributes:
        friction: Coulomb friction [-]. Bullet multiplies it with the track's,
            so the bundled terrains have 1 and the track carries the number
            that a paper gives.
        soil: Soil that `compliant`, `surface` and `chain` tracks sink into and shear; None for rigid ground.
            Tracks whose contacts Bullet finds take all ground as rigid.
    """

    friction: Ratio = 1.0
    soil: Soil | None = None

    level_ground: ClassVar[float] = 0.0
    """Height beside its solids [m]: flat ground is taken to be endless."""

    def __post_init__(self) -> None:
        """Refuse values outside their limits, and a soil that is no `Soil`."""
        super().__post_init__()
        if not isinstance(self.soil, Soil | None):
            raise InvalidValueError(f"{type(self).__name__}.soil", "a Soil or None", self.soil)

    @abstractmethod
    def solids(self) -> tuple[Solid, ...]:
        """Return the solids whose union is this terrain."""

    @abstractmethod
    def x_breaks(self) -> tuple[float, ...]:
        """Return the world x of corners and vertical faces along y = 0 [m]."""

    @cached_property
    def _sampler(self) -> Sampler:
        """Function that returns heights [m] at places x and y."""
        convex = (solid for solid in self.solids() if not isinstance(solid, HeightGrid | TriangleMesh))
        return Heights(convex, self.level_ground).highest

    def height_at(self, x: ArrayLike, y: ArrayLike = 0.0) -> NDArray[np.float64]:
        """Sample the terrain's height [m]; a point on a vertical face gets the higher value.

        Args:
            x: World x [m], any shape.
            y: World y [m], any shape that broadcasts with `x`.

        Returns:
            World z of the surface [m], in the broadcast shape: that of the highest solid
            there, even with room beneath. Flat ground is taken to be endless; where there
            is no ground at all, -inf; nan where a coordinate is.

        Raises:
            InvalidValueError: Not numbers of such shapes.
        """
        x, y = points_of(x, y)
        heights = np.asarray(self._sampler(x.ravel(), y.ravel()), dtype=float).reshape(x.shape)
        return np.where(np.isnan(x) | np.isnan(y), np.nan, heights)


def terrains_of(given: Any) -> tuple[Terrain, ...]:
    """Turn one terrain, several or None into a tuple of terrains.

    Raises:
        InvalidValueError: Something else, or something else among them.
    """
    alone = isinstance(given, Terrain | str) or not isinstance(given, Iterable)
    terrains = () if given is None else (given,) if alone else tuple(given)
    for terrain in terrains:
        if not isinstance(terrain, Terrain):
            raise InvalidValueError("terrain", "one of segtrack.terrain", terrain)
    return terrains


@dataclass(frozen=True, kw_only=True)
class FlatGround(Terrain):
    """Flat ground at z = 0 with solids standing on it."""

    _depth: ClassVar[float] = FLOOR_DEPTH / 2
    """Depth to which its solids reach below the ground [m]."""

    @abstractmethod
    def shapes(self, root: float) -> Iterator[ConvexSolid]:
        """Yield the solids on the ground, which reach `root` below it [m]."""

    def solids(self) -> tuple[Solid, ...]:
        """Return the floor and the solids on it."""
        return (*floor(), *self.shapes(self._depth))

    def x_breaks(self) -> tuple[float, ...]:
        """Return the world x of corners and vertical faces along y = 0 [m]."""
        return section_breaks(self.shapes(self._depth), above=0.0)


class LevelTop(NamedTuple):
    """Top part of an obstacle; a vehicle that stands on it has mastered the obstacle.

    Attributes:
        start: Distance from the beginning of the obstacle to that of the top along x [m].
        end: Distance from the beginning of the obstacle to the end of the top along x [m].
        height: Height above the ground [m].
    """

    start: float
    end: float
    height: float


@dataclass(frozen=True, kw_only=True)
class Obstacle(FlatGround):
    """Base class of obstacles across the path on flat ground: a world of their own, or a piece of a course.

    Attributes:
        distance: World x at which it begins [m].
        width: Extent along y, centred on y = 0 [m].
    """

    distance: Place
    width: Length = 10.0

    @property
    @abstractmethod
    def extent(self) -> float:
        """Length along x [m]."""

    @property
    def top(self) -> float:
        """Height of the highest point above the ground [m]."""
        return max(map(_top, self.shapes(self._depth)), default=0.0)

    @property
    def level_top(self) -> LevelTop:
        """Level part at the top; the whole obstacle at ground height if it has none."""
        return LevelTop(0.0, self.extent, 0.0)


def _top(solid: ConvexSolid) -> float:
    """Height of the highest point of an upright box, a lying cylinder, a prism or a hull [m]."""
    match solid:
        case Box(size, center):
            return center[2] + size[2] / 2
        case Cylinder(radius, _, center):
            return center[2] + radius
        case Prism() | Hull():
            return float((solid.hull if isinstance(solid, Prism) else solid).points[:, 2].max())
    return math.inf


_ASIDE = 1e-9
"""Distance before and behind a break at which heights are sampled: it is known but for rounding [m]."""


class Outline(NamedTuple):
    """Terrain outline in the plane y = 0, as a polyline.

    Attributes:
        x: World x [m], shape (n,), not decreasing.
        z: World z [m], shape (n,).
    """

    x: NDArray[np.float64]
    z: NDArray[np.float64]


def profile(terrain: Terrain, x_min: float, x_max: float, samples: int = 200) -> Outline:
    """Trace a terrain along y = 0, with sharp corners and upright faces.

    Args:
        terrain: Terrain to trace.
        x_min: World x of the outline's beginning [m].
        x_max: World x of its end [m].
        samples: Number of evenly spaced points, at least 2; corners are added.

    Returns:
        The outline; at an upright face two of its points have equal x.

    Raises:
        InvalidValueError: The range is empty, or the terrain has no sampler.
    """
    if not x_min < x_max:
        raise InvalidValueError("x_max of a profile", f"above x_min of {x_min} [m]", x_max)
    count = whole("samples of a profile", samples, 2)
    breaks = np.array([b for b in terrain.x_breaks() if x_min < b < x_max])
    even = np.linspace(x_min, x_max, count)
    # Just before and just behind a face the heights differ; both are drawn at the face.
    sampled = np.concatenate((even, breaks - _ASIDE, breaks + _ASIDE))
    drawn = np.concatenate((even, breaks, breaks))
    order = np.argsort(sampled, kind="stable")
    return Outline(drawn[order], terrain.height_at(sampled[order]))
