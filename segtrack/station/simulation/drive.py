"""Simulated vehicle of a station: ticks, trial, recording and states."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np

from segtrack.courses import Pace, ScoringSettings, TrialEvent
from segtrack.errors import NotReadyError
from segtrack.recording import TICK, Command, DriveSession, DriveSetup
from segtrack.rendering import look_of
from segtrack.station.folder import StationFolder
from segtrack.station.protocol import Flag, StateMessage
from segtrack.station.scene import course_json, ground_json
from segtrack.station.simulation.exchange import (
    RecordingReport,
    Report,
    SetTrial,
    StampedCommand,
    TrialEnded,
    TrialReport,
    stop_flags,
)
from segtrack.station.simulation.judge import Judge
from segtrack.station.simulation.loads import LoadReader

_NONE = np.empty(0)


class StationDrive:
    """Vehicle on a course, commanded by the driver.

    Attributes:
        session: Simulation of vehicle and course.
        scene: Number of the scene.
        loads: Reader of contact loads, for clients that show them.
    """

    def __init__(self, setup: DriveSetup, scene: int, folder: StationFolder) -> None:
        """Build the simulation, and compile its kernels.

        Args:
            setup: Vehicle, course and simulation.
            scene: Number of the scene.
            folder: Folder for recordings and records.

        Raises:
            SegtrackError: The setup cannot be built.
        """
        self.session = DriveSession(setup)
        self.scene = scene
        self._folder = folder
        self._flags = Flag(0)
        self._slowest = ScoringSettings().real_time_factor
        self._frame = self._first_tick = 0
        self._latest: StampedCommand | None = None
        self._applied_at = -np.inf
        self._reports: list[Report] = []
        self._judge: Judge | None = None
        self.session.advance(1)
        self.loads = LoadReader(self.session)
        self.session.restart()

    def close(self) -> None:
        """End the run, and free the engine."""
        self.end()
        self.session.close()

    def end(self) -> None:
        """Abandon any trial, and end the recording."""
        try:
            if self._judge is not None and not self._judge.over:
                self._note(self._judge.trial.abandon())
        finally:  # What was written is kept, even where no more can be.
            self.end_recording()

    def tick(self, latest: StampedCommand | None, now: float, late: bool = False) -> None:
        """Apply the latest command and simulate a tick.

        Args:
            latest: Last received command; None before the first.
            now: Monotonic clock [s].
            late: True if the previous tick ended late.

        Raises:
            DivergedError: The vehicle is no longer finite, or absurdly fast.
        """
        command = self.permitted_command(latest, now)
        if command != self.session.command:
            self.session.apply(command)
        if latest is not None and (self._latest is None or latest.came != self._latest.came):
            self._applied_at = now
            self._latest = latest
            if self._judge is not None:
                self._judge.note_delay(latest.delay)
        self.session.advance()
        if self._judge is not None:
            self._note(self._judge.look(now, late, not self._flags & Flag.WATCHDOG))

    def permitted_command(self, latest: StampedCommand | None, now: float) -> Command:
        """Return the command to apply, which is a stop while something holds the vehicle.

        The next state's flags say what holds it.
        """
        self._flags = stop_flags(latest, self.scene, now)
        return Command() if self._flags or latest is None else latest.command

    def pause(self) -> None:
        """Record the pause in the trial, if there is one."""
        self._latest = None  # What comes then obeys no control of before.
        if self._judge is not None:
            self._note(self._judge.trial.note_pause())

    def restart(self) -> None:
        """Put the vehicle back to the start; in a trial the next repetition begins."""
        self._put_back()
        if self._judge is not None:
            self._note(self._judge.restart())

    def _put_back(self) -> None:
        """Put the vehicle back to the start, where earlier controls no longer count."""
        self.session.restart()
        self._latest = None

    def begin_recording(self) -> None:
        """Begin to record at the present time, unless a recording runs.

        Raises:
            FileAccessError: Nothing can be written.
        """
        if self.session.recorder is None:
            now, session = datetime.now(), self.session
            stamp = f"{now:%Y%m%d-%H%M%S}-{now.microsecond // 1000:03d}"
            name = f"{stamp} {session.robot.name} {session.course.name}"
            self.session.record(self._folder.recordings / f"{name}.mcap")
            self._reports.append(RecordingReport(name, closed=False))
            self._first_tick = self.session.tick

    def end_recording(self) -> None:
        """Close the recording, if there is one."""
        if self.session.recorder is not None:
            self._reports.append(RecordingReport(self.session.recorder.path.stem, closed=True))
            self.session.end_recording()

    def set_trial(self, order: SetTrial) -> None:
        """Begin or abandon a trial, or record help in it.

        Raises:
            SegtrackError: There is no such trial, or it is in no state for that.
        """
        judge = self._judge
        if order.action == "begin":
            self.end()
            self._put_back()
            self.begin_recording()
            assert self.session.recorder is not None
            recording = self.session.recorder.path.stem
            self._judge = Judge(self.session, order, self._folder.records, recording)
            self._reports.append(TrialReport(self._judge.status()))
        elif judge is None:
            raise NotReadyError(f"{order.action} a trial", "there is none")
        else:
            self._note(judge.trial.abandon() if order.action == "abandon" else judge.ask_help())

    def reports(self) -> list[Report]:
        """Return the reports since the last call, for the web process."""
        reports, self._reports = self._reports, []
        return reports

    def state(self, now: float, pace: Pace, late_share: float) -> StateMessage:
        """Return the state to send.

        Args:
            now: Monotonic clock [s].
            pace: Pace over the last seconds.
            late_share: Fraction of ticks that ended late.
        """
        self._frame += 1
        session = self.session
        judge = self._judge
        trial, clock = (judge.flags, judge.trial.clock) if judge is not None else (Flag(0), 0.0)
        loads = self.loads.latest(now)
        slow = judge.trial.slow if judge is not None and not judge.over else pace.is_below(self._slowest)
        return StateMessage(
            scene=self.scene,
            frame=self._frame,
            flags=self._flags
            | trial
            | (Flag(0) if loads is None else Flag.CONTACTS)
            | (Flag.SLOW if slow else Flag(0)),
            time=(session.tick - self._first_tick) * TICK,
            server_time=now,
            trial_clock=clock,
            client_time=0.0 if self._latest is None else self._latest.client_time,
            real_time_factor=pace.real_time_factor,
            late_share=late_share,
            energy=session.robot.energy,
            command_age=now - self._applied_at,
            pose=session.pose().flat(),
            ghost=_NONE,
            readings=session.readings(),
            contacts=_NONE.reshape(0, 6) if loads is None else loads,
        )

    def scene_fields(self) -> dict[str, Any]:
        """Return the fields of `protocol.SceneMessage`."""
        course = self.session.course
        return {
            "number": self.scene,
            "look": look_of(self.session.robot).as_json(),
            "ground": ground_json(course),
            "course": course_json(course),
            "ghost": None,
            "readings": self.session.reading_names,
        }

    def _note(self, events: list[TrialEvent]) -> None:
        """Report the events of the trial."""
        judge = self._judge
        if judge is None or not events:
            return
        judge.keep()
        self._reports.append(TrialReport(judge.status()))
        if judge.over:
            self._reports.append(TrialEnded(judge.result()))
        if self.session.recorder is not None:  # Last: the disk may be full.
            for event in events:
                self.session.recorder.event("trial", what=event.kind, clock=event.clock, text=event.text)
        if judge.over:
            self.end_recording()
