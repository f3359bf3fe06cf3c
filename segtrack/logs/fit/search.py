"""Search for the least cost, and numerical noise, which sets the steps of derivatives."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from segtrack.errors import MissingPackageError
from segtrack.logs.fit.evaluate import Evaluator

Array = NDArray[np.float64]
SPACINGS = (1e-4, 1e-3, 5e-3)
"""Distances of the points, as shares of the unknowns' ranges [-]; the roughest of them counts."""
POINTS = 7
"""Number of points in a row."""
_ALIKE = 4.0
"""Estimates by differences of three orders agree on the noise if they differ by no more than this factor."""
_JUMP = 20.0
"""A change that is so many times the median of its row's is a jump to another branch [-]."""
_CURVED = (0.02, 0.05, 0.1)
"""Distances over which curvatures are looked for, the first that tells one from the noise counts [-]."""
SMALLEST, LARGEST = 1e-3, 0.05
"""Steps of derivatives [-]."""


@dataclass(frozen=True)
class Noise:
    """Numerical noise of a fit's simulations.

    Attributes:
        level: Root mean square over all residuals, in their standard deviations [-].
        cost: Noise of the sum of all losses, over the interval where that is known [-].
        spacing: Distance of points at which it is that large, as a fraction of the unknowns' ranges [-].
        steps: Step of each unknown for a derivative, as a fraction of its range (p,) [-].
    """

    level: float
    cost: float
    spacing: float
    steps: tuple[float, ...]


def measure_noise(evaluator: Evaluator, point: Array, seed: int) -> Noise:
    """Measure the noise around a point (p,) of the scaled unknowns, along a random direction."""
    direction = np.random.default_rng(seed).choice([-1.0, 1.0], len(point))
    rows = {spacing: _row(point, direction * spacing) for spacing in SPACINGS}
    values = evaluator.smooth([each for row in rows.values() for each in row], point)
    tables = [np.array(values[i * POINTS : (i + 1) * POINTS]) for i in range(len(SPACINGS))]
    level, spacing = max((noise_of_row(table), each) for table, each in zip(tables, SPACINGS, strict=True))
    cost = max(noise_of_row((table**2).sum(axis=1, keepdims=True)) for table in tables)
    steps = tuple(_step(evaluator, point, i, level) for i in range(len(point)))
    return Noise(level, cost, spacing, steps)


def narrowed(noise: Noise, evaluator: Evaluator, point: Array, covariance: Array) -> Noise:
    """Return the noise, of the cost over no more than the uncertainty: farther away its shape would count.

    It is that of a row which spans about a standard deviation on both sides, along the covariance.

    Args:
        noise: Noise as it was measured before anything was known of the uncertainty.
        evaluator: Evaluator of the costs.
        point: The best fit (p,).
        covariance: Covariance of the scaled unknowns (p, p) [-].
    """
    variances, axes = np.linalg.eigh(
        covariance
    )  # Rounding leaves variances below 0 where unknowns are alike.
    direction = axes @ np.sqrt(np.maximum(variances, 0.0))
    longest = float(abs(direction).max())
    step = direction / longest * min(longest * 2 / (POINTS - 1), SPACINGS[-1])
    costs = (np.array(evaluator.smooth(_row(point, step), point)) ** 2).sum(axis=1, keepdims=True)
    return replace(noise, cost=noise_of_row(same_branch(costs)))


def same_branch(values: Array) -> Array:
    """The part of a row (m, n), m odd, that is of the same branch as its middle: up to a jump to each side.

    A climb now and then goes another way from a value of an unknown on. That is no noise: a fit that keeps to
    one side of it never sees it. The whole row where too little of it is left to tell.
    """
    changes = np.linalg.norm(np.diff(values, axis=0), axis=1)
    jumps = np.flatnonzero(changes > _JUMP * np.median(changes))
    middle = len(values) // 2
    first = max((int(j) + 1 for j in jumps if j < middle), default=0)
    last = min((int(j) for j in jumps if j >= middle), default=len(values) - 1)
    return values[first : last + 1] if last - first >= middle else values


def noise_of_row(values: Array) -> float:
    """Noise of functions by their values at equally spaced points (m, n), root mean square over n.

    The k-th difference of a smooth function falls with k, that of noise of standard deviation e has the
    mean square e^2 (2 k)! / (k!)^2. Of the first three orders that agree the highest counts, in which least
    of the function is left; if none agree, the highest of all.
    """
    levels, differences = [], values
    for k in range(1, len(values)):
        differences = np.diff(differences, axis=0)
        squares = float((differences**2).mean())
        levels.append(math.sqrt(squares * math.factorial(k) ** 2 / math.factorial(2 * k)))
    for three in zip(levels, levels[1:], levels[2:], strict=False):
        if max(three) <= _ALIKE * min(three):
            return three[-1]
    return levels[-1]


def _row(point: Array, step: Array) -> list[Array]:
    """Points around one, moved into the bounds as a whole."""
    ends = [point - step * (POINTS - 1) / 2, point + step * (POINTS - 1) / 2]
    low, high = np.minimum(*ends), np.maximum(*ends)
    shift = np.maximum(0.0 - low, 0.0) + np.minimum(1.0 - high, 0.0)
    return [point + shift + step * (i - (POINTS - 1) / 2) for i in range(POINTS)]


def _step(evaluator: Evaluator, point: Array, i: int, level: float) -> float:
    """Step of one unknown: that of a forward difference, over which a central one errs less."""
    curvature = 0.0
    for width in _CURVED:
        middle = point.copy()
        middle[i] = min(max(middle[i], width), 1.0 - width)
        sides = [middle.copy(), middle.copy()]
        sides[0][i] -= width
        sides[1][i] += width
        before, here, after = evaluator.smooth([sides[0], middle, sides[1]], point)
        second = math.sqrt(float(((before - 2 * here + after) ** 2).mean()))
        # Noise alone has a second difference of sqrt(6) times its level.
        curvature = second / width**2
        if second > 2 * math.sqrt(6) * level:
            break
    if curvature == 0.0:
        return LARGEST
    return min(max(8**0.25 * math.sqrt(level / curvature), SMALLEST), LARGEST)


RUNS = 2
"""Runs of the search: one from the vehicle's values, others from random ones with twice the points each."""
FIRST_SPREAD = 0.25
"""Standard deviation of the first points, as a share of the unknowns' ranges [-]."""
NEAR = 0.02
"""A run ends where its points are spread by no more than this share of the ranges [-] ..."""
FLAT = 1e-4
"""... or the worst of a generation costs no more than this share above its best [-] ..."""
MOST_GENERATIONS = 60
"""... or after so many."""
MOST_STEPS = 25
"""Largest number of steps of least squares."""


@dataclass(frozen=True)
class SearchRun:
    """One run of the search.

    Attributes:
        point: Scaled unknowns with the least cost of it (p,).
        cost: Sum of all losses there [-].
        generations: Number of generations.
    """

    point: tuple[float, ...]
    cost: float
    generations: int


def search(evaluator: Evaluator, seed: int, on_share: Callable[[float], object]) -> tuple[SearchRun, ...]:
    """Search between all bounds by CMA-ES (Hansen 2016), restarted with more points (Auger and Hansen 2005).

    Args:
        evaluator: Evaluator of the costs.
        seed: Seed of everything random.
        on_share: Called with the share that is done.

    Returns:
        The runs, the best first.

    Raises:
        MissingPackageError: cmaes is not installed.
    """
    generator, count = np.random.default_rng(seed), len(evaluator.unknowns)
    starts = [np.clip(evaluator.start, 0.02, 0.98), *generator.uniform(0.1, 0.9, (RUNS - 1, count))]
    size = 4 + math.floor(3 * math.log(count))
    runs = []
    for i, start in enumerate(starts):
        done = i / len(starts)
        share = _part(on_share, done, done + 1 / len(starts))
        runs.append(_run(evaluator, start, size * 2**i, seed + i, share))
    return tuple(sorted(runs, key=lambda run: run.cost))


PLACES_TRIED = np.linspace(0.0, 1.0, 49)
"""Scaled places of a log that are tried: grousers that meet an edge one after the other make more than one
least cost, with jumps between them."""


_NEARBY = np.array([-2.0, -1.0, -0.5, -0.25, 0.25, 0.5, 1.0, 2.0])
"""Places that are tried around one, in standard deviations."""


def settle_places(evaluator: Evaluator, point: Array, around: Array | None = None) -> Array:
    """Put each log where it costs least with the vehicle of a point (p,).

    Args:
        evaluator: Evaluator of the costs.
        point: Point of the scaled unknowns.
        around: Standard deviation of each unknown with the others held (p,), if places are looked for around
            the point's; over their whole range if not given.
    """
    point = point.copy()
    for i, unknown in enumerate(evaluator.unknowns):
        if unknown.is_place:
            places = PLACES_TRIED if around is None else np.clip(point[i] + around[i] * _NEARBY, 0.0, 1.0)
            tried = [point, *(_with(point, i, place) for place in places.tolist())]
            point = tried[int(np.argmin(evaluator.costs(tried)))]
    return point


def _with(point: Array, i: int, value: float) -> Array:
    changed = point.copy()
    changed[i] = value
    return changed


def refine(evaluator: Evaluator, point: Array, steps: Array) -> Array:
    """Go from a point (p,) to the least cost near it.

    Trust regions within bounds (Branch, Coleman and Li 1999), with derivatives over `steps` (p,).
    """
    found, cost = _descend(evaluator, point, steps)
    # Where the cost is rough, what was passed may be lower than the last step.
    return evaluator.best if evaluator.best_cost < cost else found


def _descend(evaluator: Evaluator, point: Array, steps: Array) -> tuple[Array, float]:
    """Point to which least squares goes from one (p,), and its cost."""
    found = least_squares(
        lambda at: evaluator.flat([at])[0],
        point,
        lambda at: evaluator.flat_jacobian(at, steps),
        bounds=(0.0, 1.0),
        xtol=1e-4,
        ftol=1e-6,
        gtol=1e-9,
        max_nfev=MOST_STEPS,
    )
    return np.asarray(found.x), 2 * float(found.cost)


def _run(
    evaluator: Evaluator, start: Array, size: int, seed: int, on_share: Callable[[float], object]
) -> SearchRun:
    optimizer = _optimizer(start, size, seed)
    best, least = start, evaluator.costs([start])[0]
    for generation in range(MOST_GENERATIONS):
        points = [optimizer.ask() for _ in range(size)]
        costs = evaluator.costs(points)
        lowest = int(np.argmin(costs))
        if costs[lowest] < least:
            best, least = points[lowest], costs[lowest]
        optimizer.tell(list(zip(points, costs, strict=True)))
        spread = float(np.std(points, axis=0).max())
        done = math.log(FIRST_SPREAD / max(spread, NEAR)) / math.log(FIRST_SPREAD / NEAR)
        on_share(max(done, generation / MOST_GENERATIONS))
        if spread < NEAR or max(costs) <= (1 + FLAT) * min(costs) or optimizer.should_stop():
            break
    return SearchRun(tuple(best.tolist()), least, generation + 1)


def _optimizer(start: Array, size: int, seed: int) -> Any:
    try:
        from cmaes import CMA
    except ImportError:
        raise MissingPackageError("a fit", "cmaes", "logs") from None
    bounds = np.tile([0.0, 1.0], (len(start), 1))
    return CMA(start, FIRST_SPREAD, bounds, seed=seed, population_size=size)


def _part(on_share: Callable[[float], object], begin: float, end: float) -> Callable[[float], object]:
    """Return a function that reports progress of a part as progress of the whole."""
    return lambda share: on_share(begin + (end - begin) * share)
