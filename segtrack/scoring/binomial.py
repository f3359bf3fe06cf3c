"""What so many completed and failed repetitions say about the probability of completing one: exact binomial.

Repetitions are taken as independent tries of one probability.
"""

from __future__ import annotations

from scipy.special import bdtr, betaincinv

from segtrack.errors import InvalidValueError


def shown_reliability(completed: int, failed: int, confidence: float) -> float:
    """Return the reliability that is shown with a confidence.

    The largest r for which at most `failed` failures in as many tries have a probability of at most
    1 - confidence wherever the true reliability is below r: the one-sided limit of Clopper and Pearson.

    Args:
        completed: Repetitions.
        failed: Repetitions.
        confidence: In (0, 1).

    Raises:
        InvalidValueError: A negative number of repetitions, or a confidence outside (0, 1).
    """
    _check(completed, failed, "confidence", confidence)
    return float(betaincinv(completed, failed + 1, 1 - confidence)) if completed else 0.0


def shown_confidence(completed: int, failed: int, reliability: float) -> float:
    """Return the confidence with which a reliability is shown.

    The probability that a vehicle and operator of just this reliability would have failed more often.

    Args:
        completed: Repetitions.
        failed: Repetitions.
        reliability: In (0, 1).

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
