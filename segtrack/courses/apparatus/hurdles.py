"""Beams: hurdles, K-rails, and a confined space."""

from __future__ import annotations

import math
from collections.abc import Iterator

from segtrack.courses.apparatus.base import Apparatus, Length, Many, Rise
from segtrack.courses.apparatus.shapes import drawn_out, standing, turned
from segtrack.description.base import Checks, check
from segtrack.errors import Problem
from segtrack.terrain.solids import Box, Hull

_SIDES = 24
"""Flat pieces of which a pipe consists."""


class Hurdle(Apparatus):
    """One beam across, on request with a pipe as its upper edge. The pipe does not turn."""

    height: Length
    """[m]"""
    length: Length = 0.1
    """Of the beam along x; of a pipe the diameter [m]."""
    pipe: bool = False
    """Whether its upper edge is a pipe."""

    @check
    def _room_for_a_pipe(self) -> Checks:
        if self.pipe and self.height < self.length:
            message = f"must be at least the pipe's diameter of {self.length:g}, got {self.height:g}"
            yield Problem("height", message)

    def extent(self, width: float) -> float:
        """Length along x [m]."""
        return self.length

    def solids(self, width: float, root: float) -> Iterator[Box | Hull]:
        """A block, or a pipe with a block up to its axis."""
        x, y = (0.0, self.length), (-width / 2, width / 2)
        if not self.pipe:
            yield standing(x, y, self.height, root)
            return
        radius = self.length / 2
        axis = self.height - radius
        turns = [2 * math.pi * k / _SIDES for k in range(_SIDES)]
        pipe = [(radius + radius * math.cos(turn), axis + radius * math.sin(turn)) for turn in turns]
        yield drawn_out(pipe, y)
        yield standing(x, y, axis, root)

    def top(self, width: float) -> float:
        """How high it reaches [m]."""
        return self.height


class KRails(Apparatus):
    """Beams at an angle across the lane, the next one at the opposite angle."""

    count: Many = 4
    """Number of beams."""
    height: Length = 0.075
    """Of the beams [m]."""
    thickness: Length = 0.038
    """Of the beams [m]."""

    def extent(self, width: float) -> float:
        """Length along x [m]."""
        return self.count * width

    def solids(self, width: float, root: float) -> Iterator[Box | Hull]:
        """One beam a lane's width, at 45 deg from side to side."""
        length = max(width * math.sqrt(2) - self.thickness, self.thickness)
        for i in range(self.count):
            yaw = math.pi / 4 if i % 2 == 0 else -math.pi / 4
            center = (i + 0.5) * width, 0.0
            yield turned(center, (length, self.thickness), yaw, self.height, root)

    def top(self, width: float) -> float:
        """How high it reaches [m]."""
        return self.height


class ConfinedSpace(Apparatus):
    """Beams overhead and beams on the ground in turn."""

    clearance: Length
    """From the ground to the beams overhead [m]."""
    count: Many = 3
    """Number of beams overhead; there is one on the ground between each two."""
    spacing: Length = 0.6
    """From a beam overhead to the next one on the ground [m]."""
    beam: Length = 0.1
    """Edge of the beams overhead, and length of those on the ground [m]."""
    sill: Rise = 0.05
    """Height of the beams on the ground [m]; 0 for none."""

    @check
    def _room_over_sills(self) -> Checks:
        if self.clearance <= self.sill:
            message = f"must be above the sill of {self.sill:g}, got {self.clearance:g}"
            yield Problem("clearance", message)

    def extent(self, width: float) -> float:
        """Length along x [m]."""
        return 2 * self.count * self.spacing

    def solids(self, width: float, root: float) -> Iterator[Box | Hull]:
        """A block a beam."""
        y = -width / 2, width / 2
        for i in range(self.count):
            overhead = (2 * i + 1) * self.spacing
            x = overhead - self.beam / 2, overhead + self.beam / 2
            yield standing(x, y, self.clearance + self.beam, -self.clearance)
            if self.sill > 0 and i + 1 < self.count:
                yield standing((x[0] + self.spacing, x[1] + self.spacing), y, self.sill, root)

    def top(self, width: float) -> float:
        """How high walls beside it must be: to the beams' upper side [m]."""
        return self.clearance + self.beam
