"""Wrong values of a vehicle's parameters, which a log would tell or not."""

from __future__ import annotations

from segtrack.description import VehicleDescription
from segtrack.logs.compare.uncertainty import COVERAGE
from segtrack.logs.fit import PARAMETERS, values_of

WRONG = 0.5, 1.5
"""Wrong values of a parameter over the vehicle file's."""


def wrong_values(vehicle: VehicleDescription, name: str, std: float) -> tuple[float, ...]:
    """Half of a parameter's value and one and a half of it; for 0, what is possible of +-`COVERAGE` `std`."""
    value = values_of(vehicle)[name]
    if value:
        return tuple(factor * value for factor in WRONG)
    low, high = PARAMETERS[name].bounds(value, vehicle)
    return tuple(off for off in (-COVERAGE * std, COVERAGE * std) if low <= off <= high)
