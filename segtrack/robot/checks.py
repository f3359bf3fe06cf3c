"""What users give, checked before it reaches an engine."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from segtrack.description import VehicleDescription
from segtrack.errors import InvalidValueError, UnknownNameError, finite, finite_vector


def clip(value: float, low: float, high: float) -> float:
    """The value, or the limit that it is beyond."""
    return min(max(value, low), high)


def angle_of(flipper: str, angle: float) -> float:
    """A flipper's commanded angle [rad].

    Raises:
        InvalidValueError: Not a finite number.
    """
    return finite(f"angle of flipper {flipper} [rad]", angle)


def speed_of(flipper: str, speed: float) -> float:
    """A flipper's commanded speed [rad/s].

    Raises:
        InvalidValueError: Not a finite number.
    """
    return finite(f"speed of flipper {flipper} [rad/s]", speed)


def check_pose(
    position: Sequence[float], orientation: Sequence[float]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Position (3,) [m] and unit quaternion (x, y, z, w).

    Raises:
        InvalidValueError: Not so many finite numbers, or a quaternion of zeros.
    """
    quaternion = finite_vector("orientation", orientation, 4)
    norm = math.hypot(*quaternion)
    if norm == 0:
        raise InvalidValueError("orientation", "a quaternion (x, y, z, w) of some length", orientation)
    return finite_vector("position [m]", position, 3), tuple(value / norm for value in quaternion)


def check_flippers(vehicle: VehicleDescription, angles: Mapping[str, float] | None) -> dict[str, float]:
    """Angle of every flipper [rad], within its limits; 0 where none is given.

    Raises:
        UnknownNameError: There is no such flipper.
        InvalidValueError: Not angles by name, or an angle is not finite.
    """
    if angles is not None and not isinstance(angles, Mapping):
        raise InvalidValueError("flippers", "angles by name", angles)
    given = {}
    for name, angle in (angles or {}).items():
        if name not in vehicle.flippers:
            raise UnknownNameError(f"flipper of {vehicle.name}", name, vehicle.flippers)
        given[name] = angle_of(name, angle)
    return {name: clip(given.get(name, 0.0), *spec.limits) for name, spec in vehicle.flippers.items()}
