"""Time shifts between quantities of a mapped log that show one motion, by the correlation of both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy
from scipy.ndimage import gaussian_filter1d
from scipy.spatial.transform import Rotation

from segtrack.logs.mapping.evidence import Array, Correction, LogEvidence, Observation
from segtrack.robot import Signal

_STEP = 0.02
"""Time between samples that are compared [s]."""
_SMOOTH = 0.1
"""Standard deviation of the smoothing of all rates alike [s]."""
_REACH = 2.0
"""Largest shift that is looked for [s]."""
_ALIKE = 0.9
"""Correlation at the best shift, from which two quantities show one motion."""
_TIMES_WORSE = 2.0
"""Part of the variance that no permitted shift explains, over that which the best one leaves."""
_LEFT = 0.005
"""Part of the variance that anything leaves."""


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two quantities of one motion.

    Attributes:
        names: Quantities, the one that comes first in time first.
        words: Words for both.
        rates: Rates of both, which show the same but for a factor; (n,) or (n, k) each.
        permitted: Least and largest time by which the second may follow the first [s].
    """

    names: tuple[str, str]
    words: tuple[str, str]
    rates: tuple[Signal, Signal]
    permitted: tuple[float, float]


def check_shifts(evidence: LogEvidence) -> Iterator[Observation]:
    """Compare the times at which two quantities show one motion."""
    first, last = evidence.motion.span
    if evidence.mapped.is_steady or last - first < 4 * _REACH:
        return
    for pair in _pairs(evidence):
        spacing = max(float(np.median(np.diff(signal.times))) for signal in pair.rates)
        permitted = pair.permitted[0] - spacing, pair.permitted[1] + spacing
        found = _best_shift(pair, permitted)
        if found is None:
            continue
        shift, left, least = found
        state = f"{pair.words[1]} follow {pair.words[0]} by {shift:.2g} s"
        told = ""
        fits: tuple[Correction, ...] = ()
        is_outside = not permitted[0] <= shift <= permitted[1]
        if is_outside and least > _TIMES_WORSE * left + _LEFT:
            told = "before them" if shift < 0 else "too late for an answer"
            told = f"which is {told}: a clock or a stamp is wrong"
            fits = _offsets(evidence, pair, shift)
        misfit = max(permitted[0] - shift, shift - permitted[1], 0.0)
        yield Observation(
            "time shift", pair.names[::-1], state, told, False, 1 + abs(shift), misfit, fits=fits
        )


def _offsets(evidence: LogEvidence, pair: _Pair, shift: float) -> tuple[Correction, ...]:
    """Offsets of either source by which both quantities are at one time; none within a source."""
    first, second = (_source(evidence, name) for name in pair.names)
    if first == second:
        return ()
    aim = float(np.clip(0.0, *pair.permitted))
    return Correction("offset", second, (aim - shift,)), Correction("offset", first, (shift - aim,))


def _source(evidence: LogEvidence, name: str) -> str:
    signals = evidence.motion.signals
    return next(signal.source for key, signal in signals.items() if key.partition(".")[0] == name)


def _pairs(evidence: LogEvidence) -> Iterator[_Pair]:
    signals, gauge = evidence.motion.signals, evidence.background.gauge
    sides = [
        [signals.get(f"{name}.{side}") for side in ("left", "right")]
        for name in ("belt_speed_command", "belt_speed")
    ]
    both = [None if None in pair else _together(*pair) for pair in sides]  # type: ignore[arg-type]
    if both[0] is not None and both[1] is not None:
        names = "belt_speed_command", "belt_speed"
        yield _Pair(names, ("commands", "belts"), (both[0], both[1]), (-0.1, 0.6))
    belts = both[1]
    position, turning = signals.get("position"), _turning(evidence)
    if belts is not None and position is not None:
        forward = Signal(belts.times, abs(belts.values.mean(axis=1)))
        yield _Pair(
            ("belt_speed", "position"), ("belts", "places"), (forward, _speed(position)), (-0.15, 0.2)
        )
    if belts is not None and gauge is not None and turning is not None:
        rate = Signal(belts.times, (belts.values[:, 1] - belts.values[:, 0]) / gauge)
        yield _Pair(("belt_speed", turning[0]), ("belts", turning[1]), (rate, turning[2]), (-0.15, 0.3))
    rates = signals.get("angular_velocity")
    if rates is not None and evidence.attitude is not None:
        own = "orientation" if "orientation" in signals else "yaw"
        turned = _turned(evidence.attitude)
        yield _Pair(("angular_velocity", own), ("rates", "angles"), (rates, turned), (-0.1, 0.1))


def _together(left: Signal, right: Signal) -> Signal:
    return Signal(left.times, np.stack([left.values, right.at(left.times)], axis=1))


def _turning(evidence: LogEvidence) -> tuple[str, str, Signal] | None:
    """Quantity that tells yaw rates, its word, and the rates; None if there is none."""
    signals, yaw = evidence.motion.signals, evidence.motion.angle("yaw")
    if yaw is not None and len(yaw.times) > 2:
        name = "yaw" if "yaw" in signals else "orientation"
        return name, "headings", Signal(yaw.times, np.gradient(np.unwrap(yaw.values), yaw.times))
    if (rate := signals.get("yaw_rate")) is not None:
        return "yaw_rate", "yaw rates", rate
    if (rates := signals.get("angular_velocity")) is not None:
        return "angular_velocity", "yaw rates", Signal(rates.times, rates.values[:, 2].copy())
    return None


def _turned(attitude: Signal) -> Signal:
    """Rates of turning of an attitude, in the body frame (n - 1, 3) [rad/s]."""
    body, spacing = Rotation.from_quat(attitude.values), np.diff(attitude.times)
    rates = (body[:-1].inv() * body[1:]).as_rotvec() / spacing[:, None]
    return Signal(attitude.times[:-1] + spacing / 2, rates)


def _speed(position: Signal) -> Signal:
    """Speed over the ground (n,) [m/s], of places that are smoothed first, as noise has no direction."""
    times = np.arange(position.times[0], position.times[-1], _STEP)
    places = gaussian_filter1d(position.at(times), _SMOOTH / _STEP, axis=0, mode="nearest")
    return Signal(times, np.linalg.norm(np.gradient(places, times, axis=0), axis=1))


def _best_shift(pair: _Pair, permitted: tuple[float, float]) -> tuple[float, float, float] | None:
    """Shift at which the second follows the first [s], and what it and the best permitted one leave [-].

    Of the variance of the second; None where no shift explains it.
    """
    first, second = pair.rates
    begin, end = max(s.times[0] for s in pair.rates), min(s.times[-1] for s in pair.rates)
    if end - begin < 4 * _REACH:
        return None
    times = np.arange(begin, end, _STEP)
    smooth = _SMOOTH / _STEP
    one, other = (
        gaussian_filter1d(s.at(times).reshape(len(times), -1), smooth, axis=0, mode="nearest")
        for s in (first, second)
    )
    reach = round(_REACH / _STEP)
    shifts = np.arange(-reach, reach + 1)
    alike = _correlations(one[reach:-reach], other)
    best = int(np.argmax(alike))
    if alike[best] < _ALIKE or best in (0, len(shifts) - 1):
        return None
    seconds = shifts * _STEP
    inside = (seconds >= permitted[0]) & (seconds <= permitted[1])
    left, least = 1 - alike[best] ** 2, 1 - max(float(alike[inside].max()), 0.0) ** 2
    return float(seconds[best]), float(left), float(least)


def _correlations(one: Array, other: Array) -> Array:
    """Correlations of rates (n, k) with each stretch of others that is as long (m, k), (m - n + 1,) [-]."""
    one = one - one.mean(axis=0)
    both = np.sum(
        [scipy.signal.correlate(b, a, "valid") for a, b in zip(one.T, other.T, strict=True)], axis=0
    )
    sums, squares = (np.cumsum(np.pad(v, ((1, 0), (0, 0))), axis=0) for v in (other, other**2))
    count = len(one)
    means, means_of_squares = ((v[count:] - v[:-count]) / count for v in (sums, squares))
    spread = count * np.sum(np.maximum(means_of_squares - means**2, 0.0), axis=1)
    size = np.sqrt(float(np.sum(one**2)) * spread)
    return np.asarray(np.where(size > 1e-12, both / np.maximum(size, 1e-12), 0.0))
