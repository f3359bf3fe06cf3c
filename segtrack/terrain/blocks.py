"""Obstacles of upright boxes on flat ground: steps, stairs, fields of posts, boxes anywhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import InvalidValueError
from segtrack.terrain.base import FlatGround, LevelTop, Obstacle
from segtrack.terrain.checks import Checked, Count, Length, Limits, Place, Seed, Turn
from segtrack.terrain.solids import Box, block, standing, turned


@dataclass(frozen=True, kw_only=True)
class Platform(Obstacle):
    """Level ground, at an elevation a platform.

    Attributes:
        length: Length [m].
    """

    length: Length

    @property
    def extent(self) -> float:
        """Length along x [m]."""
        return self.length

    def shapes(self, root: float) -> Iterator[Box]:
        """Yield one block, level with the ground."""
        yield standing(self.distance, self.distance + self.length, self.width, 0.0, root)


@dataclass(frozen=True, kw_only=True)
class Step(Obstacle):
    """Block on flat ground, whose front is the step of Table IV of Okada et al. 2020.

    Attributes:
        height: Height of the step [m].
        length: Length of the top along x [m].
    """

    height: Length
    length: Length = 10.0

    @property
    def extent(self) -> float:
        """Length along x [m]."""
        return self.length

    def shapes(self, root: float) -> Iterator[Box]:
        """Yield the block."""
        yield standing(self.distance, self.distance + self.length, self.width, self.height, root)

    @property
    def level_top(self) -> LevelTop:
        """Top of the block."""
        return LevelTop(0.0, self.length, self.height)


@dataclass(frozen=True, kw_only=True)
class Stairs(Obstacle):
    """Stairs up to a landing, and down again behind it or a drop.

    Attributes:
        riser: Height of one stair [m].
        tread: Depth of one stair along x [m].
        count: Number of risers; the landing is `count * riser` high.
        landing: Extent of the landing along x, from the last riser on [m].
        down: True if as many stairs lead down again behind the landing.
    """

    riser: Length
    tread: Length
    count: Count
    landing: Length = 2.0
    down: bool = False

    @property
    def extent(self) -> float:
        """Length along x [m]."""
        return (self.count - 1) * self.tread * (2 if self.down else 1) + self.landing

    def shapes(self, root: float) -> Iterator[Box]:
        """Yield one block a stair, each standing through those below it."""
        end = self.distance + (self.count - 1) * self.tread + self.landing
        for below in range(self.count):
            back = end + (self.count - 1 - below) * self.tread if self.down else end
            start = self.distance + below * self.tread
            yield standing(start, back, self.width, (below + 1) * self.riser, root)

    @property
    def level_top(self) -> LevelTop:
        """Landing."""
        start = (self.count - 1) * self.tread
        return LevelTop(start, start + self.landing, self.count * self.riser)


@dataclass(frozen=True, kw_only=True)
class StepField(FlatGround):
    """Grid of square posts of random height on flat ground, centred on y = 0.

    Attributes:
        max_height: Upper bound of the heights, which are uniform from 0 on [m].
        cell: Edge of a post [m].
        rows: Number of posts along x.
        columns: Number of posts along y.
        distance: World x at which the field begins [m].
        seed: Seed of the heights; equal seeds make equal fields.
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
    """Square posts whose heights are symmetric about the field's middle.

    flat: one unit and two in turn. hill: rows across rise to the middle. diagonal: rows rise to the line
    from corner to corner. Every second post is half a unit lower, but for those of the crest.

    Attributes:
        pattern: Arrangement of the heights.
        unit: Height of one unit [m].
        post: Edge of a post, at least 0.02 [m]; as many as fit the width stand beside each other.
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
        """Yield one block for all posts of a row that are beside each other and equally high."""
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
class GroundBox(Checked):
    """Upright box on the ground.

    Attributes:
        x: World x of its middle [m].
        y: World y of its middle [m].
        length: Extent along its own x axis [m].
        width: Extent along its own y axis [m].
        height: Height above the ground [m].
        yaw: Angle of its x axis about the world's z axis [rad].
    """

    x: Place
    y: Place
    length: Length
    width: Length
    height: Length
    yaw: Turn = 0.0


@dataclass(frozen=True, kw_only=True)
class Boxes(FlatGround):
    """Upright boxes on flat ground; where they overlap, the higher one counts.

    Attributes:
        boxes: Boxes, at least one.
    """

    boxes: tuple[GroundBox, ...]

    def __post_init__(self) -> None:
        """Refuse what are no boxes."""
        super().__post_init__()
        boxes = tuple(self.boxes) if isinstance(self.boxes, Iterable) else ()
        if not boxes or not all(isinstance(box, GroundBox) for box in boxes):
            raise InvalidValueError("Boxes.boxes", "at least one GroundBox", self.boxes)
        object.__setattr__(self, "boxes", boxes)

    def shapes(self, root: float) -> Iterator[Box]:
        """Yield the boxes."""
        for box in self.boxes:
            yield turned((box.x, box.y), (box.length, box.width), box.yaw, box.height, root)
