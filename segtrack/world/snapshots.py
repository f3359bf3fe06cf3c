"""Saved states of a world, and which of them are still good."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from segtrack.engine import Engine
from segtrack.errors import InvalidValueError, NotReadyError


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The state of a world at one time, held by its engine.

    Attributes:
        state: What the engine calls it by.
        time: Simulated [s].
    """

    state: Any
    time: float


class Snapshots:
    """The snapshots that an engine holds, and the one to which a world is reset."""

    def __init__(self, engine: Engine, resettable: bool) -> None:
        """Begin with none.

        Args:
            engine: What holds them.
            resettable: Whether the state before the first step is held.
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
        self._engine.forget(snapshot.state)
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
