"""What every apparatus offers, and the numbers in its settings."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

from pydantic import Field, WithJsonSchema

from segtrack.description.base import Count, NonNegative, Number, Positive, Spec
from segtrack.terrain.floor import FLOOR_REACH
from segtrack.terrain.solids import Box, Hull

SETTING = "setting"
"""What a course file has instead of a number that is raised."""
MOST = 200
"""Rows, stairs or ramps of one apparatus: a slip of the keyboard is no course."""


def _schema(**limits: Any) -> WithJsonSchema:
    return WithJsonSchema({"anyOf": [{"type": "number", **limits}, {"const": SETTING}]})


Length = Annotated[Positive, Field(le=FLOOR_REACH), _schema(exclusiveMinimum=0, maximum=FLOOR_REACH)]
"""Above 0 and no more than the floor reaches, or `setting` [m]."""
Rise = Annotated[NonNegative, Field(le=FLOOR_REACH), _schema(minimum=0, maximum=FLOOR_REACH)]
"""From 0 on to as much, or `setting` [m]."""
Place = Annotated[
    Number, Field(ge=-FLOOR_REACH, le=FLOOR_REACH), _schema(minimum=-FLOOR_REACH, maximum=FLOOR_REACH)
]
"""On the floor, or `setting` [m]."""
Slope = Annotated[Positive, Field(le=75), _schema(exclusiveMinimum=0, maximum=75)]
"""Above 0 and up to 75, or `setting` [deg]."""
Turn = Annotated[Number, Field(ge=-360, le=360), _schema(minimum=-360, maximum=360)]
"""Up to a turn, or `setting` [deg]."""
Many = Annotated[
    Count,
    Field(le=MOST),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1, "maximum": MOST}, {"const": SETTING}]}),
]
"""How many, from 1 to `MOST`, or `setting`."""


class Upright(NamedTuple):
    """An upright box of an apparatus that must not be touched, in the frame of its piece.

    Attributes:
        x: Of its middle [m].
        y: Of its middle [m].
        length: Along x [m].
        width: Along y [m].
        top: Above the piece's ground [m].
    """

    x: float
    y: float
    length: float
    width: float
    top: float


class Goal(NamedTuple):
    """Where a vehicle is that has done an apparatus, in the frame of its piece.

    Attributes:
        start: Least x [m].
        end: Greatest x [m].
        height: Of the ground there [m].
    """

    start: float
    end: float
    height: float


class Apparatus(Spec):
    """What stands in a lane, or somewhere on the floor."""

    @abstractmethod
    def extent(self, width: float) -> float:
        """Length along x [m] in a lane of a width [m]."""

    def solids(self, width: float, root: float) -> Iterator[Box | Hull]:
        """The solids in a lane of a width [m]; they reach `root` below the piece's ground [m]."""
        yield from ()

    def walls(self, width: float) -> Iterator[Upright]:
        """What of it must not be touched."""
        yield from ()

    def top(self, width: float) -> float:
        """How high it reaches above the piece's ground where a vehicle drives [m]."""
        return 0.0

    def goal(self, width: float) -> Goal:
        """Where a vehicle is that has done it: anywhere on it, if it has no level top."""
        return Goal(0.0, self.extent(width), 0.0)
