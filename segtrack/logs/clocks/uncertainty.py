"""Estimates with their intervals, and variances that are honest for residuals which hang together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

NORMAL_QUANTILE = 1.959964
"""Of the normal distribution for an interval of 95 %."""


@dataclass(frozen=True)
class Estimate:
    """A number that was estimated, in the unit of what it is of.

    Attributes:
        value: The estimate.
        low: Where the interval begins that holds the true value with a probability of 95 % ...
        high: ... and where it ends.
    """

    value: float
    low: float
    high: float

    @classmethod
    def normal(cls, value: float, std: float, quantile: float = NORMAL_QUANTILE) -> Estimate:
        """One whose error has a standard deviation, and a distribution symmetric about zero."""
        return cls(float(value), float(value - quantile * std), float(value + quantile * std))

    @property
    def relative_std(self) -> float:
        """Standard deviation of the logarithm of a positive number, 1 at most."""
        if self.low <= 0:
            return 1.0
        return min(math.log(self.high / self.low) / (2 * NORMAL_QUANTILE), 1.0)

    @property
    def margin(self) -> float:
        """Half of the interval's length."""
        return (self.high - self.low) / 2

    def holds(self, value: float) -> bool:
        """Whether a value is in the interval."""
        return self.low <= value <= self.high

    def record(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {"value": self.value, "low": self.low, "high": self.high}


def sandwich(
    jacobian: NDArray[np.float64], residual: NDArray[np.float64], inverse: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Covariance of least-squares estimates whose residuals hang together over time (p, p).

    Newey and West's (1987), with the lags weighted by Bartlett's kernel, as many as Andrews (1991, his
    equations 5.3 and 6.4) finds best for autoregressive scores.

    Args:
        jacobian: Of n times with k residuals each, in their order (n, k, p).
        residual: (n, k).
        inverse: Of the information matrix that the estimates were made with (p, p).
    """
    scores = np.einsum("nkp,nk->np", jacobian, residual)
    count = len(scores)
    total = scores.T @ scores
    for lag in range(1, _lags(scores) + 1):
        both = scores[lag:].T @ scores[:-lag]
        total += (1 - lag / (_lags(scores) + 1)) * (both + both.T)
    return inverse @ total @ inverse.T * count / max(count - inverse.shape[0], 1)


def _lags(scores: NDArray[np.float64]) -> int:
    """How many lags to weigh, from the autoregression of each column (n, p)."""
    count = len(scores)
    power = np.sum(scores[:-1] ** 2, axis=0)
    slopes = np.sum(scores[1:] * scores[:-1], axis=0) / np.where(power > 0, power, 1.0)
    slopes = np.clip(slopes, -0.97, 0.97)
    variances = np.var(scores, axis=0) * (1 - slopes**2)
    weights = variances**2 / (1 - slopes) ** 4
    top = np.sum(4 * slopes**2 * variances**2 / ((1 - slopes) ** 6 * (1 + slopes) ** 2))
    alpha = top / np.sum(weights) if np.sum(weights) > 0 else 0.0
    return min(math.ceil(1.1447 * (alpha * count) ** (1 / 3)), count // 4)
