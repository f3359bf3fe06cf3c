"""A device's clock against the receiver's, from when messages were stamped and when they came.

A message comes late, never early, so that the fastest ones show the clock: they are on the lower edge of
receive less stamp over stamp. The line below all of them with the least sum of distances (Moon, Skelly and
Towsley 1999) is a start; the earliest in each of about sqrt(n) windows, and the median of slopes between
these (Paxson 1998, Sen 1968), are the fit, since they say how sure it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, theilslopes

from segtrack.errors import Phrase
from segtrack.logs.clocks.estimates import Estimate

FEWEST = 24
"""Least number of messages."""
_FEWEST_WINDOWS, _MOST_WINDOWS = 6, 60


@dataclass(frozen=True)
class ReceiveFit:
    """A device's clock on the receiver's.

    Attributes:
        offset: Time to add at the first stamp, including the shortest delay, which is unknown [s].
        skew: Rate by which the device's clock runs slow (positive) or fast (negative) [-].
        delays: Median and 95 % quantile of the delay beyond the shortest [s].
        unevenness: Greatest distance of a window's earliest message from the line [s].
    """

    offset: Estimate
    skew: Estimate
    delays: tuple[float, float]
    unevenness: float


def fit_receive_times(stamps: NDArray[np.float64], times: NDArray[np.float64]) -> ReceiveFit | Phrase:
    """Fit the clock of stamps (n,) to receive times (n,) [s], or return the reason why it fails."""
    if len(stamps) < FEWEST:
        return Phrase(f"it has {len(stamps)} messages, at least {FEWEST} are needed")
    if not np.any(np.diff(stamps) > 0):
        return Phrase("all its messages have the same stamp")
    since = stamps - stamps[0]
    late = (times - times[0]) - since
    at_zero, slope = _line_below(since, late)
    above = late - at_zero - slope * since
    x, y = _earliest(since, above)
    more, _, low, high = theilslopes(y, x, 0.95)
    middle = float(np.median(x))
    rest = y - more * (x - middle)
    level, below, beyond = _median(rest)
    skew = Estimate(float(slope + more), float(slope + low), float(slope + high))
    # The median line passes through the middle; to the start it takes the slope's margin along.
    down, up = (
        math.hypot(level - below, (high - more) * middle),
        math.hypot(beyond - level, (more - low) * middle),
    )
    offset = times[0] - stamps[0] + at_zero + level - more * middle
    delays = np.maximum(above - level - more * (since - middle), 0.0)
    return ReceiveFit(
        offset=Estimate(float(offset), float(offset - down), float(offset + up)),
        skew=skew,
        delays=(float(np.median(delays)), float(np.quantile(delays, 0.95))),
        unevenness=float(np.max(np.abs(rest - level))),
    )


def _line_below(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float]:
    """Value at 0 and slope of the line below all points that is nearest to them: an edge of their hull."""
    order = np.lexsort((y, x))
    hull: list[int] = []
    for i in order.tolist():
        while len(hull) > 1 and _turns_down(x, y, hull[-2], hull[-1], i):
            hull.pop()
        if not hull or x[i] > x[hull[-1]]:
            hull.append(i)
    ends = x[hull]
    right = min(max(int(np.searchsorted(ends, x.mean())), 1), len(hull) - 1)
    a, b = hull[right - 1], hull[right]
    slope = (y[b] - y[a]) / (x[b] - x[a])
    return float(y[a] - slope * x[a]), float(slope)


def _turns_down(x: NDArray[np.float64], y: NDArray[np.float64], a: int, b: int, c: int) -> bool:
    """Return True if b is on the line from a to c or above it."""
    return bool((y[b] - y[a]) * (x[c] - x[a]) >= (y[c] - y[a]) * (x[b] - x[a]))


def _earliest(
    x: NDArray[np.float64], y: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The lowest point of each window of as many points."""
    windows = min(max(int(math.sqrt(len(x))), _FEWEST_WINDOWS), _MOST_WINDOWS)
    lowest = [int(part[np.argmin(y[part])]) for part in np.array_split(np.argsort(x, kind="stable"), windows)]
    return x[lowest], y[lowest]


def _median(values: NDArray[np.float64]) -> tuple[float, float, float]:
    """Median and its interval of 95 %, from the ranks between which it is."""
    ordered = np.sort(values)
    rank = int(binom.ppf(0.025, len(values), 0.5))
    low = max(rank - 1, 0)
    return float(np.median(values)), float(ordered[low]), float(ordered[len(values) - 1 - low])
