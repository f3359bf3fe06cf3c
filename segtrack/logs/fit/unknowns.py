"""Unknowns of a fit: numbers of the vehicle and clocks of its logs, scaled to their bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from segtrack.description import TrackSpec, VehicleDescription, contact_of
from segtrack.errors import InvalidValueError, Phrase, UnknownNameError, finite
from segtrack.experiments import (
    with_body,
    with_center_of_mass,
    with_contact,
    with_contact_length,
    with_drive_lag,
    with_friction,
    with_gauge,
    with_grousers,
    with_lateral_friction,
    with_pulleys,
)


class Parameter(NamedTuple):
    """A number of a vehicle that can be fitted.

    Attributes:
        unit: Unit of its values.
        meaning: Description, as it continues "fitted:".
        value_of: Function that returns a vehicle's value.
        changed: A vehicle with another value.
        bounds: Between which it is looked for unless told otherwise, from its value and the vehicle.
        is_ratio: True if it is searched on a logarithmic scale.
    """

    unit: str
    meaning: str
    value_of: Callable[[VehicleDescription], float]
    changed: Callable[[VehicleDescription, float], VehicleDescription]
    bounds: Callable[[float, VehicleDescription], tuple[float, float]]
    is_ratio: bool = False


def _first(vehicle: VehicleDescription) -> TrackSpec:
    return next(vehicle.mounted_tracks()).spec


def _lateral_friction(vehicle: VehicleDescription) -> float:
    contact = _first(vehicle).contact
    return contact.friction if contact.lateral_friction is None else contact.lateral_friction


def _body_mass(vehicle: VehicleDescription) -> float:
    if vehicle.body.mass is None:
        raise InvalidValueError(f"body of {vehicle.name}", "given by mass and size", Phrase("a URDF"))
    return vehicle.body.mass


def _center_of_mass(vehicle: VehicleDescription, axis: int) -> float:
    _body_mass(vehicle)
    return vehicle.body.center_of_mass[axis]


def _size(vehicle: VehicleDescription, axis: int) -> float:
    assert vehicle.body.size is not None
    return vehicle.body.size[axis]


def _with_stiffness(vehicle: VehicleDescription, stiffness: float) -> VehicleDescription:
    """Set the stiffness, and damping in proportion to its root, so that the damping ratio stays."""
    old, damping = contact_of(vehicle, vehicle.mass)
    return with_contact(vehicle, stiffness, damping * math.sqrt(stiffness / old))


def _grouser_height(vehicle: VehicleDescription) -> float:
    grousers = _first(vehicle).grousers
    if grousers is None:
        raise InvalidValueError(f"belts of {vehicle.name}", "with grousers", Phrase("smooth ones"))
    return grousers.height


def _pulley_radius(vehicle: VehicleDescription) -> float:
    pulleys = _first(vehicle).path.pulleys
    if pulleys is None:
        raise InvalidValueError(f"belts of {vehicle.name}", "around pulleys", Phrase("explicit segments"))
    return max(pulley.radius for pulley in pulleys)


def _factors(low: float, high: float) -> Callable[[float, VehicleDescription], tuple[float, float]]:
    return lambda value, vehicle: (low * value, high * value)


PARAMETERS: Mapping[str, Parameter] = MappingProxyType(
    {
        "friction": Parameter(
            "-",
            "friction along the tracks",
            lambda vehicle: _first(vehicle).contact.friction,
            with_friction,
            lambda value, vehicle: (min(0.1, value), max(1.5, value)),
        ),
        "lateral_friction": Parameter(
            "-",
            "friction across the tracks",
            _lateral_friction,
            with_lateral_friction,
            lambda value, vehicle: (min(0.1, value), max(1.5, value)),
        ),
        "com_x": Parameter(
            "m",
            "centre of mass of the body, forward",
            lambda vehicle: _center_of_mass(vehicle, 0),
            lambda vehicle, value: with_center_of_mass(vehicle, x=value),
            lambda value, vehicle: (value - _size(vehicle, 0) / 4, value + _size(vehicle, 0) / 4),
        ),
        "com_z": Parameter(
            "m",
            "centre of mass of the body, up",
            lambda vehicle: _center_of_mass(vehicle, 2),
            lambda vehicle, value: with_center_of_mass(vehicle, z=value),
            lambda value, vehicle: (value - _size(vehicle, 2), value + _size(vehicle, 2)),
        ),
        "mass": Parameter(
            "kg",
            "mass of the body, without belts and flippers",
            _body_mass,
            lambda vehicle, value: with_body(vehicle, value / _body_mass(vehicle)),
            _factors(0.7, 1.5),
        ),
        "contact_stiffness": Parameter(
            "N/m",
            "stiffness of each contact point",
            lambda vehicle: contact_of(vehicle, vehicle.mass)[0],
            _with_stiffness,
            _factors(0.1, 2.0),
            is_ratio=True,
        ),
        "grouser_height": Parameter(
            "m",
            "height of the highest grouser",
            _grouser_height,
            lambda vehicle, value: with_grousers(vehicle, value / _grouser_height(vehicle)),
            _factors(0.3, 2.0),
        ),
        "drive_lag": Parameter(
            "s",
            "lag of the drives behind their commands",
            lambda vehicle: _first(vehicle).drive.lag,
            with_drive_lag,
            lambda value, vehicle: (0.0, max(0.5, 2 * value)),
        ),
        "track_separation": Parameter(
            "m",
            "distance between the tracks' middles",
            lambda vehicle: vehicle.require_track_offsets().gauge,
            with_gauge,
            _factors(0.7, 1.5),
        ),
        "contact_length": Parameter(
            "m",
            "length of the tracks on flat ground",
            lambda vehicle: vehicle.contact_length,
            with_contact_length,
            _factors(0.6, 1.5),
        ),
        "pulley_radius": Parameter(
            "m",
            "radius of the largest pulley, others in proportion",
            _pulley_radius,
            lambda vehicle, value: with_pulleys(vehicle, value / _pulley_radius(vehicle)),
            _factors(0.7, 1.5),
        ),
    }
)
"""Parameters by name."""


def with_parameters(vehicle: VehicleDescription, values: Mapping[str, float]) -> VehicleDescription:
    """The vehicle with other values of parameters, by name.

    Raises:
        UnknownNameError: No such parameter.
        InvalidValueError: The vehicle cannot have a value.
    """
    for name, value in values.items():
        if name not in PARAMETERS:
            raise UnknownNameError("parameter", name, PARAMETERS)
        vehicle = PARAMETERS[name].changed(vehicle, finite(name, value))
    return vehicle


def values_of(vehicle: VehicleDescription) -> dict[str, float]:
    """Values of all parameters that a vehicle has, by name."""
    values = {}
    for name, parameter in PARAMETERS.items():
        with suppress(InvalidValueError):
            values[name] = float(parameter.value_of(vehicle))
    return values


CLOCK_OFFSET = "clock_offset"
"""The one parameter that a vehicle does not have: each log has its own, `clock_offset.NAME`."""
PLACE = "place"
"""Place of a log on its terrain, less that where it was put: `place.NAME` is an unknown of each log whose
place is not known exactly. It is no parameter: a fit has it so that what it says of others holds."""
_PLACES = 3.0
"""Largest offset of a place, in its standard deviations."""
CLOCK_BOUNDS = (-0.5, 0.5)
"""Default bounds of a log's clock offset [s]."""


class Prior(NamedTuple):
    """Prior knowledge of a parameter: a normal distribution, in its unit."""

    mean: float
    std: float


@dataclass(frozen=True)
class Choice:
    """Bounds and prior of a fitted parameter.

    Attributes:
        bounds: Between which it is looked for, in its unit; the parameter's own if not given.
        prior: Prior knowledge of it.
    """

    bounds: tuple[float, float] | None = None
    prior: Prior | None = None


@dataclass(frozen=True)
class Unknown:
    """One unknown of a fit; scaled, it runs from 0 to 1 between its bounds.

    Attributes:
        name: Name of the parameter; `clock_offset.NAME` or `place.NAME` for what a log has of its own.
        unit: Unit of its values.
        start: Value from which the fit begins.
        low: Smallest value.
        high: Largest value.
        prior: Prior knowledge of it.
        is_ratio: True if it is scaled by its logarithm.
    """

    name: str
    unit: str
    start: float
    low: float
    high: float
    prior: Prior | None = None
    is_ratio: bool = False

    def __post_init__(self) -> None:
        """Refuse bounds that are none.

        Raises:
            InvalidValueError: They do not rise, are not positive for a ratio, or leave the start out.
        """
        if not self.low < self.high or self.is_ratio and self.low <= 0:
            expected = "rising and above 0" if self.is_ratio else "rising"
            raise InvalidValueError(f"bounds of {self.name}", expected, (self.low, self.high))
        if not self.low <= self.start <= self.high:
            expected = f"around the vehicle's {self.start:g} {self.unit}".rstrip(" -")
            raise InvalidValueError(f"bounds of {self.name}", expected, (self.low, self.high))
        if self.prior is not None and not self.prior.std > 0:
            raise InvalidValueError(f"std of the prior of {self.name}", "above 0", self.prior.std)

    @property
    def log(self) -> str | None:
        """Name of the log whose clock or place it is; None for one of the vehicle."""
        name, _, log = self.name.partition(".")
        return log if name in (CLOCK_OFFSET, PLACE) else None

    @property
    def is_place(self) -> bool:
        """True for the place of a log."""
        return self.name.partition(".")[0] == PLACE

    def value(self, scaled: float) -> float:
        """Value at a scaled one."""
        if self.is_ratio:
            return float(self.low * (self.high / self.low) ** scaled)
        return float(self.low + (self.high - self.low) * scaled)

    def scaled(self, value: float) -> float:
        """Scaled one of a value."""
        if self.is_ratio:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def slope(self, scaled: float) -> float:
        """Derivative of the value by the scaled one."""
        if self.is_ratio:
            return self.value(scaled) * math.log(self.high / self.low)
        return self.high - self.low


def unknowns_of(
    choices: Mapping[str, Choice], vehicle: VehicleDescription, places: Mapping[str, float]
) -> tuple[Unknown, ...]:
    """The unknowns of a fit, those of the places of its logs last.

    Args:
        choices: Bounds and prior by parameter.
        vehicle: From whose values it begins.
        places: Standard deviation of the place of each log that is fitted, 0 if it is known [m]; a clock
            offset is one unknown for each.

    Raises:
        UnknownNameError: No such parameter.
        InvalidValueError: There is none, bounds are none, or the vehicle lacks what is fitted.
    """
    if not choices:
        raise InvalidValueError("parameters", "one or more", Phrase("none"))
    found: list[Unknown] = []
    for name, choice in choices.items():
        if name == CLOCK_OFFSET:
            low, high = choice.bounds or CLOCK_BOUNDS
            found += [Unknown(f"{name}.{log}", "s", 0.0, low, high, choice.prior) for log in places]
            continue
        if name not in PARAMETERS:
            raise UnknownNameError("parameter", name, [*PARAMETERS, CLOCK_OFFSET])
        parameter = PARAMETERS[name]
        start = parameter.value_of(vehicle)
        low, high = choice.bounds or parameter.bounds(start, vehicle)
        found.append(Unknown(name, parameter.unit, start, low, high, choice.prior, parameter.is_ratio))
    return (*found, *(place_of(log, std) for log, std in places.items() if std > 0))


def place_of(log: str, std: float) -> Unknown:
    """The place of a log that is known within a standard deviation [m]."""
    return Unknown(f"{PLACE}.{log}", "m", 0.0, -_PLACES * std, _PLACES * std, Prior(0.0, std))
