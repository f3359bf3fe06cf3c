"""Steps against the wall clock, and saved states to go back to."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from segtrack.engine import Engine
from segtrack.errors import InvalidValueError, NotReadyError

_INTERVAL = 0.01
"""A paced run waits for the clock this often [s]."""

_LATE = 0.02
"""Paced steps that end this much late [s] are an overrun, and are not caught up."""


class Pacer:
    """Lets a run wait for the wall clock.

    Attributes:
        overruns: Number of times that steps came too late.
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
        engine: Engine that takes them.
        count: Number of steps.
        pacer: Pacer that waits for the wall clock; None runs as fast as possible.
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


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The state of a world at one time, held by its engine.

    Attributes:
        state: Handle of the state in the engine.
        time: Simulated [s].
    """

    state: Any
    time: float


class Snapshots:
    """The snapshots that an engine holds, and the one to which a world is reset."""

    def __init__(self, engine: Engine, resettable: bool) -> None:
        """Begin with none.

        Args:
            engine: Engine that holds them.
            resettable: True to hold the state before the first step.
        """
        self._engine, self._resettable = engine, resettable
        self._held: set[Snapshot] = set()
        self._start: Snapshot | None = None

    def save(self) -> Snapshot:
        """Save the engine's state."""
        snapshot = Snapshot(self._engine.save(), self._engine.time)
        self._held.add(snapshot)
        return snapshot

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a state.

        Raises:
            InvalidValueError: It is removed, of another world, or bodies came or went since.
        """
        self._check(snapshot)
        self._engine.restore(snapshot.state)

    def remove(self, snapshot: Snapshot) -> None:
        """Free what a snapshot holds.

        Raises:
            InvalidValueError: It is removed, or of another world.
        """
        self._check(snapshot)
        self._engine.release(snapshot.state)
        self._held.discard(snapshot)

    def hold_start(self) -> None:
        """Save the state before the first step, unless that is held already."""
        if self._start is None and self._resettable:
            self._start = self.save()

    def drop_start(self) -> None:
        """Free the state before the first step: something came or went since."""
        if self._start is not None:
            self.remove(self._start)
            self._start = None

    def reset(self) -> None:
        """Go back to the state before the first step.

        Raises:
            NotReadyError: It is not to be held.
        """
        if not self._resettable:
            raise NotReadyError("reset the world", "it was opened with resettable=False")
        if self._start is not None:
            self.restore(self._start)

    def _check(self, snapshot: Snapshot) -> None:
        if not isinstance(snapshot, Snapshot) or snapshot not in self._held:
            raise InvalidValueError("snapshot", "one that this world saved and has not removed", snapshot)
