"""Endless flat ground, trenches across it, and several obstacles on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from segtrack.errors import InvalidValueError
from segtrack.terrain.base import FlatGround, Terrain
from segtrack.terrain.checks import Length, Place, Rise
from segtrack.terrain.slopes import trapezoid_breaks
from segtrack.terrain.solids import (
    FLOOR_DEPTH,
    FLOOR_REACH,
    ConvexSolid,
    HalfSpace,
    Prism,
    Solid,
    floor_piece,
    run_on,
)

BANK_REACH = 10.0
"""Length of the ground before and behind a ditch and the origin [m].

Bullet rounds a hull's corners to a ten-thousandth of its extent, so not as far as a floor does.
"""


@dataclass(frozen=True, kw_only=True)
class Plane(FlatGround):
    """Flat ground at z = 0 without an end."""

    def solids(self) -> tuple[Solid, ...]:
        """Return the half-space below z = 0."""
        return (HalfSpace(),)

    def shapes(self, root: float) -> Iterator[ConvexSolid]:
        """Yield nothing: there is only floor."""
        yield from ()


@dataclass(frozen=True, kw_only=True)
class Obstacles(FlatGround):
    """Several obstacles on one flat ground; where they overlap, the higher one counts.

    Attributes:
        obstacles: Obstacles on flat ground, at least one; friction and soil of the whole hold for
            all of them.
    """

    obstacles: tuple[FlatGround, ...]

    def __post_init__(self) -> None:
        """Refuse terrains that do not stand on flat ground."""
        super().__post_init__()
        given = tuple(self.obstacles) if isinstance(self.obstacles, Iterable) else ()
        if not given or not all(isinstance(each, FlatGround) for each in given):
            expected = "at least one terrain that stands on flat ground"
            raise InvalidValueError("Obstacles.obstacles", expected, self.obstacles)
        object.__setattr__(self, "obstacles", given)

    def shapes(self, root: float) -> Iterator[ConvexSolid]:
        """Yield the solids of all obstacles; below ground they reach as deep as when alone."""
        for each in self.obstacles:
            yield from each.shapes(min(root, each._depth))


@dataclass(frozen=True, kw_only=True)
class Gap(Terrain):
    """Trench with vertical walls across the whole floor.

    Attributes:
        length: Distance between the walls along x [m].
        distance: World x of the near wall [m].
        depth: Depth of the trench's flat bottom [m].
    """

    length: Length
    distance: Place
    depth: Length = 1.0

    def solids(self) -> tuple[Solid, ...]:
        """Return the ground before and behind the gap, and its bottom, which continues below both."""
        near, far = self.x_breaks()
        before, behind = min(near, 0.0) - FLOOR_REACH, max(far, 0.0) + FLOOR_REACH
        return (
            floor_piece(before, near, depth=self.depth + FLOOR_DEPTH),
            floor_piece(far, behind, depth=self.depth + FLOOR_DEPTH),
            floor_piece(near - FLOOR_DEPTH, far + FLOOR_DEPTH, top=-self.depth),
        )

    def x_breaks(self) -> tuple[float, float]:
        """Return world x of the two walls [m]."""
        return (self.distance, self.distance + self.length)


@dataclass(frozen=True, kw_only=True)
class TrapezoidDitch(Terrain):
    """Ditch with two equal sloping sides across the whole floor.

    Attributes:
        depth: Depth of the bottom [m].
        top_length: Extent of the opening along x [m].
        bottom_length: Extent of the bottom along x [m], shorter than the
            opening; 0 makes a V.
        distance: World x at which it begins [m].
    """

    depth: Length
    top_length: Length
    bottom_length: Rise
    distance: Place

    def __post_init__(self) -> None:
        """Refuse overhanging sides."""
        super().__post_init__()
        if self.bottom_length >= self.top_length:
            expected = f"shorter than the top length of {self.top_length} [m]"
            raise InvalidValueError("TrapezoidDitch.bottom_length", expected, self.bottom_length)

    def solids(self) -> tuple[Solid, ...]:
        """Return the two banks, each a prism with its ground, and the bottom."""
        start, near, far, end = self.x_breaks()
        bottom = -self.depth - FLOOR_DEPTH
        before, behind = min(start, 0.0) - BANK_REACH, max(end, 0.0) + BANK_REACH
        near_root = run_on((start, 0.0), (near, -self.depth))
        far_root = run_on((end, 0.0), (far, -self.depth))
        near_bank = ((before, bottom), (near_root[0], bottom), near_root, (start, 0.0), (before, 0.0))
        far_bank = ((far_root[0], bottom), (behind, bottom), (behind, 0.0), (end, 0.0), far_root)
        return (
            Prism(near_bank, 2 * FLOOR_REACH),
            Prism(far_bank, 2 * FLOOR_REACH),
            floor_piece(start, end, top=-self.depth),
        )

    def x_breaks(self) -> tuple[float, float, float, float]:
        """Return world x of the tops and feet of the two sides [m]."""
        return trapezoid_breaks(self.distance, self.top_length, self.bottom_length)
