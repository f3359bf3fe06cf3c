"""Split times: times of passing each gate since the repetition began."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple


class Repetition(NamedTuple):
    """Repetition of a trial, reconstructed from its events.

    Attributes:
        splits: Times of the gates since the repetition began, in gate order [s].
        completed: True if it is credited.
    """

    splits: tuple[float, ...]
    completed: bool


def read_repetitions(events: Iterable[tuple[Any, float]]) -> list[Repetition]:
    """Reconstruct the repetitions of a trial, including the present one.

    Args:
        events: Kind and clock [s] of each event, in their order.
    """
    repetitions, splits, begun = [], list[float](), 0.0
    for kind, clock in events:
        if kind == "gate":
            splits.append(clock - begun)
        elif kind in ("repetition", "void", "fault"):
            repetitions.append(Repetition(tuple(splits), kind == "repetition"))
            splits, begun = [], clock
    return [*repetitions, Repetition(tuple(splits), False)]


def fastest(repetitions: Iterable[Repetition]) -> tuple[float, ...]:
    """Return the split times of the fastest completed repetition; empty without one."""
    completed = (each.splits for each in repetitions if each.completed and each.splits)
    return min(completed, key=lambda splits: splits[-1], default=())
