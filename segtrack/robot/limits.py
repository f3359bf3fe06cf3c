"""Commands held within the limits of what executes them; what looks like another unit is told."""

from __future__ import annotations

import logging

import numpy as np
from numpy.typing import ArrayLike, NDArray


class CommandClipper:
    """Holds the commands of a robot, or of a batch, within limits.

    A command that is farther beyond a limit than the limits are apart is told by the logger `segtrack`, once
    for each quantity: it is likely in degrees, or in another unit than the quantity's.
    """

    def __init__(self, whose: str) -> None:
        """Begin with nothing told.

        Args:
            whose: Name of the vehicle, for messages.
        """
        self._whose = whose
        self._told: set[str] = set()

    def clip(self, what: str, value: float, low: float, high: float) -> float:
        """The value, or the limit that it is beyond.

        Args:
            what: Quantity, with its unit, for the message.
            value: Finite number.
            low: Smallest value.
            high: Largest value.
        """
        clipped = min(max(value, low), high)
        if abs(value - clipped) > high - low:
            self._tell(what, low, high)
        return clipped

    def clip_all(
        self, what: str, values: NDArray[np.float64], low: ArrayLike, high: ArrayLike
    ) -> NDArray[np.float64]:
        """Values of several vehicles within limits that broadcast with them, see `clip`."""
        lows, highs = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
        clipped = np.clip(values, lows, highs)
        if (abs(values - clipped) > highs - lows).any():
            self._tell(what, float(lows.min()), float(highs.max()))
        return clipped

    def _tell(self, what: str, low: float, high: float) -> None:
        if what not in self._told:
            self._told.add(what)
            logging.getLogger("segtrack").warning(
                "%s: %s is commanded far beyond its limits, %.4g to %.4g, and clipped to them: angles are in "
                "radians, speeds in m/s and rad/s, pedals from 0 to 1 (told once a robot and quantity)",
                self._whose,
                what,
                low,
                high,
            )
