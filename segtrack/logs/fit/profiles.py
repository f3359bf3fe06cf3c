"""Profile likelihoods: what the best fit costs with one unknown held at a value (Raue et al. 2009).

The rise above the least cost, over the unknown's dilution (see `uncertainty`), is the square of a distance in
standard deviations, once the roughness of the cost is taken off it: where it passes the quantile is an end of
the interval. A profile that does not pass it between the bounds, or only since another unknown has run into a
bound at which the best fit has it not, says that the logs do not bound the unknown on that side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from segtrack.logs.fit.evaluate import Evaluator
from segtrack.logs.fit.search import Noise
from segtrack.logs.fit.uncertainty import FitUncertainty

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
