"""How high a step is climbed: of a robot from the outcomes of its trials, of a simulation by bisection."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import chi2

Method = Literal["bracket", "logistic", "bisection"]
CONFIDENCE = 0.95
RESOLUTION = 1 / 200
"""To which a limit is bisected, as a fraction of the highest step that was tried."""
SCAN = 1 / 8
"""Of the highest step that was tried: by so much steps become higher until one is not climbed."""
_HIGHEST = 2.0
"""Times the highest step that was tried, above which no limit is looked for."""
_FAR = 10.0
"""Times the range of heights, beyond which an interval is open."""


@dataclass(frozen=True)
class Limit:
    """The height above which steps are not climbed.

    Attributes:
        height: Best estimate [m]; None if it is not known, but for its interval.
        low: Of its interval [m]; 0 if even the lowest step was not climbed.
        high: Of its interval [m]; None if every step was climbed.
        method: `bracket` between the highest step climbed and the lowest not; `logistic` where these
            overlap, with its profile likelihood interval of 95 %; `bisection` in simulation.
    """

    height: float | None
    low: float
    high: float | None
    method: Method

    def summary(self) -> dict[str, object]:
        """Everything as plain values with the names that JSON has."""
        return dict(vars(self))


def robot_limit(heights: Sequence[float], climbed: Sequence[bool], spread: float = 0.0) -> Limit:
    """The limit that outcomes show.

    Args:
        heights: Of the steps [m].
        climbed: Whether each was climbed.
        spread: By which heights may be off, added to a bracket's ends [m].
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
    """Where a step is climbed as often as not, by a logistic curve that falls with height."""
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
        climbs: Whether a step of a height [m] is climbed.
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
