"""Run of the simulation, in the web process: orders, reports, and the driver's controls as commands."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal, Protocol

from segtrack.courses import Exercise, TrialConditions
from segtrack.description import VehicleDescription
from segtrack.errors import NotReadyError
from segtrack.recording import Command, DriveSetup
from segtrack.station import protocol
from segtrack.station.inputs import NOTHING_HELD, InputMapper
from segtrack.station.protocol import ControlsMessage, LinkRequest, RunState, Setup, TrialStatus
from segtrack.station.simulation import (
    Build,
    NoPriority,
    Order,
    ProcessDied,
    Refused,
    Report,
    RunReport,
    SceneReport,
    SetRun,
    SetTrial,
    ShowContacts,
    StampedCommand,
    TrialReport,
)
from segtrack.station.web.catalogue import Catalogue

_REBUILD_PERIOD = 30.0
"""Time after which a process that dies again is given another chance [s]."""
_LONGEST_STEP = 0.1
"""Longest time between controls that a key's ramp goes on through [s]."""


class Simulation(Protocol):
    """Interface of the simulation process, also for doubles in tests."""

    def order(self, order: Order) -> None:
        """Send an order."""

    def command(self, latest: StampedCommand) -> None:
        """Replace the latest command."""

    def state(self) -> tuple[int, bytes] | None:
        """Return sequence number and bytes of the latest state."""

    def reports(self) -> Iterator[Report]:
        """Yield the new reports."""

    def close(self) -> list[Report]:
        """End the simulation, and return its last reports."""


class Steering:
    """Mapping of the driver's controls to commands, with the emergency stop's latch.

    Attributes:
        e_stop: True while the emergency stop is latched.
    """

    def __init__(self, simulation: Simulation, vehicle: VehicleDescription, scene: int) -> None:
        """Steer a vehicle in a scene."""
        self._simulation = simulation
        self.e_stop = False
        self.change_vehicle(vehicle, scene)

    def change_vehicle(self, vehicle: VehicleDescription, scene: int) -> None:
        """Steer another vehicle from now on, starting at rest."""
        self._vehicle, self._scene = vehicle, scene
        self.rest()

    def rest(self) -> None:
        """Stop the belts until new controls come, because the driver left or changed."""
        self._mapper = InputMapper(self._vehicle)
        if self.e_stop:
            self._mapper.stop()
        self._at: float | None = None
        self._latest = StampedCommand(self._scene, -math.inf, 0.0, self.e_stop)
        self._simulation.command(self._latest)

    def stop(self, on: bool) -> None:
        """Latch or release the emergency stop; after a release nothing moves before all inputs are let go."""
        if on:
            self._mapper.stop()
        else:
            self._mapper.release()
        self.e_stop = on
        self._latest = replace(self._latest, e_stop=on, command=Command())
        self._simulation.command(self._latest)

    def drive(self, message: ControlsMessage, now: float) -> None:
        """Apply controls received at `now` [s]; those of an invisible page count as let go."""
        step = 0.0 if self._at is None else min(now - self._at, _LONGEST_STEP)
        self._at = now
        command = self._mapper.update(message if message.visible else NOTHING_HELD, step)
        if not message.visible:
            self._mapper.wait()
        self.e_stop = self._mapper.stopped
        delay = math.nan if message.delay is None else message.delay / 1000
        self._latest = StampedCommand(self._scene, now, message.time, self.e_stop, command, delay)
        self._simulation.command(self._latest)


class StationRun:
    """Run of a station: its setup, its state and its trial.

    Attributes:
        simulation: Simulation that the orders go to.
        setup: Vehicle, course and simulation.
        scene: Number of the scene.
        state: State of the run.
        reason: Reason why the run failed, or "".
        trial: Progress of the trial; None without one.
        beginning: Operator of a trial that was ordered but has not begun; None without one.
        prioritized: False if the operating system refuses the simulation a higher priority.
        fields: Fields of the scene; None before it is built.
        steering: Mapping of the driver's controls to commands.
    """

    def __init__(self, simulation: Simulation, catalogue: Catalogue) -> None:
        """Order the catalogue's first setup."""
        self.simulation, self._catalogue = simulation, catalogue
        self.scene = 0
        self.reason = ""
        self.prioritized = True
        self.trial: TrialStatus | None = None
        self.beginning: str | None = None
        self.fields: dict[str, Any] | None = None
        self.steering = Steering(simulation, catalogue.vehicle(catalogue.first.vehicle), 0)
        self.state: RunState = "stopped"
        self._contacts = False
        self._built_again = -math.inf
        self.configure(catalogue.first)

    def configure(self, setup: Setup) -> None:
        """Order another simulation.

        Raises:
            SegtrackError: The setup cannot be, or one is being built.
        """
        if self.state == "compiling":
            raise NotReadyError("build the setup", "another one is being built")
        wanted = self._catalogue.drive_setup(setup)
        vehicle = self._catalogue.vehicle(setup.vehicle)
        self.simulation.order(Build(self.scene + 1, wanted))
        self.scene += 1
        self.setup, self.state, self.reason = setup, "compiling", ""
        self.trial = self.beginning = None
        self.steering.change_vehicle(vehicle, self.scene)

    def configure_exercise(self, exercise: Exercise) -> bool:
        """Order the simulation of an exercise, unless it is built; returns whether it has to be built.

        Raises:
            SegtrackError: See `configure`.
        """
        setup = self._catalogue.exercise_setup(exercise)
        is_new = setup != self.setup or self.state == "failed"
        if is_new:
            self.configure(setup)
        return is_new

    @property
    def drive_setup(self) -> DriveSetup:
        """Setup of the present simulation."""
        return self._catalogue.drive_setup(self.setup)

    def raise_setting(self) -> None:
        """Order the same course at its next setting.

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
        """Begin or abandon a trial, or record help in it.

        Raises:
            NotReadyError: The simulation is being built, or failed.
        """
        if self.state in ("compiling", "failed"):
            raise NotReadyError(f"{order.action} a trial", f"the run is {self.state}")
        self.simulation.order(order)
        if order.action == "begin":
            self.beginning = order.operator

    def show_contacts(self, wanted: bool) -> None:
        """Choose whether states include contact loads."""
        if wanted != self._contacts:
            with suppress(NotReadyError):  # The next time, then.
                self.simulation.order(ShowContacts(wanted))
                self._contacts = wanted

    def event(self, link: LinkRequest | None) -> TrialConditions:
        """Return the conditions that affect a rate, besides the operator; the driver's link is one."""
        course = self._catalogue.course(self.setup.course, self.setup.setting)
        setting = None if course.setting is None else course.setting.value
        vehicle = self._catalogue.vehicle(self.setup.vehicle).name
        return TrialConditions.of(course.name, setting, vehicle, self.conditions(link))

    def conditions(self, link: LinkRequest | None) -> dict[str, str]:
        """Return the conditions of a result besides vehicle, course and setting, as text by name."""
        values = self.setup.model_dump(exclude={"vehicle", "course", "setting"}, exclude_none=True)
        conditions = {name: str(value) for name, value in values.items()}
        if link is not None:
            conditions["link"] = link.in_words
        return conditions

    def _build_again(self, reason: str) -> None:
        """Order the setup again in a new process, unless that failed just before."""
        self.trial, self.beginning, self._contacts = None, None, False
        now = time.monotonic()
        again, self._built_again = now - self._built_again > _REBUILD_PERIOD, now
        self.state, self.reason = "failed", reason
        if again:
            self.configure(self.setup)
            self.reason = f"{reason}; it is built again"

    def take_reports(self) -> Iterator[Report]:
        """Apply the new reports, and yield them."""
        for report in self.simulation.reports():
            match report:
                case RunReport(state, reason):
                    self.state = state
                    if reason or state != "compiling":
                        self.reason = reason
                    if state == "failed":
                        self.trial = self.beginning = None
                case Refused():
                    self.beginning = None
                case NoPriority():
                    self.prioritized = False
                case ProcessDied(reason):
                    self._build_again(reason)
                case SceneReport(fields):
                    self.fields = fields
                case TrialReport(fields):
                    self.trial, self.beginning = protocol.TrialStatus(**fields), None
            yield report
