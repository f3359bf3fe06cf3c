"""How stiff, how damped and how rough contact of shoes' rails with wheels is (Omar 2014, equation 44)."""

from __future__ import annotations

from typing import NamedTuple

from segtrack.errors import InvalidValueError, finite


class WheelContactParameters(NamedTuple):
    """Law of a contact between a rail and a wheel.

    Attributes:
        stiffness: Normal force over depth to the power of 1.5 [N/m^1.5].
        damping: Along the normal, and along the surface as long as friction can hold it [N s/m].
        friction: Coulomb coefficient [-].
        tangential_stiffness: Along the surface, as long as the contact sticks [N/m].
    """

    stiffness: float
    damping: float
    friction: float
    tangential_stiffness: float

    def linearized_stiffness(self, force: float) -> float:
        """Slope of the normal law under a force [N]: 1.5 K d^0.5 with d = (force / K)^(2/3) [N/m]."""
        return 1.5 * self.stiffness ** (2 / 3) * force ** (1 / 3)


def wheel_contact_parameters(
    stiffness: float, damping: float, friction: float, tangential_stiffness: float
) -> WheelContactParameters:
    """`WheelContactParameters` of numbers that make sense.

    Raises:
        InvalidValueError: One is negative, or a stiffness is zero.
    """
    given = WheelContactParameters(stiffness, damping, friction, tangential_stiffness)
    for name, value in zip(given._fields, given, strict=True):
        number = finite(f"{name} of a wheel contact", value)
        if number < 0 or (number == 0 and name.endswith("stiffness")):
            expected = "greater than 0" if name.endswith("stiffness") else "at least 0"
            raise InvalidValueError(f"{name} of a wheel contact", expected, value)
    return WheelContactParameters(*map(float, given))
