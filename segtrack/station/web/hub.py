"""Hub of the station: effects of clients' messages, and messages to clients, without a socket."""

from __future__ import annotations

import logging

from segtrack.errors import NotReadyError, SegtrackError, UnknownNameError
from segtrack.station import protocol
from segtrack.station.bindings import Action
from segtrack.station.inputs import held_actions
from segtrack.station.protocol import ClientMessage, ControlsMessage, Flag
from segtrack.station.simulation.exchange import (
    ProcessDied,
    RecordingReport,
    Refused,
    Report,
    RunReport,
    SceneReport,
    TrialEnded,
)
from segtrack.station.web.catalogue import Catalogue, Library
from segtrack.station.web.client import Client, MessageBudget
from segtrack.station.web.run import Simulation, StationRun, Trials
from segtrack.station.web.seats import Seats
from segtrack.station.web.status import StationStatus
from segtrack.station.web.viewing import SeenState, Viewing

_STATUS_PERIOD = 0.2
"""Shortest time between two statuses [s]."""
_LOG = logging.getLogger(__name__)


class Hub:
    """Clients of a station, their roles and their run.

    Attributes:
        seats: Roles of the clients.
        run: Run of the simulation.
        trials: Trials of the run.
        library: Recordings and records.
        viewing: Replay and ghost.
    """

    def __init__(self, simulation: Simulation, catalogue: Catalogue, library: Library) -> None:
        """Begin without clients; the simulation builds what the catalogue offers first."""
        self.seats = Seats()
        self.run = StationRun(simulation, catalogue)
        self.library, self.viewing = library, Viewing(library)
        self.trials = Trials(self.run, library)
        self._options = catalogue.options
        self._clients: dict[int, Client] = {}
        self._numbers = 0
        self._frame = -1
        self._message = library.recover()
        self._status_due, self._status_at = True, float("-inf")
        self._scene: str | None = None

    def close(self) -> None:
        """End the simulation, and keep what its trial came to."""
        for report in self.run.simulation.close():
            if isinstance(report, TrialEnded):
                self.library.keep(report.result)

    def join(self, hello: protocol.Hello, budget: MessageBudget) -> Client:
        """Take in a client.

        Raises:
            NotReadyError: Too many look on.
        """
        self._numbers += 1
        client = Client(self._numbers, hello.name, budget)
        self.seats.join(client.id, hello.name, hello.role)
        self._clients[client.id] = client
        role = self.seats.role(client.id)
        _LOG.info("client %d %r joined as %s", client.id, hello.name, role)
        client.answer(protocol.Welcome(client=client.id, role=role, options=self._options))
        if self._scene is not None:
            client.show("scene", self._scene)
        self._status_due, self._frame = True, -1
        return client

    def leave(self, client: Client) -> None:
        """Let a client go; if it drove, belts stop."""
        drove = client.id == self.seats.driver
        self._clients.pop(client.id, None)
        self.seats.leave(client.id)
        if drove:
            self.run.steering.rest()
        self._status_due = True
        _LOG.info("client %d left", client.id)

    def take(self, client: Client, message: ClientMessage, now: float) -> None:
        """Do what a message says; what cannot be done is answered, and changes nothing."""
        if isinstance(message, ControlsMessage):
            self._controls(client, message, now)
            return
        try:
            self._obey(client, message, now)
        except SegtrackError as error:
            client.answer(protocol.ErrorAnswer(what=self.library.hide_folder(str(error))))
        self._status_due = True

    def deliver(self, client: Client, now: float) -> float | None:
        """Drive by the controls that have arrived over a degraded link; returns when the next arrive [s]."""
        if client.commands is None:
            return None
        for message in client.commands.receive(now):
            self._drive(client, message, now)
        return client.commands.next_arrival

    def broadcast(self, now: float) -> None:
        """Send each client the latest state, and what else has changed."""
        for report in self.run.take_reports():
            self._handle_report(report)
        self._poll_library(now)
        self.run.show_contacts(any(client.contacts for client in self._clients.values()))
        stopped = Flag.E_STOP if self.run.steering.e_stop else Flag(0)
        latest = self.viewing.replayed(now, stopped) or self._simulated()
        if latest is not None:
            for client in self._clients.values():
                client.see(latest.bytes_for(client.contacts), now)
        if self._status_due and now - self._status_at >= _STATUS_PERIOD:
            self._status_due, self._status_at = False, now
            for client in self._clients.values():
                client.show("status", self._status(client, now).model_dump_json())

    def _poll_library(self, now: float) -> None:
        """Show recordings that have been read since the last call."""
        try:
            if self.viewing.poll_library(now):
                self._show_scene()
        except SegtrackError as error:
            self._message, self._status_due = str(error), True
        if self.viewing.replay is not None and self.viewing.replay.playing:
            self._status_due = True

    def _handle_report(self, report: Report) -> None:
        self._status_due = True
        match report:
            case SceneReport():
                self._show_scene()
            case RunReport(state="running"):
                self._show_run()
            case Refused(reason):
                self._message = reason
            case TrialEnded(result):
                self._message = self.library.keep(result)
            case ProcessDied():
                self._message = self.library.recover()
                self.library.refresh()
            case RecordingReport():
                self.library.refresh()

    def _simulated(self) -> SeenState | None:
        latest = self.run.simulation.state()
        if latest is None or latest[0] == self._frame:
            return None
        self._frame = latest[0]
        return self.viewing.simulated(latest[1])

    def _controls(self, client: Client, message: ControlsMessage, now: float) -> None:
        if client.id != self.seats.driver:
            return
        if message.visible and Action.E_STOP in held_actions(message):
            self._latch(True)
        if not client.is_news(message, now):
            return
        if client.commands is not None:
            client.commands.send(now, message)
        else:
            self._drive(client, message, now)

    def _drive(self, client: Client, message: ControlsMessage, now: float) -> None:
        if client.id == self.seats.driver:
            stopped = self.run.steering.e_stop
            self.run.steering.drive(message, now)
            self._status_due |= stopped != self.run.steering.e_stop

    def _obey(self, client: Client, message: ClientMessage, now: float) -> None:
        match message:
            case protocol.RoleRequest(action=action, to=to):
                self._change_seat(client, action, to)
            case protocol.EmergencyStop(on=on):
                self._stop(client, on)
            case protocol.ViewRequest(contacts=contacts):
                client.contacts = contacts
            case protocol.Ping(time=time):
                client.answer(protocol.Pong(time=time, server=now))
            case protocol.ReportRequest():
                client.answer(protocol.ReportLink(link=self.trials.report_link()))
            case protocol.LinkRequest():
                self._degrade(client, message)
            case protocol.Hello():
                raise NotReadyError("say hello", "the client has said it already")
            case _:
                self._require_command(client, message.type)
                self._command(client, message, now)

    def _command(self, client: Client, message: ClientMessage, now: float) -> None:
        """Do what the driver and instructors alone may ask for."""
        match message:
            case protocol.Configure(setup=setup):
                self.run.configure(setup)
                self.viewing.leave()
            case protocol.RunRequest(action=action):
                self.trials.set_run(action, self.seats.role(client.id))
                if action in ("start", "reset"):
                    self._show_run()
            case protocol.TrialRequest(action="raise"):
                self.run.raise_setting()
                self.viewing.leave()
            case protocol.TrialRequest(action="expert", operator=operator):
                self._require_instructor(client, "name an expert")
                self.trials.name_expert(operator, self._drivers_link())
            case protocol.TrialRequest(action="begin" | "abandon" | "help" as action):
                self.trials.order(action, message.operator, message.repetitions, self._drivers_link())
                if action == "begin":
                    self._show_run()
            case protocol.ReplayRequest():
                if message.action == "open" and self.run.state == "running":
                    self.trials.set_run("pause", self.seats.role(client.id))
                if self.viewing.obey(message, now):
                    self._show_scene()
            case protocol.GhostRequest(recording=recording):
                if recording is not None:
                    self.viewing.show_ghost(recording, self.run.drive_setup)
                elif self.viewing.hide_ghost():
                    self._show_scene()

    def _drivers_link(self) -> protocol.LinkRequest | None:
        """Degradation of the driver's link."""
        driver = self._clients.get(self.seats.driver or 0)
        return None if driver is None else driver.link

    def _show_run(self) -> None:
        """Show what is simulated: nobody drives what is not seen."""
        if self.viewing.close():
            self._show_scene()

    def _change_seat(self, client: Client, action: str, to: int | None) -> None:
        before = self.seats.driver
        match action:
            case "take":
                self.seats.take(client.id)
            case "give":
                self.seats.give(client.id, to)
            case "release":
                self.seats.release(client.id)
        if self.seats.driver != before:
            self.run.steering.rest()
            driver = self._clients.get(self.seats.driver or 0)
            self._message = "nobody drives" if driver is None else f"{driver.name} drives"
            self.trials.intervene("help")

    def _stop(self, client: Client, on: bool) -> None:
        if on and not self.seats.may_stop(client.id):
            raise NotReadyError("stop", "an onlooker looks on")
        if not on:
            self._require_command(client, "release the emergency stop")
        self._latch(on)

    def _latch(self, stopped: bool) -> None:
        """Latch the emergency stop, or release it; what is still on its way to the vehicle undoes no stop."""
        driver = self._clients.get(self.seats.driver or 0)
        if stopped and driver is not None and driver.commands is not None:
            driver.commands.discard()
        self._status_due |= stopped != self.run.steering.e_stop
        self.run.steering.stop(stopped)

    def _degrade(self, client: Client, message: protocol.LinkRequest) -> None:
        self._require_instructor(client, "degrade a link")
        if message.client not in self._clients:
            raise UnknownNameError("client", message.client, map(str, self._clients))
        if self.seats.role(message.client) == "instructor":
            raise NotReadyError("degrade a link", "an instructor's is never degraded")
        perfect = protocol.LinkQuality()
        degraded = message.video != perfect or message.command != perfect
        self._clients[message.client].degrade(message if degraded else None)

    def _require_command(self, client: Client, what: str) -> None:
        if not self.seats.commands(client.id):
            raise NotReadyError(what, "only the driver and an instructor can")

    def _require_instructor(self, client: Client, what: str) -> None:
        if self.seats.role(client.id) != "instructor":
            raise NotReadyError(what, "only an instructor can")

    def _show_scene(self) -> None:
        fields = self.viewing.scene_fields() or self.run.fields
        if fields is None:
            return
        self._scene = protocol.SceneMessage(**fields | {"ghost": self.viewing.ghost_look()}).model_dump_json()
        for client in self._clients.values():
            client.show("scene", self._scene)

    def _status(self, client: Client, now: float) -> protocol.StatusMessage:
        shown = StationStatus(self.seats, self.run, self.trials, self.viewing, self.library, self._message)
        return shown.for_client(client, self._clients.values(), now)
