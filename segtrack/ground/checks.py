"""Checks of the numbers that a chain is made of, all with one wording."""

from __future__ import annotations

from segtrack.errors import InvalidValueError, finite


def check(of: object, name: str, holds: bool, expected: str) -> None:
    """Refuse a description whose attribute is not as expected.

    Raises:
        InvalidValueError: It does not hold.
    """
    if not holds:
        raise InvalidValueError(_named(of, name), expected, getattr(of, name))


def read_number(of: object, name: str, above: bool = False) -> None:
    """Make an attribute of a frozen description a finite number, at least 0 or `above` it.

    Raises:
        InvalidValueError: It is not.
    """
    value = finite(_named(of, name), getattr(of, name))
    object.__setattr__(of, name, value)
    check(of, name, value > 0 or (value == 0 and not above), "greater than 0" if above else "at least 0")


def _named(of: object, name: str) -> str:
    kind = type(of).__name__.lower()
    return f"{name} of {'an' if kind[0] in 'aeiou' else 'a'} {kind}"
