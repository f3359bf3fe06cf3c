"""Fields of ramps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

from segtrack.courses.apparatus.base import Apparatus, Many, Rise, Slope
from segtrack.courses.apparatus.shapes import rectangle, ridge, roof
from segtrack.terrain.floor import ROOT_DEPTH
from segtrack.terrain.solids import Box, Hull


class ContinuousRamps(Apparatus):
    """Ridge behind ridge without a step between them: across the lane (pitch), or at 45 deg to it (and roll).

    Ramps are half as long as the lane is wide.
    """

    count: Many = 4
    """Number of ridges; across the lane one a lane's width."""
    slope_deg: Slope = 15.0
    """[deg]"""
    ridges: Literal["across", "diagonal"] = "across"

    def extent(self, width: float) -> float:
        """Length along x [m]."""
        return self.count * width

    def solids(self, width: float, root: float) -> Iterator[Box | Hull]:
        """One solid a ridge."""
        half, slope = width / 2, math.radians(self.slope_deg)
        y, length = (-half, half), self.extent(width)
        if self.ridges == "across":
            for i in range(self.count):
                crest, reach = (2 * i + 1) * half, half + ROOT_DEPTH / math.tan(slope)
                yield ridge(rectangle((crest - reach, crest + reach), y), crest, half, slope, 0.0, root)
            return
        field, turn = rectangle((0.0, length), y), math.pi / 4
        farthest = (length + half) * math.sqrt(0.5)
        crest = half * (1 - math.sqrt(0.5))
        while crest - half < farthest:
            yield ridge(field, crest, half, slope, turn, root)
            crest += 2 * half

    def top(self, width: float) -> float:
        """Height of the crests [m]."""
        return width / 2 * math.tan(math.radians(self.slope_deg))


class CrossingRamps(Apparatus):
    """Square ramps, half as wide as the lane, with steps between them.

    alternating: ridges across either half of the lane, those of the one half beside the valleys of the
    other. pinwheel: of each four the next one rises in a direction 90 deg further.
    """

    count: Many = 3
    """Number of groups of four ramps."""
    slope_deg: Slope = 15.0
    """[deg]"""
    pattern: Literal["alternating", "pinwheel"] = "pinwheel"
    raised: Rise = 0.0
    """By how much two of each four, over corner, are raised: the elevated variant [m]."""

    def extent(self, width: float) -> float:
        """Length along x [m]."""
        return self.count * width

    def solids(self, width: float, root: float) -> Iterator[Box | Hull]:
        """One solid a ramp, or a ridge where two ramps meet at their upper edges."""
        for group in range(self.count):
            yield from (self._ridges if self.pattern == "alternating" else self._wheel)(group, width, root)

    def _ridges(self, group: int, width: float, root: float) -> Iterator[Hull]:
        """A ridge in each half of the lane, that in the left one half a period further."""
        half, slope = width / 2, math.radians(self.slope_deg)
        for lower, shift, raised in ((-half, 0.0, self.raised), (0.0, half, 0.0)):
            if shift and group + 1 == self.count:
                continue
            crest = group * width + half + shift
            # A raised ridge ends in upright faces at its feet.
            reach = half if raised else half + ROOT_DEPTH / math.tan(slope)
            field = rectangle((crest - reach, crest + reach), (lower, lower + half))
            foot = half + raised / math.tan(slope)
            yield ridge(field, crest, foot, slope, 0.0, root)

    def _wheel(self, group: int, width: float, root: float) -> Iterator[Hull]:
        """Four ramps around the middle of a group, at which each has its highest corner or edge."""
        edge, slope = width / 2, math.radians(self.slope_deg)
        middle = group * width + edge
        for i in range(4):
            raised = self.raised if i % 2 == 0 else 0.0
            # Turned so that it lies behind and to the right of the middle and rises along x.
            run_on = 0.0 if raised else ROOT_DEPTH / math.tan(slope)
            field = rectangle((-edge - run_on, 0.0), (-edge, 0.0))
            heights = [raised + (edge + x) * math.tan(slope) for x, _ in field]
            turn = complex(math.cos(i * math.pi / 2), math.sin(i * math.pi / 2))
            places = [turn * complex(*corner) + middle for corner in field]
            yield roof([(place.real, place.imag) for place in places], heights, root)

    def top(self, width: float) -> float:
        """Height of the highest edges [m]."""
        return self.raised + width / 2 * math.tan(math.radians(self.slope_deg))
