"""Agreement of simulated and real outcomes: confusion, and the highest step that is climbed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import binomtest, chi2

from segtrack.logs.climbs.table import Outcome
from segtrack.logs.statistics import CONFIDENCE

Predicted = Literal["climbed", "failed", "undecided"]
OUTCOMES: tuple[Outcome, ...] = ("climbed", "failed")
PREDICTIONS: tuple[Predicted, ...] = ("climbed", "failed", "undecided")


class Rate(NamedTuple):
    """Number of trials with a property, and their ratio.

    Attributes:
        hits: So many ...
        trials: ... of so many.
        value: Their ratio; None without trials.
        interval: 95 % interval of the ratio (Wilson 1927); None without trials.
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
        """Return a JSON-serialisable dict."""
        interval = None if self.interval is None else list(self.interval)
        return {"hits": self.hits, "trials": self.trials, "value": self.value, "interval_95": interval}


@dataclass(frozen=True)
class Confusion:
    """Numbers of trials by the robot's outcome and the predicted one.

    Attributes:
        counts: Number of trials by the robot's outcome and the predicted one.
    """

    counts: dict[tuple[Outcome, Predicted], int]

    @classmethod
    def of(cls, pairs: Iterable[tuple[Outcome, Predicted]]) -> Confusion:
        """Count pairs of the robot's outcome and the predicted one."""
        counted = Counter(pairs)
        return cls({(o, p): counted[o, p] for o in OUTCOMES for p in PREDICTIONS})

    @property
    def agreement(self) -> Rate:
        """Decided trials that end as the robot's, among all decided ones."""
        hits = sum(self.counts[o, o] for o in OUTCOMES)
        return Rate.of(hits, sum(self._decided(o) for o in OUTCOMES))

    @property
    def climbed(self) -> Rate:
        """Decided trials that robot and simulation climb, among those that the robot climbs."""
        return Rate.of(self.counts["climbed", "climbed"], self._decided("climbed"))

    @property
    def failed(self) -> Rate:
        """Decided trials that robot and simulation fail, among those that the robot fails."""
        return Rate.of(self.counts["failed", "failed"], self._decided("failed"))

    @property
    def undecided(self) -> int:
        """Trials that the simulation does not decide."""
        return sum(self.counts[o, "undecided"] for o in OUTCOMES)

    def _decided(self, outcome: Outcome) -> int:
        return self.counts[outcome, "climbed"] + self.counts[outcome, "failed"]

    def summary(self) -> dict[str, object]:
        """Return a JSON-serialisable dict."""
        return {
            "counts": {f"robot_{o}": {p: self.counts[o, p] for p in PREDICTIONS} for o in OUTCOMES},
            "agreement": self.agreement.summary(),
            "climbed": self.climbed.summary(),
            "failed": self.failed.summary(),
            "undecided": self.undecided,
        }


Method = Literal["bracket", "logistic", "bisection"]
RESOLUTION = 1 / 200
"""Resolution of a bisected limit, as a fraction of the highest step that was tried."""
SCAN = 1 / 8
"""Fraction of the highest step that was tried, by which steps rise until one is not climbed."""
_HIGHEST = 2.0
"""Times the highest step that was tried, above which no limit is looked for."""
_FAR = 10.0
"""Times the range of heights, beyond which an interval is open."""


@dataclass(frozen=True)
class Limit:
    """The height above which steps are not climbed.

    Attributes:
        height: Best estimate [m]; None if it is not known, but for its interval.
        low: Lower end of its interval [m]; 0 if even the lowest step was not climbed.
        high: Upper end of its interval [m]; None if every step was climbed.
        method: `bracket` between the highest step climbed and the lowest not; `logistic` where these
            overlap, with its profile likelihood interval of 95 %; `bisection` in simulation.
    """

    height: float | None
    low: float
    high: float | None
    method: Method

    def summary(self) -> dict[str, object]:
        """Return a JSON-serialisable dict."""
        return dict(vars(self))


def robot_limit(heights: Sequence[float], climbed: Sequence[bool], spread: float = 0.0) -> Limit:
    """The limit that outcomes show.

    Args:
        heights: Heights of the steps [m].
        climbed: Outcomes, true for a step that was climbed.
        spread: Uncertainty of the heights, added to a bracket's ends [m].
    """
    h, up = np.asarray(heights, dtype=float), np.asarray(climbed, dtype=bool)
    below = float(h[up].max()) if up.any() else None
    above = float(h[~up].min()) if (~up).any() else None
    if above is None:
        assert below is not None
        return Limit(None, max(below - spread, 0.0), None, "bracket")
    if below is None:
        return Limit(None, 0.0, above + spread, "bracket")
    if below < above:
        return Limit((below + above) / 2, max(below - spread, 0.0), above + spread, "bracket")
    return _logistic(h, up)


def _logistic(heights: NDArray[np.float64], climbed: NDArray[np.bool_]) -> Limit:
    """Height of a step that is climbed as often as not, by a logistic curve that falls with height."""
    low, high = float(heights.min()), float(heights.max())
    width = max(high - low, 1e-3 * high)

    def mismatch(middle: float, log_scale: float) -> float:
        """Minus the logarithm of the likelihood."""
        steps = (heights - middle) / math.exp(log_scale)
        return float(np.logaddexp(0.0, np.where(climbed, steps, -steps)).sum())

    def profile(middle: float) -> float:
        bounds = math.log(1e-3 * width), math.log(1e2 * width)
        grid = np.linspace(*bounds, 25)
        best = grid[int(np.argmin([mismatch(middle, s) for s in grid]))]
        step = grid[1] - grid[0]
        found = minimize_scalar(
            lambda s: mismatch(middle, s),
            bounds=(max(best - step, bounds[0]), min(best + step, bounds[1])),
            method="bounded",
        )
        return float(found.fun)

    grid = np.linspace(low - width, high + width, 61)
    at = int(np.argmin([profile(middle) for middle in grid]))
    step = grid[1] - grid[0]
    best = minimize_scalar(profile, bounds=(grid[at] - step, grid[at] + step), method="bounded")
    allowed = float(best.fun) + chi2.ppf(CONFIDENCE, 1) / 2

    def end(sign: float) -> float | None:
        far = best.x + sign * _FAR * width
        if profile(far) < allowed:
            return None
        return float(brentq(lambda middle: profile(middle) - allowed, best.x, far, xtol=1e-5))

    lower = end(-1.0)
    return Limit(float(best.x), max(lower, 0.0) if lower is not None else 0.0, end(1.0), "logistic")


def simulated_limit(climbs: Callable[[float], bool], highest: float, start: float = 0.0) -> Limit:
    """The limit of a simulation: steps become higher until one is not climbed, then half way, and so on.

    Every step below that was tried is climbed, but for one that is the first of all.

    Args:
        climbs: Function that returns true if a step of a height [m] is climbed.
        highest: The highest step of the table [m], which gives the scale.
        start: A height near the limit [m]; 0 if none is known.

    Returns:
        The limit, between the highest step that was climbed and the lowest that was not.
    """
    stride, most = SCAN * highest, _HIGHEST * highest
    height = start if start > 0 else stride
    while start > 0 and height > 0 and not climbs(height):
        height -= stride
    low = max(height, 0.0) if start > 0 else 0.0
    high = low + stride
    while climbs(high):
        low, high = high, high + stride
        if high > most:
            return Limit(None, low, None, "bisection")
    while high - low > RESOLUTION * highest:
        middle = (low + high) / 2
        low, high = (middle, high) if climbs(middle) else (low, middle)
    return Limit((low + high) / 2, low, high, "bisection")
