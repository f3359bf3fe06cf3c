"""Estimates of the unknowns: value and interval, or the reason for which the logs do not give them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from segtrack.logs.fit.profiles import AT_BOUND, Profile
from segtrack.logs.fit.uncertainty import FitUncertainty
from segtrack.logs.fit.unknowns import Unknown

Array = NDArray[np.float64]
Status = Literal["identified", "of this model alone", "bounded below", "bounded above", "not identifiable"]
MISFIT = 1.5
"""Root mean square of what is left over, in standard deviations of the noise, from which on the model is seen
to be wrong [-]. A parameter then makes up for that, too, by an amount that no log tells apart from its value
(Kennedy and O'Hagan 2001; Brynjarsdottir and O'Hagan 2014)."""
LOOSE = 0.25
"""A direction whose standard deviation is this share of the bounds' distance is not determined [-]: an
interval of 95 % about its middle would reach both."""
_SHARE = 0.25
"""Smallest component of a direction with which an unknown is named as a part of it."""
_ALIKE = 0.9
"""Correlation from which on two unknowns are said to move together."""


def with_unit(value: float, unit: str) -> str:
    """Return a value with its unit, of which `-` is none."""
    return f"{value:.4g}" if unit == "-" else f"{value:.4g} {unit}"


@dataclass(frozen=True)
class ParameterEstimate:
    """A fitted unknown.

    Attributes:
        unknown: Unknown that is estimated.
        value: Value in its unit.
        std: Standard deviation, in its unit; None where it is more than all that was searched.
        interval: 95 % interval in its unit; where the logs do not bound it, the bound of the search.
        status: Judgement on the interval, see `Status`.
        at_bound: Bound that the best fit ran into, if it did.
        why: Why it is not identified, in words; empty if it is.
    """

    unknown: Unknown
    value: float
    std: float | None
    interval: tuple[float, float]
    status: Status
    at_bound: Literal["lower", "upper"] | None
    why: str

    @property
    def name(self) -> str:
        """Name of the unknown."""
        return self.unknown.name

    @property
    def is_bounded(self) -> bool:
        """True if the logs bound it from both sides, be it with a model that is seen to be wrong."""
        return self.status in ("identified", "of this model alone")

    def summary(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict."""
        prior = self.unknown.prior
        return {
            "name": self.name,
            "unit": self.unknown.unit,
            "start": self.unknown.start,
            "bounds": [self.unknown.low, self.unknown.high],
            "prior": None if prior is None else prior._asdict(),
            "value": self.value,
            "std": self.std,
            "interval": list(self.interval),
            "status": self.status,
            "at_bound": self.at_bound,
            "why": self.why,
        }


@dataclass(frozen=True)
class Combination:
    """A sum of unknowns, scaled to the range from 0 to 1.

    Attributes:
        parts: Factor of each unknown that has a part in it, by name; their squares add up to about 1.
        std: Standard deviation of the sum [-].
    """

    parts: Mapping[str, float]
    std: float

    def summary(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict."""
        return {"parts": dict(self.parts), "std": self.std}


def estimates_of(
    unknowns: Sequence[Unknown],
    point: Array,
    uncertainty: FitUncertainty,
    profiles: Sequence[Profile],
    combinations: Sequence[Combination],
    misfit: float | None,
) -> tuple[ParameterEstimate, ...]:
    """Values, intervals and what keeps the logs from bounding them.

    Args:
        unknowns: Fitted unknowns.
        point: The best fit, scaled (p,).
        uncertainty: Around it.
        profiles: Profile of each unknown.
        combinations: Combinations that are not determined.
        misfit: Root mean square of what is left over, in standard deviations [-]; None if a
            simulation diverged.
    """
    found = []
    for i, (unknown, profile) in enumerate(zip(unknowns, profiles, strict=True)):
        scaled = float(point[i])
        at_bound = _bound(scaled)
        low = None if at_bound == "lower" else profile.low
        high = None if at_bound == "upper" else profile.high
        ends = (unknown.value(0.0 if low is None else low), unknown.value(1.0 if high is None else high))
        status = _STATUS[low is not None, high is not None]
        why = ""
        if status != "identified":
            why = _why(unknowns, i, uncertainty, combinations, at_bound, profile)
        if misfit is None or misfit > MISFIT:
            status = "of this model alone" if status == "identified" else status
            left = "a simulation diverged"
            if misfit is not None:
                left = f"{misfit:.1f} standard deviations are left over, for which it makes up too"
            why = f"{why}; {left}" if why else left
        share = float(uncertainty.std[i])
        std = share * unknown.slope(scaled) if share <= 1 else None
        found.append(ParameterEstimate(unknown, unknown.value(scaled), std, ends, status, at_bound, why))
    return tuple(found)


_STATUS: Mapping[tuple[bool, bool], Status] = {
    (True, True): "identified",
    (True, False): "bounded below",
    (False, True): "bounded above",
    (False, False): "not identifiable",
}


def _bound(scaled: float) -> Literal["lower", "upper"] | None:
    if scaled < AT_BOUND:
        return "lower"
    return "upper" if scaled > 1 - AT_BOUND else None


def _why(
    unknowns: Sequence[Unknown],
    i: int,
    uncertainty: FitUncertainty,
    combinations: Sequence[Combination],
    at_bound: str | None,
    profile: Profile,
) -> str:
    name = unknowns[i].name
    if at_bound is not None:
        return f"the best fit ran into the {at_bound} bound"
    alike = abs(uncertainty.correlations[i]) >= _ALIKE
    together = [other.name for j, other in enumerate(unknowns) if j != i and alike[j]]
    for combination in combinations:
        if name in combination.parts and len(combination.parts) > 1:
            together += [part for part in combination.parts if part != name and part not in together]
    if together:
        return f"it can change together with {', '.join(together)} without the logs telling"
    if (profile.pinned & (profile.distances >= uncertainty.quantile)).any():
        return (
            "away from the best fit another unknown runs into a bound, beyond which it could make up for it"
        )
    return "it changes what the logs show less than noise and what the model gets wrong"


def combinations_of(
    unknowns: Sequence[Unknown], uncertainty: FitUncertainty
) -> tuple[tuple[Combination, ...], tuple[Combination, ...]]:
    """Directions of the scaled unknowns that the logs do not determine, and those that they do.

    Returns:
        Directions along which the standard deviation is above `LOOSE`, the loosest first; and of the others
        those in which two or more of the same unknowns have a part, the firmest first.
    """
    pairs = zip(uncertainty.axes.T, uncertainty.axis_std.tolist(), strict=True)
    made = sorted((_combination(unknowns, *pair) for pair in pairs), key=lambda made: made.std)
    loose = [combination for combination in made if combination.std >= LOOSE][::-1]
    names = {name for combination in loose if len(combination.parts) > 1 for name in combination.parts}
    firm = [c for c in made if c.std < LOOSE and len(names.intersection(c.parts)) > 1]
    return tuple(loose), tuple(firm)


def _combination(unknowns: Sequence[Unknown], axis: Array, std: float) -> Combination:
    sign = 1.0 if axis[np.argmax(abs(axis))] > 0 else -1.0
    parts = zip(unknowns, (sign * axis).tolist(), strict=True)
    return Combination({u.name: part for u, part in parts if abs(part) >= _SHARE}, std)
