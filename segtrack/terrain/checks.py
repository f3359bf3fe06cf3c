"""Validation of a description's fields, with one wording for all terrains."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real

from segtrack.errors import InvalidValueError


def check_finite(owner: object, field: str, unit: str = "") -> None:
    """Refuse a field that is not a finite number."""
    _check(owner, field, "a finite number", unit, _is_finite(getattr(owner, field)))


def check_positive(owner: object, field: str, unit: str = "") -> None:
    """Refuse a field that is not a finite number above zero."""
    value = getattr(owner, field)
    _check(owner, field, "a positive finite number", unit, _is_finite(value) and value > 0)


def check_not_negative(owner: object, field: str, unit: str = "") -> None:
    """Refuse a field that is not a finite number of zero or more."""
    value = getattr(owner, field)
    _check(owner, field, "a finite number of at least 0", unit, _is_finite(value) and value >= 0)


def check_count(owner: object, field: str, least: int = 1) -> None:
    """Refuse a field that is not a whole number of at least `least`."""
    value = getattr(owner, field)
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    _check(owner, field, f"a whole number of at least {least}", "", whole and value >= least)


def settle_vector(owner: object, field: str, count: int, unit: str = "") -> None:
    """Turn a field into a tuple, and refuse one that does not hold `count` finite numbers."""
    value = getattr(owner, field)
    numbers = tuple(value) if isinstance(value, Iterable) else ()
    good = len(numbers) == count and all(map(_is_finite, numbers))
    _check(owner, field, f"{count} finite numbers", unit, good)
    object.__setattr__(owner, field, tuple(map(float, numbers)))


def _is_finite(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def _check(owner: object, field: str, expected: str, unit: str, good: bool) -> None:
    if not good:
        name = f"{type(owner).__name__}.{field}"
        raise InvalidValueError(name, f"{expected} [{unit}]" if unit else expected, getattr(owner, field))
