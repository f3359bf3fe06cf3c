"""Time axis of a log's picture: parts of a restarting clock in a row, long series by their extremes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from segtrack.logs.reading import GAP, Restart, gaps_of, restarts_of


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


Array = NDArray[np.float64]
MAX_VALUE = 1e150
"""Largest number that is drawn: the squares of larger ones overflow."""
_BINS = 800
"""Along a panel's time, of each of which the least and the greatest value are drawn."""
_MOST_NAMED = 4
"""Restarts that are named: more would be drawn over each other."""
_APART = GAP + 1
"""Steps between two parts: enough that they are drawn with a gap between them."""


class TimeAxis(NamedTuple):
    """Times along an axis.

    Attributes:
        times: Times as they are up to the first restart, later ones behind those before it (n,) [s].
        restarts: Places of the restarts along the axis, and the times around them [s].
    """

    times: Array
    restarts: tuple[tuple[float, Restart], ...]


def time_axis(times: Array) -> TimeAxis:
    """Put the parts of a clock that starts again one behind the other; other falls stay as they are."""
    rows = restarts_of(times)
    if not len(rows):
        return TimeAxis(times, ())
    steps = np.diff(times)
    apart = _APART * float(np.median(steps[steps > 0]))
    shown, restarts = times.copy(), []
    for row in rows:
        shown[row + 1 :] += shown[row] + apart - shown[row + 1]
        place = float(shown[row : row + 2].mean())
        restarts.append((place, Restart(*times[row : row + 2].tolist())))
    return TimeAxis(shown, tuple(restarts))


def mark_restarts(axes: Axes, axis: TimeAxis, start: float) -> None:
    """Draw a dashed line at each restart, on an axis that begins at `start` [s]."""
    for place, _ in axis.restarts:
        axes.axvline(place - start, color="black", linestyle="--", linewidth=0.9)


def name_restarts(axes: Axes, axis: TimeAxis, start: float, height: float) -> None:
    """Label each clock restart with the times before and after it; `height` is in data coordinates."""
    for place, (before, after) in axis.restarts[:_MOST_NAMED]:
        text = f" restarts: {before:.6g} s to {after:.6g} s"
        axes.text(place - start, height, text, fontsize=7, va="center", color="white")


def line_through(times: Array, values: Array) -> tuple[Array, Array]:
    """Return a line through all numbers but for gaps; of many the extremes of each of many bins."""
    there = abs(values) <= MAX_VALUE
    times, values = times[there], values[there]
    ends = gaps_of(times)
    rows = extreme_rows(values, _BINS)
    breaks = np.searchsorted(rows, ends, side="right")
    return np.insert(times[rows], breaks, np.nan), np.insert(values[rows], breaks, np.nan)
