"""Onset of an obstacle in a log: the pitch begins to rise, or the vehicle falls behind its belts.

A change is looked for in two steps. First by thresholds, late and surely: a pitch above where it began, for
a while; or a speed over ground that has dropped under the belts'. Then, shortly before, by least squares for
the time from which each trace leaves its straight line: a constant pitch, and a way that falls behind the
belts at a constant rate (slip, or a wrong scale of the belts' speed), each bent by a rise that is linear and
quadratic in the time since the change, and never falls. All traces share that time; each counts by its noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.logs.noise import noise_of
from segtrack.logs.replay.path import Belts, way_of
from segtrack.robot import Motion

RISE = math.radians(1.5)
"""Pitch above its baseline that is a climb, or `OF_LARGEST` of what the log reaches if that is less [rad]."""
OF_LARGEST = 0.3
LEAST_RISE = math.radians(1.0)
"""A log whose pitch rises by less shows no climb in it [rad]."""
NOISES = 6.0
"""A rise must be so many standard deviations of the noise."""
HELD = 0.6
"""A vehicle that moves over the ground at less than this fraction of its belts' way, after it kept up with
them, is held up."""
KEEPING_UP = 0.75
"""A vehicle that moves at more than this fraction of its belts' way keeps up with them."""
SUSTAINED = 0.25
"""Shortest duration of a change that is not noise [s]."""
BEFORE = 0.5
"""Least time before a change in which the traces' lines are found [s]."""
MODEL = 0.005
"""Standard deviation of where a vehicle is at the time that is found, without any noise: from what is seen of
climbs whose touch is known, see README.md [m]."""
_CHANGES = 50
"""Times at which a change is tried, and again between the neighbours of the best."""
_LEAST = 6
"""Samples that a trace must have: it has up to four unknowns."""
_EXACT = 1e-12
"""Variance of a trace without any noise [rad^2] or [m^2]."""
_SLOWEST = 0.02
"""Belt speed from which a distance is taken to be one in time [m/s]."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Onset:
    """Time at which a log first shows the touch.

    Attributes:
        time: On the log's clock [s].
        std: Its standard deviation: of the fit, and of what a touch looks like [s].
        shown_by: Signals that show it: `pitch`, `way`, or both.
    """

    time: float
    std: float
    shown_by: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Trace:
    """Values (n,) at times (n,) [s] that leave their line, which may slope, upwards at the touch."""

    name: str
    times: Array
    values: Array
    slopes: bool

    @property
    def noise(self) -> float:
        """Standard deviation of what is white of its noise, by second differences."""
        return noise_of(self.values)

    def cut(self, first: float, last: float) -> _Trace:
        """The part from one time to another."""
        inside = (self.times >= first) & (self.times <= last)
        return _Trace(self.name, self.times[inside], self.values[inside], self.slopes)

    def misfit(self, change: float) -> float:
        """Sum of squares of what a bend at a time [s] leaves."""
        since = np.maximum(self.times - change, 0.0)
        line = [np.ones(len(since))] + ([self.times - self.times[0]] if self.slopes else [])
        rises = [[since, since**2], [since], [since**2], []]
        for rise in rises:
            basis = np.stack([*line, *rise], axis=1)
            factors = np.linalg.lstsq(basis, self.values, rcond=None)[0]
            if (factors[len(line) :] >= 0.0).all():
                break
        return float(np.sum((self.values - basis @ factors) ** 2))


def find_onset(motion: Motion, belts: Belts, first: float, last: float) -> Onset | None:
    """Find when a vehicle that drove forwards met something.

    Args:
        motion: Motion with pitch, or with a position or velocity.
        belts: Its.
        first: Time from which it is looked for [s].
        last: Time up to which it is looked for [s].

    Returns:
        None if nothing shows it.
    """
    pitch, following = _pitch(motion, first, last), _following(motion, belts, first, last)
    seen = [_rise(pitch) if pitch is not None else None, _hold_up(following) if following else None]
    changes = [change for change in seen if change is not None]
    if not changes:
        return None
    early, late = min(changes, key=lambda change: change[1])
    traces = [trace.cut(early, late) for trace in (pitch, following and following.behind) if trace]
    traces = [trace for trace in traces if len(trace.times) >= _LEAST]
    if not traces:
        return None
    coarse = np.linspace(early + 0.2 * (late - early), late, _CHANGES)
    spacing = coarse[1] - coarse[0]
    best = coarse[np.argmin(_misfits(traces, coarse))]
    tried = np.unique(np.concatenate([coarse, np.linspace(best - spacing, best + spacing, _CHANGES)]))
    misfits = _misfits(traces, tried)
    likely = tried[misfits <= misfits.min() + 1.0]
    time, std = float(tried[np.argmin(misfits)]), float(np.ptp(likely) / 2 + spacing / _CHANGES)
    return Onset(time, math.hypot(std, MODEL / belt_speed(belts, time)), tuple(t.name for t in traces))


def _misfits(traces: Sequence[_Trace], changes: Array) -> Array:
    """Sums of squares of what bends at times (n,) [s] leave of all traces, each in its noise (n,)."""
    total = np.zeros(len(changes))
    for trace in traces:
        own = np.array([trace.misfit(change) for change in changes.tolist()])
        total += own / max(own.min() / (len(trace.times) - _LEAST + 1), trace.noise**2, _EXACT)
    return total


def _pitch(motion: Motion, first: float, last: float) -> _Trace | None:
    signal = motion.angle("pitch")
    if signal is None:
        return None
    trace = _Trace("pitch", signal.times, signal.values, slopes=False).cut(first, last)
    return trace if len(trace.times) >= _LEAST else None


def _rise(trace: _Trace) -> tuple[float, float] | None:
    """Time before pitch rises, and one at which it surely has [s]."""
    times, noise = trace.times, trace.noise
    begin = times <= times[0] + max(SUSTAINED, 0.05 * (times[-1] - times[0]))
    rise = trace.values - np.median(trace.values[begin])
    largest = float(np.quantile(rise, 0.99))
    level = max(NOISES * noise, min(RISE, OF_LARGEST * largest))
    if largest < max(LEAST_RISE, level):
        return None
    for at in np.flatnonzero(rise > level).tolist():
        while_ = rise[at : max(int(np.searchsorted(times, times[at] + SUSTAINED)), at + 2)]
        if np.mean(while_ > level) > 0.8:
            low = np.flatnonzero(rise[: at + 1] <= 0.1 * level + noise)
            left = float(times[low[-1]]) if len(low) else float(times[0])
            return left - max(BEFORE, float(times[at]) - left), float(times[at])
    return None


class _Following(NamedTuple):
    """A vehicle that follows its belts: times (n,) [s], belt travel and way over the ground (n,) [m]."""

    times: Array
    travel: Array
    way: Array

    @property
    def behind(self) -> _Trace:
        """Lag of the vehicle behind its belts [m]."""
        return _Trace("way", self.times, self.travel - self.way, slopes=True)


def _following(motion: Motion, belts: Belts, first: float, last: float) -> _Following | None:
    way = way_of(motion, belts)
    if way is None:
        return None
    inside = (way.times >= first) & (way.times <= last)
    times = way.times[inside]
    if len(times) < _LEAST:
        return None
    return _Following(times, np.interp(times, belts.times, belts.travel), way.way[inside])


def _hold_up(following: _Following) -> tuple[float, float] | None:
    """Time before a vehicle that kept up with its belts is held up, and one at which it surely is [s]."""
    times, before = following.times, following.times - SUSTAINED
    travel = following.travel - np.interp(before, times, following.travel)
    way = following.way - np.interp(before, times, following.way)
    moving = travel > 0.5 * np.quantile(travel, 0.9)
    kept_up = np.maximum.accumulate(moving & (way > KEEPING_UP * travel))
    for at in np.flatnonzero(kept_up & moving & (way < HELD * travel)).tolist():
        while_ = slice(at, int(np.searchsorted(times, times[at] + SUSTAINED)))
        if (way < KEEPING_UP * travel)[while_][moving[while_]].all():
            return float(times[at]) - 2 * BEFORE, float(times[at])
    return None


def belt_speed(belts: Belts, time: float) -> float:
    """Mean belt speed shortly before a time, and at least `_SLOWEST` [m/s]."""
    travel = np.interp([time - BEFORE, time], belts.times, belts.travel)
    return max(abs(float(travel[1] - travel[0])) / BEFORE, _SLOWEST)
