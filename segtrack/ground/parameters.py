"""Contact parameters of a part: stiffness, damping and friction, with their checks."""

from __future__ import annotations

from typing import NamedTuple

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


class ContactParameters(NamedTuple):
    """Law of every contact point of a part on rigid ground.

    Attributes:
        friction: Coulomb coefficient of the part along its track [-]; the ground's multiplies it.
        stiffness: Along the normal [N/m].
        damping: Along the normal [N s/m].
        tangential_stiffness: Along the surface, as long as the point sticks [N/m].
        tangential_damping: Along the surface [N s/m].
        lateral_ratio: Friction across the track over friction along it [-].
    """

    friction: float
    stiffness: float
    damping: float
    tangential_stiffness: float
    tangential_damping: float
    lateral_ratio: float = 1.0


def contact_parameters(
    friction: float,
    stiffness: float,
    damping: float,
    tangential_stiffness: float,
    tangential_damping: float = 0.0,
    lateral_ratio: float = 1.0,
) -> ContactParameters:
    """`ContactParameters` of numbers that make sense.

    Raises:
        InvalidValueError: One is negative, or a stiffness or the lateral ratio is zero.
    """
    law = ContactParameters(
        friction, stiffness, damping, tangential_stiffness, tangential_damping, lateral_ratio
    )
    for name, value in zip(ContactParameters._fields, law, strict=True):
        number, above = finite(f"{name} of a contact", value), name.endswith(("stiffness", "ratio"))
        if number < 0 or (number == 0 and above):
            expected = "greater than 0" if above else "at least 0"
            raise InvalidValueError(f"{name} of a contact", expected, value)
    return ContactParameters(*map(float, law))
