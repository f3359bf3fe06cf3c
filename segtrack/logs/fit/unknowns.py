"""Unknowns of a fit: parameters of the vehicle and the clocks of its logs, scaled to their bounds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.description import VehicleDescription
from segtrack.errors import InvalidValueError, Phrase, UnknownNameError
from segtrack.logs.fit.parameters import PARAMETERS

CLOCK_OFFSET = "clock_offset"
"""The one parameter that a vehicle does not have: each log has its own, `clock_offset.NAME`."""
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
        name: Name of the parameter; `clock_offset.NAME` for a log's clock.
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
        """Name of the log whose clock it is; None for one of the vehicle."""
        name, _, log = self.name.partition(".")
        return log if name == CLOCK_OFFSET else None

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
    choices: Mapping[str, Choice], vehicle: VehicleDescription, logs: Iterable[str]
) -> tuple[Unknown, ...]:
    """The unknowns of a fit.

    Args:
        choices: Bounds and prior by parameter.
        vehicle: From whose values it begins.
        logs: Names of those that are fitted; a clock offset is one unknown for each.

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
            found += [Unknown(f"{name}.{log}", "s", 0.0, low, high, choice.prior) for log in logs]
            continue
        if name not in PARAMETERS:
            raise UnknownNameError("parameter", name, [*PARAMETERS, CLOCK_OFFSET])
        parameter = PARAMETERS[name]
        start = parameter.value_of(vehicle)
        low, high = choice.bounds or parameter.bounds(start, vehicle)
        found.append(Unknown(name, parameter.unit, start, low, high, choice.prior, parameter.is_ratio))
    return tuple(found)


def values_at(unknowns: Iterable[Unknown], scaled: NDArray[np.float64]) -> dict[str, float]:
    """Values by name at a point of the scaled unknowns (p,)."""
    return {u.name: u.value(x) for u, x in zip(unknowns, scaled.tolist(), strict=True)}
