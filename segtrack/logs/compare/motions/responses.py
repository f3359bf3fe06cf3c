"""What is compared of a motion, or numbers are taken from, by the same code for all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.logs.compare.motions.phases import Phases, find_phases
from segtrack.logs.compare.motions.sampling import SAMPLE_TIME, SIDES, WINDOW, SampledMotion, smoothed


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


@dataclass(frozen=True, eq=False)
class Responses:
    """What is compared of one motion.

    Attributes:
        motion: On the even clock.
        phases: Its own.
        courses: By quantity; positions are not among them, since they depend on what they are laid onto.
        series: What numbers are taken from, at each sample (n,) or of each window (m,).
    """

    motion: SampledMotion
    phases: Phases
    courses: Mapping[str, Course]
    series: Mapping[str, NDArray[np.float64]]


def responses_of(motion: SampledMotion, force_per_current: Mapping[str, float] | None = None) -> Responses:
    """What is compared of a motion, as far as its signals go.

    Args:
        motion: The motion.
        force_per_current: Of each side whose current was logged [N/A].
    """
    phases = find_phases(motion.motion)
    forces = {side: force_of(motion, side, force_per_current or {}) for side in SIDES}
    series = {name: values for name, values in _series(motion, forces) if values is not None}
    return Responses(motion, phases, dict(_courses(motion, forces)), series)


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


def _series(motion: SampledMotion, forces: Forces) -> Iterator[tuple[str, NDArray[np.float64] | None]]:
    if motion.pitch is not None:
        yield "pitch", _smooth_known(motion.pitch)
    for side in SIDES:
        yield f"way {side}", motion.way(side)
        yield f"belt way {side}", motion.belt_way(side)
    yield "turned", motion.turned()
    yield "no-slip yaw", motion.no_slip_yaw()
    yield "energy", motion.values("energy")
    yield "work", _work(motion, forces)


def _smooth_known(pitch: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pitch without its noise (n,), gaps bridged for the smoothing and left out after it."""
    known = np.isfinite(pitch)
    if not known.any():
        return pitch
    places = np.arange(len(pitch))
    smooth = smoothed(np.interp(places, places[known], pitch[known]))
    return np.where(known, smooth, np.nan)


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
