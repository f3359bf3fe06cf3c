"""Estimates of the unknowns: value and interval, by profiles of the cost, or why the logs do not give them.

The rise above the least cost, over the unknown's dilution (see `uncertainty`), is the square of a distance in
standard deviations, once the roughness of the cost is taken off it: where it passes the quantile is an end of
the interval. A profile that does not pass it between the bounds, or only since another unknown has run into a
bound at which the best fit has it not, says that the logs do not bound the unknown on that side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from segtrack.logs.fit.evaluate import Evaluator
from segtrack.logs.fit.search import Noise
from segtrack.logs.fit.uncertainty import FitUncertainty
from segtrack.logs.fit.unknowns import Unknown

Array = NDArray[np.float64]
PLACES = (-2.0, -1.0, -0.5, 0.5, 1.0, 2.0)
"""Places of a profile's first points around the best fit, in half widths of the interval by the covariance.

Where the farthest is not far enough to be an end, the next is twice as far, up to the bound."""
_LEAST = 0.004
"""Smallest distance of a profile's points, as a fraction of the unknown's range [-]."""
AT_BOUND = 0.005
"""Distance from a bound at which an unknown has run into it, as a share of its range [-]."""
_ROUGH = 2.0
"""A rise that is no more than so many times the cost's noise is none [-]."""
_MOST_STEPS = 4
"""Largest number of least-squares steps over the other unknowns at each point."""


@dataclass(frozen=True, eq=False)
class Profile:
    """Cost of the best fit with one unknown held.

    Attributes:
        scaled: Values of the unknown, scaled, ascending, the best fit's among them (m,) [-].
        distances: From the best fit there, as standard deviations (m,) [-].
        pinned: True where another unknown runs into a bound that it is not at in the best fit (m,).
        low: Lower end of the interval, scaled; None if the profile does not rise enough down to the bound.
        high: Upper end, likewise.
    """

    scaled: Array
    distances: Array
    pinned: NDArray[np.bool_]
    low: float | None
    high: float | None


def profile(
    evaluator: Evaluator,
    point: Array,
    i: int,
    uncertainty: FitUncertainty,
    noise: Noise,
    on_point: Callable[[], object] = lambda: None,
) -> Profile:
    """The profile of one unknown.

    Args:
        evaluator: Evaluator of the costs.
        point: The best fit (p,).
        i: Index of the unknown.
        uncertainty: Around it.
        noise: Noise of the simulations.
        on_point: Called after each of `PLACES`.
    """
    half = max(uncertainty.quantile * float(uncertainty.std[i]), _LEAST)
    least = evaluator.costs([point])[0]
    others = np.arange(len(point)) != i
    free = ~_at_bounds(point)
    found = {float(point[i]): (least, False)}
    dilution = float(uncertainty.dilution[i])

    def distance(value: float) -> float:
        """Distance from the best fit at a value, as standard deviations [-]."""
        rise = found[value][0] - least - _ROUGH * noise.cost
        return float(np.sqrt(max(rise, 0.0) / dilution))

    def look_at(value: float) -> None:
        if abs(value - point[i]) > 1e-9:
            along = point + _ridge(uncertainty.curvature, i) * (value - point[i])
            start = _lowest_seen(evaluator, np.clip(along, 0.0, 1.0), i, abs(value - point[i]) / 4)
            cost, there = _least_cost(evaluator, start, i, np.array(noise.steps))
            found[value] = cost, bool((_at_bounds(there) & free)[others].any())

    for place in PLACES:
        # A bound is the farthest place there is, and half-way to it the one before.
        room = (1.0 - point[i] if place > 0 else point[i]) / 2
        look_at(float(point[i] + place * min(half, room)))
        on_point()
    for bound, farthest in ((0.0, min), (1.0, max)):
        while abs((value := farthest(found)) - bound) > 1e-9 and distance(value) < uncertainty.quantile:
            look_at(float(np.clip(2 * value - point[i], 0.0, 1.0)) if value != point[i] else bound)
    values = np.array(sorted(found))
    distances = np.array([distance(value) for value in values.tolist()])
    pinned = np.array([found[value][1] for value in values.tolist()])
    here = int(np.searchsorted(values, point[i]))
    down, up = slice(here, None, -1), slice(here, None)
    low, high = (
        _crossing(values[side], distances[side], pinned[side], uncertainty.quantile) for side in (down, up)
    )
    return Profile(values, distances, pinned, low, high)


def _at_bounds(scaled: Array) -> NDArray[np.bool_]:
    """Mask of scaled unknowns that have run into a bound."""
    return np.asarray((scaled < AT_BOUND) | (scaled > 1 - AT_BOUND))


def _ridge(curvature: Array, i: int) -> Array:
    """Direction of all unknowns per change of one along the lowest costs (p,) [-]."""
    others = [j for j in range(len(curvature)) if j != i]
    along = np.ones(len(curvature))
    along[others] = -np.linalg.solve(curvature[np.ix_(others, others)], curvature[others, i])
    return along


def _lowest_seen(evaluator: Evaluator, along: Array, i: int, near: float) -> Array:
    """Start with one unknown held: along the ridge, or at the best point that the search has seen nearby."""
    nearby = [(cost, point) for point, cost in evaluator.seen if abs(point[i] - along[i]) <= near]
    if not nearby:
        return along
    best = min(nearby, key=lambda pair: pair[0])[1].copy()
    best[i] = along[i]
    costs = evaluator.costs([along, best])
    return best if costs[1] < costs[0] else along


def _least_cost(evaluator: Evaluator, start: Array, i: int, steps: Array) -> tuple[float, Array]:
    """The least cost with one unknown held, and where it is (p,)."""
    others = [j for j in range(len(start)) if j != i]

    def whole(free: Array) -> Array:
        full = start.copy()
        full[others] = free
        return full

    if not others:
        return evaluator.costs([start])[0], start
    bounds = (np.zeros(len(others)), np.ones(len(others)))
    found = least_squares(
        lambda free: evaluator.flat([whole(free)])[0],
        start[others],
        lambda free: evaluator.flat_jacobian(whole(free), steps, others),
        bounds=bounds,
        xtol=1e-3,
        ftol=1e-3,
        max_nfev=_MOST_STEPS,
    )
    return 2 * float(found.cost), whole(found.x)


def _crossing(values: Array, distances: Array, pinned: NDArray[np.bool_], quantile: float) -> float | None:
    """Place at which a profile first passes a quantile, going away from the best fit; None if it does not."""
    for j in range(1, len(values)):
        if distances[j] >= quantile:
            if pinned[j]:
                return None
            share = (quantile - distances[j - 1]) / (distances[j] - distances[j - 1])
            return float(values[j - 1] + share * (values[j] - values[j - 1]))
    return None


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
