"""Initial guess of a clock fit: the offset, over several skews, at which two views correlate best.

A clock cannot be fitted to a motion that hardly varies, or that repeats itself: then there is no guess.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d
from scipy.signal import correlate

from segtrack.errors import Phrase
from segtrack.logs.clocks.views import View, compute_increments

Array = NDArray[np.float64]
LARGEST_SKEW = 0.08
"""Largest rate by which a clock may run slow or fast [-]."""
MIN_CORRELATION = 0.6
"""Least correlation of two sources that see the same motion."""
RIVAL = 0.9
"""Fraction of the best correlation above which a second peak makes the guess ambiguous ..."""
WEIGHTY = 0.5
"""... if its overlap has at least this fraction of the motion in the best one's."""
_BIN, _SMOOTHING, _WINDOW = 0.05, 0.1, 30.0
"""Interval of the rates, standard deviation of their smoothing, and length of the part used [s]."""


class ClockGuess(NamedTuple):
    """Initial guess of a clock fit.

    Attributes:
        offset: Offset of the source at its first time [s].
        skew: Skew of the source [-].
        scale: Rates of the reference over the source's [-].
        correlation: Correlation of both there [-].
        middle: Middle of the part of the source that was used, on its own clock [s].
    """

    offset: float
    skew: float
    scale: float
    correlation: float
    middle: float


def guess_clock(reference: View, source: View) -> ClockGuess | Phrase:
    """Find the offset and skew at which two views correlate best, or the reason to trust none.

    Lags of all lengths are tried at which both overlap for half of the shorter one.
    """
    ours = _rates(reference)
    theirs, begin = _busiest(_rates(source), source.times[0])
    step = _SMOOTHING / (len(theirs) * _BIN)
    skews = np.arange(-math.ceil(LARGEST_SKEW / step), math.ceil(LARGEST_SKEW / step) + 1) * step
    curves = [_correlations(ours, _stretch(theirs, skew)) for skew in skews.tolist()]
    best = max(range(len(skews)), key=lambda i: float(curves[i].weighed.max()))
    skew, curve = float(skews[best]), curves[best]
    opposed = None if source.is_turning else min(curves, key=lambda each: float(each.weighed.min()))
    complaint = _correlation_problem(curve, opposed)
    if complaint is not None:
        return complaint
    peak = int(np.argmax(curve.weighed))
    stretched = _stretch(theirs, skew)
    # Bin 0 of the stretched part meets this time of the reference.
    meets = reference.times[0] + (curve.lags[peak] + 0.5) * _BIN
    first = begin + 0.5 * _BIN
    offset = meets - first - skew * (first - source.times[0])
    scale = float(curve.values[peak] * curve.ratios[peak])
    return ClockGuess(offset, skew, scale, float(curve.values[peak]), begin + len(stretched) * _BIN / 2)


class _Curve(NamedTuple):
    """Correlations over lags, by which the second begins after the first [bins].

    `values` are the correlations of what overlaps, `shares` how much of both motions that is, and `ratios`
    the first's standard deviation there over the second's.
    """

    lags: NDArray[np.intp]
    values: Array
    shares: Array
    ratios: Array

    @property
    def weighed(self) -> Array:
        """Correlations times the share of the motion in the overlap: without motion they are chance."""
        return self.values * self.shares


def _rates(view: View) -> Array:
    """Smoothed mean rates in even bins; of turning in space how fast, whatever the axis."""
    count = max(int((view.times[-1] - view.times[0]) / _BIN), 1)
    edges = np.minimum(view.times[0] + np.arange(count + 1) * _BIN, view.times[-1])
    change = compute_increments(view, edges)
    rates = np.linalg.norm(change, axis=1) if view.is_turning else change[:, 0]
    return gaussian_filter1d(rates / _BIN, _SMOOTHING / _BIN, mode="nearest")


def _busiest(rates: Array, begin: float) -> tuple[Array, float]:
    """The part, short enough to be sure of its skew, in which most happens; and when it begins [s]."""
    count = round(_WINDOW / _BIN)
    if len(rates) <= count:
        return rates, begin
    sums, squares = (np.concatenate([[0.0], np.cumsum(rates**power)]) for power in (1, 2))
    spread = (squares[count:] - squares[:-count]) - (sums[count:] - sums[:-count]) ** 2 / count
    first = int(np.argmax(spread))
    return rates[first : first + count], begin + first * _BIN


def _stretch(rates: Array, skew: float) -> Array:
    """Rates of a clock that runs slow by a skew, in bins of the other's."""
    count = max(int(len(rates) * (1 + skew)), 1)
    return np.interp(np.arange(count) / (1 + skew), np.arange(len(rates)), rates)


def _correlations(ours: Array, theirs: Array) -> _Curve:
    """Pearson's correlation of what overlaps, at each lag (Padfield 2012: masked, by Fourier transforms)."""
    ours, theirs = ours - ours.mean(), theirs - theirs.mean()
    one, two = np.ones_like(ours), np.ones_like(theirs)

    def over_lags(a: Array, b: Array) -> Array:
        return correlate(a, b, mode="full", method="fft")

    counts = np.maximum(over_lags(one, two).round(), 1.0)
    sum_ours, sum_theirs = over_lags(ours, two), over_lags(one, theirs)
    spread_ours = np.maximum(over_lags(ours**2, two) - sum_ours**2 / counts, 0.0)
    spread_theirs = np.maximum(over_lags(one, theirs**2) - sum_theirs**2 / counts, 0.0)
    both = over_lags(ours, theirs) - sum_ours * sum_theirs / counts
    # Where one hardly varies, rounding would make a correlation of nothing.
    least = 1e-9 * max(float(np.sum(ours**2) * np.sum(theirs**2)), 1e-300)
    product = spread_ours * spread_theirs
    enough = (counts >= min(len(ours), len(theirs)) / 2) & (product > least)
    values = np.where(enough, both / np.sqrt(np.where(enough, product, 1.0)), 0.0)
    ratios = np.sqrt(spread_ours / np.where(enough, spread_theirs, 1.0))
    shares = np.sqrt(product / (np.sum(ours**2) * np.sum(theirs**2) + 1e-300))
    lags = np.arange(len(values)) - (len(theirs) - 1)
    return _Curve(lags, values, shares, ratios)


def _correlation_problem(curve: _Curve, opposed: _Curve | None) -> Phrase | None:
    """Reason not to trust a curve's best correlation, beside that at the skew with the most negative one."""
    weighed = curve.weighed
    peak = int(np.argmax(weighed))
    best = float(curve.values[peak])
    if opposed is not None and RIVAL * -opposed.weighed.min() > weighed[peak]:
        against = float(opposed.values[np.argmin(opposed.weighed)])
        if -against >= MIN_CORRELATION:
            return Phrase(
                f"they go against each other (correlation {against:.2f}): is a sign in the mapping wrong?"
            )
    if best < MIN_CORRELATION:
        return Phrase(
            f"the peak is flat: what both see varies too little, or is not the same "
            f"(the best correlation is {best:.2f}, at least {MIN_CORRELATION} is needed)"
        )
    others = np.where(curve.shares > WEIGHTY * curve.shares[peak], curve.values, 0.0)
    others[_foot(weighed, peak, -1) : _foot(weighed, peak, 1) + 1] = 0.0
    rival = int(np.argmax(others))
    if others[rival] > RIVAL * best:
        apart = abs(int(curve.lags[rival] - curve.lags[peak])) * _BIN
        return Phrase(
            f"what both see repeats itself: offsets {apart:.2g} s apart fit alike "
            f"(correlations {best:.2f} and {others[rival]:.2f})"
        )
    return None


def _foot(weighed: Array, peak: int, way: int) -> int:
    """Index at which a peak ends on one side: it has fallen to a half, and rises again."""
    i = peak
    while 0 < i < len(weighed) - 1:
        if weighed[i] < weighed[peak] / 2 and weighed[i + way] > weighed[i]:
            break
        i += way
    return i
