"""A step field: square posts of whole units of height."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from pydantic import Field

from segtrack.courses.apparatus.base import Apparatus, Length, Many
from segtrack.courses.apparatus.shapes import standing
from segtrack.terrain.solids import Box, Hull


class StepField(Apparatus):
    """Square posts whose heights are symmetric about the field's middle.

    flat: one unit and two in turn. hill: rows across rise to the middle. diagonal: rows rise to the line
    from corner to corner. Every second post is half a unit lower, but for those of the crest.
    """

    pattern: Literal["flat", "hill", "diagonal"] = "hill"
    unit: Length = 0.1
    """Height of one unit [m]."""
    post: Annotated[Length, Field(ge=0.02)] = 0.1
    """Edge of a post, at least 0.02 [m]; as many as go into the lane stand beside each other."""
    rows: Many = 12
    """Number of rows across."""
    peak: Many = 3
    """Height of the crest in units."""

    def _columns(self, width: float) -> int:
        return max(round(width / self.post), 1)

    def heights(self, width: float) -> list[list[float]]:
        """Heights of the posts, a row across the lane each [m]."""
        columns = self._columns(width)
        return [[self.unit * self._units(i, j, columns) for j in range(columns)] for i in range(self.rows)]

    def _units(self, row: int, column: int, columns: int) -> float:
        # Distances from the field's middle, in posts, halves for even numbers.
        along, across = row - (self.rows - 1) / 2, column - (columns - 1) / 2
        odd = (int(abs(along)) + int(abs(across))) % 2
        if self.pattern == "flat":
            return 1.0 + odd
        distance = abs(along) if self.pattern == "hill" else abs(along - across)
        farthest = (self.rows - 1) / 2 if self.pattern == "hill" else (self.rows + columns) / 2 - 1
        level = self.peak * (1 - distance / (farthest + 1))
        whole = max(round(level), 1)
        return whole if whole == self.peak else whole - 0.5 * odd

    def extent(self, width: float) -> float:
        """Length along x [m]."""
        return self.rows * self.post

    def solids(self, width: float, root: float) -> Iterator[Box | Hull]:
        """One block for all posts of a row that are beside each other and equally high."""
        columns = self._columns(width)
        edges = [width * (j / columns - 0.5) for j in range(columns + 1)]
        for i, row in enumerate(self.heights(width)):
            x = i * self.post, (i + 1) * self.post
            for first, last in _runs(row):
                yield standing(x, (edges[first], edges[last]), row[first], root)

    def top(self, width: float) -> float:
        """Height of the highest posts [m]."""
        return max(max(row) for row in self.heights(width))


def _runs(row: Sequence[float]) -> Iterator[tuple[int, int]]:
    """First and behind last index of equal neighbours."""
    first = 0
    for j in range(1, len(row) + 1):
        if j == len(row) or row[j] != row[first]:
            yield first, j
            first = j
