"""Result of a trial, the settings of its score, and the reliability and confidence that it shows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field
from scipy.special import bdtr, betaincinv

from segtrack.courses import Kind
from segtrack.errors import InvalidValueError, finite

SourceStatus = Literal["second hand", "from memory", "own choice"]

_GUIDE = (
    "Jacoff et al., Guide for Evaluating, Purchasing, and Training with Response Robots Using "
    "DHS-NIST-ASTM Standard Test Methods, NIST 2014"
)


class NumberSource(NamedTuple):
    """Source of a number.

    Attributes:
        text: The source, or the reason.
        status: `second hand`: read in notes on the source; `from memory`: no source was found;
            `own choice`: none was looked for.
    """

    text: str
    status: SourceStatus


SOURCES: Mapping[str, NumberSource] = {
    "allowed_failures": NumberSource(_GUIDE + ", pp. 11, 17", "second hand"),
    "reliability": NumberSource(_GUIDE, "second hand"),
    "confidence": NumberSource(_GUIDE, "second hand"),
    "pass_fraction": NumberSource("no source was found for a fraction of an expert's rate", "from memory"),
    "fall_angle": NumberSource("steeper than any slope of the courses", "own choice"),
    "touch_distance": NumberSource("stiff contacts stop a belt just before the wall", "own choice"),
}
"""Sources of the fields of `ScoringSettings`, by name."""


@dataclass(frozen=True)
class ScoringSettings:
    """Settings of a score. `SOURCES` has the sources of the defaults.

    Attributes:
        allowed_failures: Failures that still pass, by number of repetitions tried.
        reliability: Probability of completing a repetition that is to be shown.
        confidence: Confidence in that reliability.
        pass_fraction: Rate of a trained operator over an expert's, on the same course, setting and vehicle.
        fall_angle: Roll or pitch beyond which a vehicle has fallen [rad].
        touch_distance: A wall nearer to the vehicle than this is touched [m].
    """

    allowed_failures: Mapping[int, int] = field(
        default_factory=lambda: MappingProxyType({10: 0, 20: 1, 30: 3})
    )
    reliability: float = 0.8
    confidence: float = 0.8
    pass_fraction: float = 0.8
    fall_angle: float = math.radians(75)
    touch_distance: float = 0.003

    def __post_init__(self) -> None:
        """Check.

        Raises:
            InvalidValueError: A number outside its range.
        """
        for name in ("reliability", "confidence"):
            if not 0 < finite(name, getattr(self, name)) < 1:
                raise InvalidValueError(name, "in (0, 1)", getattr(self, name))
        for name, unit in (("pass_fraction", ""), ("fall_angle", " [rad]"), ("touch_distance", " [m]")):
            if finite(f"{name}{unit}", getattr(self, name)) < 0:
                raise InvalidValueError(f"{name}{unit}", "at least 0", getattr(self, name))
        if not self.allowed_failures or any(
            not 0 <= failures < tried for tried, failures in self.allowed_failures.items()
        ):
            expected = "fewer failures than repetitions, at least once"
            raise InvalidValueError("allowed_failures", expected, dict(self.allowed_failures))


def shown_reliability(completed: int, failed: int, confidence: float) -> float:
    """Return the reliability that is shown with a confidence.

    The largest r for which at most `failed` failures in as many tries have a probability of at most
    1 - confidence wherever the true reliability is below r: the one-sided limit of Clopper and Pearson.

    Args:
        completed: Completed repetitions.
        failed: Failed repetitions.
        confidence: Confidence, range (0, 1).

    Raises:
        InvalidValueError: A negative number of repetitions, or a confidence outside (0, 1).
    """
    _check(completed, failed, "confidence", confidence)
    return float(betaincinv(completed, failed + 1, 1 - confidence)) if completed else 0.0


def shown_confidence(completed: int, failed: int, reliability: float) -> float:
    """Return the confidence with which a reliability is shown.

    The probability that a vehicle and operator of just this reliability would have failed more often.

    Args:
        completed: Completed repetitions.
        failed: Failed repetitions.
        reliability: Reliability, range (0, 1).

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
        """Return the reliability that is shown with a confidence."""
        return shown_reliability(self.completed, self.failed, confidence)

    def confidence(self, reliability: float) -> float:
        """Return the confidence with which a reliability is shown."""
        return shown_confidence(self.completed, self.failed, reliability)

    @property
    def event(self) -> tuple[str, float | None, str]:
        """Course, setting and vehicle, which a rate depends on besides the operator."""
        return self.course, self.setting, self.vehicle


RATE_UNITS: Mapping[Kind, str] = {"obstacle": "1/min", "terrain": "m/min"}


def rate(kind: Kind, completed: int, distance: float, elapsed: float) -> float:
    """Return repetitions [1/min] or metres a minute [m/min] by a course's kind; 0 before the clock runs."""
    done = completed * (distance if kind == "terrain" else 1.0)
    return 60 * done / elapsed if elapsed > 0 else 0.0


class ExpertComparison(NamedTuple):
    """Comparison of an operator's trial with an expert's.

    Attributes:
        expert: The expert's trial.
        fraction: Operator's rate over the expert's.
        passed: True if the trial was passed, at a sufficient fraction of the expert's rate.
    """

    expert: Result
    fraction: float
    passed: bool


def compare(result: Result, expert: Result, pass_fraction: float) -> ExpertComparison:
    """Compare a trial with an expert's on the same course, setting and vehicle.

    Raises:
        InvalidValueError: They differ, or the expert completed nothing.
    """
    if result.event != expert.event:
        raise InvalidValueError("an expert's course, setting and vehicle", f"{result.event}", expert.event)
    if expert.rate <= 0:
        raise InvalidValueError("an expert's rate", "above 0", expert.rate)
    fraction = result.rate / expert.rate
    return ExpertComparison(expert, fraction, result.outcome == "passed" and fraction >= pass_fraction)
