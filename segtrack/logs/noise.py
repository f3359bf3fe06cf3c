"""Noise of signals that were sampled evenly, by their second differences.

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
