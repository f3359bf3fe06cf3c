"""Apparatus of courses: their keys in course files, derived from obstacles of `segtrack.terrain`.

A row of `APPARATUS` makes a kind of piece of an obstacle's class; angles are given in degrees, under a
key that says so. The frame of a piece has its origin in the middle of its entrance on the ground, x
forward, z up.
"""

from __future__ import annotations

import inspect
import math
import re
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields
from typing import Annotated, Any, ClassVar, NamedTuple, get_args, get_type_hints

from pydantic import ConfigDict, Field, WithJsonSchema, create_model

from segtrack import terrain
from segtrack.description import Checks, Count, NonNegative, Number, Positive, Spec, check
from segtrack.errors import InvalidValueError, Problem
from segtrack.terrain import FLOOR_REACH, ConvexSolid, Limits, Obstacle
from segtrack.terrain import Length as PositiveLength

SETTING = "setting"
"""Word in a course file in the place of a number that is raised."""
MOST = 200
"""Largest number of rows, stairs or ramps of one apparatus: more is a slip of the keyboard."""
WALL_THICKNESS = 0.05
"""Thickness of walls beside lanes [m]."""


def _schema(**limits: Any) -> WithJsonSchema:
    return WithJsonSchema({"anyOf": [{"type": "number", **limits}, {"const": SETTING}]})


Length = Annotated[Positive, Field(le=FLOOR_REACH), _schema(exclusiveMinimum=0, maximum=FLOOR_REACH)]
"""Length above 0 and no more than the floor reaches, or `setting` [m]."""
Rise = Annotated[NonNegative, Field(le=FLOOR_REACH), _schema(minimum=0, maximum=FLOOR_REACH)]
"""Length from 0 to the floor's reach, or `setting` [m]."""
Place = Annotated[
    Number, Field(ge=-FLOOR_REACH, le=FLOOR_REACH), _schema(minimum=-FLOOR_REACH, maximum=FLOOR_REACH)
]
"""Coordinate on the floor, or `setting` [m]."""
Slope = Annotated[Positive, Field(le=75), _schema(exclusiveMinimum=0, maximum=75)]
"""Angle above 0 and up to 75, or `setting` [deg]."""
Turn = Annotated[Number, Field(ge=-360, le=360), _schema(minimum=-360, maximum=360)]
"""Angle of up to a turn, or `setting` [deg]."""
Many = Annotated[
    Count,
    Field(le=MOST),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1, "maximum": MOST}, {"const": SETTING}]}),
]
"""Count from 1 to `MOST`, or `setting`."""


class Upright(NamedTuple):
    """Wall-like box of an apparatus that must not be touched, in the frame of its piece.

    Attributes:
        x: Middle along x [m].
        y: Middle along y [m].
        length: Extent along x [m].
        width: Extent along y [m].
        top: Height above the piece's ground [m].
    """

    x: float
    y: float
    length: float
    width: float
    top: float


class Apparatus(Spec):
    """Base class of the keys of an apparatus, in a lane or anywhere on the floor."""

    @abstractmethod
    def obstacle(self, width: float) -> Obstacle:
        """Return the obstacle in a lane of a width [m]; it begins at x = 0."""

    def walls(self, width: float) -> Iterator[Upright]:
        """Yield the boxes that must not be touched."""
        yield from ()

    @check
    def _can_be_built(self) -> Checks:
        try:
            self.obstacle(1.0)
        except InvalidValueError as error:
            yield Problem(error.what.split(".")[-1], error.complaint)


class RampKeys(Apparatus):
    """Straight slope up to a level top; an inclined plane if it is long."""

    slope_deg: Slope = 15.0
    """[deg]"""
    length: Length
    """Along the slope [m]."""
    top_length: Length = 1.2
    """Length of the level top [m]."""
    down: bool = True
    """True if an equal slope leads down again; false for a face."""

    def obstacle(self, width: float) -> Obstacle:
        """Return the ramp in a lane of a width [m]."""
        slope = math.radians(self.slope_deg)
        return terrain.Ramp(
            slope=slope,
            length=self.length * math.cos(slope),
            plateau=self.top_length,
            down=self.down,
            distance=0.0,
            width=width,
        )


class StairsKeys(Apparatus):
    """Stairs up to a landing, and optionally down behind it."""

    slope_deg: Slope = 40.0
    """Slope of the line over the noses [deg]."""
    rise: Length = 0.2
    """Height of one stair [m]."""
    count: Many = 5
    """Number of risers."""
    landing: Length = 1.8
    """Length of the upper landing [m]."""
    down: bool = False
    """True if as many stairs lead down again."""

    def obstacle(self, width: float) -> Obstacle:
        """Return the stairs in a lane of a width [m]."""
        return terrain.Stairs(
            riser=self.rise,
            tread=self.rise / math.tan(math.radians(self.slope_deg)),
            count=self.count,
            landing=self.landing,
            down=self.down,
            distance=0.0,
            width=width,
        )


@dataclass(frozen=True, kw_only=True)
class _Stretch(Obstacle):
    """Stretch of the floor with walls only.

    Attributes:
        length: Length along x [m].
    """

    length: PositiveLength

    @property
    def extent(self) -> float:
        """Length along x [m]."""
        return self.length

    def shapes(self, root: float) -> Iterator[ConvexSolid]:
        """Yield nothing: walls belong to the course."""
        yield from ()


class WallKeys(Apparatus):
    """Upright wall along x."""

    length: Length
    """[m]"""
    height: Length = 0.4
    """[m]"""
    thickness: Length = WALL_THICKNESS
    """[m]"""

    def obstacle(self, width: float) -> Obstacle:
        """Return the stretch beside the wall."""
        return _Stretch(distance=0.0, width=width, length=self.length)

    def walls(self, width: float) -> Iterator[Upright]:
        """Yield the wall."""
        yield Upright(self.length / 2, 0.0, self.length, self.thickness, self.height)


class DoorwayKeys(Apparatus):
    """Wall across the lane with an opening in its middle."""

    opening: Length
    """[m]"""
    height: Length = 0.4
    """[m]"""
    thickness: Length = WALL_THICKNESS
    """[m]"""

    def obstacle(self, width: float) -> Obstacle:
        """Return the stretch in the doorway."""
        return _Stretch(distance=0.0, width=width, length=self.thickness)

    def walls(self, width: float) -> Iterator[Upright]:
        """Yield both sides of the opening; none for an opening as wide as the lane."""
        side = (width - self.opening) / 2
        if side > 0:
            for sign in (-1, 1):
                middle = sign * (self.opening + side) / 2
                yield Upright(self.thickness / 2, middle, self.thickness, side, self.height)


class _ObstacleKeys(Apparatus):
    """Base class of keys that are the fields of an obstacle class."""

    # They bring their descriptions; pydantic would look for a class statement in the source of every caller.
    model_config = ConfigDict(use_attribute_docstrings=False)
    kind: ClassVar[type[Obstacle]]
    key_of: ClassVar[dict[str, str]]
    """Keys by the names of fields."""

    def obstacle(self, width: float) -> Obstacle:
        """Return the obstacle in a lane of a width [m]."""
        values = {name: getattr(self, key) for name, key in self.key_of.items()}
        angles = {name: math.radians(values[name]) for name, key in self.key_of.items() if key != name}
        return self.kind(distance=0.0, width=width, **values | angles)


def keys_of(kind: type[Obstacle], **defaults: Any) -> type[Apparatus]:
    """Return the class of an obstacle's keys in a course file.

    Args:
        kind: Class of the obstacle; its fields and limits become keys, except place, width,
            friction and soil, which a course gives otherwise.
        defaults: Default values that differ from the class's; `...` makes a key mandatory.
    """
    placed = {field.name for field in fields(Obstacle)}
    hints, said = get_type_hints(kind, include_extras=True), _field_texts(kind)
    key_of: dict[str, str] = {}
    keys: dict[str, Any] = {}
    for field in fields(kind):
        if field.name in placed:
            continue
        default = defaults.get(field.name, ... if field.default is MISSING else field.default)
        number, text = hints[field.name], said.get(field.name, "")
        key_of[field.name] = key = field.name
        limits = next((each for each in get_args(number)[1:] if isinstance(each, Limits)), None)
        if limits is not None:
            number = _number(limits)
            if limits.unit == "rad":
                key_of[field.name] = key = f"{field.name}_deg"
                text = text.replace("[rad]", "[deg]")
                default = default if default is ... else round(math.degrees(default), 9)
        keys[key] = (number, Field(default, description=text))
    summary = inspect.cleandoc(kind.__doc__ or "").split("\n\nAttributes:")[0]
    model: Any = create_model(kind.__name__, __base__=_ObstacleKeys, __doc__=summary, **keys)
    model.kind, model.key_of = kind, key_of
    return model


def _number(limits: Limits) -> Any:
    """Pydantic type of a number within limits in a course file, also bounded above."""
    if limits.whole:
        return Many
    if limits.unit == "rad":
        return Turn if limits.least == -math.inf else Slope
    if limits.least > 0:
        return Annotated[Length, Field(ge=limits.least)]
    if limits.least == 0:
        return Rise if limits.inclusive else Length
    return Place


def _field_texts(kind: type[Obstacle]) -> dict[str, str]:
    """Descriptions of a class's attributes, from its docstring."""
    section = inspect.cleandoc(kind.__doc__ or "").partition("Attributes:\n")[2]
    entries = re.findall(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", section, re.MULTILINE)
    return {name: re.sub(r"\s+", " ", text) for name, text in entries}


APPARATUS: dict[str, type[Apparatus]] = {
    "flat": keys_of(terrain.Platform),
    "step": keys_of(terrain.Step, length=...),
    "ramp": RampKeys,
    "stairs": StairsKeys,
    "gap": keys_of(terrain.PlatformGap),
    "bed": keys_of(terrain.Bed),
    "hurdle": keys_of(terrain.Hurdle),
    "k_rails": keys_of(terrain.KRails),
    "confined_space": keys_of(terrain.ConfinedSpace),
    "continuous_ramps": keys_of(terrain.ContinuousRamps),
    "crossing_ramps": keys_of(terrain.CrossingRamps),
    "step_field": keys_of(terrain.PatternedStepField),
    "doorway": DoorwayKeys,
}
"""Kinds of pieces in lanes and beside them, by their keys."""
LOOSE_APPARATUS: dict[str, type[Apparatus]] = APPARATUS | {"wall": WallKeys}
"""Kinds of pieces beside lanes."""


def piece_fields(apparatus: dict[str, type[Apparatus]]) -> dict[str, Any]:
    """Return the optional fields of a piece in a course file, one for each kind of apparatus."""
    return {kind: (keys | None, None) for kind, keys in apparatus.items()}
