"""Timing harness: contenders take turns, round by round, so that other load on the machine hits all alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from segtrack.errors import InvalidValueError

Name = TypeVar("Name")
Sample = TypeVar("Sample")


@dataclass(frozen=True)
class Elapsed:
    """Time that a call took.

    Attributes:
        clock: Wall time [s].
        processor: Time of the processor [s].
    """

    clock: float
    processor: float


def stopwatch(call: Callable[[], object]) -> Elapsed:
    """Measure how long a call takes."""
    clock, processor = time.perf_counter(), time.process_time()
    call()
    return Elapsed(time.perf_counter() - clock, time.process_time() - processor)


def take_turns(
    contenders: Mapping[Name, Callable[[], Sample]],
    rounds: int,
    on_done: Callable[[], object] = lambda: None,
    warm_up: bool = False,
) -> dict[Name, tuple[Sample, ...]]:
    """Call each contender once a round.

    Args:
        contenders: Functions that run one contender and return a sample, by name.
        rounds: Number of rounds, at least 1.
        on_done: Called after each call that counts.
        warm_up: Add a first round that does not count, in which kernels are compiled.

    Returns:
        Samples of the rounds, by name.

    Raises:
        InvalidValueError: No rounds.
    """
    if rounds < 1:
        raise InvalidValueError("rounds", "at least 1", rounds)
    samples: dict[Name, list[Sample]] = {name: [] for name in contenders}
    for call in contenders.values() if warm_up else ():
        call()
    for _ in range(rounds):
        for name, call in contenders.items():
            samples[name].append(call())
            on_done()
    return {name: tuple(values) for name, values in samples.items()}
