"""What must not be touched."""

from __future__ import annotations

from collections.abc import Iterator

from segtrack.courses.apparatus.base import Apparatus, Length, Upright

WALL_THICKNESS = 0.05
"""Of walls beside lanes [m]."""


class Wall(Apparatus):
    """An upright wall along x."""

    length: Length
    """[m]"""
    height: Length = 0.4
    """[m]"""
    thickness: Length = WALL_THICKNESS
    """[m]"""

    def extent(self, width: float) -> float:
        """Length along x [m]."""
        return self.length

    def walls(self, width: float) -> Iterator[Upright]:
        """The wall."""
        yield Upright(self.length / 2, 0.0, self.length, self.thickness, self.height)


class Doorway(Apparatus):
    """A wall across with an opening in its middle."""

    opening: Length
    """[m]"""
    height: Length = 0.4
    """[m]"""
    thickness: Length = WALL_THICKNESS
    """[m]"""

    def extent(self, width: float) -> float:
        """Length along x [m]."""
        return self.thickness

    def walls(self, width: float) -> Iterator[Upright]:
        """Both sides of the opening; none where it is as wide as the lane."""
        side = (width - self.opening) / 2
        if side > 0:
            for sign in (-1, 1):
                middle = sign * (self.opening + side) / 2
                yield Upright(self.thickness / 2, middle, self.thickness, side, self.height)
