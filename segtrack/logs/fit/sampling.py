"""Sample of the unknowns, weighted by how likely the logs make them.

A climb meets edges one grouser after the other, and its cost has many least costs, with jumps between them.
The lowest of them is no nearer to the truth than others that noise does not tell from it, and no profile from
one of them gets to another. A sample does: points drawn from wide distributions count by

    w = exp(-cost / (2 dilution)) / q

where q is the density of all that were drawn so far, those of earlier rounds included, and the next round is
drawn around what these weights say (adaptive multiple importance sampling: Cornuet, Marin, Mira and Robert
2012). The dilution (see `estimates`) makes of the cost what residuals that are correlated in time know.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from scipy.stats import multivariate_t

from segtrack.logs.fit.evaluate import Evaluator

Array = NDArray[np.float64]
ROUNDS = 8
"""Largest number of rounds."""
POINTS = 40
"""Points of a round for each unknown."""
ENOUGH = 100.0
"""Effective number of points from which on no more are drawn."""
_TAILS = 5
"""Degrees of freedom of the distributions that points are drawn from."""
_FIRST = ((0.5, 1.5), (0.5, 5.0))
"""Shares of the first round's points, and their scales, in standard deviations at the best fit."""
_WIDEST = 0.25
"""Largest scale of the first round, as a share of an unknown's range [-]."""
_NEXT = ((0.7, 1.0), (0.3, 2.0))
"""Shares of a later round's points, and their scales, in standard deviations by the weights."""
_FLATTEST = 0.2
"""Smallest power of the weights by which a round is laid out: few heavy points say little of a width."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Points with the densities that they were drawn from.

    Attributes:
        points: Scaled unknowns (n, p) [-].
        costs: Their costs (n,) [-]; infinite beyond the bounds.
        densities: Logarithm of the density at each of them (n,).
    """

    points: Array
    costs: Array
    densities: Array

    def weights(self, dilution: float) -> Array:
        """Weight of each point (n,) [-]; their sum is 1."""
        logarithms = self._logarithms(dilution)
        return np.asarray(np.exp(logarithms - logsumexp(logarithms)))

    def effective(self, dilution: float) -> float:
        """Effective number of points."""
        return float(1.0 / (self.weights(dilution) ** 2).sum())

    def quantiles(self, i: int, dilution: float, shares: Array) -> Array:
        """Scaled values of an unknown below which shares (k,) of the weight are (k,) [-]."""
        order = np.argsort(self.points[:, i])
        weights = self.weights(dilution)[order]
        return np.asarray(np.interp(shares, np.cumsum(weights) - weights / 2, self.points[order, i]))

    def moments(self, dilution: float) -> tuple[Array, Array]:
        """Mean (p,) and covariance (p, p) of weights that are flattened where few of them count."""
        power = min(1.0, max(_FLATTEST, self.effective(dilution) / ENOUGH))
        logarithms = power * self._logarithms(dilution)
        weights = np.exp(logarithms - logsumexp(logarithms))
        mean = weights @ self.points
        off = self.points - mean
        return mean, (off * weights[:, None]).T @ off

    def _logarithms(self, dilution: float) -> Array:
        return np.asarray(-self.costs / (2 * dilution) - self.densities)


def draw_sample(
    evaluator: Evaluator,
    point: Array,
    covariance: Array,
    dilution: float,
    seed: int,
    on_share: Callable[[float], object] = lambda share: None,
) -> Sample:
    """Sample the unknowns around the best fit.

    Args:
        evaluator: Evaluator of the costs.
        point: The best fit (p,).
        covariance: Covariance of the scaled unknowns there (p, p) [-].
        dilution: Dilution by which the rounds are laid out [-].
        seed: Seed of the random numbers.
        on_share: Called with the share that is done, from 0 to 1.
    """
    generator = np.random.default_rng(seed)
    count = len(point)
    stds = np.sqrt(np.diag(covariance))
    limits = [(share, np.minimum(scale, _WIDEST / stds)) for share, scale in _FIRST]
    around = [[(share, point, covariance * np.outer(limit, limit)) for share, limit in limits]]
    sample = Sample(np.zeros((0, count)), np.zeros(0), np.zeros(0))
    for k in range(ROUNDS):
        drawn = [_draw(generator, *part, POINTS * count) for part in around[-1]]
        points = np.concatenate([sample.points, *drawn])
        new = points[len(sample.points) :]
        inside = ((new >= 0.0) & (new <= 1.0)).all(axis=1)
        costs = np.full(len(new), np.inf)
        costs[inside] = evaluator.costs(list(new[inside]))
        densities = logsumexp([_density(points, parts) for parts in around], axis=0) - np.log(len(around))
        sample = Sample(points, np.concatenate([sample.costs, costs]), densities)
        on_share((k + 1) / ROUNDS)
        if sample.effective(dilution) >= ENOUGH:
            break
        mean, spread = sample.moments(dilution)
        spread += 1e-12 * np.eye(count)
        around.append([(share, mean, scale**2 * spread) for share, scale in _NEXT])
    return sample


def _draw(generator: np.random.Generator, share: float, mean: Array, shape: Array, number: int) -> Array:
    drawn = multivariate_t.rvs(mean, shape, _TAILS, size=round(share * number), random_state=generator)
    return np.asarray(drawn).reshape(-1, len(mean))


def _density(points: Array, parts: list[tuple[float, Array, Array]]) -> Array:
    logarithms = [
        np.log(share) + multivariate_t.logpdf(points, mean, shape, _TAILS) for share, mean, shape in parts
    ]
    return np.asarray(logsumexp(logarithms, axis=0))
