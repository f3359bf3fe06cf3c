"""What is compared of a motion: courses over time, and numbers of each phase, by the same code for all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.logs.compare.motions.phases import CLIMB_PHASES, DRIVE, Phases, find_phases
from segtrack.logs.compare.motions.sampling import SAMPLE_TIME, SIDES, WINDOW, SampledMotion, smoothed

WHOLE = "whole"
_MIN_TURN = 0.02
"""Rate of turning without slip, root mean square, from which yaw rates are compared [rad/s]."""
_MIN_WAY = 0.02
"""Belt travel in a phase from which it has a slip [m]."""


class Course(NamedTuple):
    """A quantity over time.

    Attributes:
        unit: Of the values.
        times: (m,) [s].
        values: (m, k); NaN where there is none.
    """

    unit: str
    times: NDArray[np.float64]
    values: NDArray[np.float64]


class Number(NamedTuple):
    """A quantity of a phase."""

    unit: str
    value: float


@dataclass(frozen=True, eq=False)
class Responses:
    """What is compared of one motion.

    Attributes:
        motion: On the even clock.
        phases: Its own.
        courses: By quantity; positions are not among them, since they depend on what they are laid onto.
        numbers: By quantity and phase, each taken in the motion's own phase.
    """

    motion: SampledMotion
    phases: Phases
    courses: Mapping[str, Course]
    numbers: Mapping[tuple[str, str], Number]


def windows_of(phases: Phases, begin: float, end: float) -> dict[str, tuple[float, float]]:
    """From when to when each phase is, and `WHOLE` [s]."""
    found = {phase.name: (phase.begin, phase.end) for phase in phases.phases if phase.name != DRIVE}
    return {WHOLE: (begin, end)} | found


def responses_of(motion: SampledMotion, force_per_current: Mapping[str, float] | None = None) -> Responses:
    """What is compared of a motion, as far as its signals go.

    Args:
        motion: The motion.
        force_per_current: Of each side whose current was logged [N/A].
    """
    phases = find_phases(motion.motion)
    forces = {side: force_of(motion, side, force_per_current or {}) for side in SIDES}
    courses = dict(_courses(motion, forces))
    return Responses(motion, phases, courses, dict(_numbers(motion, phases, forces)))


def force_of(
    motion: SampledMotion, side: str, force_per_current: Mapping[str, float]
) -> NDArray[np.float64] | None:
    """Force of a side's drives (n,) [N]: as it is known, or by the side's current; None without either."""
    force, current = motion.values(f"belt_force.{side}"), motion.values(f"current.{side}")
    if force is None and current is not None and side in force_per_current:
        return current * force_per_current[side]
    return force


Forces = Mapping[str, NDArray[np.float64] | None]


def _courses(motion: SampledMotion, forces: Forces) -> Iterator[tuple[str, Course]]:
    if motion.pitch is not None:
        yield "pitch", _course("rad", motion.times, motion.pitch)
    moved = motion.displacements()
    if moved is not None:
        yield "displacement", _course("m", motion.middles, moved)
    for side in SIDES:
        slip, force, speed = motion.slip(side), forces[side], motion.values(f"belt_speed.{side}")
        if slip is not None:
            yield f"slip {side}", _course("-", motion.middles, slip)
        if speed is not None:
            yield f"belt speed {side}", _course("m/s", motion.times, speed)
        if force is not None:
            yield (
                f"belt force {side}",
                _course("N", motion.middles, motion.sums(force) * SAMPLE_TIME / WINDOW),
            )
    for flipper in motion.motion.flippers:
        angle = motion.values(f"flipper_angle.{flipper}")
        if angle is not None:
            yield f"flipper {flipper}", _course("rad", motion.times, angle)


def _course(unit: str, times: NDArray[np.float64], values: NDArray[np.float64]) -> Course:
    return Course(unit, times, values.reshape(len(times), -1))


def _numbers(
    motion: SampledMotion, phases: Phases, forces: Forces
) -> Iterator[tuple[tuple[str, str], Number]]:
    if phases.time_to_crest is not None:
        yield ("time to crest", WHOLE), Number("s", phases.time_to_crest)
    pitch = None if motion.pitch is None else _smooth_known(motion.pitch)
    work, energy = _work(motion, forces), motion.values("energy")
    ways = {side: (motion.way(side), motion.belt_way(side)) for side in SIDES}
    begin, end = float(motion.times[0]), float(motion.times[-1])
    for name, (first, last) in windows_of(phases, begin, end).items():
        inside = (motion.times >= first) & (motion.times <= last)
        if name in CLIMB_PHASES[1:-1]:
            yield ("duration", name), Number("s", last - first)
        if pitch is not None and np.isfinite(pitch[inside]).any():
            yield ("peak pitch", name), Number("rad", float(np.nanmax(pitch[inside])))
        for side, (way, belt) in ways.items():
            slip = _mean_slip(way, belt, inside)
            if slip is not None:
                yield (f"mean slip {side}", name), Number("-", slip)
        ratio = _yaw_over_no_slip(motion, (motion.middles >= first) & (motion.middles <= last))
        if ratio is not None:
            yield ("yaw rate over no-slip", name), Number("-", ratio)
        if energy is not None and (known := energy[inside & np.isfinite(energy)]).size > 1:
            yield ("energy", name), Number("J", float(known[-1] - known[0]))
        if work is not None and name != WHOLE:
            yield ("fraction of work", name), Number("-", float(np.nansum(work[inside]) / np.nansum(work)))


def _smooth_known(pitch: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pitch without its noise (n,), gaps bridged for the smoothing and left out after it."""
    known = np.isfinite(pitch)
    if not known.any():
        return pitch
    places = np.arange(len(pitch))
    smooth = smoothed(np.interp(places, places[known], pitch[known]))
    return np.where(known, smooth, np.nan)


def _mean_slip(
    way: NDArray[np.float64] | None, belt: NDArray[np.float64] | None, inside: NDArray[np.bool_]
) -> float | None:
    """1 - way / belt travel in some samples [-]; None if it is not known, or the belt hardly moves."""
    if way is None or belt is None:
        return None
    known = inside & np.isfinite(way) & np.isfinite(belt)
    travel = float(belt[known].sum())
    return 1.0 - float(way[known].sum()) / travel if abs(travel) >= _MIN_WAY else None


def _yaw_over_no_slip(motion: SampledMotion, within: NDArray[np.bool_]) -> float | None:
    """Slope of the turns in windows over those without slip [-]; None if it is not known, or hardly turns."""
    turned, no_slip = motion.turned(), motion.no_slip_yaw()
    if turned is None or no_slip is None:
        return None
    known = within & np.isfinite(turned) & np.isfinite(no_slip)
    power = float(no_slip[known] @ no_slip[known])
    if not known.any() or power < known.sum() * (_MIN_TURN * WINDOW) ** 2:
        return None
    return float(turned[known] @ no_slip[known]) / power


def _work(motion: SampledMotion, forces: Forces) -> NDArray[np.float64] | None:
    """Work that the belts of all sides take or give in each sample (n,) [J]; None if it is not known."""
    works = []
    for side in SIDES:
        force, speed = forces[side], motion.belt(side)
        if force is None or speed is None:
            return None
        works.append(abs(force * speed) * SAMPLE_TIME)
    work = np.sum(works, axis=0)
    return work if np.nansum(work) > 0 else None
