"""Steps in as few calls as possible, and simulated time against the wall clock."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from segtrack.engine import Engine

_INTERVAL = 0.01
"""A paced run waits for the clock this often [s]."""

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


def take_steps(
    engine: Engine, count: int, pacer: Pacer | None, on_step: Callable[[], object] | None
) -> float:
    """Let an engine take steps: one at a time where something is called after each, else many at once.

    Args:
        engine: What takes them.
        count: How many.
        pacer: What waits for the wall clock; None runs as fast as possible.
        on_step: Called after each step.

    Returns:
        Real-time factor: simulated over elapsed time.
    """
    if on_step is not None:
        at_once = 1
    elif pacer is not None:
        at_once = max(1, round(_INTERVAL / engine.time_step))
    else:
        at_once = max(1, count)
    began = time.perf_counter()
    if pacer is not None:
        pacer.begin()
    for start in range(0, count, at_once):
        steps = min(at_once, count - start)
        engine.advance(steps)
        if on_step is not None:
            on_step()
        if pacer is not None:
            pacer.wait(steps * engine.time_step)
    elapsed = time.perf_counter() - began
    return count * engine.time_step / elapsed if elapsed > 0 else math.inf
