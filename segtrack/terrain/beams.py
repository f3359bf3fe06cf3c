"""Obstacles of beams on flat ground: hurdles, K-rails, beams overhead."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from segtrack.errors import InvalidValueError
from segtrack.terrain.base import Obstacle
from segtrack.terrain.checks import Count, Length, Rise
from segtrack.terrain.solids import Box, Prism, standing, turned

_PIPE_FACETS = 24
"""Flat pieces of which a pipe consists."""


@dataclass(frozen=True, kw_only=True)
class Hurdle(Obstacle):
    """Beam across the path, its upper edge a pipe on request. The pipe does not turn.

    Attributes:
        height: Height of the upper edge [m].
        length: Length of the beam along x [m]; of a pipe the diameter.
        pipe: True if its upper edge is a pipe.
    """

    height: Length
    length: Length = 0.1
    pipe: bool = False

    def __post_init__(self) -> None:
        """Refuse a pipe that reaches below the ground."""
        super().__post_init__()
        if self.pipe and self.height < self.length:
            expected = f"at least the pipe's diameter of {self.length:g}"
            raise InvalidValueError("Hurdle.height", expected, self.height)

    @property
    def extent(self) -> float:
        """Length along x [m]."""
        return self.length

    def shapes(self, root: float) -> Iterator[Box | Prism]:
        """Yield a block, or a pipe with a block up to its axis."""
        radius = self.length / 2 if self.pipe else 0.0
        axis, middle = self.height - radius, self.distance + radius
        if self.pipe:
            turns = [2 * math.pi * k / _PIPE_FACETS for k in range(_PIPE_FACETS)]
            yield Prism(
                tuple((middle + radius * math.cos(turn), axis + radius * math.sin(turn)) for turn in turns),
                self.width,
            )
        yield standing(self.distance, self.distance + self.length, self.width, axis, root)


@dataclass(frozen=True, kw_only=True)
class KRails(Obstacle):
    """Beams at an angle across the path, the next one at the opposite angle.

    Attributes:
        count: Number of beams.
        height: Height of the beams [m].
        thickness: Thickness of the beams [m].
    """

    count: Count = 4
    height: Length = 0.075
    thickness: Length = 0.038

    @property
    def extent(self) -> float:
        """Length along x [m]."""
        return self.count * self.width

    def shapes(self, root: float) -> Iterator[Box]:
        """Yield one beam a width, at 45 deg from side to side."""
        length = max(self.width * math.sqrt(2) - self.thickness, self.thickness)
        for i in range(self.count):
            yaw = math.pi / 4 if i % 2 == 0 else -math.pi / 4
            center = self.distance + (i + 0.5) * self.width, 0.0
            yield turned(center, (length, self.thickness), yaw, self.height, root)


@dataclass(frozen=True, kw_only=True)
class ConfinedSpace(Obstacle):
    """Beams overhead and beams on the ground in turn.

    Attributes:
        clearance: Height of the beams overhead above the ground [m].
        count: Number of beams overhead; there is one on the ground between each two.
        spacing: Distance from a beam overhead to the next one on the ground [m].
        beam: Edge of the beams overhead, and length of those on the ground [m].
        sill: Height of the beams on the ground [m]; 0 for none.
    """

    clearance: Length
    count: Count = 3
    spacing: Length = 0.6
    beam: Length = 0.1
    sill: Rise = 0.05

    def __post_init__(self) -> None:
        """Refuse beams overhead that touch those on the ground."""
        super().__post_init__()
        if self.clearance <= self.sill:
            raise InvalidValueError(
                "ConfinedSpace.clearance", f"above the sill of {self.sill:g}", self.clearance
            )

    @property
    def extent(self) -> float:
        """Length along x [m]."""
        return 2 * self.count * self.spacing

    def shapes(self, root: float) -> Iterator[Box]:
        """Yield a block a beam."""
        for i in range(self.count):
            overhead = self.distance + (2 * i + 1) * self.spacing
            start, end = overhead - self.beam / 2, overhead + self.beam / 2
            yield standing(start, end, self.width, self.clearance + self.beam, -self.clearance)
            if self.sill > 0 and i + 1 < self.count:
                yield standing(start + self.spacing, end + self.spacing, self.width, self.sill, root)
