"""Contact parameters: how stiff, how damped and how rough contact with rigid ground is."""

from __future__ import annotations

from typing import NamedTuple

from segtrack.errors import InvalidValueError, finite


class ContactParameters(NamedTuple):
    """How every contact point of a part holds on to rigid ground.

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
