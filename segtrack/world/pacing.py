"""Simulated time against the wall clock."""

from __future__ import annotations

import time

_LATE = 0.02
"""Paced steps that end this much late [s] are an overrun, and are not caught up."""


class Pacer:
    """Lets a run wait for the wall clock.

    Attributes:
        overruns: How often steps came too late.
    """

    def __init__(self) -> None:
        """Begin without overruns."""
        self.overruns = 0
        self._deadline = 0.0

    def begin(self) -> None:
        """Start the clock of a run."""
        self._deadline = time.perf_counter()

    def wait(self, duration: float) -> None:
        """Wait until simulated time is due, `duration` [s] after the last call."""
        self._deadline += duration
        late = time.perf_counter() - self._deadline
        if late < 0:
            time.sleep(-late)
        elif late > _LATE:
            self.overruns += 1
            self._deadline += late
