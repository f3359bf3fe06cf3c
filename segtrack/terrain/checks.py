"""Range checks of terrain parameters, with one wording for all terrains."""

from __future__ import annotations

import math
from abc import ABCMeta
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields
from functools import cache
from numbers import Integral, Real
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segtrack.errors import InvalidValueError, KeywordError, Phrase, finite_vector


@dataclass(frozen=True)
class Limits:
    """Range of values that a field accepts.

    Attributes:
        unit: Unit for messages; empty for none.
        least: Smallest value; -inf for any.
        inclusive: True if the smallest value itself is accepted.
        whole: True if only whole numbers are accepted.
        below: Exclusive upper bound: pi/2 or inf.
    """

    unit: str = ""
    least: float = -math.inf
    inclusive: bool = True
    whole: bool = False
    below: float = math.inf

    def check(self, name: str, value: object) -> None:
        """Refuse a value outside the limits.

        Raises:
            InvalidValueError: The value is no number, not finite, or too small.
        """
        if self.whole:
            good = isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= self.least
        else:
            good = is_finite(value) and (value >= self.least if self.inclusive else value > self.least)  # type: ignore[operator]
        if not good:
            unit = f" [{self.unit}]" if self.unit else ""
            raise InvalidValueError(name, self._words() + unit, value)
        if float(value) >= self.below:  # type: ignore[arg-type]
            raise InvalidValueError(name, f"less than pi/2 [{self.unit}]", value)

    def _words(self) -> str:
        if self.whole:
            return f"a whole number of at least {self.least:g}"
        if self.least == -math.inf:
            return "a finite number"
        return "a finite number of at least 0" if self.inclusive else "a positive finite number"


Place: TypeAlias = Annotated[float, Limits("m")]
"""Coordinate [m]."""
Length: TypeAlias = Annotated[float, Limits("m", 0.0, inclusive=False)]
"""Length above 0 [m]."""
Rise: TypeAlias = Annotated[float, Limits("m", 0.0)]
"""Length of 0 or more [m]."""
Turn: TypeAlias = Annotated[float, Limits("rad")]
"""Angle of any size [rad]."""
Slope: TypeAlias = Annotated[float, Limits("rad", 0.0, inclusive=False, below=math.pi / 2)]
"""Angle between 0 and pi/2 [rad]."""
Ratio: TypeAlias = Annotated[float, Limits("", 0.0)]
"""Number of 0 or more [-]."""
Count: TypeAlias = Annotated[int, Limits("", 1, whole=True)]
"""Whole number of 1 or more."""
Seed: TypeAlias = Annotated[int, Limits("", 0, whole=True)]
"""Whole number of 0 or more."""


class _KeywordType(ABCMeta):
    """Metaclass of classes that are made from keyword arguments only."""

    def __call__(cls, *args: Any, **named: Any) -> Any:
        """Make an instance, or raise an error that names the wrong keywords.

        Raises:
            KeywordError: An unknown keyword, a missing one, or a value without a keyword.
        """
        known = [field for field in fields(cls) if field.init]  # type: ignore[arg-type]
        names = tuple(field.name for field in known)
        required = [f.name for f in known if f.default is MISSING and f.default_factory is MISSING]
        unknown = [name for name in named if name not in names]
        missing = [name for name in required if name not in named]
        if args or unknown or missing:
            raise KeywordError(cls.__name__, len(args), unknown, missing, names)
        return super().__call__(**named)


class Checked(metaclass=_KeywordType):
    """Base of frozen dataclasses made from keyword arguments, with limits stated in their annotations."""

    def __post_init__(self) -> None:
        """Refuse values outside the limits of their fields."""
        for name, kind in _kinds(type(self)):
            value, where = getattr(self, name), f"{type(self).__name__}.{name}"
            if get_origin(kind) is Literal:
                if value not in get_args(kind):
                    raise InvalidValueError(where, f"one of {', '.join(get_args(kind))}", value)
                continue
            if value is None and isinstance(value, get_args(kind)[0]):
                continue
            for limits in get_args(kind)[1:]:
                limits.check(where, value)


@cache
def _kinds(owner: type) -> tuple[tuple[str, Any], ...]:
    """Names and annotations of the fields that have limits or choices."""
    hints = get_type_hints(owner, include_extras=True)
    kinds = ((field.name, hints[field.name]) for field in fields(owner))
    return tuple((name, kind) for name, kind in kinds if get_origin(kind) in (Annotated, Literal))


def settle_vector(owner: object, field: str, count: int, unit: str = "") -> None:
    """Convert a field to a tuple, and refuse one that does not hold `count` finite numbers."""
    what, given = f"{type(owner).__name__}.{field}", getattr(owner, field)
    object.__setattr__(owner, field, finite_vector(what, given, count, unit))


def points_of(x: ArrayLike, y: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Broadcast x and y of points to arrays of one shape [m].

    Raises:
        InvalidValueError: Not numbers, or of shapes that do not broadcast.
    """
    along, across = array_of_numbers(x), array_of_numbers(y)
    if along is not None and across is not None:
        if along.shape == across.shape:
            return along, across
        with suppress(ValueError):
            along, across = np.broadcast_arrays(along, across)
            return along, across
    expected = "x and y as numbers of shapes that broadcast"
    raise InvalidValueError("points [m]", expected, Phrase(f"{x!r} and {y!r}"))


def array_of_numbers(given: ArrayLike) -> NDArray[np.float64] | None:
    """Array of the given numbers; None for ragged input, texts or booleans."""
    try:
        array = np.asarray(given)
    except (TypeError, ValueError):
        return None
    return array.astype(float, copy=False) if array.dtype.kind in "iuf" else None


def is_finite(value: object) -> bool:
    """Return whether a value is a finite number and no boolean."""
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
