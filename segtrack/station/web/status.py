"""Status of the station, as told to each client."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from segtrack.station.protocol import StatusMessage
from segtrack.station.web.catalogue import Library
from segtrack.station.web.classroom import Classroom
from segtrack.station.web.client import Client
from segtrack.station.web.run import StationRun
from segtrack.station.web.seats import Seats
from segtrack.station.web.trials import Trials
from segtrack.station.web.viewing import Viewing


@dataclass(frozen=True)
class StationStatus:
    """Status of the station at one instant.

    Attributes:
        seats: Roles of the clients.
        run: Run of the simulation.
        trials: Trials of the run.
        viewing: Replay and ghost.
        library: Recordings and records.
        classroom: Exercises, and each person's progress.
        message: Latest event of the station, in words.
    """

    seats: Seats
    run: StationRun
    trials: Trials
    viewing: Viewing
    library: Library
    classroom: Classroom
    message: str

    def for_client(self, client: Client, clients: Iterable[Client], now: float) -> StatusMessage:
        """Return the status message for a client; an instructor's includes the links of all."""
        run, role = self.run, self.seats.role(client.id)
        replay, ghost = self.viewing.replay, self.viewing.ghost
        trial = self.trials.status()
        if trial is not None and ghost is not None:
            trial = trial.model_copy(update={"ghost_splits": ghost.splits})
        links = {other.id: link for other in clients if (link := other.degradation)}
        return StatusMessage(
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
            message=self.library.hide_folder(self.message),
        )
