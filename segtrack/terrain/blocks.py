"""Obstacles of boxes on flat ground: steps, stairs, boxes anywhere, hurdles, K-rails, beams overhead."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from segtrack.errors import InvalidValueError
from segtrack.terrain.base import FlatGround, LevelTop, Obstacle
from segtrack.terrain.checks import Checked, Count, Length, Place, Rise, Turn
from segtrack.terrain.solids import Box, Prism, standing, turned

_PIPE_FACETS = 24
"""Flat pieces of which a pipe consists."""


@dataclass(frozen=True, kw_only=True)
class Platform(Obstacle):
    """Level ground, or a raised platform where a course puts it at an elevation.

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
    """Block on flat ground with a vertical front, as in Table IV of Okada et al. 2020.

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
        """Top of the block, on which a vehicle has mastered the step."""
        return LevelTop(0.0, self.length, self.height)


@dataclass(frozen=True, kw_only=True)
class Stairs(Obstacle):
    """Stairs up to a landing, which ends in a drop or in stairs down.

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
        """Yield one block for each stair, from below the ground to its tread."""
        end = self.distance + (self.count - 1) * self.tread + self.landing
        for below in range(self.count):
            back = end + (self.count - 1 - below) * self.tread if self.down else end
            start = self.distance + below * self.tread
            yield standing(start, back, self.width, (below + 1) * self.riser, root)

    @property
    def level_top(self) -> LevelTop:
        """Landing on which a vehicle has mastered the stairs."""
        start = (self.count - 1) * self.tread
        return LevelTop(start, start + self.landing, self.count * self.riser)


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
        """Refuse anything but `GroundBox`es."""
        super().__post_init__()
        boxes = tuple(self.boxes) if isinstance(self.boxes, Iterable) else ()
        if not boxes or not all(isinstance(box, GroundBox) for box in boxes):
            raise InvalidValueError("Boxes.boxes", "at least one GroundBox", self.boxes)
        object.__setattr__(self, "boxes", boxes)

    def shapes(self, root: float) -> Iterator[Box]:
        """Yield the boxes."""
        for box in self.boxes:
            yield turned((box.x, box.y), (box.length, box.width), box.yaw, box.height, root)


@dataclass(frozen=True, kw_only=True)
class Hurdle(Obstacle):
    """Beam across the path; its upper edge may be a pipe, which does not turn.

    Attributes:
        height: Height of the upper edge [m].
        length: Length of the beam along x, or diameter of the pipe [m].
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
    """Beams across the path at 45 deg, in alternating directions.

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
        """Yield the beams: one per width of path, from side to side at 45 deg."""
        length = max(self.width * math.sqrt(2) - self.thickness, self.thickness)
        for i in range(self.count):
            yaw = math.pi / 4 if i % 2 == 0 else -math.pi / 4
            center = self.distance + (i + 0.5) * self.width, 0.0
            yield turned(center, (length, self.thickness), yaw, self.height, root)


@dataclass(frozen=True, kw_only=True)
class ConfinedSpace(Obstacle):
    """Alternating beams overhead and on the ground.

    Attributes:
        clearance: Height of the beams overhead above the ground [m].
        count: Number of beams overhead; between two of them one lies on the ground.
        spacing: Distance from a beam overhead to the next one on the ground [m].
        beam: Edge length of the square beams overhead, and length of those on the ground [m].
        sill: Height of the beams on the ground [m]; 0 for none.
    """

    clearance: Length
    count: Count = 3
    spacing: Length = 0.6
    beam: Length = 0.1
    sill: Rise = 0.05

    def __post_init__(self) -> None:
        """Refuse beams overhead that touch beams on the ground."""
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
        """Yield one block for each beam."""
        for i in range(self.count):
            overhead = self.distance + (2 * i + 1) * self.spacing
            start, end = overhead - self.beam / 2, overhead + self.beam / 2
            yield standing(start, end, self.width, self.clearance + self.beam, -self.clearance)
            if self.sill > 0 and i + 1 < self.count:
                yield standing(start + self.spacing, end + self.spacing, self.width, self.sill, root)
