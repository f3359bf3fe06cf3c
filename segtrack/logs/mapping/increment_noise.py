"""Noise of two sources in the increments that are compared: its likelihood, and whitening by it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import LinAlgError, cholesky_banded
from scipy.linalg.lapack import dtbtrs
from scipy.optimize import brentq, minimize_scalar

from segtrack.logs.mapping.clock_fit import Estimate
from segtrack.logs.statistics import NORMAL_QUANTILE

Array = NDArray[np.float64]

_FARTHEST = 7.0
"""Logarithm of the ratio of both sources' parts in the residuals, up to which the likelihood is searched."""
_CEILING = 5.0
"""Logarithm of the ratio of an interval's end to the estimate, at most."""
_DROP = NORMAL_QUANTILE**2 / 2
"""Drop of the log-likelihood at the ends of an interval of 95 % (Wilks 1938)."""


@dataclass(frozen=True, eq=False)
class NoiseModel:
    """Covariance of m increments, from the white noise of the samples that they are made of.

    Attributes:
        reference: Lower bands (b, m), see `bands`, for noise of 1 in the reference's samples.
        source: Lower bands for noise of 1 in the source's samples, likewise.
    """

    reference: Array
    source: Array

    @classmethod
    def of(cls, reference: sparse.csr_matrix, source: sparse.csr_matrix) -> NoiseModel:
        """Return the model from the weights of samples in m increments (m, n)."""
        both = bands(reference @ reference.T), bands(source @ source.T)
        deepest = max(map(len, both))
        return cls(*(np.pad(each, ((0, deepest - len(each)), (0, 0))) for each in both))

    def with_variances(self, variances: Array, stds: tuple[float, float]) -> NoiseModel:
        """Return the model with known variances of increments (m,), beside noise of about two deviations.

        They go with that noise which is larger, so that a likelihood of both has two unknowns.
        """
        parts = self.reference.copy(), self.source.copy()
        larger = int(stds[1] > stds[0] * self.usual_ratio)
        parts[larger][0] += variances / stds[larger] ** 2
        return NoiseModel(*parts)

    def factor(self, stds: tuple[float, float]) -> Array:
        """Return the lower Cholesky factor, in bands, for the standard deviations of both samples."""
        return cholesky_banded(stds[0] ** 2 * self.reference + stds[1] ** 2 * self.source, lower=True)

    @property
    def usual_ratio(self) -> float:
        """Standard deviation of the source's samples over the reference's at which both matter alike."""
        return math.sqrt(float(self.reference[0].mean() / self.source[0].mean()))


class NoiseLikelihood:
    """Likelihood of residuals as a function of the standard deviations of both sources.

    It is restricted to what the parameters of the fit leave (Patterson and Thompson 1971).
    """

    def __init__(self, model: NoiseModel, residual: Array, jacobian: Array) -> None:
        """Take residuals (m, k) and their derivatives by the fit's parameters (m, k, p)."""
        self.model, self.residual, self.jacobian = model, residual, jacobian
        self.freedom = max(residual.size - jacobian.shape[-1], 1)
        self.floor = 1e-9 * math.sqrt(float(np.mean(residual**2))) + 1e-15

    def likeliest(self) -> tuple[float, float]:
        """Standard deviations of the reference's samples and the source's; one may be 0 beside the other."""
        best = _smallest(lambda ratio: self._parts(ratio)[0], -_FARTHEST, _FARTHEST)
        _, rest = self._parts(best)
        reference = math.sqrt(rest / self.freedom)
        return max(reference, self.floor), max(reference * self._ratio(best), self.floor)

    def estimates(self, stds: tuple[float, float]) -> tuple[Estimate, Estimate]:
        """Return both, with intervals in which the likelihood is not much smaller; they may begin at 0."""
        least = self._cost(stds)
        return self._estimate(stds, 0, least), self._estimate(stds, 1, least)

    def _estimate(self, stds: tuple[float, float], which: int, least: float) -> Estimate:
        # Where it is about 0, its upper end is sought from a hundredth of what would explain all residuals.
        weights = (self.model.reference, self.model.source)[which][0].mean()
        own = max(stds[which], 0.01 * math.sqrt(float(np.mean(self.residual**2) / weights)))
        other = stds[1 - which]

        def excess(log: float) -> float:
            value = own * math.exp(log)

            def cost(log_other: float) -> float:
                pair = (value, other * math.exp(log_other))
                return self._cost(pair if which == 0 else pair[::-1])

            return cost(_smallest(cost, -2.0, 2.0)) - least - _DROP

        estimate = math.log(stds[which] / own)
        if excess(0.0) > 0:  # The upper end is below the hundredth.
            low = _crossing(excess, -1.0, estimate)
            high: float | None = float(brentq(excess, estimate, 0.0, xtol=1e-3))
        else:
            low = None if own > stds[which] else _crossing(excess, -1.0, estimate)
            high = _crossing(excess, 1.0, 0.0)
        return Estimate(
            stds[which],
            0.0 if low is None else own * math.exp(low),
            own * math.exp(_CEILING if high is None else high),
        )

    def _ratio(self, log: float) -> float:
        return math.exp(log) * self.model.usual_ratio

    def _parts(self, ratio: float) -> tuple[float, float]:
        """Cost with the best level for a ratio, and the sum of squares that gives the level."""
        try:
            factor = self.model.factor((1.0, self._ratio(ratio)))
        except LinAlgError:
            return math.inf, 1.0
        rest, volume = self._projected(factor)
        return self.freedom * math.log(rest) + volume, rest

    def _cost(self, stds: tuple[float, float]) -> float:
        """Less the logarithm of the likelihood."""
        try:
            rest, volume = self._projected(self.model.factor(stds))
        except LinAlgError:
            return math.inf
        return (rest + volume) / 2

    def _projected(self, factor: Array) -> tuple[float, float]:
        """Sum of squares that the parameters leave of whitened residuals, and logarithms of determinants."""
        white = whiten(factor, self.residual).ravel()
        slopes = whiten(factor, self.jacobian).reshape(len(white), -1)
        information = slopes.T @ slopes
        along = slopes.T @ white
        rest = float(white @ white - along @ np.linalg.lstsq(information, along, rcond=1e-12)[0])
        eigenvalues = np.linalg.eigvalsh(information)
        seen = eigenvalues[eigenvalues > 1e-12 * eigenvalues.max(initial=0.0)]
        volume = 2 * self.residual.shape[1] * float(np.log(factor[0]).sum()) + float(np.log(seen).sum())
        return max(rest, 1e-300), volume


def bands(matrix: sparse.spmatrix) -> Array:
    """Return the diagonal of a symmetric matrix (m, m), and the nonzero ones below it (b, m)."""
    entries = matrix.tocoo()
    below = entries.row - entries.col
    lower = np.zeros((int(below.max(initial=0)) + 1, matrix.shape[0]))
    keep = below >= 0
    lower[below[keep], entries.col[keep]] = entries.data[keep]
    return lower


def whiten(factor: Array, rows: Array) -> Array:
    """Whiten rows (m, ...): their noise becomes independent, with a standard deviation of 1."""
    solved, _ = dtbtrs(factor, rows.reshape(len(rows), -1), uplo="L")
    return np.asarray(solved).reshape(rows.shape)


def _smallest(cost: Callable[[float], float], low: float, high: float) -> float:
    return float(minimize_scalar(cost, bounds=(low, high), method="bounded", options={"xatol": 1e-2}).x)


def _crossing(excess: Callable[[float], float], sign: float, start: float) -> float | None:
    """Zero of a function that is negative at a start, on one side of it; None if there is none."""
    inside = 0.0
    for outside in (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, _CEILING):
        if excess(start + sign * outside) > 0:
            return float(brentq(excess, start + sign * inside, start + sign * outside, xtol=1e-3))
        inside = outside
    return None
