"""What came of a trial: a record that can be kept, read again and compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from segtrack.courses import Kind, Setting
from segtrack.errors import InvalidValueError
from segtrack.scoring.binomial import shown_confidence, shown_reliability

Fault = Literal["touched a wall", "fell", "off course", "asked for help", "out of time"]
Outcome = Literal["passed", "failed", "abandoned"]
_Time = Annotated[float, Field(ge=0)]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Attempt(_Record):
    """A repetition that was completed, or ended by a fault."""

    begun: _Time
    """On the trial's clock [s]."""
    duration: _Time
    """On the trial's clock [s]."""
    fault: Fault | None = None
    """What ended it; None if it was completed."""


class Result(_Record):
    """A trial that has ended."""

    operator: str
    vehicle: str
    course: str
    """Name of the course."""
    title: str
    """Of the course, for people."""
    kind: Kind
    setting: float | None
    """Of the course, in its unit; None if it has none."""
    setting_name: str | None
    setting_unit: str | None
    distance: Annotated[float, Field(gt=0)]
    """Nominal length of a repetition's path [m]."""
    repetitions: Annotated[int, Field(gt=0)]
    """That could be tried at most."""
    attempts: tuple[Attempt, ...]
    elapsed: _Time
    """On the trial's clock, which is paused from a fault to the new start [s]."""
    outcome: Outcome
    pauses: Annotated[int, Field(ge=0)] = 0
    """How often the simulation was paused while the trial ran."""
    begun: str
    """Date and time, ISO 8601."""
    conditions: Mapping[str, str] = {}
    """Whatever else was different: engine, soil, delays, ..."""
    recording: str | None = None
    """Name of the file that the trial was recorded to."""

    @property
    def completed(self) -> int:
        """Number of repetitions that are credited."""
        return sum(attempt.fault is None for attempt in self.attempts)

    @property
    def failed(self) -> int:
        """Number of repetitions that a fault ended."""
        return len(self.attempts) - self.completed

    @property
    def rate(self) -> float:
        """Repetitions a minute on an obstacle, metres a minute on a terrain."""
        return rate(self.kind, self.completed, self.distance, self.elapsed)

    @property
    def rate_unit(self) -> str:
        """Unit of `rate`."""
        return RATE_UNITS[self.kind]

    def reliability(self, confidence: float) -> float:
        """Reliability that is shown with a confidence."""
        return shown_reliability(self.completed, self.failed, confidence)

    def confidence(self, reliability: float) -> float:
        """Confidence with which a reliability is shown."""
        return shown_confidence(self.completed, self.failed, reliability)

    @property
    def event(self) -> tuple[str, float | None, str]:
        """What a rate depends on besides the operator: course, setting and vehicle."""
        return self.course, self.setting, self.vehicle


RATE_UNITS: Mapping[Kind, str] = {"obstacle": "1/min", "terrain": "m/min"}


def rate(kind: Kind, completed: int, distance: float, elapsed: float) -> float:
    """Return repetitions [1/min] or metres a minute [m/min] by a course's kind; 0 before the clock runs."""
    done = completed * (distance if kind == "terrain" else 1.0)
    return 60 * done / elapsed if elapsed > 0 else 0.0


class Comparison(NamedTuple):
    """An operator's trial against an expert's.

    Attributes:
        expert: The expert's trial.
        fraction: Operator's rate over the expert's.
        passed: Whether the trial was passed, at a sufficient fraction of the expert's rate.
    """

    expert: Result
    fraction: float
    passed: bool


def compare(result: Result, expert: Result, pass_fraction: float) -> Comparison:
    """Compare a trial with an expert's on the same course, setting and vehicle.

    Raises:
        InvalidValueError: They differ, or the expert completed nothing.
    """
    if result.event != expert.event:
        raise InvalidValueError("an expert's course, setting and vehicle", f"{result.event}", expert.event)
    if expert.rate <= 0:
        raise InvalidValueError("an expert's rate", "above 0", expert.rate)
    fraction = result.rate / expert.rate
    return Comparison(expert, fraction, result.outcome == "passed" and fraction >= pass_fraction)


def next_setting(setting: Setting, outcome: Outcome) -> float | None:
    """Return the next higher setting after a trial that was passed; None where it failed, or at the top."""
    return setting.next_value if outcome == "passed" else None
