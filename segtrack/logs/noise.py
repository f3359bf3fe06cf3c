"""Noise of signals that were sampled evenly, by their second differences, and how alike neighbours are.

Those of white noise have six times its variance, those of a smooth signal hardly any; their median is that of
nearly all of the signal, jumps and spikes left out.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

NORMAL_MEDIAN = 0.6745
"""Median of what is normally distributed, without its sign, over its standard deviation."""


def noise_of(values: Array) -> float:
    """Return the standard deviation of the noise of samples (n,), or the largest of k at a time (n, k)."""
    if len(values) < 3:
        return 0.0
    columns = np.diff(values, 2, axis=0).reshape(len(values) - 2, -1)
    return max(noise_of_differences(column) for column in columns.T)


def noise_of_differences(second: Array) -> float:
    """Return the standard deviation of the noise by second differences, of any shape."""
    return float(np.median(abs(second)) / (NORMAL_MEDIAN * math.sqrt(6.0)))


_CHANCE = 2.0
"""Correlations of n independent values are below this over the root of n [-], nearly always."""


def correlation(values: Array, lag: int, white: float = 0.0) -> float:
    """Correlation of a series (n,) about 0 with itself, so many samples later [-].

    Args:
        values: Series without a mean.
        lag: [samples]
        white: Variance of white noise that each sample has besides.
    """
    squares = float(values @ values) + len(values) * white
    return float(values[lag:] @ values[: len(values) - lag]) / squares


def memory(values: Array, white: float = 0.0) -> int:
    """First lag at which a series (n,) about 0 is correlated with itself by no more than chance [samples]."""
    n = len(values)
    least = _CHANCE / n**0.5
    return next((lag for lag in range(1, n) if correlation(values, lag, white) < least), n)


def effective_samples(values: Array, white: float = 0.0) -> float:
    """Number of independent samples that tell as much of a mean as a series (n,) about 0.

    n / (1 + 2 sum of the correlations over lags), up to the first that is no more than chance: of one whose
    samples are r times those before and new noise, n (1 - r) / (1 + r).
    """
    total = sum(correlation(values, lag, white) for lag in range(1, memory(values, white)))
    return len(values) / (1 + 2 * total)
