"""Result of a trial: repetitions, conditions, rate, what they show, and comparison with an expert's."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field
from scipy.special import bdtr, betaincinv

from segtrack.courses.course import Kind
from segtrack.errors import InvalidValueError

Fault = Literal["touched a wall", "fell", "off course", "asked for help", "out of time"]
TrialOutcome = Literal["passed", "failed", "abandoned"]
_Time = Annotated[float, Field(ge=0)]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Attempt(_Record):
    """Repetition that was completed, or ended by a fault."""

    begun: _Time
    """Begin on the trial's clock [s]."""
    duration: _Time
    """Duration on the trial's clock [s]."""
    fault: Fault | None = None
    """Fault that ended it; None if it was completed."""
    wall_time: _Time | None = None
    """Time that it took by the wall clock [s]; None if the simulation was not watched in real time."""
    void: bool = False
    """True if the simulation was too slow: it neither counts as completed nor as failed."""

    @property
    def real_time_factor(self) -> float | None:
        """Simulated over elapsed time [-]; None if not run in real time."""
        return self.duration / self.wall_time if self.wall_time else None


class TrialConditions(NamedTuple):
    """Conditions that affect a rate, besides the operator; only trials of equal conditions are compared.

    Attributes:
        course: Name of the course.
        setting: Value of the course's setting, in its unit; None if it has none.
        vehicle: Name of the vehicle.
        others: Names and values of other conditions, sorted by name: engine, track model, soil, link, ...
    """

    course: str
    setting: float | None
    vehicle: str
    others: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(
        cls, course: str, setting: float | None, vehicle: str, others: Mapping[str, str]
    ) -> TrialConditions:
        """Make conditions, leaving out those that do not affect a rate."""
        named = {name: value for name, value in others.items() if name not in _WITHOUT_EFFECT}
        return cls(course, setting, vehicle, tuple(sorted(named.items())))

    def __str__(self) -> str:
        """Conditions in words."""
        setting = "" if self.setting is None else f" at {self.setting:g}"
        others = "".join(f", {name.replace('_', ' ')} {value}" for name, value in self.others)
        return f"{self.course}{setting} with {self.vehicle}{others}"


_WITHOUT_EFFECT = ("seed",)
"""Conditions that no rate depends on."""


class Result(_Record):
    """Result of a trial."""

    operator: str
    vehicle: str
    course: str
    """Name of the course."""
    title: str
    """Title of the course, for people."""
    kind: Kind
    setting: float | None
    """Setting of the course, in its unit; None if it has none."""
    setting_name: str | None
    setting_unit: str | None
    distance: Annotated[float, Field(gt=0)]
    """Nominal length of a repetition's path [m]."""
    repetitions: Annotated[int, Field(gt=0)]
    """Most repetitions that could be tried."""
    attempts: tuple[Attempt, ...]
    elapsed: _Time
    """Time on the trial's clock, which is paused from a fault to the new start [s]."""
    outcome: TrialOutcome
    pauses: Annotated[int, Field(ge=0)] = 0
    """Number of pauses of the simulation while the trial ran."""
    begun: str
    """Date and time, ISO 8601."""
    conditions: Mapping[str, str] = {}
    """Other conditions by name: engine, soil, delays, ..."""
    recording: str | None = None
    """Name of the file that the trial was recorded to."""
    id: str = ""
    """Lasting name of the trial, unlike all others."""
    late: Annotated[float, Field(ge=0, le=1)] | None = None
    """Fraction of ticks that ended late; None if the simulation was not watched in real time."""
    delay: _Time | None = None
    """Time from controls to the picture of what they did, not exceeded in 95 % [s]; None if unknown."""
    uncommanded: _Time | None = None
    """Time on the trial's clock in which no commands came, as the connection or the station stood still [s].

    None if unknown.
    """

    @property
    def completed(self) -> int:
        """Number of credited repetitions."""
        return count_completed(self.attempts)

    @property
    def failed(self) -> int:
        """Number of repetitions ended by a fault."""
        return count_failed(self.attempts)

    @property
    def void(self) -> int:
        """Number of repetitions that do not count, because the simulation was too slow."""
        return sum(attempt.void for attempt in self.attempts)

    @property
    def real_time_factor(self) -> float | None:
        """Simulated over elapsed time of all repetitions [-]; None if not run in real time."""
        watched = [attempt for attempt in self.attempts if attempt.wall_time]
        wall_time = math.fsum(attempt.wall_time or 0.0 for attempt in watched)
        return math.fsum(attempt.duration for attempt in watched) / wall_time if watched else None

    @property
    def rate(self) -> float:
        """Rate in repetitions per minute (obstacle) or metres per minute (terrain)."""
        return rate(self.kind, self.attempts, self.distance, self.elapsed)

    @property
    def rate_unit(self) -> str:
        """Unit of `rate`."""
        return RATE_UNITS[self.kind]

    def reliability(self, confidence: float) -> float:
        """Return the reliability shown with a confidence [-]."""
        return shown_reliability(self.completed, self.failed, confidence)

    def confidence(self, reliability: float) -> float:
        """Return the confidence with which a reliability is shown [-]."""
        return shown_confidence(self.completed, self.failed, reliability)

    @property
    def event(self) -> TrialConditions:
        """Conditions that affect the rate, besides the operator."""
        return TrialConditions.of(self.course, self.setting, self.vehicle, self.conditions)


RATE_UNITS: Mapping[Kind, str] = {"obstacle": "1/min", "terrain": "m/min"}


def count_completed(attempts: Sequence[Attempt]) -> int:
    """Return the number of credited repetitions."""
    return sum(attempt.fault is None and not attempt.void for attempt in attempts)


def count_failed(attempts: Sequence[Attempt]) -> int:
    """Return the number of repetitions ended by a fault."""
    return sum(attempt.fault is not None and not attempt.void for attempt in attempts)


def void_time(attempts: Sequence[Attempt]) -> float:
    """Return the total time of void repetitions [s]."""
    return math.fsum(attempt.duration for attempt in attempts if attempt.void)


def rate(kind: Kind, attempts: Sequence[Attempt], distance: float, elapsed: float) -> float:
    """Return the rate by a course's kind, [1/min] or [m/min]; 0 before the clock runs.

    Args:
        kind: Kind of the course.
        attempts: Repetitions so far; void ones, and their time, do not count.
        distance: Nominal length of a repetition's path [m].
        elapsed: Time on the trial's clock [s].
    """
    done = count_completed(attempts) * (distance if kind == "terrain" else 1.0)
    counted = elapsed - void_time(attempts)
    return 60 * done / counted if counted > 0 else 0.0


class ExpertComparison(NamedTuple):
    """Comparison of a trial with an expert's.

    Attributes:
        expert: Trial of the expert.
        fraction: Ratio of the operator's rate to the expert's [-].
        passed: True if the trial passed at a sufficient fraction of the expert's rate.
    """

    expert: Result
    fraction: float
    passed: bool


def compare(result: Result, expert: Result, pass_fraction: float) -> ExpertComparison:
    """Compare a trial with an expert's under equal conditions.

    Raises:
        InvalidValueError: They differ, or the expert completed nothing.
    """
    if result.event != expert.event:
        raise InvalidValueError("an expert's trial", f"of {result.event}", str(expert.event))
    if expert.rate <= 0:
        raise InvalidValueError("an expert's rate", "above 0", expert.rate)
    fraction = result.rate / expert.rate
    return ExpertComparison(expert, fraction, result.outcome == "passed" and fraction >= pass_fraction)


def shown_reliability(completed: int, failed: int, confidence: float) -> float:
    """Return the reliability shown by repetitions with a confidence [-].

    The largest r for which at most `failed` failures in as many tries have a probability of at most
    1 - confidence wherever the true reliability is below r: the one-sided limit of Clopper and Pearson.

    Args:
        completed: Number of completed repetitions.
        failed: Number of failed repetitions.
        confidence: Confidence, in (0, 1).

    Raises:
        InvalidValueError: A negative number of repetitions, or a confidence outside (0, 1).
    """
    _check(completed, failed, "confidence", confidence)
    return float(betaincinv(completed, failed + 1, 1 - confidence)) if completed else 0.0


def shown_confidence(completed: int, failed: int, reliability: float) -> float:
    """Return the confidence with which repetitions show a reliability [-].

    The probability that a vehicle and operator of just this reliability would have failed more often.

    Args:
        completed: Number of completed repetitions.
        failed: Number of failed repetitions.
        reliability: Reliability, in (0, 1).

    Raises:
        InvalidValueError: A negative number of repetitions, or a reliability outside (0, 1).
    """
    _check(completed, failed, "reliability", reliability)
    tried = completed + failed
    return 1 - float(bdtr(failed, tried, 1 - reliability)) if tried else 0.0


def _check(completed: int, failed: int, name: str, probability: float) -> None:
    if completed < 0 or failed < 0:
        raise InvalidValueError("completed and failed", "at least 0", (completed, failed))
    if not 0 < probability < 1:
        raise InvalidValueError(name, "in (0, 1)", probability)
