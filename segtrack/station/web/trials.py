"""Trials of a run, in the web process: free ones, exercises with each person's progress, and the expert."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Literal

from segtrack.courses import (
    CONDITION,
    RATE_UNITS,
    Exercise,
    ExerciseProgress,
    Records,
    Result,
    Syllabus,
)
from segtrack.errors import NotReadyError, SegtrackError, UnknownNameError
from segtrack.station.protocol import ExerciseStatus, LinkRequest, Role, TrialStatus
from segtrack.station.simulation import SetTrial
from segtrack.station.web.catalogue import Library
from segtrack.station.web.run import StationRun

_LOG = logging.getLogger(__name__)


class Trials:
    """Trials of a run: orders, conditions, and the comparison with an expert."""

    def __init__(self, run: StationRun, library: Library) -> None:
        """Begin without a trial."""
        self._run, self._library = run, library
        self._expert: Result | None = None
        self._exercise: Exercise | None = None
        self._due: tuple[Exercise, str] | None = None

    def begin(self, operator: str, repetitions: int, link: LinkRequest | None) -> None:
        """Begin a trial; the degradation of the driver's link is among its conditions.

        Raises:
            SegtrackError: The simulation is not ready, or an expert's record cannot be read.
        """
        expert = self._library.records.expert_result(self._run.event(link))
        self._run.set_trial(SetTrial("begin", operator, repetitions, self._run.conditions(link)))
        self._expert, self._exercise = expert, None

    def practise(self, exercise: Exercise) -> None:
        """Build an exercise's simulation, or go back to the start if it is built.

        Raises:
            SegtrackError: It cannot be built, or something is being built.
        """
        self._due = None
        if (
            not self._run.configure_exercise(exercise)
            and self._run.state != "compiling"
            and self.operator is None
        ):
            self._run.set_run("reset")

    def begin_exercise(self, exercise: Exercise, operator: str, link: LinkRequest | None) -> None:
        """Begin the trial of an exercise as soon as its simulation is built; see `begin`.

        Raises:
            SegtrackError: See `practise`.
        """
        self._due = None
        self._run.configure_exercise(exercise)
        self._due = exercise, operator
        self.begin_due(link)

    def begin_due(self, link: LinkRequest | None) -> None:
        """Begin the trial that waits for its simulation, if that is built; see `begin`.

        Raises:
            NotReadyError: The simulation is busy.
        """
        if self._due is None or self._run.state == "compiling":
            return
        (exercise, operator), self._due = self._due, None
        if self._run.state == "failed":
            return
        conditions = self._run.conditions(link) | {CONDITION: exercise.name}
        failures = dict(exercise.settings.allowed_failures)
        self._run.set_trial(SetTrial("begin", operator, exercise.repetitions, conditions, failures))
        self._expert, self._exercise = None, exercise

    def try_due(self, link: LinkRequest | None) -> str:
        """Begin the trial that waits for its simulation; returns the reason of a failure, or ""."""
        try:
            self.begin_due(link)
        except NotReadyError as error:
            return str(error)
        return ""

    def order(self, action: Literal["abandon", "help"]) -> None:
        """Abandon the trial, or record help in it.

        Raises:
            NotReadyError: The simulation is not ready.
        """
        self._run.set_trial(SetTrial(action))

    def set_run(
        self, action: Literal["start", "pause", "reset", "stop"], role: Role, driver: str | None
    ) -> None:
        """Start, pause, reset or stop the run; during a trial only an instructor may.

        While a fault holds the clock of a trial, anyone who commands may pause. It goes on with its operator
        alone.

        Args:
            action: Order for the run.
            role: Role of the client that asks.
            driver: Name of the driver; None if nobody drives.

        Raises:
            NotReadyError: A trial is on, or the simulation is not ready.
        """
        if action == "reset" and driver is not None and self.operator not in (None, driver):
            raise NotReadyError(f"go on with the trial of {self.operator}", f"{driver} drives")
        paused = self._run.trial is not None and self._run.trial.paused is not None
        interrupts = action == "stop" or (action == "pause" and not paused)
        if interrupts and self.on and role != "instructor":
            raise NotReadyError(f"{action} the run", "a trial is on; abandon it, or ask an instructor")
        if action == "stop":
            self.intervene("abandon")
        self._run.set_run(action)

    def change_driver(self, operator: str | None) -> None:
        """Record a change of driver, which counts as help in a trial; a trial of another operator ends.

        Args:
            operator: Name of the new driver; None for an instructor, or nobody.

        Raises:
            NotReadyError: The simulation is busy.
        """
        self.forget_due()
        trial = self._run.trial
        another = trial is not None and operator not in (None, trial.operator)
        self.intervene("abandon" if another else "help")

    def join_driver(self, operator: str | None) -> None:
        """Abandon a disconnected operator's trial if somebody else drives now."""
        trial = self._run.trial
        if trial is not None and operator not in (None, trial.operator):
            with suppress(NotReadyError):
                self.intervene("abandon")

    def forget_due(self) -> None:
        """Cancel the trial that waits for its simulation, since the driver who asked has left."""
        self._due = None

    def intervene(self, action: Literal["abandon", "help"]) -> None:
        """Abandon the present trial, or record help in it, for any client; does nothing without one.

        Raises:
            NotReadyError: The simulation is busy.
        """
        trial = self._run.trial if self.on else None
        if trial is not None and (action == "abandon" or trial.paused is None):
            self.order(action)

    @property
    def operator(self) -> str | None:
        """Operator of the trial that runs or is ordered; None without one."""
        if self._run.beginning is not None:
            return self._run.beginning
        return self._run.trial.operator if self._run.trial is not None and self.on else None

    @property
    def on(self) -> bool:
        """True while a trial runs."""
        return self._run.trial is not None and not self._run.trial.over

    def name_expert(self, link: LinkRequest | None) -> None:
        """Make the last trial's operator the expert under the present conditions.

        Raises:
            SegtrackError: There was no trial, or the operator has passed none under them.
        """
        if self._run.trial is None:
            raise NotReadyError("name an expert", "there was no trial")
        self._library.records.name_expert(self._run.trial.operator, self._run.event(link))

    def status(self) -> TrialStatus | None:
        """Return the progress of the trial, with the ratio to the expert's rate; None without a trial.

        That of an exercise is passed if it is fast enough as well.
        """
        trial, expert, exercise = self._run.trial, self._expert, self._exercise
        if trial is not None and trial.passed and exercise is not None and exercise.rate is not None:
            return trial.model_copy(update={"passed": (trial.rate or 0.0) >= exercise.rate})
        if trial is None or trial.rate is None or expert is None:
            return trial
        return trial.model_copy(update={"expert_fraction": trial.rate / expert.rate})

    def report_link(self, operator: str | None) -> str:
        """Return the link of an operator's report; of the last operator's for None."""
        trial = self._run.trial
        return self._library.report_link(operator or (None if trial is None else trial.operator))


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
