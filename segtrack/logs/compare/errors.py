"""Responses of a motion, and errors of a simulated one, phase by phase, with paths aligned."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from segtrack.errors import UnknownNameError
from segtrack.logs.compare.phases import (
    CLIMB_PHASES,
    DRIVE,
    SAMPLE_TIME,
    STRIDE,
    WINDOW,
    Phases,
    SampledMotion,
    find_phases,
    smoothed,
)
from segtrack.logs.mapping import SIDES
from segtrack.robot import Motion

Array = NDArray[np.float64]


class TimeCourse(NamedTuple):
    """A quantity over time.

    Attributes:
        unit: Unit of the values.
        times: (m,) [s].
        values: (m, k); NaN where there is none.
    """

    unit: str
    times: Array
    values: Array


@dataclass(frozen=True, eq=False)
class Responses:
    """Responses of one motion.

    Attributes:
        motion: On the even clock.
        phases: Its own.
        courses: Quantities over time, but for positions, which depend on what they are aligned with.
        series: Series that numbers are taken from, at each sample (n,) or of each window (m,).
    """

    motion: SampledMotion
    phases: Phases
    courses: Mapping[str, TimeCourse]
    series: Mapping[str, Array]


def responses_of(motion: SampledMotion, force_per_current: Mapping[str, float] | None = None) -> Responses:
    """Return the responses of a motion, as far as its signals go.

    Args:
        motion: The motion.
        force_per_current: Force over current of each side with a logged current [N/A].
    """
    phases = find_phases(motion.motion)
    forces = {side: force_of(motion, side, force_per_current or {}) for side in SIDES}
    series = {name: values for name, values in _series(motion, forces) if values is not None}
    return Responses(motion, phases, dict(_time_courses(motion, forces)), series)


def force_of(motion: SampledMotion, side: str, force_per_current: Mapping[str, float]) -> Array | None:
    """Force of a side's drives (n,) [N]: as it is known, or by the side's current; None without either."""
    force, current = motion.values(f"belt_force.{side}"), motion.values(f"current.{side}")
    if force is None and current is not None and side in force_per_current:
        return current * force_per_current[side]
    return force


Forces = Mapping[str, Array | None]


def _time_courses(motion: SampledMotion, forces: Forces) -> Iterator[tuple[str, TimeCourse]]:
    if motion.pitch is not None and not motion.is_stated("pitch"):
        yield "pitch", _course("rad", motion.times, motion.pitch)
    moved = motion.displacements()
    if moved is not None:
        middles = (motion.times[STRIDE:] + motion.times[:-STRIDE]) / 2
        yield "displacement", _course("m", middles, moved)
    for side in SIDES:
        slip, force, speed = motion.slip(side), forces[side], motion.values(f"belt_speed.{side}")
        if slip is not None:
            yield f"slip {side}", _course("-", motion.middles, slip)
        if speed is not None:
            yield f"belt speed {side}", _course("m/s", motion.times, speed)
        if force is not None:
            means = motion.sums(force) * SAMPLE_TIME / WINDOW
            yield f"belt force {side}", _course("N", motion.middles, means)
    for flipper in motion.motion.flippers:
        angle = motion.values(f"flipper_angle.{flipper}")
        if angle is not None and not motion.is_stated(f"flipper_angle.{flipper}"):
            yield f"flipper {flipper}", _course("rad", motion.times, angle)


def _course(unit: str, times: Array, values: Array) -> TimeCourse:
    return TimeCourse(unit, times, values.reshape(len(times), -1))


def _series(motion: SampledMotion, forces: Forces) -> Iterator[tuple[str, Array | None]]:
    if motion.pitch is not None and not motion.is_stated("pitch"):
        yield "pitch", _smooth_known(motion.pitch)
    for side in SIDES:
        yield f"way {side}", motion.way(side)
        yield f"belt way {side}", motion.belt_way(side)
    yield "turned", None if motion.is_stated("yaw") else motion.turned()
    yield "no-slip yaw", motion.no_slip_yaw()
    yield "energy", motion.values("energy")
    yield "work", _work(motion, forces)


def _smooth_known(pitch: Array) -> Array:
    """Pitch without its noise (n,), gaps bridged for the smoothing and left out after it."""
    known = np.isfinite(pitch)
    if not known.any():
        return pitch
    places = np.arange(len(pitch))
    smooth = smoothed(np.interp(places, places[known], pitch[known]))
    return np.where(known, smooth, np.nan)


def _work(motion: SampledMotion, forces: Forces) -> Array | None:
    """Work that the belts of all sides take or give in each sample (n,) [J]; None if it is not known."""
    works = []
    for side in SIDES:
        force, speed = forces[side], motion.belt(side)
        if force is None or speed is None:
            return None
        works.append(abs(force * speed) * SAMPLE_TIME)
    work = np.sum(works, axis=0)
    return work if np.nansum(work) > 0 else None


WHOLE = "whole"
_MIN_TURN = 0.02
"""Rate of turning without slip, root mean square, from which yaw rates are compared [rad/s]."""
_MIN_WAY = 0.02
"""Belt travel in a phase from which it has a slip [m]."""

NumberKey = tuple[str, str]
"""Quantity and phase."""
Known = NDArray[np.bool_]


class PhaseNumber(NamedTuple):
    """A quantity of a phase."""

    unit: str
    value: float


def windows_of(phases: Phases, begin: float, end: float) -> dict[str, tuple[float, float]]:
    """Return begin and end of each phase, and of `WHOLE` [s]."""
    found = {phase.name: (phase.begin, phase.end) for phase in phases.phases if phase.name != DRIVE}
    return {WHOLE: (begin, end)} | found


def shared_numbers(
    simulated: Responses, logged: Responses
) -> dict[NumberKey, tuple[PhaseNumber, PhaseNumber]]:
    """Simulated and logged number of each quantity and phase that both have."""
    mine, theirs = dict(_phase_numbers(simulated, logged)), dict(_phase_numbers(logged, simulated))
    return {key: (number, theirs[key]) for key, number in mine.items() if key in theirs}


def peak_is_hidden(own: Responses, other: Responses) -> bool:
    """True if a motion's pitch has a gap while it climbs, in the time that both motions cover."""
    span, lift = _span(own, other), own.phases.find("nose lift")
    if span is None or lift is None:
        return False
    settling = own.phases.find("settling")
    times = own.motion.times[span]
    climbs = (times >= lift.begin) & (times < (np.inf if settling is None else settling.begin))
    return bool(np.isnan(own.series["pitch"][span][climbs]).any())


def _phase_numbers(own: Responses, other: Responses) -> Iterator[tuple[NumberKey, PhaseNumber]]:
    if own.phases.time_to_crest is not None:
        yield ("time to crest", WHOLE), PhaseNumber("s", own.phases.time_to_crest)
    # On level ground it would be the largest that is left of noise; other phases than the pivot have theirs
    # where they begin or end, at a level.
    span = _span(own, other)
    if span is not None and own.phases.is_climb and not peak_is_hidden(own, other):
        yield ("peak pitch", WHOLE), PhaseNumber("rad", float(np.nanmax(own.series["pitch"][span])))
    for name in CLIMB_PHASES[1:-1]:
        phase, follows = own.phases.find(name), own.phases.after(name)
        if phase is not None and follows is not None and follows == other.phases.after(name):
            yield ("duration", name), PhaseNumber("s", phase.end - phase.begin)
    for name, inside in _phases_inside(own, other, own.motion.times):
        yield from (((quantity, name), number) for quantity, number in _of_samples(own, other, inside))
        fraction = _fraction_of_work(own, other, inside)
        if fraction is not None and name != WHOLE:
            yield ("fraction of work", name), PhaseNumber("-", fraction)
    for name, inside in _phases_inside(own, other, own.motion.middles):
        ratio = _yaw_over_no_slip(own, other, inside)
        if ratio is not None:
            yield ("yaw rate over no-slip", name), PhaseNumber("-", ratio)


def _phases_inside(own: Responses, other: Responses, times: Array) -> Iterator[tuple[str, Known]]:
    """Phases that are compared, and which times (n,) are in each."""
    begin, end = own.motion.times[[0, -1]].tolist()
    for name, (first, last) in windows_of(own.phases, begin, end).items():
        if name == WHOLE or own.phases.after(name) == other.phases.after(name):
            yield name, (times >= first) & (times <= last)


def _of_samples(own: Responses, other: Responses, inside: Known) -> Iterator[tuple[str, PhaseNumber]]:
    """Numbers of some samples, by quantity."""
    for side in ("left", "right"):
        slip = _mean_slip(own, other, side, inside)
        if slip is not None:
            yield f"mean slip {side}", PhaseNumber("-", slip)
    known = _known(own, other, "energy")
    if known is not None and (energy := own.series["energy"][known & inside]).size > 1:
        yield "energy", PhaseNumber("J", float(energy[-1] - energy[0]))


def _known(own: Responses, other: Responses, *names: str) -> Known | None:
    """Mask of samples at which both motions have some series; None where either lacks one."""
    if any(name not in responses.series for name in names for responses in (own, other)):
        return None
    finite = [np.isfinite(responses.series[name]) for name in names for responses in (own, other)]
    return np.logical_and.reduce(finite)


def _span(own: Responses, other: Responses) -> slice | None:
    """Samples from the first at which both motions have a pitch to the last; None if there are none."""
    known = _known(own, other, "pitch")
    if known is None or not known.any():
        return None
    first, last = np.flatnonzero(known)[[0, -1]].tolist()
    return slice(first, last + 1)


def _mean_slip(own: Responses, other: Responses, side: str, inside: Known) -> float | None:
    """1 - way / belt travel in some samples [-]; None if it is not known, or the belt hardly moves."""
    names = f"way {side}", f"belt way {side}"
    known = _known(own, other, *names)
    if known is None:
        return None
    way, travel = (float(own.series[name][known & inside].sum()) for name in names)
    return 1.0 - way / travel if abs(travel) >= _MIN_WAY else None


def _fraction_of_work(own: Responses, other: Responses, inside: Known) -> float | None:
    """Work in some samples over that in all [-]; None if it is not known, or there is none."""
    known = _known(own, other, "work")
    if known is None:
        return None
    work = own.series["work"]
    whole = float(work[known].sum())
    return float(work[known & inside].sum()) / whole if whole > 0 else None


def _yaw_over_no_slip(own: Responses, other: Responses, inside: Known) -> float | None:
    """Slope of the turns in windows over those without slip [-]; None if it is not known, or hardly turns."""
    known = _known(own, other, "turned", "no-slip yaw")
    if known is None or not (known & inside).any():
        return None
    turned, no_slip = (own.series[name][known & inside] for name in ("turned", "no-slip yaw"))
    power = float(no_slip @ no_slip)
    return float(turned @ no_slip) / power if power >= len(no_slip) * (_MIN_TURN * WINDOW) ** 2 else None


Alignment = Literal["event", "start", "se3", "none"]
ALIGNMENTS: tuple[str, ...] = get_args(Alignment)


def check_alignment(alignment: str) -> None:
    """See to it that there is such an alignment.

    Raises:
        UnknownNameError: There is none.
    """
    if alignment not in ALIGNMENTS:
        raise UnknownNameError("alignment", alignment, ALIGNMENTS)


class RigidMotion(NamedTuple):
    """Rotation (3, 3) and offset (3,) [m] in the world: a point becomes rotation times point plus offset."""

    rotation: Array
    offset: Array

    def move(self, points: Array) -> Array:
        """Return points (n, 3) [m] where they are then."""
        moved: Array = points @ self.rotation.T + self.offset
        return moved

    def move_poses(self, motion: Motion) -> Motion:
        """Return positions and orientations of a motion that has both, where they are then."""
        position, orientation = motion.signals["position"], motion.signals["orientation"]
        turned = Rotation.from_matrix(self.rotation) * Rotation.from_quat(orientation.values)
        return motion.with_signals(
            {
                "position": replace(position, values=self.move(position.values)),
                "orientation": replace(orientation, values=turned.as_quat()),
            }
        )


def laying(
    simulated: SampledMotion, logged: SampledMotion, alignment: Alignment, event: float | None
) -> RigidMotion | None:
    """Rigid motion that lays simulated positions onto the logged ones; None if either has none.

    Args:
        simulated: The simulated motion.
        logged: The logged motion, on the same clock.
        alignment: `event`: x, y and yaw agree at the event; `start`: at the first time at which both are
            known; `se3`: the rigid motion that leaves the least squares; `none`: both are taken as they are.
        event: Time of the event [s]; None is the start.
    """
    if simulated.position is None or logged.position is None:
        return None
    known = np.isfinite(simulated.position).all(axis=1) & np.isfinite(logged.position).all(axis=1)
    if alignment == "none" or not known.any():
        return RigidMotion(np.eye(3), np.zeros(3))
    if alignment == "se3":
        return rigid_motion(simulated.position[known], logged.position[known])
    shared = np.flatnonzero(known)
    at = shared[0]
    if alignment == "event" and event is not None:
        at = shared[np.argmin(abs(simulated.times[shared] - event))]
    return _laid(simulated, logged, int(at))


def rigid_motion(points: Array, targets: Array) -> RigidMotion:
    """Rigid motion that lays points (n, 3) onto targets (n, 3) [m] with the least squares.

    Umeyama 1991, without the scale.
    """
    middle, target = points.mean(axis=0), targets.mean(axis=0)
    u, _, v = np.linalg.svd((targets - target).T @ (points - middle))
    signs = np.diag([1.0, 1.0, np.sign(np.linalg.det(u) * np.linalg.det(v))])
    rotation = u @ signs @ v
    return RigidMotion(rotation, target - rotation @ middle)


def _laid(simulated: SampledMotion, logged: SampledMotion, at: int) -> RigidMotion:
    """Turn and shift on the ground by which x, y and yaw of the simulated motion agree at a sample."""
    assert simulated.position is not None and logged.position is not None
    turn = 0.0
    if simulated.yaw is not None and logged.yaw is not None:
        turn = float(np.nan_to_num(logged.yaw[at] - simulated.yaw[at]))
    cos, sin = math.cos(turn), math.sin(turn)
    rotation = np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
    target = np.append(logged.position[at, :2], simulated.position[at, 2])
    return RigidMotion(rotation, target - rotation @ simulated.position[at])


class Key(NamedTuple):
    """Key of an error.

    Attributes:
        quantity: Name of the quantity.
        phase: Name of the phase, or `whole`.
        kind: `course`: over time; `number`: one for the phase.
    """

    quantity: str
    phase: str
    kind: str


class Error(NamedTuple):
    """Simulated less logged.

    Attributes:
        unit: Unit of the values.
        values: (m, k); NaN where either is not known. A number has (1, 1).
    """

    unit: str
    values: Array

    @property
    def rms(self) -> float:
        """Root of the mean squared length of the values; NaN if none is known."""
        squares = self.squares
        return float(np.sqrt(squares.mean())) if len(squares) else float("nan")

    @property
    def squares(self) -> Array:
        """Squared length of each value that is known (n,)."""
        return np.sum(self.values[np.isfinite(self.values).all(axis=1)] ** 2, axis=1)

    def less(self, other: Error) -> Error:
        """Difference of this error and another."""
        return Error(self.unit, self.values - other.values)


Errors = Mapping[Key, Error]


class ErrorSetting(NamedTuple):
    """Settings of errors, besides the two motions.

    Attributes:
        windows: From when to when each phase is, by the logged motion [s].
        alignment: Alignment of positions with the logged ones.
        event: Time of the alignment's event [s]; None is the start.
    """

    windows: Mapping[str, tuple[float, float]]
    alignment: Alignment
    event: float | None


def errors_of(simulated: Responses, logged: Responses, setting: ErrorSetting) -> Errors:
    """Errors of all that both motions have.

    Courses are compared at the same times, in the windows of the logged motion's phases; a number is that
    of each motion's own phase.
    """
    return dict(_courses(simulated, logged, setting)) | dict(_numbers(simulated, logged))


def _courses(simulated: Responses, logged: Responses, setting: ErrorSetting) -> Iterator[tuple[Key, Error]]:
    for quantity, (mine, theirs) in shared_courses(simulated, logged, setting).items():
        difference = mine.values - theirs.values
        for phase, (begin, end) in setting.windows.items():
            inside = (mine.times >= begin) & (mine.times <= end)
            values = difference[inside]
            if np.isfinite(values).all(axis=1).any():
                yield Key(quantity, phase, "course"), Error(mine.unit, values)


def shared_courses(
    simulated: Responses, logged: Responses, setting: ErrorSetting
) -> dict[str, tuple[TimeCourse, TimeCourse]]:
    """Simulated and logged course of each quantity that both have, positions aligned."""
    found = {
        name: (course, logged.courses[name])
        for name, course in simulated.courses.items()
        if name in logged.courses
    }
    at = simulated.motion.times
    laid = laying(simulated.motion, logged.motion, setting.alignment, setting.event)
    if laid is not None:
        places = simulated.motion.position, logged.motion.position
        assert places[0] is not None and places[1] is not None
        found["position"] = TimeCourse("m", at, laid.move(places[0])), TimeCourse("m", at, places[1])
    return found


def _numbers(simulated: Responses, logged: Responses) -> Iterator[tuple[Key, Error]]:
    for (quantity, phase), (mine, theirs) in shared_numbers(simulated, logged).items():
        yield Key(quantity, phase, "number"), Error(mine.unit, np.array([[mine.value - theirs.value]]))
