"""Commands held within the limits of what executes them; what looks like another unit is told."""

from __future__ import annotations

import logging
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray


def clip(what: str, value: float, low: float, high: float) -> float:
    """The value, or the limit that it is beyond.

    One that is farther beyond a limit than the limits are apart is told by the logger `segtrack`, once for
    each quantity: it is likely in degrees, or in another unit than the quantity's.

    Args:
        what: Quantity, with its unit, for the message.
        value: Finite number.
        low: Smallest value.
        high: Largest value.
    """
    clipped = min(max(value, low), high)
    if abs(value - clipped) > high - low:
        _tell(what, low, high)
    return clipped


def clip_all(what: str, values: NDArray[np.float64], low: ArrayLike, high: ArrayLike) -> NDArray[np.float64]:
    """Values of several vehicles within limits that broadcast with them, see `clip`."""
    lows, highs = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    clipped = np.clip(values, lows, highs)
    if (abs(values - clipped) > highs - lows).any():
        _tell(what, float(lows.min()), float(highs.max()))
    return clipped


@cache
def _tell(what: str, low: float, high: float) -> None:
    logging.getLogger("segtrack").warning(
        "%s is commanded far beyond its limits, %.4g to %.4g, and clipped to them: angles are in radians, "
        "speeds in m/s and rad/s, pedals from 0 to 1 (told once a quantity and program)",
        what,
        low,
        high,
    )
