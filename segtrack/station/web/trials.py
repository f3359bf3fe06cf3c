"""Trials as the web process knows them: whose they are, how they compare, and where they are kept."""

from __future__ import annotations

from segtrack.scoring import Result, check_operator
from segtrack.station.protocol import LinkRequest, TrialStatus
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
        self._run.set_trial(SetTrial(action, operator, repetitions, conditions))
        if action == "begin":
            self._expert = self._library.records.expert_result(*self._run.event())
            self._operator = operator

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
