"""Estimates of the unknowns: value and interval, by profiles of the cost, or why the logs do not give them.

The rise above the least cost, over the unknown's dilution (see below), is the square of a distance in
standard deviations, once the roughness of the cost is taken off it: where it passes the quantile is an end of
the interval. Where another unknown has run into a bound at which the best fit has it not, the rise counts
less by what the cost would fall if that unknown went its whole range beyond the bound, along the slope there:
no convex cost falls more. A profile that does not pass the quantile between the bounds says that the logs do
not bound the unknown on that side.

With residuals r of all logs, sensitivities J and H = J^T J, an estimate errs by H^-1 J^T e for errors e of
the residuals, which are noise and what the model gets wrong. The latter is no white noise: neighbouring
residuals are nearly alike. Its covariance is therefore taken from the residuals themselves, as they are
correlated over time and between signals (Morelli and Klein 1997, for parameters of aircraft from flights):

    M_c = sum_ij J_i^T R_c(i - j) J_j,    R_c(l) = mean over i of r_i r_(i+l)^T (1 - l / n)

for each log c, over lags up to the first at which no signal is correlated with itself by more than chance.
Three more things widen what is stated, none of which a single residual shows:

- Logs share the model and what it gets wrong. What is coloured of their contributions is added as if it
  were one error, standard deviations and not variances; white noise is added as variances.
- Logs may contradict each other by more than that, which their scores g_c = J_c^T r_c tell: the ratio of
  g_c^T M_c^-1 g_c, summed over logs, to what it is expected to be (Birge 1932) multiplies all variances
  if it is above 1.
- Residuals that are alike are few, and so are logs: Student's distribution for their effective number, or
  for that of the scores where these widen the interval, stands for the normal one.

With a loss other than squares (see `evaluate`) r stands for its influence psi(r), half of its derivative, and
H for J^T psi'(r) J: the covariance of an estimate by Huber (1967).

An error of the model that does to the residuals what a parameter does is in none of this: no log shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares
from scipy.stats import norm
from scipy.stats import t as student

from segtrack.logs.fit.evaluate import Evaluator
from segtrack.logs.fit.sampling import Sample
from segtrack.logs.fit.search import Noise, settle_places
from segtrack.logs.fit.unknowns import Unknown
from segtrack.logs.statistics import CONFIDENCE, effective_samples, score_covariances

Array = NDArray[np.float64]
_RANK = 1e-6
"""Eigenvalues below this share of the largest are none."""
_QUIET = 0.1
"""White noise that all residuals have besides [-]: what is far below its stated noise says nothing."""
_LEAST_CURVATURE = 1e-6
"""Curvature that each unknown has besides: none is looser than a thousand times its range."""


@dataclass(frozen=True, eq=False)
class FitUncertainty:
    """Uncertainty of p scaled unknowns, around the point with the least cost.

    Attributes:
        std: Standard deviations (p,), as shares of the unknowns' ranges [-].
        correlations: (p, p) [-].
        curvature: H, priors included (p, p) [-].
        freedom: Degrees of freedom of Student's distribution, at least 1.
        axes: Directions, as columns (p, p), whose errors the curvature keeps apart.
        axis_std: Standard deviations along them (p,) [-].
        disagreement: Factor by which logs contradict each other more than each by itself would have them,
            at least 1; None for one log, of which nobody knows.
    """

    std: Array
    correlations: Array
    curvature: Array
    freedom: float
    axes: Array
    axis_std: Array
    disagreement: float | None

    @property
    def quantile(self) -> float:
        """Half width of an interval of `CONFIDENCE` over its standard deviation [-]."""
        return float(student.ppf((1 + CONFIDENCE) / 2, self.freedom))

    @property
    def covariance(self) -> Array:
        """Covariance of the scaled unknowns (p, p) [-]."""
        return np.asarray(self.correlations * np.outer(self.std, self.std))

    @property
    def dilution(self) -> Array:
        """Variance over what white noise of the stated standard deviations would have (p,) [-]."""
        return np.asarray(self.std**2 / np.diag(np.linalg.inv(self.curvature)))


def uncertainty_of(
    residuals: Sequence[Array],
    sensitivities: Sequence[Array],
    priors: Array,
    slopes: Sequence[Array] | None = None,
) -> FitUncertainty:
    """Take the uncertainty from what is left over.

    Args:
        residuals: Influences of each log's residuals (n, k): with squares the residuals themselves [-].
        sensitivities: Derivatives of each log's residuals by the scaled unknowns (n, k, p) [-].
        priors: Derivatives of the priors' residuals (p, p) [-].
        slopes: Derivatives of the influences by the residuals (n, k) [-]; 1, those of squares, if not given.
    """
    count = priors.shape[1]
    known = priors.T @ priors + _LEAST_CURVATURE * np.eye(count)
    pairs = zip(
        [np.ones_like(r) for r in residuals] if slopes is None else slopes, sensitivities, strict=True
    )
    curvature = known + sum(np.einsum("nk,nki,nkj->ij", slope, j, j) for slope, j in pairs)
    inverse = np.linalg.inv(curvature)
    parts = [_contributions(r, j) for r, j in zip(residuals, sensitivities, strict=True)]
    disagreement, ranks = _disagreement(parts, curvature) if len(parts) > 1 else (None, 0)

    def along(rows: Array) -> Array:
        """Standard deviations of what rows (q, p) make of J^T e."""
        white = np.einsum("qi,ij,qj->q", rows, known + sum(part.white for part in parts), rows)
        coloured = sum(
            np.sqrt(np.maximum(np.einsum("qi,ij,qj->q", rows, part.whole - part.white, rows), 0.0))
            for part in parts
        )
        return np.asarray((disagreement or 1.0) * np.sqrt(white + coloured**2))

    lengths, axes = np.linalg.eigh(curvature)
    whole = inverse @ (known + sum(part.whole for part in parts)) @ inverse
    sizes = np.sqrt(np.diag(whole))
    correlations = np.clip(whole / np.outer(sizes, sizes), -1.0, 1.0)
    np.fill_diagonal(correlations, 1.0)
    freedom = sum(part.effective for part in parts) - count
    if disagreement is not None and disagreement > 1:
        freedom = min(freedom, ranks)
    axis_std = along((axes / lengths).T)
    return FitUncertainty(
        along(inverse), correlations, curvature, max(1.0, freedom), axes, axis_std, disagreement
    )


@dataclass(frozen=True, eq=False)
class _Contributions:
    """J^T r (p,) of one log, its covariance (p, p) as if white and as it is, and its effective number."""

    score: Array
    white: Array
    whole: Array
    effective: float


def _contributions(residuals: Array, sensitivities: Array) -> _Contributions:
    score = np.einsum("nki,nk->i", sensitivities, residuals)
    covariances = score_covariances(residuals, sensitivities, _QUIET**2)
    return _Contributions(score, *covariances, effective_number(residuals))


def effective_number(residuals: Array) -> float:
    """Effective number of independent samples of residuals (n, k), the mean over columns by their squares.

    See `effective_samples`.
    """
    numbers = [effective_samples(column, _QUIET**2) for column in residuals.T]
    return float(np.average(numbers, weights=(residuals**2 + _QUIET**2).sum(axis=0)))


def _disagreement(parts: Sequence[_Contributions], curvature: Array) -> tuple[float, int]:
    """Root of the scores' squares over their covariances, summed, over its expectation; and that.

    The root is at least 1, the expectation the number of independent scores less that of unknowns.
    """
    root = np.linalg.inv(np.linalg.cholesky(curvature))
    total, ranks = 0.0, 0
    for part in parts:
        values, vectors = np.linalg.eigh(root @ part.whole @ root.T)
        kept = values > _RANK * max(values.max(), np.finfo(float).tiny)
        along = vectors.T[kept] @ (root @ part.score)
        total += float((along**2 / values[kept]).sum())
        ranks += int(kept.sum())
    freedom = ranks - len(curvature)
    return (max(1.0, (total / freedom) ** 0.5), freedom) if freedom > 0 else (1.0, 0)


PLACES = (-2.0, -1.0, -0.5, 0.5, 1.0, 2.0)
"""Places of a profile's first points around the best fit, in half widths of the interval by the covariance.

Where the farthest is not far enough to be an end, the next is twice as far, up to the bound."""
_LEAST_DISTANCE = 0.004
"""Smallest distance of a profile's points, as a fraction of the unknown's range [-]."""
AT_BOUND = 0.005
"""Distance from a bound at which an unknown has run into it, as a share of its range [-]."""
ROUGH = 2.0
"""A rise that is no more than so many times the cost's noise is none [-]."""
_ROUNDING = 1e-9
"""Share of an unknown's range that scaling it there and back may make of a bound [-]."""
_MOST_STEPS = 4
"""Largest number of least-squares steps over the other unknowns at each point."""


@dataclass(frozen=True, eq=False)
class Profile:
    """Cost of the best fit with one unknown held.

    Attributes:
        scaled: Values of the unknown, scaled, ascending, the best fit's among them (m,) [-].
        distances: From the best fit there, as standard deviations (m,) [-].
        firm_distances: Distances even if unknowns that run into a bound, at which the best fit has them not,
            could go a whole range beyond it (m,).
        low: Lower end of the interval, scaled; None if the profile does not rise enough down to the bound.
        high: Upper end, likewise.
    """

    scaled: Array
    distances: Array
    firm_distances: Array
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
    half = max(uncertainty.quantile * float(uncertainty.std[i]), _LEAST_DISTANCE)
    least = evaluator.costs([point])[0]
    others = np.arange(len(point)) != i
    free = ~_at_bounds(point)
    found = {float(point[i]): (least, 0.0)}
    dilution = float(uncertainty.dilution[i])
    alone = np.diag(uncertainty.curvature) ** -0.5

    def distance(value: float, beyond: float) -> float:
        """Distance at a value, as standard deviations [-], of unknowns so many ranges beyond their bounds."""
        cost, fall = found[value]
        return float(np.sqrt(max(cost - beyond * fall - least - ROUGH * noise.cost, 0.0) / dilution))

    def look_at(value: float) -> None:
        if abs(value - point[i]) > 1e-9:
            along = point + _ridge(uncertainty.curvature, i) * (value - point[i])
            start = _lowest_seen(evaluator, np.clip(along, 0.0, 1.0), i, abs(value - point[i]) / 4)
            settled = settle_places(evaluator, start, alone)
            cost, there = _least_cost(evaluator, settled, i, np.array(noise.steps))
            pinned = np.flatnonzero(_at_bounds(there) & free & others).tolist()
            found[value] = cost, _fall_beyond_bounds(evaluator, there, pinned, np.array(noise.steps))

    for place in PLACES:
        # A bound is the farthest place there is, and half-way to it the one before.
        room = (1.0 - point[i] if place > 0 else point[i]) / 2
        look_at(float(point[i] + place * min(half, room)))
        on_point()
    for bound, farthest in ((0.0, min), (1.0, max)):
        while abs((value := farthest(found)) - bound) > 1e-9 and distance(value, 1.0) < uncertainty.quantile:
            look_at(float(np.clip(2 * value - point[i], 0.0, 1.0)) if value != point[i] else bound)
    values = np.array(sorted(found))
    distances, firm = (
        np.array([distance(value, beyond) for value in values.tolist()]) for beyond in (0.0, 1.0)
    )
    here = int(np.searchsorted(values, point[i]))
    down, up = slice(here, None, -1), slice(here, None)
    low, high = (_crossing(values[side], firm[side], uncertainty.quantile) for side in (down, up))
    return Profile(values, distances, firm, low, high)


def with_sample(profile: Profile, sample: Sample, i: int, uncertainty: FitUncertainty) -> Profile:
    """A profile whose ends take in those of a sample, which knows of least costs beside the best fit's.

    Args:
        profile: Profile of an unknown around the best fit.
        sample: Sample of the unknowns.
        i: Index of the unknown.
        uncertainty: Around the best fit.
    """
    shares = np.array([(1 - CONFIDENCE) / 2, 0.5, (1 + CONFIDENCE) / 2])
    low, middle, high = sample.quantiles(i, float(uncertainty.dilution[i]), shares).tolist()
    wider = uncertainty.quantile / float(norm.ppf((1 + CONFIDENCE) / 2))
    low, high = middle - wider * (middle - low), middle + wider * (high - middle)
    return replace(
        profile,
        low=None if profile.low is None else _within(min(profile.low, low)),
        high=None if profile.high is None else _within(max(profile.high, high)),
    )


def _within(scaled: float) -> float | None:
    """End of an interval; None beyond the bounds."""
    return scaled if 0.0 < scaled < 1.0 else None


def _at_bounds(scaled: Array) -> NDArray[np.bool_]:
    """Mask of scaled unknowns that have run into a bound."""
    return np.asarray((scaled < AT_BOUND) | (scaled > 1 - AT_BOUND))


def _fall_beyond_bounds(evaluator: Evaluator, there: Array, pinned: Sequence[int], steps: Array) -> float:
    """Fall of the cost if unknowns at a bound went a whole range beyond it, along the slopes there [-]."""
    if not pinned:
        return 0.0
    gradient = 2.0 * evaluator.flat_jacobian(there, steps, pinned).T @ evaluator.flat([there])[0]
    outward = np.where(there[pinned] > 0.5, gradient, -gradient)
    return float(np.maximum(-outward, 0.0).sum())


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


def _crossing(values: Array, distances: Array, quantile: float) -> float | None:
    """Place at which a profile passes a quantile for good, going away from the best fit; None if it does not.

    Where it is lower farther away, a climb that went another way was taken for a rise.
    """
    distances = np.minimum.accumulate(distances[::-1])[::-1]
    for j in range(1, len(values)):
        if distances[j] >= quantile:
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

    @property
    def is_written(self) -> bool:
        """True if the written vehicle has the value: logs bound it, or rule out the one from before."""
        low, high = self.interval
        off = _ROUNDING * (self.unknown.high - self.unknown.low)
        return self.is_bounded or not low - off <= self.unknown.start <= high + off

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
        unknowns: Fitted unknowns, those that have no profile last.
        point: The best fit, scaled (p,).
        uncertainty: Around it.
        profiles: Profile of each unknown that is estimated.
        combinations: Combinations that are not determined.
        misfit: Root mean square of what is left over, in standard deviations [-]; None if a
            simulation diverged.
    """
    found = []
    for i, (unknown, profile) in enumerate(zip(unknowns, profiles, strict=False)):
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
    passes = profile.distances >= uncertainty.quantile
    if (passes & (profile.firm_distances < uncertainty.quantile)).any():
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
