"""Motions on one even clock, and what follows from their signals: heading, windowed slip, displacements."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.signal import savgol_filter
from scipy.spatial.transform import Rotation

from segtrack.description import TrackOffsets
from segtrack.logs.statistics import noise_of_differences
from segtrack.robot import CONSTANT, Motion, Signal, longitudinal_slip

Array = NDArray[np.float64]
SAMPLE_TIME = 0.02
"""Sampling time of the even clock that motions are compared on [s]."""
WINDOW = 0.5
"""Length of the windows of slip and yaw rate [s] ..."""
STRIDE = 2
"""... and how many of them a displacement takes (relative pose error)."""
SMOOTHING = 0.25
"""Length of the quadratics that take the noise out of pitch (Savitzky and Golay) [s]."""
_DENSE = 1.5
"""Samples for each of the even clock's, above which a signal is put on that."""
_MAX_GAP, _MAX_GAPS = 0.5, 3.0
"""Between samples farther apart than this [s], and than so many of their mean distances, nothing is known."""


def even_times(begin: float, end: float) -> Array:
    """Times `SAMPLE_TIME` apart, at whole multiples of it, from one time to another; at least one [s]."""
    first, last = math.ceil(begin / SAMPLE_TIME - 1e-6), math.floor(end / SAMPLE_TIME + 1e-6)
    return np.arange(first, max(first, last) + 1, dtype=np.float64) * SAMPLE_TIME


def smoothed(values: Array) -> Array:
    """Values `SAMPLE_TIME` apart (n,) without their noise, by quadratics of length `SMOOTHING`."""
    length = round(SMOOTHING / SAMPLE_TIME) // 2 * 2 + 1
    return savgol_filter(values, length, 2) if len(values) >= length else values


def noise_std(signal: Signal) -> float:
    """Standard deviation of a signal's white noise: what is stated, or what its second differences say.

    Of an orientation it is about each axis [rad].
    """
    if signal.std is not None:
        return signal.std
    if len(signal.times) < 3:
        return 0.0
    if signal.is_orientation:
        turns = Rotation.from_quat(signal.values)
        second = np.diff((turns[:-1].inv() * turns[1:]).as_rotvec(), axis=0)
    else:
        second = np.diff(signal.values, 2, axis=0)
    return noise_of_differences(second)


@dataclass(frozen=True, eq=False)
class SampledMotion:
    """A motion on an even clock; values are NaN where it has none: before, after, and in gaps.

    Attributes:
        motion: The motion.
        times: `SAMPLE_TIME` apart (n,) [s].
        sides: Places of the tracks of both sides; None if there are no two.
    """

    motion: Motion
    times: Array
    sides: TrackOffsets | None = None

    def values(self, key: str) -> Array | None:
        """Values of a signal (n,) or (n, k); None if it is not there."""
        signal = self.motion.signals.get(key)
        return None if signal is None else self._of(signal)

    def is_stated(self, key: str) -> bool:
        """Return True for a signal that was stated to be constant: nothing to compare with."""
        return key in self.motion.signals and self.motion.signals[key].source == CONSTANT

    @cached_property
    def pitch(self) -> Array | None:
        """Nose up positive (n,) [rad]."""
        return self._angle("pitch")

    @cached_property
    def yaw(self) -> Array | None:
        """Continuous, left positive (n,) [rad]."""
        return self._angle("yaw")

    @cached_property
    def position(self) -> Array | None:
        """Position of the body frame in the world (n, 3) [m]."""
        return self.values("position")

    @cached_property
    def forward(self) -> Array | None:
        """The body's x axis in the world (n, 3); on flat ground where there is no pitch; None without yaw."""
        if self.yaw is None:
            return None
        pitch = np.zeros(len(self.times)) if self.pitch is None else self.pitch
        level = np.cos(pitch)
        return np.stack([level * np.cos(self.yaw), level * np.sin(self.yaw), np.sin(pitch)], axis=1)

    def belt(self, side: str) -> Array | None:
        """Speed of a side's belts, measured if it was, else commanded (n,) [m/s]."""
        measured = self.values(f"belt_speed.{side}")
        return measured if measured is not None else self.values(f"belt_speed_command.{side}")

    @cached_property
    def edges(self) -> NDArray[np.intp]:
        """First sample of each window, and the last one's last (m + 1,)."""
        return np.arange(0, len(self.times), round(WINDOW / SAMPLE_TIME))

    @cached_property
    def middles(self) -> Array:
        """Middle of each window (m,) [s]."""
        at = self.times[self.edges]
        return (at[1:] + at[:-1]) / 2

    def sums(self, values: Array) -> Array:
        """Sums of values (n,) over each window (m,); NaN where one of them is."""
        if len(self.edges) < 2:
            return np.zeros(0)
        return np.add.reduceat(values[: self.edges[-1]], self.edges[:-1])

    def way(self, side: str) -> Array | None:
        """Way of a side's track along the body's forward axis until the next sample (n,) [m]."""
        if self.position is None or self.forward is None or self.yaw is None:
            return None
        ahead = (self.forward[1:] + self.forward[:-1]) / 2
        steps = np.sum(np.diff(self.position, axis=0) * ahead, axis=1)
        if self.sides is not None:
            steps = steps - (self.sides.left if side == "left" else self.sides.right) * np.diff(self.yaw)
        return np.append(steps, 0.0)

    def belt_way(self, side: str) -> Array | None:
        """Travel of a side's belt until the next sample (n,) [m]."""
        speed = self.belt(side)
        return None if speed is None else np.append((speed[1:] + speed[:-1]) / 2 * SAMPLE_TIME, 0.0)

    def slip(self, side: str) -> Array | None:
        """Longitudinal slip of a side in each window (m,) [-], as `segtrack.robot.track` defines it."""
        way, belt = self.way(side), self.belt_way(side)
        if way is None or belt is None:
            return None
        return longitudinal_slip(self.sums(belt) / WINDOW, self.sums(way) / WINDOW)

    def no_slip_yaw(self) -> Array | None:
        """Yaw change per window if belts did not slip (m,) [rad]; None without two sides."""
        left, right = self.belt_way("left"), self.belt_way("right")
        if left is None or right is None or self.sides is None:
            return None
        return self.sides.twist(self.sums(left), self.sums(right))[1]

    def turned(self) -> Array | None:
        """Turn in each window (m,) [rad]."""
        return None if self.yaw is None else np.diff(self.yaw[self.edges])

    def displacements(self) -> Array | None:
        """Displacement over `STRIDE` windows, in the body frame at their beginning (m, 3) [m]."""
        if self.position is None or self._rotation is None:
            return None
        at = self.edges
        begin, end = at[:-STRIDE], at[STRIDE:]
        moved = self.position[end] - self.position[begin]
        known = np.isfinite(moved).all(axis=1) & np.isfinite(self._rotation[begin]).all(axis=1)
        found = np.full((len(self.middles), 3), np.nan)
        turns = Rotation.from_quat(self._rotation[begin[known]])
        found[np.flatnonzero(known)] = turns.inv().apply(moved[known])
        return found

    @cached_property
    def _rotation(self) -> Array | None:
        """Orientation, quaternions (n, 4): as it is known, or of yaw and what other angles there are."""
        orientation = self.values("orientation")
        if orientation is not None or self.yaw is None:
            return orientation
        zero = np.zeros(len(self.times))
        roll = self._angle("roll")
        parts = [self.yaw, zero if self.pitch is None else -self.pitch, zero if roll is None else roll]
        angles = np.stack(parts, axis=1)
        known = np.isfinite(angles).all(axis=1)
        found = np.full((len(self.times), 4), np.nan)
        if known.any():
            found[known] = Rotation.from_euler("ZYX", angles[known]).as_quat()
        return found

    def _angle(self, name: str) -> Array | None:
        given = self.motion.signals.get(name)
        if given is not None:
            return self._of(Signal(given.times, np.unwrap(given.values)))
        orientation = self.motion.signals.get("orientation")
        if orientation is None or self._turns is None:
            return None
        angle = self._turns.angle(name)
        assert angle is not None
        return np.where(_unknown(orientation.times, self.times), np.nan, angle.values)

    @cached_property
    def _turns(self) -> Motion | None:
        """The orientation at each time, gaps bridged."""
        orientation = self.motion.signals.get("orientation")
        if orientation is None:
            return None
        return Motion(self.motion.name, {"orientation": Signal(self.times, orientation.at(self.times))})

    def _of(self, signal: Signal) -> Array:
        values = signal.at(self.times)
        unknown = _unknown(signal.times, self.times)
        if unknown.any():
            values[unknown] = np.nan
        return values


def thinned(motion: Motion) -> Motion:
    """The motion, its signals that have more samples than the even clock put on that; gaps stay gaps."""
    signals = {}
    for key, signal in motion.signals.items():
        begin, end = float(signal.times[0]), float(signal.times[-1])
        times = even_times(begin, end)
        times = times[(times >= begin) & (times <= end)]
        if len(signal.times) > _DENSE * len(times) > 0:
            times = times[~_unknown(signal.times, times)]
            signals[key] = replace(signal, times=times, values=signal.at(times))
    return motion.with_signals(signals)


def _unknown(sampled: Array, times: Array) -> NDArray[np.bool_]:
    """True for times (n,) outside of the samples, or within a gap of them."""
    outside = (times < sampled[0] - 1e-9) | (times > sampled[-1] + 1e-9)
    if len(sampled) < 2:
        return outside
    apart = np.diff(sampled)
    longest = max(_MAX_GAP, _MAX_GAPS * float(apart.mean()))
    if apart.max() <= longest:
        return outside
    after = np.clip(np.searchsorted(sampled, times), 1, len(sampled) - 1)
    inside = (times > sampled[after - 1] + 1e-9) & (times < sampled[after] - 1e-9)
    return outside | (inside & (apart[after - 1] > longest))
