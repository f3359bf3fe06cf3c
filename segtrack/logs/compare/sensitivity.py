"""Wrong values of a vehicle's parameters, and which errors of a comparison would tell them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from segtrack.description import VehicleDescription
from segtrack.logs.compare.comparison import ErrorRow, RunComparison, WrongValue
from segtrack.logs.compare.uncertainty import COVERAGE
from segtrack.logs.fit import PARAMETERS, values_of

WRONG = 0.5, 1.5
"""Wrong values of a parameter over the vehicle file's."""


def with_wrong_values(
    run: RunComparison, inputs: Mapping[str, float], vehicle: VehicleDescription
) -> RunComparison:
    """A run's comparison, each error with the wrong values that it would tell.

    Args:
        run: Comparison of a run.
        inputs: Standard deviations of the simulation's inputs, by name.
        vehicle: Vehicle that was simulated.
    """
    values = values_of(vehicle)
    wrong = {
        name: _Doubted(values[name], std, wrong_values(vehicle, name, std))
        for name, std in inputs.items()
        if name in values
    }
    return replace(run, rows=tuple(replace(row, wrong_values=tuple(_told(row, wrong))) for row in run.rows))


def wrong_values(vehicle: VehicleDescription, name: str, std: float) -> tuple[float, ...]:
    """Half of a parameter's value and one and a half of it; for 0, what is possible of +-`COVERAGE` `std`."""
    value = values_of(vehicle)[name]
    if value:
        return tuple(factor * value for factor in WRONG)
    low, high = PARAMETERS[name].bounds(value, vehicle)
    return tuple(off for off in (-COVERAGE * std, COVERAGE * std) if low <= off <= high)


class _Doubted(NamedTuple):
    """Value of a parameter, its standard deviation, and wrong values of it."""

    value: float
    std: float
    wrong: tuple[float, ...]


def _told(row: ErrorRow, doubted: Mapping[str, _Doubted]) -> Iterator[WrongValue]:
    """Yield what wrong values change an error by.

    Simulations with an input that is one standard deviation s lower and higher change an error by u; one that
    is wrong by d to the same side changes it by u d / s. Two simulations differ by u_num for no reason, so
    that much of u does not count. What else is uncertain of the error is the rest of its u_val.
    """
    total = row.parts.validation
    if total is None:
        return
    numerics = 0.0 if row.parts.numerics is None else row.parts.numerics.value
    for name, (value, std, wrong) in doubted.items():
        own = row.parts.inputs.get(name) or 0.0
        needed = COVERAGE * math.sqrt(max(total**2 - own**2, 0.0))
        low, high = (max(change - numerics, 0.0) for change in row.parts.sides.get(name, (own, own)))
        for other in wrong:
            change = (low if other < value else high) * abs(other - value) / std
            yield WrongValue(name, other, PARAMETERS[name].unit, change, needed)
