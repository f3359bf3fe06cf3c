"""By how much what a source sees changes from one time to the next, and what its noise adds to that.

Increments are what two sources have in common, whether one measures an angle and the other a rate, and at
whatever times. They need no derivative of what is noisy, and nothing of where either began.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.transform import Rotation, Slerp

from segtrack.logs.clocks.views import View


def increments(view: View, times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Change from each of n + 1 times [s] to the next (n, k): rotation vectors [rad], k = 3, or k = 1.

    A rotation vector is in the sensor's frame at the earlier time. Between samples rates are linear, and
    orientations turn steadily; times must be within the view's.
    """
    if not view.is_rate and view.is_turning:
        turned = Slerp(view.times, Rotation.from_quat(view.values))(times)
        return (turned[:-1].inv() * turned[1:]).as_rotvec()
    if not view.is_rate:
        return np.diff(np.interp(times, view.times, view.values))[:, None]
    return _integrated_rates(view, times)


def _integrated_rates(view: View, times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Integrals of rates from each time to the next.

    A rotation vector changes at w + a x w / 2 (Bortz 1971, to second order), where a is the integral of the
    rate w since the increment began: that is a(t) - a(begin), so that sums over the whole view will do.
    """
    rates = view.values.reshape(len(view.times), -1)
    spans = np.diff(view.times)[:, None]
    slopes = np.diff(rates, axis=0) / spans
    sums = _summed((rates[1:] + rates[:-1]) / 2 * spans)
    i = np.clip(np.searchsorted(view.times, times, side="right") - 1, 0, len(spans) - 1)
    since = (times - view.times[i])[:, None]
    angles = sums[i] + rates[i] * since + slopes[i] * since**2 / 2
    change = np.diff(angles, axis=0)
    if not view.is_turning:
        return change

    def crossed(k: NDArray[np.intp], span: NDArray[np.float64]) -> NDArray[np.float64]:
        """The integral of a x w from sample k over a span."""
        return (
            _cross(sums[k], rates[k]) * span
            + _cross(sums[k], slopes[k]) * span**2 / 2
            + _cross(rates[k], slopes[k]) * span**3 / 6
        )

    products = _summed(crossed(np.arange(len(spans)), spans))[i] + crossed(i, since)
    return change + (np.diff(products, axis=0) - _cross(angles[:-1], change)) / 2


def noise_weights(view: View, times: NDArray[np.float64]) -> sparse.csr_matrix:
    """What each of the view's m samples adds to each of n increments (n, m)."""
    if not view.is_rate:
        at = _between(view.times, times)
        return (at[1:] - at[:-1]).tocsr()
    inside = view.times[(view.times > times[0]) & (view.times < times[-1])]
    breaks = np.union1d(inside, times)
    spans, middles = np.diff(breaks), (breaks[1:] + breaks[:-1]) / 2
    rows = np.clip(np.searchsorted(times, middles, side="right") - 1, 0, len(times) - 2)
    pieces = sparse.csr_matrix((spans, (rows, np.arange(len(spans)))), shape=(len(times) - 1, len(spans)))
    return (pieces @ _between(view.times, middles)).tocsr()


def in_gaps(view: View, times: NDArray[np.float64], longest: float) -> NDArray[np.bool_]:
    """Which of n increments meet a time of more than `longest` [s] without a sample (n,)."""
    gaps = np.concatenate([[0], np.cumsum(np.diff(view.times) > longest)])
    first = np.clip(np.searchsorted(view.times, times[:-1], side="right") - 1, 0, None)
    last = np.clip(np.searchsorted(view.times, times[1:], side="left"), None, len(gaps) - 1)
    return gaps[last] > gaps[first]


def _between(samples: NDArray[np.float64], times: NDArray[np.float64]) -> sparse.csr_matrix:
    """Weights of samples in values that are linear between them (n, m)."""
    i = np.clip(np.searchsorted(samples, times, side="right") - 1, 0, len(samples) - 2)
    part = (times - samples[i]) / (samples[i + 1] - samples[i])
    rows = np.arange(len(times))
    data, places = (
        np.concatenate([1 - part, part]),
        (np.concatenate([rows, rows]), np.concatenate([i, i + 1])),
    )
    return sparse.csr_matrix((data, places), shape=(len(times), len(samples)))


def _cross(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Products of rows (n, 3); several times as fast as numpy's."""
    (ax, ay, az), (bx, by, bz) = a.T, b.T
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=1)


def _summed(parts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums of the first 0 to n rows (n + 1, k)."""
    return np.concatenate([np.zeros((1, parts.shape[1])), np.cumsum(parts, axis=0)])
