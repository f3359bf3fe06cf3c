"""Run of the simulation in the web process: steering, orders, reports and trials."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Literal, Protocol

from segtrack.errors import NotReadyError
from segtrack.recording.setup import DriveSetup
from segtrack.scoring import Result, TrialConditions, check_operator
from segtrack.station import protocol
from segtrack.station.protocol import LinkRequest, Role, RunState, Setup, TrialStatus
from segtrack.station.simulation.exchange import (
    Build,
    Order,
    ProcessDied,
    Report,
    RunReport,
    SceneReport,
    SetRun,
    SetTrial,
    ShowContacts,
    StampedCommand,
    TrialAction,
    TrialReport,
)
from segtrack.station.web.catalogue import Catalogue, Library
from segtrack.station.web.steering import Steering

_REBUILD_PERIOD = 30.0
"""Time after which a process that dies again is given another chance [s]."""


class Simulation(Protocol):
    """Simulation in a process of its own, or a double in a test."""

    def order(self, order: Order) -> None:
        """Send an order."""

    def command(self, latest: StampedCommand) -> None:
        """Replace the latest command."""

    def state(self) -> tuple[int, bytes] | None:
        """Return number and bytes of the latest state."""

    def reports(self) -> Iterator[Report]:
        """Yield the reports that have come."""

    def close(self) -> list[Report]:
        """End it; returns its last reports."""


class StationRun:
    """Run of a station: its setup, its state and its trial.

    Attributes:
        simulation: Simulation that orders go to.
        setup: Vehicle, course and simulation.
        scene: Number of its scene.
        state: State of the run.
        reason: Reason for which it failed, or "".
        trial: Progress of the trial; None without one.
        fields: Fields of its scene; None before it is built.
        steering: Controls of the driver, as commands.
    """

    def __init__(self, simulation: Simulation, catalogue: Catalogue) -> None:
        """Begin to build what the catalogue offers first."""
        self.simulation, self._catalogue = simulation, catalogue
        self.scene = 0
        self.reason = ""
        self.trial: TrialStatus | None = None
        self.fields: dict[str, Any] | None = None
        self.steering = Steering(simulation, catalogue.vehicle(catalogue.first.vehicle), 0)
        self.state: RunState = "stopped"
        self._contacts = False
        self._built_again = -math.inf
        self.configure(catalogue.first)

    def configure(self, setup: Setup) -> None:
        """Build another simulation.

        Raises:
            SegtrackError: The setup cannot be, or one is being built.
        """
        if self.state == "compiling":
            raise NotReadyError("build the setup", "another one is being built")
        wanted = self._catalogue.drive_setup(setup)
        vehicle = self._catalogue.vehicle(setup.vehicle)
        self.simulation.order(Build(self.scene + 1, wanted))
        self.scene += 1
        self.setup, self.state, self.reason, self.trial = setup, "compiling", "", None
        self.steering.change_vehicle(vehicle, self.scene)

    @property
    def drive_setup(self) -> DriveSetup:
        """Setup that is simulated."""
        return self._catalogue.drive_setup(self.setup)

    def raise_setting(self) -> None:
        """Build the same course at the next setting.

        Raises:
            NotReadyError: There is none.
        """
        setting = self._catalogue.course(self.setup.course, self.setup.setting).setting
        if setting is None or setting.next_value is None:
            raise NotReadyError("raise the setting", "the course has no higher one")
        self.configure(self.setup.model_copy(update={"setting": setting.next_value}))

    def set_run(self, action: Literal["start", "pause", "reset", "stop"]) -> None:
        """Start, pause, reset or stop.

        Raises:
            NotReadyError: The simulation is being built, or failed.
        """
        if self.state == "compiling" or (self.state == "failed" and action != "reset"):
            raise NotReadyError(f"{action} the run", f"it is {self.state}")
        self.simulation.order(SetRun(action))

    def set_trial(self, order: SetTrial) -> None:
        """Begin or abandon a trial, or note help.

        Raises:
            NotReadyError: The simulation is being built, or failed.
        """
        if self.state in ("compiling", "failed"):
            raise NotReadyError(f"{order.action} a trial", f"the run is {self.state}")
        self.simulation.order(order)

    def show_contacts(self, wanted: bool) -> None:
        """Order states with contact loads, or without."""
        if wanted != self._contacts:
            with suppress(NotReadyError):  # The next time, then.
                self.simulation.order(ShowContacts(wanted))
                self._contacts = wanted

    def event(self, link: LinkRequest | None) -> TrialConditions:
        """Return the conditions that a rate depends on besides the operator, the driver's link included."""
        course = self._catalogue.course(self.setup.course, self.setup.setting)
        setting = None if course.setting is None else course.setting.value
        vehicle = self._catalogue.vehicle(self.setup.vehicle).name
        return TrialConditions.of(course.name, setting, vehicle, self.conditions(link))

    def conditions(self, link: LinkRequest | None) -> dict[str, str]:
        """Return the conditions of a result but for vehicle, course and setting, as text by name."""
        values = self.setup.model_dump(exclude={"vehicle", "course", "setting"}, exclude_none=True)
        conditions = {name: str(value) for name, value in values.items()}
        if link is not None:
            conditions["link"] = link.model_dump_json(include={"video", "command"})
        return conditions

    def _build_again(self, reason: str) -> None:
        """Build the setup anew in a process that knows nothing of it, unless that has failed just now."""
        self.trial, self._contacts = None, False
        now = time.monotonic()
        again, self._built_again = now - self._built_again > _REBUILD_PERIOD, now
        self.state, self.reason = "failed", reason
        if again:
            self.configure(self.setup)
            self.reason = f"{reason}; it is built again"

    def take_reports(self) -> Iterator[Report]:
        """Apply the reports that have come, and yield them."""
        for report in self.simulation.reports():
            match report:
                case RunReport(state, reason):
                    self.state = state
                    if reason or state != "compiling":
                        self.reason = reason
                    if state == "failed":
                        self.trial = None
                case ProcessDied(reason):
                    self._build_again(reason)
                case SceneReport(fields):
                    self.fields = fields
                case TrialReport(fields):
                    self.trial = protocol.TrialStatus(**fields)
            yield report


class Trials:
    """Trials of a run."""

    def __init__(self, run: StationRun, library: Library) -> None:
        """Begin without a trial."""
        self._run, self._library = run, library
        self._expert: Result | None = None
        self._operator: str | None = None

    def order(self, action: TrialAction, operator: str, repetitions: int, link: LinkRequest | None) -> None:
        """Begin or abandon a trial, or ask for help; conditions name the degradation of the driver's link.

        Raises:
            SegtrackError: The operator's name is none, or the simulation is not ready.
        """
        operator, conditions = check_operator(operator), self._run.conditions(link)
        expert = self._library.records.expert_result(self._run.event(link)) if action == "begin" else None
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
        """True while a trial is under way."""
        return self._run.trial is not None and not self._run.trial.over

    def name_expert(self, operator: str, link: LinkRequest | None) -> None:
        """Make an operator the expert under the present conditions.

        Raises:
            SegtrackError: The operator has passed no trial under them.
        """
        self._library.records.name_expert(operator, self._run.event(link))

    def status(self) -> TrialStatus | None:
        """Return the progress of the trial, compared with the expert's; None without one."""
        trial, expert = self._run.trial, self._expert
        if trial is None or trial.rate is None or expert is None:
            return trial
        return trial.model_copy(update={"expert_fraction": trial.rate / expert.rate})

    def report_link(self) -> str:
        """Return the link of the last operator's report."""
        return self._library.report_link(self._operator)
