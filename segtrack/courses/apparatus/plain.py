"""What stands across a lane and is driven straight over: levels, steps, ramps, stairs, gaps, beds."""

from __future__ import annotations

import math
from collections.abc import Iterator

from segtrack.courses.apparatus.base import Apparatus, Goal, Length, Many, Slope
from segtrack.courses.apparatus.shapes import slope, standing
from segtrack.description.base import Checks, check
from segtrack.errors import Problem
from segtrack.terrain.solids import Box, Hull


class Flat(Apparatus):
    """Level ground: the floor itself, or at an elevation a platform."""

    length: Length
    """[m]"""

    def extent(self, width: float) -> float:
        """Length along x [m]."""
        return self.length

    def solids(self, width: float, root: float) -> Iterator[Box | Hull]:
        """A platform; none on the floor, which is in one piece."""
        yield standing((0.0, self.length), (-width / 2, width / 2), 0.0, root)


class Step(Apparatus):
    """One step up onto a level top, which ends in as high a step down."""

    height: Length
    """[m]"""
    length: Length
    """Of the top [m]."""

    def extent(self, width: float) -> float:
        """Length along x [m]."""
        return self.length

    def solids(self, width: float, root: float) -> Iterator[Box | Hull]:
        """One block."""
        yield standing((0.0, self.length), (-width / 2, width / 2), self.height, root)

    def top(self, width: float) -> float:
        """How high it reaches [m]."""
        return self.height

    def goal(self, width: float) -> Goal:
        """The top."""
        return Goal(0.0, self.length, self.height)


class Ramp(Apparatus):
    """A straight slope up to a level top; an inclined plane if it is long."""

    slope_deg: Slope = 15.0
    """[deg]"""
    length: Length
    """Along the slope [m]."""
    top_length: Length = 1.2
    """Of the level top [m]."""
    down: bool = True
    """Whether as long a slope leads down again; a face otherwise."""

    @property
    def _run(self) -> float:
        return self.length * math.cos(math.radians(self.slope_deg))

    def extent(self, width: float) -> float:
        """Length along x [m]."""
        return self._run * (2 if self.down else 1) + self.top_length

    def solids(self, width: float, root: float) -> Iterator[Box | Hull]:
        """One solid, so that nothing hidden lies under its edges."""
        y = -width / 2, width / 2
        yield slope(0.0, self._run, self.top(width), self.top_length, y, root, self.down)

    def top(self, width: float) -> float:
        """Height of the level top [m]."""
        return self.length * math.sin(math.radians(self.slope_deg))

    def goal(self, width: float) -> Goal:
        """The level top."""
        return Goal(self._run, self._run + self.top_length, self.top(width))


class Stairs(Apparatus):
    """Stairs up to a landing, and on request down behind it."""

    slope_deg: Slope = 40.0
    """Of the line over the noses [deg]."""
    rise: Length = 0.2
    """Of one stair [m]."""
    count: Many = 5
    """Number of risers."""
    landing: Length = 1.8
    """Length of the upper landing [m]."""
    down: bool = False
    """Whether as many stairs lead down again."""

    @property
    def tread(self) -> float:
        """From nose to nose [m]."""
        return self.rise / math.tan(math.radians(self.slope_deg))

    def extent(self, width: float) -> float:
        """Length along x [m]."""
        return (self.count - 1) * self.tread * (2 if self.down else 1) + self.landing

    def solids(self, width: float, root: float) -> Iterator[Box | Hull]:
        """One block a stair, each through all above it."""
        length = self.extent(width)
        for below in range(self.count):
            start = below * self.tread
            x = start, length - start if self.down else length
            yield standing(x, (-width / 2, width / 2), (below + 1) * self.rise, root)

    def top(self, width: float) -> float:
        """Height of the landing [m]."""
        return self.count * self.rise

    def goal(self, width: float) -> Goal:
        """The landing."""
        start = (self.count - 1) * self.tread
        return Goal(start, start + self.landing, self.top(width))


class Gap(Apparatus):
    """Two platforms with a gap between them, a ramp on either side."""

    length: Length
    """Of the gap [m]."""
    height: Length = 0.2
    """Of the platforms, so the gap's depth [m]."""
    platform: Length = 1.2
    """Length of each platform [m]."""
    slope_deg: Slope = 15.0
    """Of the ramps [deg]."""

    @property
    def _run(self) -> float:
        return self.height / math.tan(math.radians(self.slope_deg))

    def extent(self, width: float) -> float:
        """Length along x [m]."""
        return 2 * (self._run + self.platform) + self.length

    def solids(self, width: float, root: float) -> Iterator[Box | Hull]:
        """Each platform with its ramp as one."""
        y, length = (-width / 2, width / 2), self.extent(width)
        near = slope(0.0, self._run, self.height, self.platform, y, root, down=False)
        yield near
        yield Hull((length, 0.0, 0.0) + near.points * (-1.0, 1.0, 1.0))

    def top(self, width: float) -> float:
        """Height of the platforms [m]."""
        return self.height

    def goal(self, width: float) -> Goal:
        """The far platform."""
        start = self._run + self.platform + self.length
        return Goal(start, start + self.platform, self.height)


class Bed(Apparatus):
    """A bed of sand or gravel on the floor, level between two slopes; give the piece a soil."""

    length: Length
    """From foot to foot [m]."""
    depth: Length = 0.05
    """Of what lies on the rigid floor [m]."""
    slope_deg: Slope = 15.0
    """Of both ends [deg]."""

    @check
    def _room_for_slopes(self) -> Checks:
        if self.length < 2 * self._run:
            message = f"must be at least {2 * self._run:.3g} for its two slopes, got {self.length:g}"
            yield Problem("length", message)

    @property
    def _run(self) -> float:
        return self.depth / math.tan(math.radians(self.slope_deg))

    def extent(self, width: float) -> float:
        """Length along x [m]."""
        return self.length

    def solids(self, width: float, root: float) -> Iterator[Box | Hull]:
        """One solid."""
        y = -width / 2, width / 2
        yield slope(0.0, self._run, self.depth, self.length - 2 * self._run, y, root, down=True)

    def top(self, width: float) -> float:
        """Height of the level part [m]."""
        return self.depth
