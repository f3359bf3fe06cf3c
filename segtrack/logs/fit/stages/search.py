"""Where the cost is least: first everywhere between the bounds, then from there by least squares."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from segtrack.errors import MissingPackageError
from segtrack.logs.fit.simulated.evaluate import Evaluator

Array = NDArray[np.float64]
RUNS = 2
"""Of the search: one from the vehicle's values, others from random ones with twice as many points each."""
FIRST_SPREAD = 0.25
"""Standard deviation of the first points, as a share of the unknowns' ranges [-]."""
NEAR = 0.02
"""A run ends where its points are spread by no more than this share of the ranges [-] ..."""
FLAT = 1e-4
"""... or the worst of a generation costs no more than this share above its best [-] ..."""
MOST_GENERATIONS = 60
"""... or after so many."""
MOST_STEPS = 25
"""Of least squares."""


@dataclass(frozen=True)
class Run:
    """One run of the search.

    Attributes:
        point: Scaled unknowns with the least cost of it (p,).
        cost: Sum of all squared residuals there [-].
        generations: That it took.
    """

    point: tuple[float, ...]
    cost: float
    generations: int


def search(evaluator: Evaluator, seed: int, on_share: Callable[[float], object]) -> tuple[Run, ...]:
    """Search between all bounds by CMA-ES (Hansen 2016), restarted with more points (Auger and Hansen 2005).

    Args:
        evaluator: Of the costs.
        seed: Of everything random.
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


def refine(evaluator: Evaluator, point: Array, steps: Array) -> Array:
    """Go from a point (p,) to the least cost near it.

    Trust regions within bounds (Branch, Coleman and Li 1999), with derivatives over `steps` (p,).
    """

    def jacobian(at: Array) -> Array:
        cases, priors = evaluator.jacobian(at, steps)
        return np.concatenate([*(case.reshape(-1, len(at)) for case in cases), priors])

    def residuals(at: Array) -> Array:
        return evaluator.flat([at])[0]

    found = least_squares(
        residuals, point, jacobian, bounds=(0.0, 1.0), xtol=1e-4, ftol=1e-6, gtol=1e-9, max_nfev=MOST_STEPS
    )
    # Where the cost is rough, what was passed may be lower than the last step.
    return evaluator.best if evaluator.best_cost < 2 * found.cost else np.asarray(found.x)


def _run(
    evaluator: Evaluator, start: Array, size: int, seed: int, on_share: Callable[[float], object]
) -> Run:
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
    return Run(tuple(best.tolist()), least, generation + 1)


def _optimizer(start: Array, size: int, seed: int) -> Any:
    try:
        from cmaes import CMA
    except ImportError:
        raise MissingPackageError("a fit", "cmaes", "logs") from None
    bounds = np.tile([0.0, 1.0], (len(start), 1))
    return CMA(start, FIRST_SPREAD, bounds, seed=seed, population_size=size)


def _part(on_share: Callable[[float], object], begin: float, end: float) -> Callable[[float], object]:
    """What is told of a part, as a share of the whole."""
    return lambda share: on_share(begin + (end - begin) * share)
