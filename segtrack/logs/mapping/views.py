"""Views of a motion as one source measures it, and the offset at which two of them correlate best.

A view has increments from one time to the next. The offset, over several skews, is the initial guess of a
clock fit; there is none where the motion hardly varies or repeats itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import sparse
from scipy.ndimage import gaussian_filter1d
from scipy.spatial.transform import Rotation

from segtrack.errors import Phrase
from segtrack.robot import Motion, Signal, same_signs, turned_at

Array = NDArray[np.float64]
Seen = Literal["turning", "pitch", "yaw", "speed"]
SEEN: tuple[Seen, ...] = ("turning", "pitch", "yaw", "speed")
"""Motions that two sources can share, the most informative first: turning in space, parts of it, speed."""


@dataclass(frozen=True, eq=False)
class View:
    """Motion as one source measures it.

    Attributes:
        what: Turning in space, pitch, yaw or forward speed.
        is_rate: True for rates, False for the quantity that changes at that rate.
        times: Times on the source's clock, ascending (n,) [s].
        values: Turning: quaternions (x, y, z, w) of the sensor in its world (n, 4), or angular velocity in
            the sensor's frame (n, 3) [rad/s]. Pitch, yaw: angles (n,) [rad] or rates [rad/s]. Speed: distance
            (n,) [m] or speed [m/s].
    """

    what: Seen
    is_rate: bool
    times: Array
    values: Array

    @property
    def is_turning(self) -> bool:
        """True for turning in space."""
        return self.what == "turning"

    def subtract_bias(self, bias: Array | float) -> View:
        """Return the view of a rate with a bias subtracted."""
        return replace(self, values=self.values - bias)

    def with_values(self, values: Array) -> View:
        """Return a view of other values at these times; for orientations of small rotation vectors (n, 3)."""
        if self.is_turning and not self.is_rate:
            values = Rotation.from_rotvec(values).as_quat()
        return replace(self, values=values.reshape(self.values.shape))

    def smooth(self, width: float) -> View:
        """Return the view smoothed by a triangular mean over a width before and after each time [s]."""
        if width <= 0:
            return self
        is_orientation = self.values.ndim > 1 and self.values.shape[1] == 4
        values = same_signs(self.values) if is_orientation else self.values
        columns = values.reshape(len(self.times), -1).T
        for _ in range(2):
            columns = np.stack([_box_mean(self.times, column, width / 2) for column in columns])
        smooth = columns.T.reshape(values.shape)
        if self.is_turning and not self.is_rate:
            smooth = smooth / np.linalg.norm(smooth, axis=1, keepdims=True)
        return replace(self, values=smooth)

    def shift(self, offset: float) -> View:
        """Return the view with an offset added to its times [s]."""
        return replace(self, times=self.times + offset)


def find_views(source: Motion, *, rates_first: bool) -> Mapping[Seen, View]:
    """Return the views of a source, each from one of its signals.

    Args:
        source: Signals on one clock.
        rates_first: Take turning in space from a gyroscope where there is one, whose noise is white, rather
            than from an orientation, whose noise has been filtered.
    """
    turning = (_angular_velocity(source), _orientation(source))
    views = (
        next(filter(None, turning if rates_first else reversed(turning)), None),
        _angle(source, "pitch") or _component(source, "pitch", 1, -1.0),
        _angle(source, "yaw") or _yaw_rate(source),
        _speed(source),
    )
    return {view.what: view for view in views if view is not None}


def _angular_velocity(motion: Motion) -> View | None:
    rates = motion.signals.get("angular_velocity")
    return None if rates is None else View("turning", True, rates.times, rates.values)


def _orientation(motion: Motion) -> View | None:
    if (orientation := motion.signals.get("orientation")) is not None:
        return View("turning", False, orientation.times, orientation.values)
    angles = [motion.signals.get(name) for name in ("roll", "pitch", "yaw")]
    if not _at_one_time(angles):
        return None
    roll, pitch, yaw = (signal.values for signal in angles)  # type: ignore[union-attr]
    turned = Rotation.from_euler("ZYX", np.stack([yaw, -pitch, roll], axis=1)).as_quat()
    return View("turning", False, angles[0].times, turned)  # type: ignore[union-attr]


def _angle(motion: Motion, name: Seen) -> View | None:
    angle = motion.angle(name)
    return None if angle is None else View(name, False, angle.times, angle.values)


def _component(motion: Motion, name: Seen, axis: int, sign: float) -> View | None:
    """A part of an angular velocity in the body frame, as an angle's rate: so it is while roll is small."""
    rates = motion.signals.get("angular_velocity")
    return None if rates is None else View(name, True, rates.times, sign * rates.values[:, axis])


def _yaw_rate(motion: Motion) -> View | None:
    if (rate := motion.signals.get("yaw_rate")) is not None:
        return View("yaw", True, rate.times, rate.values)
    if (part := _component(motion, "yaw", 2, 1.0)) is not None:
        return part
    belts = _belts(motion)
    if belts is None:
        return None
    left, right = belts  # A metre apart: how far they really are is found with the clock.
    return View("yaw", True, left.times, right.values - left.values)


def _speed(motion: Motion) -> View | None:
    if (velocity := motion.signals.get("velocity")) is not None:
        return View("speed", True, velocity.times, velocity.values[:, 0])
    belts = _belts(motion)
    if belts is not None:
        return View("speed", True, belts[0].times, (belts[0].values + belts[1].values) / 2)
    position, turned = motion.signals.get("position"), motion.signals.get("orientation")
    if position is None or turned is None or not _at_one_time([position, turned]):
        return None
    forward = Rotation.from_quat(turned.values).apply([1.0, 0.0, 0.0])
    steps = np.sum(np.diff(position.values, axis=0) * (forward[1:] + forward[:-1]) / 2, axis=1)
    return View("speed", False, position.times, np.concatenate([[0.0], np.cumsum(steps)]))


def _belts(motion: Motion) -> tuple[Signal, Signal] | None:
    """Both sides' belt speeds, measured ones if there are, at the times of the left one."""
    for name in ("belt_speed", "belt_speed_command"):
        left, right = (motion.signals.get(f"{name}.{side}") for side in ("left", "right"))
        if left is not None and right is not None:
            return left, replace(right, times=left.times, values=right.at(left.times))
    return None


def _at_one_time(signals: list[Signal | None]) -> bool:
    """Return True if there are all of these, with the same times."""
    first, *others = signals
    return first is not None and all(
        other is not None and np.array_equal(other.times, first.times) for other in others
    )


def _box_mean(times: Array, values: Array, reach: float) -> Array:
    """Mean of what is linear between samples, from a reach [s] before each to as much after it."""
    reach_there = np.minimum(reach, np.minimum(times - times[0], times[-1] - times))
    sums = np.concatenate([[0.0], np.cumsum((values[1:] + values[:-1]) / 2 * np.diff(times))])

    def integral(at: Array) -> Array:
        i = np.clip(np.searchsorted(times, at, side="right") - 1, 0, len(times) - 2)
        since = at - times[i]
        slope = (values[i + 1] - values[i]) / (times[i + 1] - times[i])
        return sums[i] + values[i] * since + slope * since**2 / 2

    inside = reach_there > 0
    means, ends = values.copy(), (times + reach_there, times - reach_there)
    above, below = (integral(end[inside]) for end in ends)
    means[inside] = (above - below) / (2 * reach_there[inside])
    return means


def compute_increments(view: View, times: Array) -> Array:
    """Compute the change from each of n + 1 times [s] to the next (n, k): rotation vectors [rad], or k = 1.

    A rotation vector is in the sensor's frame at the earlier time. Between samples rates are linear, and
    orientations turn steadily; times must be within the view's.
    """
    if not view.is_rate and view.is_turning:
        turned = Rotation.from_quat(turned_at(view.times, view.values, times))
        return (turned[:-1].inv() * turned[1:]).as_rotvec()
    if not view.is_rate:
        return np.diff(np.interp(times, view.times, view.values))[:, None]
    return _integrate_rates(view, times)


def _integrate_rates(view: View, times: Array) -> Array:
    """Integrals of rates from each time to the next.

    A rotation vector changes at w + a x w / 2 (Bortz 1971, to second order), where a is the integral of the
    rate w since the increment began: that is a(t) - a(begin), so that sums over the whole view will do.
    """
    rates = view.values.reshape(len(view.times), -1)
    spans = np.diff(view.times)[:, None]
    slopes = np.diff(rates, axis=0) / spans
    sums = _cumulate((rates[1:] + rates[:-1]) / 2 * spans)
    i = np.clip(np.searchsorted(view.times, times, side="right") - 1, 0, len(spans) - 1)
    since = (times - view.times[i])[:, None]
    angles = sums[i] + rates[i] * since + slopes[i] * since**2 / 2
    change = np.diff(angles, axis=0)
    if not view.is_turning:
        return change

    def crossed(k: NDArray[np.intp], span: Array) -> Array:
        """The integral of a x w from sample k over a span."""
        return (
            _cross(sums[k], rates[k]) * span
            + _cross(sums[k], slopes[k]) * span**2 / 2
            + _cross(rates[k], slopes[k]) * span**3 / 6
        )

    products = _cumulate(crossed(np.arange(len(spans)), spans))[i] + crossed(i, since)
    return change + (np.diff(products, axis=0) - _cross(angles[:-1], change)) / 2


def compute_noise_weights(view: View, times: Array) -> sparse.csr_matrix:
    """Weights of the view's m samples in each of n increments (n, m)."""
    if not view.is_rate:
        at = _between(view.times, times)
        return (at[1:] - at[:-1]).tocsr()
    inside = view.times[(view.times > times[0]) & (view.times < times[-1])]
    breaks = np.union1d(inside, times)
    spans, middles = np.diff(breaks), (breaks[1:] + breaks[:-1]) / 2
    rows = np.clip(np.searchsorted(times, middles, side="right") - 1, 0, len(times) - 2)
    pieces = sparse.csr_matrix((spans, (rows, np.arange(len(spans)))), shape=(len(times) - 1, len(spans)))
    return (pieces @ _between(view.times, middles)).tocsr()


def find_gaps(view: View, times: Array, longest: float) -> NDArray[np.bool_]:
    """Mask of the increments that meet a time of more than `longest` [s] without a sample (n,)."""
    gaps = np.concatenate([[0], np.cumsum(np.diff(view.times) > longest)])
    first = np.clip(np.searchsorted(view.times, times[:-1], side="right") - 1, 0, None)
    last = np.clip(np.searchsorted(view.times, times[1:], side="left"), None, len(gaps) - 1)
    return gaps[last] > gaps[first]


def _between(samples: Array, times: Array) -> sparse.csr_matrix:
    """Weights of samples in values that are linear between them (n, m)."""
    i = np.clip(np.searchsorted(samples, times, side="right") - 1, 0, len(samples) - 2)
    part = (times - samples[i]) / (samples[i + 1] - samples[i])
    rows = np.arange(len(times))
    places = np.concatenate([rows, rows]), np.concatenate([i, i + 1])
    data = np.concatenate([1 - part, part])
    return sparse.csr_matrix((data, places), shape=(len(times), len(samples)))


def _cross(a: Array, b: Array) -> Array:
    """Products of rows (n, 3); several times as fast as numpy's."""
    (ax, ay, az), (bx, by, bz) = a.T, b.T
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=1)


def _cumulate(parts: Array) -> Array:
    """Sums of the first 0 to n rows (n + 1, k)."""
    return np.concatenate([np.zeros((1, parts.shape[1])), np.cumsum(parts, axis=0)])


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


def guess_clock(reference: View, source: View, largest_skew: float) -> ClockGuess | Phrase:
    """Find the offset and skew at which two views correlate best, or the reason to trust none.

    Lags of all lengths are tried at which both overlap for half of the shorter one, and skews up to a largest
    one [-].
    """
    ours = _rates(reference)
    theirs, begin = _busiest(_rates(source), source.times[0])
    step = _SMOOTHING / (len(theirs) * _BIN)
    most = math.ceil(largest_skew / step - 0.5)  # Half a step is as good as none.
    skews = np.arange(-most, most + 1) * step
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
        found: Array = scipy.signal.correlate(a, b, mode="full", method="fft")
        return found

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
