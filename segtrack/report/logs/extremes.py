"""Rows of a long series that show its extremes: the least and the greatest value of each of many bins."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def extreme_rows(values: NDArray[np.float64], bins: int) -> NDArray[np.intp]:
    """Rows of a series that show its extremes.

    Args:
        values: Finite values (n,).
        bins: Number of bins, each of equally many rows; the rows that are left over are all kept.

    Returns:
        Ascending rows: two of each bin; all of them where that would be no fewer than half.
    """
    rows = np.arange(len(values))
    if len(values) <= 4 * bins:
        return rows
    size = len(values) // bins
    table = values[: size * bins].reshape(bins, size)
    first = np.arange(bins) * size
    both = np.sort(np.stack([first + table.argmin(axis=1), first + table.argmax(axis=1)]), axis=0)
    return np.concatenate([both.T.ravel(), rows[size * bins :]])
