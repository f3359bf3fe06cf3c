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
    "real_time_factor": NumberSource("an operator gains 2 % of time to think at most", "own choice"),
}
"""Sources of the fields of `ScoringSettings`, by name."""


@dataclass(frozen=True)
class ScoringSettings:
    """Settings of a score. `SOURCES` has the sources of the defaults.

    Attributes:
        allowed_failures: Failures that still pass, by number of repetitions tried.
        reliability: Probability of completing a repetition that is to be shown.
        confidence: Confidence in that reliability.
        pass_fraction: Rate of a trained operator over an expert's, under the same conditions.
        fall_angle: Roll or pitch beyond which a vehicle has fallen [rad].
        touch_distance: A wall nearer to the vehicle than this is touched [m].
        real_time_factor: A repetition in which simulated over elapsed time was lower is void [-].
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
        """Check.

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
