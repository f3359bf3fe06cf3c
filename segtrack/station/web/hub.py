"""Hub of the station: effects of clients' messages, and messages to clients; knows no sockets."""

from __future__ import annotations

import logging
from collections.abc import Collection

from segtrack.errors import NotReadyError, SegtrackError
from segtrack.station import protocol
from segtrack.station.bindings import Action
from segtrack.station.inputs import held_actions
from segtrack.station.protocol import ClientMessage, ControlsMessage, Flag
from segtrack.station.simulation import (
    ProcessDied,
    RecordingReport,
    Refused,
    Report,
    RunReport,
    SceneReport,
    TrialEnded,
)
from segtrack.station.web.catalogue import Catalogue, Library
from segtrack.station.web.client import Client
from segtrack.station.web.crew import Crew, Seats
from segtrack.station.web.report_process import ReportProcess
from segtrack.station.web.run import Simulation, StationRun
from segtrack.station.web.trials import Classroom, Trials
from segtrack.station.web.viewing import SeenState, Viewing

_STATUS_PERIOD = 0.2
"""Shortest time between two statuses [s]."""
_LOG = logging.getLogger(__name__)


class Hub:
    """Effects of clients' messages on seats, run, trials and recordings, and messages to clients.

    Attributes:
        crew: Clients, their seats and their links.
        run: Run of the simulation.
        trials: Trials of the run.
        library: Recordings and records.
        viewing: Replay and ghost.
        classroom: Exercises, and who has passed them.
        reports: Process that draws reports.
    """

    def __init__(
        self,
        simulation: Simulation,
        catalogue: Catalogue,
        library: Library,
        instructors: Collection[str] = (),
    ) -> None:
        """Start without clients; the simulation builds the catalogue's first setup.

        Args:
            simulation: Process that simulates.
            catalogue: Vehicles, courses and exercises on offer.
            library: Recordings and records.
            instructors: Names that may instruct; empty for any.
        """
        self.crew = Crew(instructors)
        self.classroom = Classroom(library.records, catalogue.syllabus)
        self.run = StationRun(simulation, catalogue)
        self.library, self.viewing = library, Viewing(library)
        self.trials = Trials(self.run, library)
        self.reports = ReportProcess()
        self._options = catalogue.options
        self._frame = -1
        self._message = library.recover()
        self._status_due, self._status_at = True, float("-inf")
        self._scene: str | None = None

    @property
    def seats(self) -> Seats:
        """Roles of the clients."""
        return self.crew.seats

    def close(self) -> None:
        """End the simulation, and save its trial's result."""
        for report in self.run.simulation.close():
            if isinstance(report, TrialEnded):
                self.library.keep(report.result)

    def join(self, hello: protocol.Hello) -> Client:
        """Add a client, and greet it.

        Raises:
            SegtrackError: Too many look on, or the name is none, or may not instruct.
        """
        client = self.crew.join(hello)
        role = self.seats.role(client.id)
        self.trials.join_driver(client.name if role == "driver" else None)
        _LOG.info("client %d %r joined as %s", client.id, client.name, role)
        client.answer(protocol.Welcome(client=client.id, role=role, options=self._options))
        if self._scene is not None:
            client.show("scene", self._scene)
        self._status_due, self._frame = True, -1
        return client

    def leave(self, client: Client) -> None:
        """Remove a client; if it drove, the belts stop."""
        if self.crew.leave(client):
            self.run.steering.rest()
            self.trials.forget_due()
        self._status_due = True
        _LOG.info("client %d left", client.id)

    def take(self, client: Client, message: ClientMessage, now: float) -> None:
        """Carry out a message; a refused one is answered, and changes nothing."""
        if isinstance(message, ControlsMessage):
            self._controls(client, message, now)
            return
        try:
            self._obey(client, message, now)
        except SegtrackError as error:
            client.answer(protocol.ErrorAnswer(what=self.library.hide_folder(str(error))))
        self._status_due = True

    def deliver(self, client: Client, now: float) -> float | None:
        """Apply controls that have arrived over a degraded link; returns the next arrival [s], or None."""
        if client.commands is None:
            return None
        for message in client.commands.receive(now):
            self._drive(client, message, now)
        return client.commands.next_arrival

    def broadcast(self, now: float) -> None:
        """Send each client the latest state, and scene and status if they changed."""
        for report in self.run.take_reports():
            self._handle_report(report)
        self._poll_library(now)
        self.run.show_contacts(any(client.contacts for client in self.crew.clients))
        stopped = Flag.E_STOP if self.run.steering.e_stop else Flag(0)
        latest = self.viewing.replayed(now, stopped) or self._simulated()
        if latest is not None:
            for client in self.crew.clients:
                client.see(latest.bytes_for(client.contacts), now, direct=self.viewing.replay is not None)
        if self._status_due and now - self._status_at >= _STATUS_PERIOD:
            self._status_due, self._status_at = False, now
            for client in self.crew.clients:
                client.show("status", self._status(client, now).model_dump_json())

    def _poll_library(self, now: float) -> None:
        """Show recordings that were read since the last call."""
        self._status_due |= self.viewing.is_moving
        try:
            if self.viewing.poll_library(now):
                self._show_scene()
        except SegtrackError as error:
            self._message, self._status_due = str(error), True

    def _handle_report(self, report: Report) -> None:
        """Apply the effect of a report from the simulation."""
        self._status_due = True
        match report:
            case SceneReport():
                self._show_scene()
            case RunReport(state="running"):
                self._show_run()
            case RunReport(state="ready" | "failed"):
                if reason := self.trials.try_due(self.crew.drivers_link):
                    self._refuse(reason)
            case Refused(reason):
                self._refuse(reason)
            case TrialEnded(result):
                self._message = self.library.keep(result)
                self.classroom.forget()
            case ProcessDied():
                self._message = self.library.recover()
                self.classroom.forget()
                self.library.refresh()
            case RecordingReport(name, closed):
                self.library.note_recording(name, closed)

    def _refuse(self, reason: str) -> None:
        """Send a refusal to all clients that may give orders."""
        for client in self.crew.clients:
            if self.seats.commands(client.id):
                client.answer(protocol.ErrorAnswer(what=self.library.hide_folder(reason)))

    def _simulated(self) -> SeenState | None:
        latest = self.run.simulation.state()
        if latest is None or latest[0] == self._frame:
            return None
        self._frame = latest[0]
        return self.viewing.simulated(latest[1])

    def _controls(self, client: Client, message: ControlsMessage, now: float) -> None:
        """Apply a driver's controls, through any degraded link; an emergency stop acts at once."""
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
        """Carry out a message that any client may send; others go to `_command`."""
        match message:
            case protocol.RoleRequest(action=action, to=to):
                if self.crew.change_seat(client, action, to):
                    self.run.steering.rest()
                    self._message = self.crew.who_drives
                    self.trials.change_driver(self.crew.driver_but_instructors)
            case protocol.EmergencyStop(on=on):
                self.crew.require_stop(client, on)
                self._latch(on)
            case protocol.ViewRequest(contacts=contacts):
                client.contacts = contacts
            case protocol.Ping(time=time):
                client.answer(protocol.Pong(time=time, server=now))
            case protocol.ReportRequest():
                operator = None if self.seats.role(client.id) == "instructor" else client.name
                client.answer(protocol.ReportLink(link=self.trials.report_link(operator)))
            case protocol.LinkRequest():
                self.crew.degrade(client, message, self.trials.operator)
            case protocol.DeleteRequest(recording=recording):
                self.crew.require_instructor(client, "delete a recording")
                self.viewing.require_unused(recording)
                self.library.delete(recording)
            case protocol.Hello():
                raise NotReadyError("say hello", "the client has said it already")
            case _:
                self.crew.require_command(client, message.type)
                self._command(client, message, now)

    def _command(self, client: Client, message: ClientMessage, now: float) -> None:
        """Carry out a message of the driver or an instructor."""
        match message:
            case protocol.Configure(setup=setup):
                self.run.configure(setup)
                self.viewing.leave()
            case protocol.RunRequest(action=action):
                self.trials.set_run(action, self.seats.role(client.id), self.crew.driver_name)
                if action in ("start", "reset"):
                    self._show_run()
            case protocol.TrialRequest(action="raise"):
                self.run.raise_setting()
                self.viewing.leave()
            case protocol.TrialRequest(action="expert"):
                self.crew.require_instructor(client, "name an expert")
                self.trials.name_expert(self.crew.drivers_link)
            case protocol.TrialRequest(action="begin", repetitions=repetitions):
                self.trials.begin(self.crew.operator, repetitions, self.crew.drivers_link)
                self._show_run()
            case protocol.TrialRequest(action="abandon" | "help" as action):
                self.trials.order(action)
            case protocol.ExerciseRequest():
                self._set_exercise(client, message)
            case protocol.ReplayRequest():
                if message.action == "open" and self.run.state == "running":
                    self.trials.set_run("pause", self.seats.role(client.id), self.crew.driver_name)
                if self.viewing.obey(message, now):
                    self._show_scene()
            case protocol.GhostRequest(recording=recording):
                if recording is not None:
                    self.viewing.show_ghost(recording, self.run.drive_setup)
                elif self.viewing.hide_ghost():
                    self._show_scene()

    def _set_exercise(self, client: Client, message: protocol.ExerciseRequest) -> None:
        """Practise an exercise, or begin its trial."""
        operator = self.crew.operator
        anyone = self.seats.role(client.id) == "instructor"
        exercise = self.classroom.exercise(message.exercise, None if anyone else operator)
        if message.action == "begin":
            self.trials.begin_exercise(exercise, operator, self.crew.drivers_link)
        else:
            self.trials.practise(exercise)
        self.viewing.leave()
        self._show_run()

    def _show_run(self) -> None:
        """Close the replay, since nobody may drive an unseen vehicle."""
        if self.viewing.close():
            self._show_scene()

    def _latch(self, stopped: bool) -> None:
        """Latch or release the emergency stop; controls still in transit cannot undo a stop."""
        driver = self.crew.driver
        if stopped and driver is not None and driver.commands is not None:
            driver.commands.discard()
        self._status_due |= stopped != self.run.steering.e_stop
        self.run.steering.stop(stopped)

    def _show_scene(self) -> None:
        fields = self.viewing.scene_fields() or self.run.fields
        if fields is None:
            return
        self._scene = protocol.SceneMessage(**fields | {"ghost": self.viewing.ghost_look()}).model_dump_json()
        for client in self.crew.clients:
            client.show("scene", self._scene)

    def _status(self, client: Client, now: float) -> protocol.StatusMessage:
        """Return the status message for a client; an instructor's includes the links of all."""
        run, role = self.run, self.seats.role(client.id)
        replay, ghost = self.viewing.replay, self.viewing.ghost
        trial = self.trials.status()
        if trial is not None and ghost is not None:
            trial = trial.model_copy(update={"ghost_splits": ghost.splits})
        links = {other.id: link for other in self.crew.clients if (link := other.degradation)}
        return protocol.StatusMessage(
            role="driver" if client.id == self.seats.driver else role,
            driver=self.seats.driver,
            queue=tuple(self.seats.queue),
            syllabus=self.classroom.syllabus.title,
            exercises=self.classroom.status(client.name),
            clients=self.seats.listed(),
            run=run.state,
            reason=self.library.hide_folder(run.reason),
            prioritized=run.prioritized,
            setup=run.setup,
            trial=trial,
            recordings=self.library.recordings(),
            replay=None if replay is None else replay.status(now),
            ghost=None if ghost is None else ghost.name,
            opening=self.viewing.opening,
            link=client.degradation,
            links=links if role == "instructor" else None,
            message=self.library.hide_folder(self._message),
        )
