"""Errors of a simulated motion: simulated less logged, over time and of numbers, phase by phase."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.logs.compare.motions.alignment import Alignment, aligned_positions
from segtrack.logs.compare.motions.numbers import shared_numbers
from segtrack.logs.compare.motions.responses import Course, Responses


class Key(NamedTuple):
    """Which error.

    Attributes:
        quantity: What it is of.
        phase: In which phase, or `whole`.
        kind: `course`: over time; `number`: one for the phase.
    """

    quantity: str
    phase: str
    kind: str


class Error(NamedTuple):
    """Simulated less logged.

    Attributes:
        unit: Of the values.
        values: (m, k); NaN where either is not known. A number has (1, 1).
    """

    unit: str
    values: NDArray[np.float64]

    @property
    def rms(self) -> float:
        """Root of the mean squared length of the values; NaN if none is known."""
        squares = self.squares
        return float(np.sqrt(squares.mean())) if len(squares) else float("nan")

    @property
    def squares(self) -> NDArray[np.float64]:
        """Squared length of each value that is known (n,)."""
        return np.sum(self.values[np.isfinite(self.values).all(axis=1)] ** 2, axis=1)

    def less(self, other: Error) -> Error:
        """What this differs from another by."""
        return Error(self.unit, self.values - other.values)


Errors = Mapping[Key, Error]


class Setting(NamedTuple):
    """What errors depend on besides the two motions.

    Attributes:
        windows: From when to when each phase is, by the logged motion [s].
        alignment: How positions are laid onto the logged ones.
        event: When the event of the alignment is [s]; None is the start.
    """

    windows: Mapping[str, tuple[float, float]]
    alignment: Alignment
    event: float | None


def errors_of(simulated: Responses, logged: Responses, setting: Setting) -> Errors:
    """Errors of all that both motions have.

    Courses are compared at the same times, in the windows of the logged motion's phases; a number is that
    of each motion's own phase.
    """
    return dict(_courses(simulated, logged, setting)) | dict(_numbers(simulated, logged))


def _courses(simulated: Responses, logged: Responses, setting: Setting) -> Iterator[tuple[Key, Error]]:
    for quantity, (mine, theirs) in shared_courses(simulated, logged, setting).items():
        difference = mine.values - theirs.values
        for phase, (begin, end) in setting.windows.items():
            inside = (mine.times >= begin) & (mine.times <= end)
            values = difference[inside]
            if np.isfinite(values).all(axis=1).any():
                yield Key(quantity, phase, "course"), Error(mine.unit, values)


def shared_courses(
    simulated: Responses, logged: Responses, setting: Setting
) -> dict[str, tuple[Course, Course]]:
    """Simulated and logged course of each quantity that both have, positions aligned."""
    found = {
        name: (course, logged.courses[name])
        for name, course in simulated.courses.items()
        if name in logged.courses
    }
    at = simulated.motion.times
    moved = aligned_positions(simulated.motion, logged.motion, setting.alignment, setting.event)
    if moved is not None and logged.motion.position is not None:
        found["position"] = Course("m", at, moved), Course("m", at, logged.motion.position)
    return found


def _numbers(simulated: Responses, logged: Responses) -> Iterator[tuple[Key, Error]]:
    for (quantity, phase), (mine, theirs) in shared_numbers(simulated, logged).items():
        yield Key(quantity, phase, "number"), Error(mine.unit, np.array([[mine.value - theirs.value]]))
