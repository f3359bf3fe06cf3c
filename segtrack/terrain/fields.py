"""Fields of posts of different heights, or of ramps in different directions, on flat ground."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from segtrack.terrain.base import FlatGround, Obstacle
from segtrack.terrain.checks import Count, Length, Limits, Place, Rise, Seed, Slope
from segtrack.terrain.solids import ROOT_DEPTH, Box, Hull, block

Point = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class StepField(FlatGround):
    """Grid of square posts of random height on flat ground, centred on y = 0.

    Attributes:
        max_height: Upper bound of the heights, which are uniformly distributed from 0 [m].
        cell: Edge length of a post [m].
        rows: Number of posts along x.
        columns: Number of posts along y.
        distance: World x at which the field begins [m].
        seed: Seed of the random heights; equal seeds make equal fields.
    """

    max_height: Length
    cell: Length
    rows: Count
    columns: Count
    distance: Place
    seed: Seed = 0

    @cached_property
    def heights(self) -> NDArray[np.float64]:
        """Heights of the posts [m], shape (rows, columns), read-only."""
        heights = np.random.default_rng(self.seed).uniform(0.0, self.max_height, (self.rows, self.columns))
        heights.flags.writeable = False
        return heights

    def shapes(self, root: float) -> Iterator[Box]:
        """Yield the posts."""
        x = (self.distance + self.cell * np.arange(self.rows + 1)).tolist()
        y = (self.cell * (np.arange(self.columns + 1) - self.columns / 2)).tolist()
        for (row, column), top in np.ndenumerate(self.heights):
            yield block(x[row], x[row + 1], y[column], y[column + 1], top, top + root)


@dataclass(frozen=True, kw_only=True)
class PatternedStepField(Obstacle):
    """Field of square posts with heights in a symmetric pattern.

    flat: one unit and two in turn. hill: rows across rise to the middle. diagonal: rows rise to the line
    from corner to corner. Every second post is half a unit lower, but for those of the crest.

    Attributes:
        pattern: Arrangement of the heights.
        unit: Height of one unit [m].
        post: Edge length of a post, at least 0.02 [m]; as many stand side by side as fit the width.
        rows: Number of rows across.
        peak: Height of the crest in units.
    """

    pattern: Literal["flat", "hill", "diagonal"] = "hill"
    unit: Length = 0.1
    post: Annotated[float, Limits("m", 0.02)] = 0.1
    rows: Count = 12
    peak: Count = 3

    @property
    def extent(self) -> float:
        """Length along x [m]."""
        return self.rows * self.post

    @property
    def _columns(self) -> int:
        return max(round(self.width / self.post), 1)

    def _units(self, row: int, column: int) -> float:
        # Distances from the field's middle, in posts, halves for even numbers.
        """Height of a post in units, by the arrangement of `pattern`."""
        along, across = row - (self.rows - 1) / 2, column - (self._columns - 1) / 2
        odd = (int(abs(along)) + int(abs(across))) % 2
        if self.pattern == "flat":
            return 1.0 + odd
        distance = abs(along) if self.pattern == "hill" else abs(along - across)
        farthest = (self.rows - 1) / 2 if self.pattern == "hill" else (self.rows + self._columns) / 2 - 1
        level = self.peak * (1 - distance / (farthest + 1))
        whole = max(round(level), 1)
        return whole if whole == self.peak else whole - 0.5 * odd

    def shapes(self, root: float) -> Iterator[Box]:
        """Yield one block for each run of equally high posts in a row."""
        columns = self._columns
        edges = [self.width * (column / columns - 0.5) for column in range(columns + 1)]
        for row in range(self.rows):
            start, end = self.distance + row * self.post, self.distance + (row + 1) * self.post
            first, heights = 0, [self.unit * self._units(row, column) for column in range(columns)]
            for height, run in groupby(heights):
                last = first + len(list(run))
                yield block(start, end, edges[first], edges[last], height, height + root)
                first = last


@dataclass(frozen=True, kw_only=True)
class ContinuousRamps(Obstacle):
    """Ridges in close succession, across the path (pitch) or at 45 deg to it (pitch and roll).

    Ramps are half as long as the field is wide.

    Attributes:
        count: Number of ridges; across the path, one per width.
        slope: Angle of the ramps [rad].
        ridges: Direction of the ridges, across the path or at 45 deg.
    """

    count: Count = 4
    slope: Slope = math.radians(15.0)
    ridges: Literal["across", "diagonal"] = "across"

    @property
    def extent(self) -> float:
        """Length along x [m]."""
        return self.count * self.width

    def shapes(self, root: float) -> Iterator[Hull]:
        """Yield one solid for each ridge."""
        start, half, length = self.distance, self.width / 2, self.extent
        if self.ridges == "across":
            for i in range(self.count):
                crest, reach = start + (2 * i + 1) * half, half + ROOT_DEPTH / math.tan(self.slope)
                field = rectangle((crest - reach, crest + reach), (-half, half))
                yield ridge(field, crest, half, self.slope, 0.0, root)
            return
        field, turn = rectangle((start, start + length), (-half, half)), math.pi / 4
        farthest = (start + length + half) * math.sqrt(0.5)
        crest = start * math.sqrt(0.5) + half * (1 - math.sqrt(0.5))
        while crest - half < farthest:
            yield ridge(field, crest, half, self.slope, turn, root)
            crest += 2 * half


@dataclass(frozen=True, kw_only=True)
class CrossingRamps(Obstacle):
    """Field of square ramps, half as wide as the field, with steps between them.

    alternating: ridges across either half of the field, those of the one half beside the valleys of the
    other. pinwheel: of each four the next one rises in a direction 90 deg further.

    Attributes:
        count: Number of groups of four ramps.
        slope: Angle of the ramps [rad].
        pattern: Arrangement of the ramps.
        raised: Height by which two diagonally opposite ramps of each four are raised (elevated variant) [m].
    """

    count: Count = 3
    slope: Slope = math.radians(15.0)
    pattern: Literal["alternating", "pinwheel"] = "pinwheel"
    raised: Rise = 0.0

    @property
    def extent(self) -> float:
        """Length along x [m]."""
        return self.count * self.width

    def shapes(self, root: float) -> Iterator[Hull]:
        """Yield one solid for each ramp, or one ridge for two ramps that meet at their upper edges."""
        for group in range(self.count):
            start = self.distance + group * self.width
            if self.pattern == "alternating":
                yield from self._ridges(start, group + 1 == self.count, root)
            else:
                yield from self._pinwheel(start, root)

    def _ridges(self, start: float, is_last: bool, root: float) -> Iterator[Hull]:
        """Yield a ridge in each half of the field; the left half's is shifted by half a period."""
        half = self.width / 2
        for lower, shift, raised in ((-half, 0.0, self.raised), (0.0, half, 0.0)):
            if shift and is_last:
                continue
            crest = start + half + shift
            # A raised ridge ends in upright faces at its feet.
            reach = half if raised else half + ROOT_DEPTH / math.tan(self.slope)
            field = rectangle((crest - reach, crest + reach), (lower, lower + half))
            foot = half + raised / math.tan(self.slope)
            yield ridge(field, crest, foot, self.slope, 0.0, root)

    def _pinwheel(self, start: float, root: float) -> Iterator[Hull]:
        """Yield four ramps around the middle of a group, all with their highest corner or edge there."""
        edge = self.width / 2
        middle = start + edge
        for i in range(4):
            raised = self.raised if i % 2 == 0 else 0.0
            # Turned so that it lies behind and to the right of the middle and rises along x.
            run_on = 0.0 if raised else ROOT_DEPTH / math.tan(self.slope)
            field = rectangle((-edge - run_on, 0.0), (-edge, 0.0))
            heights = [raised + (edge + x) * math.tan(self.slope) for x, _ in field]
            turn = complex(math.cos(i * math.pi / 2), math.sin(i * math.pi / 2))
            places = [turn * complex(*corner) + middle for corner in field]
            yield roof([(place.real, place.imag) for place in places], heights, root)


def roof(plan: Sequence[Point], heights: Sequence[float], root: float) -> Hull:
    """Return the solid below corners at places in plan and heights [m]; its upper side is convex."""
    top = [(x, y, height) for (x, y), height in zip(plan, heights, strict=True)]
    return Hull.of(np.unique(np.array([*top, *((x, y, -root - ROOT_DEPTH) for x, y in plan)]), axis=0))


def clip(polygon: Sequence[Point], normal: Point, offset: float) -> list[Point]:
    """Return the part of a convex polygon where normal . point <= offset."""
    depths = [normal[0] * x + normal[1] * y - offset for x, y in polygon]
    kept: list[Point] = []
    for i, (x, y) in enumerate(polygon):
        j = (i + 1) % len(polygon)
        if depths[i] <= 0:
            kept.append((x, y))
        if depths[i] * depths[j] < 0:
            fraction = depths[i] / (depths[i] - depths[j])
            kept.append((x + fraction * (polygon[j][0] - x), y + fraction * (polygon[j][1] - y)))
    return kept


def rectangle(x: Point, y: Point) -> list[Point]:
    """Return the corners of a rectangle between two x and two y [m]."""
    return [(x[0], y[0]), (x[1], y[0]), (x[1], y[1]), (x[0], y[1])]


def ridge(field: Sequence[Point], crest: float, half: float, slope: float, turn: float, root: float) -> Hull:
    """Return a ridge within a convex field in plan; its slopes continue below the ground.

    Args:
        field: Corners of the field [m].
        crest: Distance of the crest from the origin along the direction `turn` [m].
        half: Distance from the crest to either foot [m].
        slope: Angle of both sides [rad].
        turn: Angle from the x axis to the direction that crosses the ridge [rad].
        root: Depth to which it reaches below the ground [m].
    """
    across = math.cos(turn), math.sin(turn)
    back = -across[0], -across[1]
    reach = half + ROOT_DEPTH / math.tan(slope)
    strip = clip(clip(field, across, crest + reach), back, reach - crest)
    plan = [*clip(strip, across, crest), *clip(strip, back, -crest)]
    offsets = [abs(across[0] * x + across[1] * y - crest) for x, y in plan]
    return roof(plan, [(half - offset) * math.tan(slope) for offset in offsets], root)
