"""Uncertainty of an error, after ASME V&V 20-2009: of numerics, of inputs and of data.

    E = S - D,   u_val^2 = u_num^2 + u_input^2 + u_D^2

S is simulated, D is logged. An error over time is a vector; its norms are taken over all of its values, as
root mean squares, so that E and all u are lengths of the same kind.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from segtrack.logs.compare.motions.errors import Error, Errors, Key
from segtrack.logs.compare.uncertainty.data import PARTS, Part

Method = Literal["GCI", "difference"]
COVERAGE = 2.0
"""Standard uncertainties within which an error is not told from none."""
_RATIO = 2.0
"""Of one time step to the next finer one."""
_SAFETY = 1.25
"""Factor on the estimated error of the grid convergence index, for three grids (Roache 1998)."""
_GCI_COVERAGE = 1.15
"""The index over its standard uncertainty, for an error that is mostly to one side (V&V 20, section 2-5)."""
_ORDERS = 0.5, 2.5
"""Observed orders of convergence that are sensible: the engines' is 1, with contacts that come and go."""
_ROUNDING = 1e-12
"""An error below this is none, in whatever unit."""
_RANGE_OF_THREE = 1.693
"""Mean range of three draws of a normal distribution, over its standard deviation (Tippett 1925)."""


class Numerics(NamedTuple):
    """Uncertainty of an error by the time step.

    Attributes:
        value: Standard uncertainty.
        method: `GCI` of three time steps that converge, or the `difference` of three that do not.
        order: Observed; None where they do not converge.
    """

    value: float
    method: Method
    order: float | None


@dataclass(frozen=True)
class Uncertainty:
    """Standard uncertainties of an error, in its unit.

    Attributes:
        numerics: By the time step; None without other time steps, or if one of them lacks the error.
        is_refined: Whether there are simulations with other time steps.
        inputs: By each input that was said to be uncertain; None for one that takes the error away.
        data: By each part of the log's uncertainty; None likewise.
    """

    numerics: Numerics | None
    is_refined: bool
    inputs: Mapping[str, float | None]
    data: Mapping[Part, float | None]

    @property
    def input(self) -> float | None:
        """By all inputs; None if none was given, or one is None."""
        return _together(self.inputs.values()) if self.inputs else None

    @property
    def datum(self) -> float | None:
        """By the log; None if a part is."""
        return _together(self.data.values())

    @property
    def validation(self) -> float | None:
        """By everything that was tried; None if something of it is not known."""
        parts = [self.datum]
        if self.is_refined:
            parts.append(None if self.numerics is None else self.numerics.value)
        if self.inputs:
            parts.append(self.input)
        return _together(parts)


def numerics_of(steps: Sequence[Errors], key: Key) -> Numerics | None:
    """Uncertainty of an error by the time step.

    Args:
        steps: Errors at a time step, half of it, and a quarter.
        key: Which error.

    Returns:
        None if there are no three, or one lacks the error.
    """
    if len(steps) < 3 or any(key not in errors for errors in steps):
        return None
    coarse, middle, fine = (errors[key] for errors in steps[:3])
    first, second, both = coarse.less(middle), middle.less(fine), coarse.less(fine)
    apart, next_apart = first.rms, second.rms
    if not math.isfinite(apart + next_apart):
        return None
    # Two differences in one direction make a longer one: otherwise the solutions swing about each other.
    if apart > 0 and next_apart > 0 and both.rms**2 > apart**2 + next_apart**2:
        order = math.log(apart / next_apart) / math.log(_RATIO)
        if _ORDERS[0] <= order <= _ORDERS[1]:
            grown = _RATIO**order
            return Numerics(_SAFETY * apart * grown / (grown - 1.0) / _GCI_COVERAGE, "GCI", order)
    return Numerics(max(apart, next_apart, both.rms) / _RANGE_OF_THREE, "difference", None)


def input_of(low: Errors, high: Errors, key: Key) -> float | None:
    """Uncertainty of an error by an input that is one standard deviation lower and higher."""
    if key not in low or key not in high:
        return None
    change = high[key].less(low[key]).rms / 2.0
    return change if math.isfinite(change) else None


class DataSums:
    """Squared changes of errors by what is uncertain of the log, summed up as they come."""

    def __init__(self, nominal: Errors) -> None:
        """Begin with none."""
        self._nominal = nominal
        self._sums: dict[Key, dict[Part, float]] = {key: dict.fromkeys(PARTS, 0.0) for key in nominal}

    def add(self, part: Part, weight: float, above: Errors, below: Errors | None) -> None:
        """Add the change of one thing: of a draw from the nominal, or half of what is between two."""
        for key, error in self._nominal.items():
            up, down = above.get(key), error if below is None else below.get(key)
            change = math.nan if up is None or down is None else up.less(down).rms
            share = weight if below is None else weight / 4.0
            self._sums[key][part] += share * change**2

    def of(self, key: Key) -> dict[Part, float | None]:
        """Standard uncertainty by each part; None if something took away what the error is of."""
        return {
            part: math.sqrt(total) if math.isfinite(total) else None
            for part, total in self._sums[key].items()
        }


def _together(parts: Iterable[float | None]) -> float | None:
    """Root of the sum of squares; None if one is."""
    total = 0.0
    for part in parts:
        if part is None:
            return None
        total += part**2
    return math.sqrt(total)


def verdict_of(error: Error, uncertainty: Uncertainty) -> Literal["within", "beyond", "unknown"]:
    """Whether an error is within `COVERAGE` standard uncertainties; unknown if these are."""
    u = uncertainty.validation
    if u is None:
        return "unknown"
    return "within" if error.rms <= COVERAGE * u + _ROUNDING else "beyond"
