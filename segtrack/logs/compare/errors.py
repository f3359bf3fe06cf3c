"""Errors of a simulated motion, phase by phase, with paths aligned."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import UnknownNameError
from segtrack.logs.compare.responses import Responses, TimeCourse, shared_numbers
from segtrack.logs.compare.sampling import SampledMotion

Array = NDArray[np.float64]
Alignment = Literal["event", "start", "se3", "none"]
ALIGNMENTS: tuple[str, ...] = get_args(Alignment)


def check_alignment(alignment: str) -> None:
    """See to it that there is such an alignment.

    Raises:
        UnknownNameError: There is none.
    """
    if alignment not in ALIGNMENTS:
        raise UnknownNameError("alignment", alignment, ALIGNMENTS)


def aligned_positions(
    simulated: SampledMotion, logged: SampledMotion, alignment: Alignment, event: float | None
) -> Array | None:
    """Simulated positions, moved onto the logged ones (n, 3) [m]; None if either has none.

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
        return simulated.position
    if alignment == "se3":
        rotation, offset = rigid_motion(simulated.position[known], logged.position[known])
        return simulated.position @ rotation.T + offset
    shared = np.flatnonzero(known)
    at = shared[0]
    if alignment == "event" and event is not None:
        at = shared[np.argmin(abs(simulated.times[shared] - event))]
    return _laid(simulated, logged, int(at))


def rigid_motion(points: Array, targets: Array) -> tuple[Array, Array]:
    """Rotation (3, 3) and offset (3,) [m] that lay points (n, 3) onto targets (n, 3) with the least squares.

    Umeyama 1991, without the scale.
    """
    middle, target = points.mean(axis=0), targets.mean(axis=0)
    u, _, v = np.linalg.svd((targets - target).T @ (points - middle))
    signs = np.diag([1.0, 1.0, np.sign(np.linalg.det(u) * np.linalg.det(v))])
    rotation = u @ signs @ v
    return rotation, target - rotation @ middle


def _laid(simulated: SampledMotion, logged: SampledMotion, at: int) -> Array:
    """Simulated positions, turned and shifted on the ground so that x, y and yaw agree at a sample."""
    assert simulated.position is not None and logged.position is not None
    turn = 0.0
    if simulated.yaw is not None and logged.yaw is not None:
        turn = float(np.nan_to_num(logged.yaw[at] - simulated.yaw[at]))
    cos, sin = math.cos(turn), math.sin(turn)
    rotation = np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
    moved = (simulated.position - simulated.position[at]) @ rotation.T
    shift = simulated.position[at].copy()
    shift[:2] = logged.position[at, :2]
    return moved + shift


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
    moved = aligned_positions(simulated.motion, logged.motion, setting.alignment, setting.event)
    if moved is not None and logged.motion.position is not None:
        found["position"] = TimeCourse("m", at, moved), TimeCourse("m", at, logged.motion.position)
    return found


def _numbers(simulated: Responses, logged: Responses) -> Iterator[tuple[Key, Error]]:
    for (quantity, phase), (mine, theirs) in shared_numbers(simulated, logged).items():
        yield Key(quantity, phase, "number"), Error(mine.unit, np.array([[mine.value - theirs.value]]))
