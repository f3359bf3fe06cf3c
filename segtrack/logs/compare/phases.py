"""Phases of a climb, found in how a vehicle pitches.

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
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from segtrack.logs.compare.sampling import even_times, noise_std, smoothed
from segtrack.robot import Motion

Array = NDArray[np.float64]
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
