"""Settings of a score with their sources, and the reliability and confidence that repetitions show."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, NamedTuple

from scipy.special import bdtr, betaincinv

from segtrack.errors import InvalidValueError, finite

SourceStatus = Literal["second hand", "from memory", "own choice"]

_GUIDE = (
    "Jacoff et al., Guide for Evaluating, Purchasing, and Training with Response Robots Using "
    "DHS-NIST-ASTM Standard Test Methods, NIST 2014"
)


class NumberSource(NamedTuple):
    """Source of a default value.

    Attributes:
        text: Citation, or reason.
        status: `second hand`: read in notes on the source; `from memory`: no source was found;
            `own choice`: no source was looked for.
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
    "real_time_factor": NumberSource("an operator gains 2 % of time to think at most", "own choice"),
}
"""Sources of the fields of `ScoringSettings`, by name."""


@dataclass(frozen=True)
class ScoringSettings:
    """Settings of a score; the defaults' sources are in `SOURCES`.

    Attributes:
        allowed_failures: Number of failures that still pass, by repetitions tried.
        reliability: Probability of completing a repetition, to be shown by the trial [-].
        confidence: Confidence to show it with [-].
        pass_fraction: Ratio of a trained operator's rate to an expert's under equal conditions [-].
        fall_angle: Roll or pitch beyond which a vehicle counts as fallen [rad].
        touch_distance: Distance below which a wall counts as touched [m].
        real_time_factor: Simulated over elapsed time below which a repetition is void [-].
    """

    allowed_failures: Mapping[int, int] = field(
        default_factory=lambda: MappingProxyType({10: 0, 20: 1, 30: 3})
    )
    reliability: float = 0.8
    confidence: float = 0.8
    pass_fraction: float = 0.8
    fall_angle: float = math.radians(75)
    touch_distance: float = 0.003
    real_time_factor: float = 0.98

    def __post_init__(self) -> None:
        """Check the settings' ranges.

        Raises:
            InvalidValueError: A number outside its range.
        """
        for name in ("reliability", "confidence"):
            if not 0 < finite(name, getattr(self, name)) < 1:
                raise InvalidValueError(name, "in (0, 1)", getattr(self, name))
        fractions = (("pass_fraction", ""), ("real_time_factor", ""))
        for name, unit in (*fractions, ("fall_angle", " [rad]"), ("touch_distance", " [m]")):
            if finite(f"{name}{unit}", getattr(self, name)) < 0:
                raise InvalidValueError(f"{name}{unit}", "at least 0", getattr(self, name))
        if not self.allowed_failures or any(
            not 0 <= failures < tried for tried, failures in self.allowed_failures.items()
        ):
            expected = "fewer failures than repetitions, at least once"
            raise InvalidValueError("allowed_failures", expected, dict(self.allowed_failures))


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
