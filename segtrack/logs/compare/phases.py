"""Phases of a climb, found in how a vehicle pitches, on one even clock for all that is compared in them.

A vehicle drives from flat ground onto a step. What holds it, and so what its pitch does:

- **approach**: the ground carries it along the whole track. No horizontal force; pitch at rest.
- **nose lift**: the wall pushes the nose back, and friction of the belt carries it up the wall; the ground
  carries the tail. The belt's travel goes into raising the nose, so the pitch rises fast.
- **pivot**: the nose is over the edge. The edge carries the belly, its force square to the belt, the ground
  the tail, and the weight acts between the two. The belt's travel goes into driving on: the edge moves back
  along the belly, and the pitch rises slowly, then faster, as sin(pitch) = height / (way from tail to edge).
- **crest**: the weight has passed the edge, which carries all of it. Nothing holds the nose up: it falls.
- **settling**: the upper ground carries the nose, then all. The pitch swings and comes to rest.

Levels are fractions of the climb, the pitch at its peak less the pitch at rest, as for the edges of a pulse
(IEEE Std 181-2011: 10, 50 and 90 %). Pauses of the drive do not matter to where a phase begins.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

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
"""Length of the windows of slip and yaw rate [s]."""
STRIDE = 50
"""Samples over which a displacement is taken, 1 s (relative pose error)."""
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
        """Displacement over `STRIDE` samples from each one on, in the body frame there (m, 3) [m]."""
        if self.position is None or self._rotation is None:
            return None
        moved, turns = self.position[STRIDE:] - self.position[:-STRIDE], self._rotation[:-STRIDE]
        known = np.isfinite(moved).all(axis=1) & np.isfinite(turns).all(axis=1)
        found = np.full((len(moved), 3), np.nan)
        if known.any():
            found[known] = Rotation.from_quat(turns[known]).inv().apply(moved[known])
        return found

    def poses(self) -> Motion | None:
        """Positions and orientations at the times at which both are known; None if they never are."""
        if self.position is None or self._rotation is None:
            return None
        known = np.isfinite(self.position).all(axis=1) & np.isfinite(self._rotation).all(axis=1)
        if not known.any():
            return None
        parts = {"position": self.position, "orientation": self._rotation}
        signals = {key: Signal(self.times[known], values[known]) for key, values in parts.items()}
        return Motion(self.motion.name, signals)

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


CLIMB_PHASES = ("approach", "nose lift", "pivot", "crest", "settling")
DRIVE = "drive"
"""The one phase of a motion that climbs nothing."""
MIN_CLIMB = math.radians(3.0)
"""A pitch that rises by less climbs nothing: starts and stops do as much [rad] ..."""
_MIN_SNR = 6.0
"""... nor does one that rises by less than so many standard deviations of its noise."""
_LOW, _MIDDLE, _HIGH = 0.1, 0.5, 0.9
_REST = 0.5
"""Time from the beginning whose median is the pitch at rest, until the approach is known [s]."""
_MIN_RISE = 0.01
"""A body that rises by less while its pitch does has no height that tells a crest from a fall back [m]."""
_CHORD = 0.8
"""The chord of the rise ends at this fraction of the climb: to its peak the pitch rises ever faster ..."""
_MIN_KNEE = 0.05
"""... and how far the rise must be above it to have two parts, as a fraction of the chord's."""


@dataclass(frozen=True)
class Phase:
    """A part of a motion.

    Attributes:
        name: One of `CLIMB_PHASES`, or `DRIVE`.
        begin: [s]
        end: [s]
    """

    name: str
    begin: float
    end: float


@dataclass(frozen=True)
class Phases:
    """The phases of a motion.

    Attributes:
        phases: Phases in their order.
        missing: Why each of the others is not there, by name.
        rest: Pitch at rest [rad]; None without pitch.
        peak: Largest pitch, noise taken out [rad]; None without pitch.
    """

    phases: tuple[Phase, ...]
    missing: Mapping[str, str] = field(default_factory=dict)
    rest: float | None = None
    peak: float | None = None

    def __post_init__(self) -> None:
        """Keep the mapping as it is."""
        object.__setattr__(self, "missing", MappingProxyType(dict(self.missing)))

    def __reduce__(self) -> tuple[object, ...]:
        """Travel between processes."""
        return type(self), (self.phases, dict(self.missing), self.rest, self.peak)

    def find(self, name: str) -> Phase | None:
        """The phase of a name, if it is there."""
        return next((phase for phase in self.phases if phase.name == name), None)

    def after(self, name: str) -> str | None:
        """Name of the phase that follows another; None if there is none."""
        names = [phase.name for phase in self.phases]
        return dict(zip(names, names[1:], strict=False)).get(name)

    @property
    def is_climb(self) -> bool:
        """True if anything is climbed."""
        return self.find(DRIVE) is None

    @property
    def time_to_crest(self) -> float | None:
        """Time from the beginning of nose lift to that of crest [s]; None if either is missing."""
        lift, crest = self.find("nose lift"), self.find("crest")
        return None if lift is None or crest is None else crest.begin - lift.begin

    def summary(self) -> dict[str, object]:
        """Return a JSON-serialisable dict."""
        return {
            "phases": [vars(phase) for phase in self.phases],
            "missing": dict(self.missing),
            "rest_pitch": self.rest,
            "peak_pitch": self.peak,
            "time_to_crest": self.time_to_crest,
        }


def find_phases(motion: Motion) -> Phases:
    """The phases of a motion; those of a climb if it pitches up by `MIN_CLIMB` or more, else one drive.

    - Nose lift begins where the pitch passes 10 % of the climb for the last time before its peak.
    - Pivot begins at the knee of the rise over the belts' travel: where it is farthest above its chord,
      which reaches from where nose lift begins to 80 % of the climb.
    - Crest begins where the pitch falls below 90 % for the last time before it first falls below 50 %.
    - Settling begins where it then first falls below 10 %.

    A motion has to begin level. A vehicle that has lost half of its rise once its nose is down has slid
    back, not climbed.
    """
    pitch = motion.angle("pitch")
    if pitch is None or len(pitch.times) < 3:
        begin, end = motion.span
        return _one_drive(begin, end, f"{motion.name} has no pitch")
    times = even_times(float(pitch.times[0]), float(pitch.times[-1]))
    angles = smoothed(pitch.at(times))
    rest = float(np.median(angles[times <= times[0] + _REST]))
    return _phases(motion, times, angles, rest, noise_std(pitch))


def _phases(motion: Motion, times: Array, angles: Array, rest: float, noise: float) -> Phases:
    begin, end = float(times[0]), float(times[-1])
    top = int(np.argmax(angles))
    peak = float(angles[top])
    if peak - rest < max(MIN_CLIMB, _MIN_SNR * noise):
        reason = f"the pitch rises by {math.degrees(peak - rest):.1f} deg, less than a climb"
        return _one_drive(begin, end, reason, rest, peak)
    low = np.flatnonzero(angles[:top] < rest + _LOW * (peak - rest))
    if len(low) and times[low[-1]] > begin + _REST:
        rest = float(np.median(angles[: low[-1]]))  # The whole approach: less noise, and again the level.
        low = np.flatnonzero(angles[:top] < rest + _LOW * (peak - rest))
    if not len(low):
        return _one_drive(begin, end, "it does not begin level", rest, peak)
    level_10, level_50, level_90 = (rest + level * (peak - rest) for level in (_LOW, _MIDDLE, _HIGH))
    first = int(low[-1])
    missing: dict[str, str] = {}
    marks = {"approach": begin, "nose lift": crossing(times, angles, first, level_10)}
    down = _first_below(angles, top, level_50)
    level = None if down is None else _first_below(angles, down, level_10)
    reason = "the pitch does not come down again"
    if down is not None:
        reason = _slid_back(motion, times, first, top, len(times) - 1 if level is None else level)
    if down is None or reason:
        missing |= dict.fromkeys(CLIMB_PHASES[2:], reason)
        return Phases(_between(marks, end), missing, rest, peak)
    rise = slice(first, _last_below(angles, first, top, rest + _CHORD * (peak - rest)) + 1)
    knee = _knee(_travel(motion, times)[rise], angles[rise])
    if knee is None:
        missing["pivot"] = "the pitch rises evenly, so pivot is not told from nose lift"
    else:
        marks["pivot"] = max(float(times[first + knee]), marks["nose lift"])
    high = top + int(np.flatnonzero(angles[top : down + 1] >= level_90)[-1])
    marks["crest"] = crossing(times, angles, high, level_90)
    if level is None:
        missing["settling"] = "it ends before the vehicle is level again"
    else:
        marks["settling"] = crossing(times, angles, level - 1, level_10)
    return Phases(_between(marks, end), missing, rest, peak)


def crossing(times: Array, values: Array, before: int, level: float) -> float:
    """Time at which values pass a level between one sample and the next [s]."""
    step = values[before + 1] - values[before]
    part = (level - values[before]) / step if step else 0.0
    return float(times[before] + part * (times[before + 1] - times[before]))


def _first_below(values: Array, after: int, level: float) -> int | None:
    below = np.flatnonzero(values[after:] < level)
    return after + int(below[0]) if len(below) else None


def _last_below(values: Array, first: int, last: int, level: float) -> int:
    below = np.flatnonzero(values[first : last + 1] <= level)
    return first + int(below[-1]) if len(below) else first


def _one_drive(
    begin: float, end: float, reason: str, rest: float | None = None, peak: float | None = None
) -> Phases:
    return Phases((Phase(DRIVE, begin, end),), dict.fromkeys(CLIMB_PHASES, reason), rest, peak)


def _between(marks: Mapping[str, float], end: float) -> tuple[Phase, ...]:
    """The phases whose beginnings are known, each until the next."""
    names = [name for name in CLIMB_PHASES if name in marks]
    ends = [*(marks[name] for name in names[1:]), end]
    return tuple(Phase(name, marks[name], until) for name, until in zip(names, ends, strict=True))


def _slid_back(motion: Motion, times: Array, lift: int, top: int, low: int) -> str:
    """Why the nose's coming down is no crest; empty if it is one, or no height is known that says otherwise.

    `lift`, `top` and `low` are the samples at which the nose rises, is highest, and is down again.
    """
    position = motion.signals.get("position")
    if position is None:
        return ""
    start, peak, end = position.at(times[[lift, top, low]])[:, 2]
    rise = peak - start
    return "it slides back" if rise >= _MIN_RISE and end - start < rise / 2 else ""


def _travel(motion: Motion, times: Array) -> Array:
    """Mean travel of the belts (n,) [m], or the times where they are not known."""
    for name in ("belt_speed", "belt_speed_command"):
        sides = [signal for key, signal in motion.signals.items() if key.split(".")[0] == name]
        if sides:
            speed = np.mean([side.at(times) for side in sides], axis=0)
            return np.concatenate([[0.0], np.cumsum((speed[1:] + speed[:-1]) / 2 * np.diff(times))])
    return times


def _knee(travel: Array, angles: Array) -> int | None:
    """Index at which a rise is farthest above its chord, if it bends enough."""
    way, rise = travel[-1] - travel[0], angles[-1] - angles[0]
    if way <= 0 or rise <= 0:
        return None
    above = (angles - angles[0]) / rise - (travel - travel[0]) / way
    knee = int(np.argmax(above))
    return knee if above[knee] >= _MIN_KNEE else None
