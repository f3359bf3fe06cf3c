"""Upward searches over events, for the largest obstacle that is passed or for the limiting speed.

Peaks are not monotonic over the speed: an idler that hits an obstacle at a low speed clears it at a slightly
higher one, and a road arm meets its stop at a higher one still. So nothing is bisected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

from segtrack.errors import InvalidValueError, finite
from segtrack.experiments.event_result import UNDECIDED, EventResult
from segtrack.experiments.event_setup import Assumptions, EventSetup

Criterion: TypeAlias = Literal["passed", "peak", "filtered peak", "absorbed power"]
"""Criterion of a run; all but `passed` are numbers with a limit, and need a run that passes."""
Raised: TypeAlias = Literal["size", "speed"]
"""What a search raises: the obstacle's size, or the speed."""
UNITS: Mapping[str, str] = MappingProxyType({"peak": "g", "filtered peak": "g", "absorbed power": "W"})
"""Unit of each criterion that is a number."""
_ARRIVES = 0.9
"""Fraction of a speed that is tried with which a vehicle must come to the obstacle [-]."""
_FINEST = 1e-4
"""Least increment of a search [m, m/s]."""
_ROUND = 9
"""Decimals of the values that are tried: sums of increments would not be equal to their decimals [m, m/s]."""


def limit_of(criterion: Criterion, assumptions: Assumptions) -> float:
    """Limit of a numeric criterion, in its unit."""
    return assumptions.power_limit if criterion == "absorbed power" else assumptions.peak_limit


class SearchTrial(NamedTuple):
    """One run of a search.

    Attributes:
        tried: Tried size [m] or speed [m/s].
        passed: True if the vehicle got past the obstacle.
        measure: Value of the criterion, in its unit; 1 or 0 for `passed`.
        ending: Outcome and limits of a vehicle that did not pass; else empty.
        decided: False if the simulation diverged or was interrupted, so that nothing follows.
    """

    tried: float
    passed: bool
    measure: float
    ending: str = ""
    decided: bool = True


def measure_of(result: EventResult, criterion: Criterion) -> float:
    """Value of a criterion for a result, in its unit; 1 or 0 for `passed`."""
    match criterion:
        case "peak":
            return result.ridden.peak
        case "filtered peak":
            return result.ridden.filtered_peak
        case "absorbed power":
            return result.ridden.absorbed_power
    return float(result.passed)


def ending_of(outcome: str, limited_by: str) -> str:
    """Sentence on a run that did not pass: outcome and limits."""
    return f"{outcome} by {limited_by}" if limited_by else outcome


class Found(NamedTuple):
    """Result of a search.

    Attributes:
        value: Largest size passed [m], or limiting speed [m/s]; None if there is none.
        reason: Reason why the search ended.
    """

    value: float | None
    reason: str


@dataclass(frozen=True)
class UpwardSearch:
    """Search that raises a size or a speed until a criterion fails.

    Attributes:
        start: First value to try.
        end: Largest value to try.
        increment: Difference between neighbouring values.
        criterion: Criterion that the search is for.
        limit: Limit of a numeric criterion, in its unit.
        raised: Raised quantity, size or speed.
    """

    start: float
    end: float
    increment: float
    criterion: Criterion = "passed"
    limit: float = 0.0
    raised: Raised = "size"

    def __post_init__(self) -> None:
        """Refuse an empty range or an increment that is not above zero."""
        if finite("start of a search", self.start) <= 0:
            raise InvalidValueError("start of a search", "above 0", self.start)
        if finite("increment of a search", self.increment) < _FINEST:
            raise InvalidValueError("increment of a search", f"at least {_FINEST:g}", self.increment)
        if finite("end of a search", self.end) < self.start:
            raise InvalidValueError("end of a search", f"at least its start of {self.start:g}", self.end)

    @property
    def values(self) -> tuple[float, ...]:
        """Values in trial order."""
        count = int((self.end - self.start) / self.increment + 1e-9) + 1
        return tuple(round(self.start + i * self.increment, _ROUND) for i in range(count))

    def setup_at(self, setup: EventSetup, value: float) -> EventSetup:
        """Return an event with the raised quantity set to a value."""
        if self.raised == "speed":
            return replace(setup, speed=value)
        return replace(setup, obstacle=setup.obstacle.of_size(value))

    def trial(self, tried: float, result: EventResult) -> SearchTrial:
        """Judge the result of a run at a value."""
        measure, limits = measure_of(result, self.criterion), ", ".join(result.limited_by)
        speeds = result.speed, result.approach_speed
        return self.judge(tried, measure, result.outcome, limits, *speeds, result.reason)

    def judge(
        self,
        tried: float,
        measure: float,
        outcome: str,
        limited_by: str,
        speed: float,
        approach_speed: float | None,
        reason: str,
    ) -> SearchTrial:
        """Judge a run by its numbers.

        Args:
            tried: Tried size [m] or speed [m/s].
            measure: Value of the criterion.
            outcome: Outcome of the run.
            limited_by: Names of the limits that held the vehicle.
            speed: Commanded belt speed, clipped to the drives' largest [m/s].
            approach_speed: Speed at the obstacle's beginning [m/s]; None if it starts from rest.
            reason: Reason why the simulation diverged; else empty.
        """
        if self.raised == "speed" and speed < tried:
            return SearchTrial(tried, False, measure, f"its drives do {speed:g} m/s")
        slow = approach_speed is not None and approach_speed < _ARRIVES * tried
        if self.raised == "speed" and slow and outcome == "passed":
            return SearchTrial(tried, False, measure, f"it arrives at {approach_speed:.3g} m/s")
        if outcome in UNDECIDED:
            return SearchTrial(tried, False, measure, reason or outcome, decided=False)
        passed = outcome == "passed"
        return SearchTrial(tried, passed, measure, "" if passed else ending_of(outcome, limited_by))

    def holds(self, trial: SearchTrial) -> bool:
        """Return whether a trial meets the criterion."""
        return trial.passed and (self.criterion == "passed" or trial.measure <= self.limit)

    def next(self, trials: Sequence[SearchTrial]) -> float | None:
        """Return the next value to try; None at the end."""
        values = self.values
        if len(trials) == len(values) or trials and not self.holds(trials[-1]):
            return None
        return values[len(trials)]

    def found(self, trials: Sequence[SearchTrial]) -> Found:
        """Return the result of the trials so far.

        Of a criterion that is a number the limit is where the line between the last two trials crosses it;
        of passing, or where the last trial did not pass, it is the last value that held. A last trial that
        is undecided leaves the limit unknown.
        """
        if not trials:
            return Found(None, "nothing was tried")
        last, before = trials[-1], trials[-2] if len(trials) > 1 else None
        if not last.decided:
            return Found(None, f"{last.tried:g} is undecided: {last.ending}")
        if self.holds(last):
            return Found(last.tried, f"holds up to {last.tried:g}, the highest that was tried")
        if before is None:
            failed = self._failed(last) if not last.passed else f"exceeds the limit of {self.limit:g}"
            return Found(None, f"{last.tried:g}, the lowest that was tried, {failed}")
        if not last.passed:
            return Found(before.tried, f"{last.tried:g} {self._failed(last)}")
        share = (self.limit - before.measure) / (last.measure - before.measure)
        crossing = before.tried + share * (last.tried - before.tried)
        return Found(crossing, f"crosses {self.limit:g} between {before.tried:g} and {last.tried:g}")

    @staticmethod
    def _failed(trial: SearchTrial) -> str:
        return "is not passed" + (f": {trial.ending}" if trial.ending else "")
