"""Obstacles of constant cross-section on flat ground: ramps, ridges, barriers, beds, waves, half-rounds."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from segtrack.errors import InvalidValueError, finite
from segtrack.terrain.base import LevelTop, Obstacle
from segtrack.terrain.checks import Length, Slope
from segtrack.terrain.solids import ROOT_DEPTH, Cylinder, Prism, mound

_FACETS = 10
"""Flat pieces of which a crest of waves consists."""


@dataclass(frozen=True, kw_only=True)
class _Mound(Obstacle):
    """Base class of obstacles that are one convex prism."""

    _depth: ClassVar[float] = ROOT_DEPTH

    @abstractmethod
    def _outline(self) -> tuple[tuple[float, float], ...]:
        """Return world x and z of the corners above ground, front to back; the ends at z = 0 [m]."""

    @property
    def extent(self) -> float:
        """Length along x [m]."""
        outline = self._outline()
        return outline[-1][0] - outline[0][0]

    def shapes(self, root: float) -> Iterator[Prism]:
        """Yield the prism, with its flanks continued below the ground."""
        yield mound(self._outline(), self.width, root)


@dataclass(frozen=True, kw_only=True)
class Ramp(_Mound):
    """Slope up to a plateau, which ends in a drop or in an equal slope down.

    Attributes:
        slope: Angle of the slope [rad].
        length: Extent of the slope along x, not along its surface [m].
        plateau: Extent of the plateau along x [m].
        down: True if an equal slope leads down again behind the plateau.
    """

    slope: Slope
    length: Length
    plateau: Length = 3.0
    down: bool = False

    @property
    def rise(self) -> float:
        """Height of the plateau [m]."""
        return self.length * math.tan(self.slope)

    def _outline(self) -> tuple[tuple[float, float], ...]:
        top = self.distance + self.length
        end = top + self.plateau
        back = end + self.length if self.down else end
        return ((self.distance, 0.0), (top, self.rise), (end, self.rise), (back, 0.0))

    @property
    def level_top(self) -> LevelTop:
        """Plateau on which a vehicle has mastered the ramp."""
        return LevelTop(self.length, self.length + self.plateau, self.rise)


@dataclass(frozen=True, kw_only=True)
class Ridge(_Mound):
    """Ridge of two equal slopes across the path.

    Attributes:
        height: Height of the crest [m].
        length: Extent of its base along x [m].
    """

    height: Length
    length: Length

    def _outline(self) -> tuple[tuple[float, float], ...]:
        start, end = self.distance, self.distance + self.length
        return ((start, 0.0), (start + self.length / 2, self.height), (end, 0.0))


@dataclass(frozen=True, kw_only=True)
class TrapezoidBarrier(_Mound):
    """Barrier across the path: two equal slopes with a flat top between them.

    Attributes:
        height: Height of the top [m].
        top_length: Extent of the top along x [m]; with none, it is a `Ridge`.
        bottom_length: Extent of the base along x [m], longer than the top.
    """

    height: Length
    top_length: Length
    bottom_length: Length

    def __post_init__(self) -> None:
        """Refuse overhanging slopes."""
        super().__post_init__()
        if self.bottom_length <= self.top_length:
            expected = f"longer than the top length of {self.top_length} [m]"
            raise InvalidValueError("TrapezoidBarrier.bottom_length", expected, self.bottom_length)

    def _outline(self) -> tuple[tuple[float, float], ...]:
        start, near, far, end = trapezoid_breaks(self.distance, self.bottom_length, self.top_length)
        return ((start, 0.0), (near, self.height), (far, self.height), (end, 0.0))


@dataclass(frozen=True, kw_only=True)
class Bed(_Mound):
    """Bed of sand or gravel with sloping ends; set its `soil`.

    Attributes:
        length: Length from foot to foot [m].
        depth: Depth of the level part above the rigid floor [m].
        slope: Angle of both ends [rad].
    """

    length: Length
    depth: Length = 0.05
    slope: Slope = math.radians(15.0)

    def __post_init__(self) -> None:
        """Refuse a bed that is too short for its slopes."""
        super().__post_init__()
        if self.length < 2 * self._run:
            expected = f"at least {2 * self._run:.3g} for its two slopes"
            raise InvalidValueError("Bed.length", expected, self.length)

    @property
    def _run(self) -> float:
        return self.depth / math.tan(self.slope)

    def _outline(self) -> tuple[tuple[float, float], ...]:
        start, near, far, end = trapezoid_breaks(self.distance, self.length, self.length - 2 * self._run)
        return ((start, 0.0), (near, self.depth), (far, self.depth), (end, 0.0))


@dataclass(frozen=True, kw_only=True)
class PlatformGap(Obstacle):
    """Gap between two platforms, with a ramp on either side.

    Attributes:
        length: Length of the gap [m].
        height: Height of the platforms, so the gap's depth [m].
        platform: Length of each platform [m].
        slope: Angle of the ramps [rad].
    """

    length: Length
    height: Length = 0.2
    platform: Length = 1.2
    slope: Slope = math.radians(15.0)

    _depth: ClassVar[float] = ROOT_DEPTH

    @property
    def _run(self) -> float:
        return self.height / math.tan(self.slope)

    @property
    def extent(self) -> float:
        """Length along x [m]."""
        return 2 * (self._run + self.platform) + self.length

    def shapes(self, root: float) -> Iterator[Prism]:
        """Yield two solids, each a platform with its ramp."""
        edge = self._run + self.platform
        outline = ((0.0, 0.0), (self._run, self.height), (edge, self.height), (edge, 0.0))
        end = self.distance + self.extent
        yield mound([(self.distance + x, z) for x, z in outline], self.width, root)
        yield mound([(end - x, z) for x, z in reversed(outline)], self.width, root)

    @property
    def level_top(self) -> LevelTop:
        """Top of the far platform."""
        start = self._run + self.platform + self.length
        return LevelTop(start, start + self.platform, self.height)


@dataclass(frozen=True, kw_only=True)
class Waves(Obstacle):
    """Half sine waves across flat ground, one behind the other.

    Attributes:
        heights: Heights of the crests, from front to back [m].
        lengths: Lengths of the crests along x [m].
    """

    heights: tuple[float, ...]
    lengths: tuple[float, ...]

    _depth: ClassVar[float] = ROOT_DEPTH

    def __post_init__(self) -> None:
        """Refuse heights or lengths that are not above zero, and unequal counts of them."""
        super().__post_init__()
        for field in ("heights", "lengths"):
            object.__setattr__(self, field, _positive_all(f"Waves.{field}", getattr(self, field)))
        if len(self.heights) != len(self.lengths):
            expected = f"as many as the {len(self.heights)} heights"
            raise InvalidValueError("Waves.lengths", expected, len(self.lengths))

    @property
    def extent(self) -> float:
        """Length along x [m]."""
        return sum(self.lengths)

    def shapes(self, root: float) -> Iterator[Prism]:
        """Yield one prism for each crest."""
        phase, begin = np.linspace(0.0, 1.0, _FACETS + 1), self.distance
        for height, length in zip(self.heights, self.lengths, strict=True):
            z = height * np.sin(np.pi * phase)
            z[-1] = 0.0  # The sine of pi is not quite nothing.
            x = begin + length * phase
            yield mound(list(zip(x.tolist(), z.tolist(), strict=True)), self.width, root)
            begin += length


@dataclass(frozen=True, kw_only=True)
class HalfRound(Obstacle):
    """Cylinder that lies across the path, sunk to its axis in flat ground.

    Attributes:
        radius: Radius, which is also the height above the ground [m].
    """

    radius: Length

    @property
    def extent(self) -> float:
        """Length along x [m]."""
        return 2 * self.radius

    def shapes(self, root: float) -> Iterator[Cylinder]:
        """Yield the whole cylinder, its lower half below ground."""
        yield Cylinder(self.radius, self.width, (self.distance + self.radius, 0.0, 0.0))


def trapezoid_breaks(start: float, outer: float, inner: float) -> tuple[float, float, float, float]:
    """Return the x of the four corners of a symmetric trapezoid that begins at `start` [m]."""
    run = (outer - inner) / 2
    return (start, start + run, start + run + inner, start + outer)


def _positive_all(what: str, values: Sequence[float]) -> tuple[float, ...]:
    """Convert one or more numbers to floats, and refuse any that is not above zero."""
    given = tuple(values) if isinstance(values, Iterable) else ()
    numbers = tuple(finite(f"{what} [m]", value) for value in given)
    if not numbers or min(numbers) <= 0:
        raise InvalidValueError(f"{what} [m]", "some numbers above 0", values)
    return numbers
