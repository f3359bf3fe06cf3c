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


def autocovariances(values: Array) -> Array:
    """Covariances of a series (n,) about 0 with itself, by lags from 0 samples on (n,); sums over n."""
    n = len(values)
    size = 1 << (2 * n - 1).bit_length()
    power = abs(np.fft.rfft(values, size)) ** 2
    return np.fft.irfft(power, size)[:n] / n


def memory(values: Array, white: float = 0.0) -> int:
    """First lag at which a series (n,) about 0 is correlated with itself by no more than chance [samples].

    Args:
        values: The series.
        white: Variance of white noise that each sample has besides.
    """
    covariances = autocovariances(values)
    small = covariances[1:] < _CHANCE / len(values) ** 0.5 * (covariances[0] + white)
    return 1 + int(np.argmax(small)) if small.any() else len(values)


def effective_samples(values: Array, white: float = 0.0, centred: bool = False) -> float:
    """Number of independent samples that tell as much of a mean as a series (n,) about 0; at most n.

    n v / s, with the variance v and the spectrum at 0, s, the sum of covariances over lags of either sign: of
    a series whose samples are r times those before and new noise, n (1 - r) / (1 + r). Covariances are summed
    in pairs of neighbouring lags as long as a pair is positive, and none counts more than those before it
    (Geyer 1992, initial monotone sequence, which ends late by chance: 1 to 10 % too few samples). Taking its
    own mean from a series takes s / n from each covariance, which is added again.

    Args:
        values: The series.
        white: Variance of white noise that each sample has besides.
        centred: True if its own mean was taken away.
    """
    n, covariances = len(values), autocovariances(values)
    covariances[0] += white
    pairs = covariances[: n // 2 * 2].reshape(-1, 2).sum(axis=1)
    count = max(1, int(np.argmax(pairs <= 0.0)) if (pairs <= 0.0).any() else len(pairs))
    spectrum = 2.0 * float(np.minimum.accumulate(pairs[:count]).sum()) - covariances[0]
    if spectrum <= covariances[0]:
        return float(n)
    if not centred:
        return float(n * covariances[0] / spectrum)
    return float(1.0 + max(n - (4 * count - 1), 0) * covariances[0] / spectrum)
