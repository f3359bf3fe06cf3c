"""Uncertainty of fitted unknowns.

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

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from segtrack.logs.statistics import CONFIDENCE, effective_samples, score_covariances

Array = NDArray[np.float64]
_RANK = 1e-6
"""Eigenvalues below this share of the largest are none."""
_QUIET = 0.1
"""White noise that all residuals have besides [-]: what is far below its stated noise says nothing."""
_LEAST = 1e-6
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
    known = priors.T @ priors + _LEAST * np.eye(count)
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
