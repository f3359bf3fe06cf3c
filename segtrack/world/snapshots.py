"""Saved states of a world, and which of them are still good."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from segtrack.engine import Engine
from segtrack.errors import InvalidValueError


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
    """The snapshots that an engine holds."""

    def __init__(self, engine: Engine) -> None:
        """Begin with none."""
        self._engine = engine
        self._held: set[Snapshot] = set()

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

    def _check(self, snapshot: Snapshot) -> None:
        if not isinstance(snapshot, Snapshot) or snapshot not in self._held:
            raise InvalidValueError("snapshot", "one that this world saved and has not removed", snapshot)
