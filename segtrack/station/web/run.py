"""What is simulated, as the web process knows it: orders out, reports in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Literal, Protocol

from segtrack.errors import NotReadyError
from segtrack.station import protocol
from segtrack.station.protocol import RunState, Setup, TrialStatus
from segtrack.station.simulation.exchange import CommandSample
from segtrack.station.simulation.orders import (
    Build,
    Order,
    Report,
    RunReport,
    SceneReport,
    SetRun,
    SetTrial,
    ShowContacts,
    TrialReport,
)
from segtrack.station.web.catalogue import Catalogue
from segtrack.station.web.steering import Steering


class Simulation(Protocol):
    """What simulates, in a process of its own or in a test."""

    def order(self, order: Order) -> None:
        """Send an order."""

    def command(self, sample: CommandSample) -> None:
        """Replace the latest command."""

    def state(self) -> tuple[int, bytes] | None:
        """Number and bytes of the latest state."""

    def reports(self) -> Iterator[Report]:
        """Reports that have come."""


class Run:
    """The run: its setup, its state and its trial.

    Attributes:
        simulation: What simulates it.
        setup: What is driven where.
        scene: Number of its scene.
        state: Of the run.
        reason: Why it failed.
        trial: As it stands; None without one.
        fields: Of its scene; None before it is built.
        steering: Of whoever drives.
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
        """See to it that states hold contact loads, or none."""
        if wanted != self._contacts:
            with suppress(NotReadyError):  # The next time, then.
                self.simulation.order(ShowContacts(wanted))
                self._contacts = wanted

    def event(self) -> tuple[str, float | None, str]:
        """Course, setting and vehicle: what a rate depends on besides the operator."""
        course = self._catalogue.course(self.setup.course, self.setup.setting)
        setting = None if course.setting is None else course.setting.value
        return course.name, setting, self._catalogue.vehicle(self.setup.vehicle).name

    def conditions(self) -> dict[str, str]:
        """What else a result depends on, in words."""
        values = self.setup.model_dump(exclude={"vehicle", "course", "setting"}, exclude_none=True)
        return {name: str(value) for name, value in values.items()}

    def hear(self) -> Iterator[Report]:
        """Take in the reports that have come; returns them."""
        for report in self.simulation.reports():
            match report:
                case RunReport(state, reason):
                    self.state, self.reason = state, reason
                    if state == "failed":  # A process that is started anew knows nothing of either.
                        self.trial, self._contacts = None, False
                case SceneReport(fields):
                    self.fields = fields
                case TrialReport(fields):
                    self.trial = protocol.TrialStatus(**fields)
            yield report
