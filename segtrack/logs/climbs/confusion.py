"""How often a simulation ends as the robot does, with intervals for so few trials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from scipy.stats import binomtest

from segtrack.logs.climbs.table import Outcome

Predicted = Literal["climbed", "failed", "undecided"]
CONFIDENCE = 0.95
OUTCOMES: tuple[Outcome, ...] = ("climbed", "failed")
PREDICTIONS: tuple[Predicted, ...] = ("climbed", "failed", "undecided")


class Rate(NamedTuple):
    """How many of some trials.

    Attributes:
        hits: So many ...
        trials: ... of so many.
        value: Their ratio; None without trials.
        interval: Of the ratio, 95 %, Wilson 1927; None without trials.
    """

    hits: int
    trials: int
    value: float | None
    interval: tuple[float, float] | None

    @classmethod
    def of(cls, hits: int, trials: int) -> Rate:
        """The rate with its interval."""
        if not trials:
            return cls(hits, trials, None, None)
        interval = binomtest(hits, trials).proportion_ci(CONFIDENCE, method="wilson")
        return cls(hits, trials, hits / trials, (float(interval.low), float(interval.high)))

    def summary(self) -> dict[str, object]:
        """Everything as plain values with the names that JSON has."""
        interval = None if self.interval is None else list(self.interval)
        return {"hits": self.hits, "trials": self.trials, "value": self.value, "interval_95": interval}


@dataclass(frozen=True)
class Confusion:
    """What was predicted of trials, by how the robot's ended.

    Attributes:
        counts: By the robot's outcome and the predicted one.
    """

    counts: dict[tuple[Outcome, Predicted], int]

    @classmethod
    def of(cls, pairs: Iterable[tuple[Outcome, Predicted]]) -> Confusion:
        """Count pairs of the robot's outcome and the predicted one."""
        counted = Counter(pairs)
        return cls({(o, p): counted[o, p] for o in OUTCOMES for p in PREDICTIONS})

    @property
    def agreement(self) -> Rate:
        """Of all trials that are decided, those that end as the robot's."""
        hits = sum(self.counts[o, o] for o in OUTCOMES)
        return Rate.of(hits, sum(self._decided(o) for o in OUTCOMES))

    @property
    def climbed(self) -> Rate:
        """Of the decided trials that the robot climbed, those that the simulation does."""
        return Rate.of(self.counts["climbed", "climbed"], self._decided("climbed"))

    @property
    def failed(self) -> Rate:
        """Of the decided trials that the robot failed, those that the simulation does."""
        return Rate.of(self.counts["failed", "failed"], self._decided("failed"))

    @property
    def undecided(self) -> int:
        """Trials that the simulation does not decide."""
        return sum(self.counts[o, "undecided"] for o in OUTCOMES)

    def _decided(self, outcome: Outcome) -> int:
        return self.counts[outcome, "climbed"] + self.counts[outcome, "failed"]

    def summary(self) -> dict[str, object]:
        """Everything as plain values with the names that JSON has."""
        return {
            "counts": {f"robot_{o}": {p: self.counts[o, p] for p in PREDICTIONS} for o in OUTCOMES},
            "agreement": self.agreement.summary(),
            "climbed": self.climbed.summary(),
            "failed": self.failed.summary(),
            "undecided": self.undecided,
        }
