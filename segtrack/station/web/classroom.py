"""Exercises of a station, and each person's progress in them."""

from __future__ import annotations

import logging

from segtrack.courses import RATE_UNITS, Exercise, ExerciseProgress, Records, Syllabus
from segtrack.errors import NotReadyError, SegtrackError, UnknownNameError
from segtrack.station.protocol import ExerciseStatus

_LOG = logging.getLogger(__name__)


class Classroom:
    """Exercises, and each person's progress in them.

    Attributes:
        syllabus: Exercises in their order.
        records: Results of all operators.
    """

    def __init__(self, records: Records, syllabus: Syllabus) -> None:
        """Start with the existing records."""
        self.records, self.syllabus = records, syllabus
        self._units = {each.name: RATE_UNITS[each.kind] for each in syllabus.exercises}
        self._known: dict[str, tuple[ExerciseProgress, ...]] = {}

    def forget(self) -> None:
        """Drop the cached records, because a trial has ended."""
        self._known.clear()

    def exercise(self, name: str, operator: str | None) -> Exercise:
        """Return an exercise, if the operator may open it.

        Args:
            name: Name of the exercise.
            operator: Operator, who must have passed the earlier exercises; None for any exercise.

        Raises:
            UnknownNameError: There is no such exercise.
            NotReadyError: The operator has not passed those before it.
            FileAccessError: The operator's record cannot be read.
        """
        named = {each.name: each for each in self.syllabus.exercises}
        if name not in named:
            raise UnknownNameError("exercise", name, named)
        if operator is not None:
            first = next((row for row in self._progress(operator) if row.passed is None), None)
            is_open = any(row.exercise.name == name and row.is_open for row in self._progress(operator))
            if first is not None and not is_open:
                raise NotReadyError(f"begin {named[name].title}", f"pass {first.exercise.title} before")
        return named[name]

    def status(self, operator: str) -> tuple[ExerciseStatus, ...]:
        """Return a person's progress in all exercises, without a record too; empty if it cannot be read."""
        try:
            rows = self._progress(operator)
        except SegtrackError as error:
            _LOG.error("%s", error)
            rows = self._known[operator] = self.syllabus.progress(())
        return tuple(self._status(row) for row in rows)

    def _status(self, row: ExerciseProgress) -> ExerciseStatus:
        exercise = row.exercise
        return ExerciseStatus(
            name=exercise.name,
            title=exercise.title,
            lesson=exercise.lesson,
            course=exercise.course,
            complete=exercise.complete,
            failures=exercise.failures,
            rate=exercise.rate,
            unit=self._units[exercise.name],
            tries=row.tries,
            passed=row.passed is not None,
            open=row.is_open,
        )

    def _progress(self, operator: str) -> tuple[ExerciseProgress, ...]:
        if operator not in self._known:
            results = self.records.read(operator).results if operator in self.records else ()
            self._known[operator] = self.syllabus.progress(results)
        return self._known[operator]
