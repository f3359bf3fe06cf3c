"""Trials as the web process knows them: whose they are, how they compare, and where they are kept."""

from __future__ import annotations

from typing import Literal

from segtrack.errors import NotReadyError
from segtrack.scoring import Result, check_operator
from segtrack.station.protocol import LinkRequest, Role, TrialStatus
from segtrack.station.simulation.orders import SetTrial, TrialAction
from segtrack.station.web.library import Library
from segtrack.station.web.run import Run


class Trials:
    """The trials of a run."""

    def __init__(self, run: Run, library: Library) -> None:
        """Begin without a trial."""
        self._run, self._library = run, library
        self._expert: Result | None = None
        self._operator: str | None = None

    def order(self, action: TrialAction, operator: str, repetitions: int, link: LinkRequest | None) -> None:
        """Begin or abandon a trial, or ask for help; conditions name the degradation of the driver's link.

        Raises:
            SegtrackError: The operator's name is none, or the simulation is not ready.
        """
        operator, conditions = check_operator(operator), self._run.conditions()
        if link is not None:
            conditions["link"] = link.model_dump_json(include={"video", "command"})
        expert = self._library.records.expert_result(*self._run.event()) if action == "begin" else None
        self._run.set_trial(SetTrial(action, operator, repetitions, conditions))
        if action == "begin":
            self._expert, self._operator = expert, operator

    def set_run(self, action: Literal["start", "pause", "reset", "stop"], role: Role) -> None:
        """Start, pause, reset or stop the run; an instructor alone interrupts a trial, and stops it as well.

        Raises:
            NotReadyError: A trial is on, or the simulation is not ready.
        """
        if action in ("pause", "stop") and self.on and role != "instructor":
            raise NotReadyError(f"{action} the run", "a trial is on; abandon it, or ask an instructor")
        if action == "stop":
            self.intervene("abandon")
        self._run.set_run(action)

    def intervene(self, action: Literal["abandon", "help"]) -> None:
        """Abandon the present trial, or note help in it, whoever asks; does nothing without one.

        Raises:
            NotReadyError: The simulation is busy.
        """
        trial = self._run.trial if self.on else None
        if trial is not None and (action == "abandon" or trial.paused is None):
            self._run.set_trial(SetTrial(action, trial.operator, trial.repetitions, {}))

    @property
    def on(self) -> bool:
        """Whether a trial has begun and not ended."""
        return self._run.trial is not None and not self._run.trial.over

    def name_expert(self, operator: str) -> None:
        """Make an operator the expert for the present course, setting and vehicle.

        Raises:
            SegtrackError: The operator has passed no trial there.
        """
        self._library.records.name_expert(operator, *self._run.event())

    def status(self) -> TrialStatus | None:
        """How the trial stands, compared with the expert's; None without one."""
        trial, expert = self._run.trial, self._expert
        if trial is None or trial.rate is None or expert is None:
            return trial
        return trial.model_copy(update={"expert_fraction": trial.rate / expert.rate})

    def report_link(self) -> str:
        """Where the report of the last operator can be read."""
        return self._library.report_link(self._operator)
