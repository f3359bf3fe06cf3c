"""Judge of a trial: scores the vehicle's motion tick by tick, and saves the trial's progress."""

from __future__ import annotations

import logging
import math
from datetime import datetime, timezone
from typing import Any

import numpy as np

from segtrack.courses import (
    CONDITION,
    Records,
    Result,
    ScoringSettings,
    Trial,
    TrialEvent,
    TrialObserver,
    read_repetitions,
    shown_confidence,
)
from segtrack.errors import FileAccessError
from segtrack.recording import TICK, DriveSession
from segtrack.station.protocol import Flag
from segtrack.station.simulation.exchange import SetTrial

JUST_BEGUN = 1.0
"""Time from a repetition's beginning in which going back again, by a double click, changes nothing [s]."""
_SHOWN_EVENTS = 20
_LOG = logging.getLogger(__name__)


class Judge:
    """Judge of one trial.

    Attributes:
        trial: Trial being judged.
    """

    def __init__(self, session: DriveSession, order: SetTrial, records: Records, recording: str) -> None:
        """Begin a trial with the vehicle at the start.

        Args:
            session: Simulation, at its start.
            order: Order to begin.
            records: Records to save the trial's progress in.
            recording: Name of the recording.

        Raises:
            SegtrackError: There is no such trial, or it cannot be kept.
        """
        settings = ScoringSettings()
        if order.allowed_failures is not None:
            settings = ScoringSettings(allowed_failures=order.allowed_failures)
        vehicle = session.robot.name
        self.trial = Trial(session.course, order.operator, vehicle, order.repetitions, settings)
        self._session = session
        self._conditions = order.conditions
        self._observer = TrialObserver(session.robot, session.course, self.trial.settings)
        self._begun = datetime.now(timezone.utc).isoformat(timespec="seconds")
        self._records, self._recording = records, recording
        self._delays: list[float] = []
        self._first_tick = session.tick
        self._moment: float | None = None
        records.note_unfinished(self.result())

    @property
    def flags(self) -> Flag:
        """Flags of the trial for a state."""
        match self.trial.state:
            case "running":
                return Flag.TRIAL
            case "paused":
                return Flag.TRIAL | Flag.TRIAL_PAUSED
        return Flag(0)

    @property
    def over(self) -> bool:
        """True after the trial has ended."""
        return self.trial.state not in ("running", "paused")

    def look(self, now: float, late: bool, commanded: bool) -> list[TrialEvent]:
        """Judge the vehicle's present state, and return the trial's new events.

        Args:
            now: Monotonic clock [s].
            late: True if the previous tick ended late.
            commanded: False while no commands come.
        """
        if self.trial.state != "running":
            return []
        return self._noted(self.trial.update(self._observer.look(self._session.time, now, late, commanded)))

    def ask_help(self) -> list[TrialEvent]:
        """End the repetition by the fault "asked for help", and return the trial's new events.

        Raises:
            NotReadyError: The trial does not run.
        """
        return self._noted(self.trial.ask_help())

    def _noted(self, events: list[TrialEvent]) -> list[TrialEvent]:
        """Record the time of any fault among events, and return the events."""
        if any(event.kind == "fault" for event in events) or (events and self.trial.state == "paused"):
            self._moment = (self._session.tick - self._first_tick) * TICK
        return events

    def note_delay(self, delay: float) -> None:
        """Record a delay measured by the driver [s], or NaN."""
        if self.trial.state == "running" and math.isfinite(delay):
            self._delays.append(delay)

    def keep(self) -> None:
        """Save the trial as it is now, in case the process dies before its end."""
        try:
            self._records.note_unfinished(self.result())
        except FileAccessError as error:  # What was kept before stays.
            _LOG.error("%s", error)

    def restart(self) -> list[TrialEvent]:
        """Continue from the start; without a fault, a repetition under way counts as given up."""
        trial = self.trial
        if trial.state == "running" and trial.repetition_time < JUST_BEGUN:
            return []
        events = self.ask_help() if trial.state == "running" else []
        if trial.state == "paused":
            events += trial.restart()
        return events

    def result(self) -> Result:
        """Return the result as if the trial ended now."""
        delay = float(np.percentile(self._delays, 95)) if self._delays else None
        return self.trial.result(self._begun, self._conditions, self._recording, delay)

    def status(self) -> dict[str, Any]:
        """Return the fields of `protocol.TrialStatus` that the simulation knows (not the expert's)."""
        trial, summary = self.trial, self.trial.summary()
        fault = trial.attempts[-1].fault if trial.attempts else None
        reliability = trial.settings.reliability
        repetitions = read_repetitions((event.kind, event.clock) for event in trial.events)
        return {
            "operator": trial.operator,
            "exercise": self._conditions.get(CONDITION),
            "repetitions": trial.repetitions,
            "done": trial.completed,
            "failures": trial.failures,
            "rate": trial.rate if trial.completed else None,
            "unit": summary["rate_unit"],
            "void": sum(attempt.void for attempt in trial.attempts),
            "over": self.over,
            "passed": trial.state == "passed" if self.over else None,
            "paused": fault if trial.state == "paused" else None,
            "confidence": shown_confidence(trial.completed, trial.failures, reliability),
            "expert_fraction": None,
            "next_gate": trial.next_gate,
            "events": summary["events"][-_SHOWN_EVENTS:],
            "recording": self._recording,
            "moment": self._moment,
            "splits": next((each.splits for each in reversed(repetitions) if each.splits), ()),
        }
