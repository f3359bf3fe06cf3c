"""A trial in the simulation: judged each tick, told when something happens."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from segtrack.recording.session import DriveSession
from segtrack.scoring import Event, Observer, Result, Trial
from segtrack.scoring.binomial import shown_confidence
from segtrack.station.protocol import Flag
from segtrack.station.simulation.orders import SetTrial

_SHOWN_EVENTS = 20


class Judge:
    """Judges one trial.

    Attributes:
        trial: As it stands.
    """

    def __init__(self, session: DriveSession, order: SetTrial) -> None:
        """Begin a trial of a session's vehicle, which is at the start."""
        self.trial = Trial(session.course, order.operator, session.robot.name, order.repetitions)
        self._session = session
        self._conditions = order.conditions
        self._observer = Observer(session.robot, session.course, self.trial.settings)
        self._begun = datetime.now(timezone.utc).isoformat(timespec="seconds")

    @property
    def flags(self) -> Flag:
        """What states say of the trial."""
        match self.trial.state:
            case "running":
                return Flag.TRIAL
            case "paused":
                return Flag.TRIAL | Flag.TRIAL_PAUSED
        return Flag(0)

    @property
    def over(self) -> bool:
        """Whether the trial has ended."""
        return self.trial.state not in ("running", "paused")

    def look(self) -> list[Event]:
        """Take in where the vehicle is now; returns what happened."""
        if self.trial.state != "running":
            return []
        return self.trial.update(self._observer.look(self._session.time))

    def restart(self) -> list[Event]:
        """Go on from the start; whoever goes back there without a fault gives up a repetition."""
        events = self.trial.ask_help() if self.trial.state == "running" else []
        return events + self.trial.restart() if self.trial.state == "paused" else events

    def result(self, recording: str | None) -> Result:
        """The result of a trial that has ended."""
        return self.trial.result(self._begun, self._conditions, recording)

    def status(self) -> dict[str, Any]:
        """How it stands: the fields of `protocol.TrialStatus`; what experts did is not known here."""
        trial, summary = self.trial, self.trial.summary()
        fault = trial.attempts[-1].fault if trial.attempts else None
        reliability = trial.settings.reliability
        return {
            "operator": trial.operator,
            "repetitions": trial.repetitions,
            "done": trial.completed,
            "failures": trial.failures,
            "rate": trial.rate if trial.completed else None,
            "unit": summary["rate_unit"],
            "over": self.over,
            "passed": trial.state == "passed" if self.over else None,
            "paused": fault if trial.state == "paused" else None,
            "confidence": shown_confidence(trial.completed, trial.failures, reliability),
            "expert_fraction": None,
            "next_gate": trial.next_gate,
            "events": summary["events"][-_SHOWN_EVENTS:],
        }
