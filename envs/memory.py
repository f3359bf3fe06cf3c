"""Memory of episodes: values that are kept from step to step, reset with the robot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.envs.observation import ObservationPart, ObservationSetup
from segtrack.envs.view import Rows, TaskView
from segtrack.errors import InvalidValueError, Phrase, UnknownNameError, finite

Rngs = Sequence[np.random.Generator]
MemoryFunction = Callable[[TaskView, Rngs], NDArray[Any]]


class Memory(NamedTuple):
    """Values that are kept for each robot, which `TaskView.memory` reads.

    Attributes:
        start: Function of the view of N robots at the start and of their random generators that returns the
            values (N, k).
        update: Likewise for the values after a step, from the view after it, with those before; called behind
            the terms of the reward, and ahead of the parts of the observation. None to keep them.
    """

    start: MemoryFunction
    update: MemoryFunction | None = None


@dataclass(frozen=True)
class RandomCommand:
    """Commands drawn evenly from ranges, anew at random times within an episode.

    Attributes:
        name: Name of the memory that keeps them.
        limits: Range (low, high) of each of the k commands.
        every: Mean time between two draws [s].
    """

    name: str
    limits: tuple[tuple[float, float], ...]
    every: float

    def start(self, view: TaskView, rngs: Rngs) -> NDArray[np.float64]:
        """Draw the commands of an episode's start (N, k)."""
        low, high = np.array(self.limits, dtype=float).T
        return np.array([rng.uniform(low, high) for rng in rngs]).reshape(-1, len(low))

    def update(self, view: TaskView, rngs: Rngs) -> NDArray[np.float64]:
        """Draw a robot's commands anew with the probability of a step's length over `every` (N, k)."""
        commands = view.memory(self.name).copy()
        low, high = np.array(self.limits, dtype=float).T
        for row, rng in enumerate(rngs):
            if rng.uniform() * self.every < view.period:
                commands[row] = rng.uniform(low, high)
        return commands


def random_commands(name: str, limits: Sequence[tuple[float, float]], every: float) -> dict[str, Memory]:
    """Make a memory of commands that are drawn evenly, anew at random times within an episode.

    Args:
        name: Name of the memory.
        limits: Range (low, high) of each command.
        every: Mean time between two draws [s].

    Returns:
        The memory by its name.

    Raises:
        InvalidValueError: Not ranges, or not a positive time.
    """
    if not all(isinstance(pair, Sequence) and len(pair) == 2 for pair in limits):
        raise InvalidValueError(f"limits of {name}", "ranges (low, high) with low <= high", limits)
    ranges = tuple((finite(f"low of {name}", low), finite(f"high of {name}", high)) for low, high in limits)
    if not ranges or any(low > high for low, high in ranges):
        raise InvalidValueError(f"limits of {name}", "ranges (low, high) with low <= high", limits)
    if finite(f"every of {name} [s]", every) <= 0:
        raise InvalidValueError(f"every of {name} [s]", "greater than 0", every)
    command = RandomCommand(name, ranges, float(every))
    return {name: Memory(command.start, command.update)}


@dataclass(frozen=True)
class MemoryReader:
    """Function that reads a memory as entries of an observation.

    Attributes:
        name: Name of the memory.
    """

    name: str

    def __call__(self, view: TaskView, setup: ObservationSetup) -> NDArray[Any]:
        """Return the values (N, k)."""
        return view.memory(self.name)


def memory_part(name: str, limits: Sequence[tuple[float, float]], unit: str = "-") -> ObservationPart:
    """Make a part of the observation from a memory.

    Args:
        name: Name of the memory.
        limits: Range (low, high) of each of its values.
        unit: SI unit of the values.
    """
    labels = [f"{name}{i}" for i in range(len(limits))]
    return ObservationPart(unit, "-", labels, limits, MemoryReader(name), measured=False)


def check_memories(memories: dict[str, Memory]) -> dict[str, Memory]:
    """Return memories; refuse updates that are no functions.

    Raises:
        InvalidValueError: There is one.
    """
    for name, memory in memories.items():
        if memory.update is not None and not callable(memory.update):
            raise InvalidValueError(f"update of memory {name}", "a function, or None", memory.update)
    return memories


class Memories:
    """Memories of N robots by name."""

    def __init__(self, memories: Mapping[str, Memory], count: int) -> None:
        """Take memories of a number of robots whose episodes have not begun."""
        self._memories, self._count = dict(memories), count
        self._values: dict[str, NDArray[Any]] = {}

    def read(self, chosen: Rows, name: str) -> NDArray[Any]:
        """Return the present values of robots (n, k), by their indices, read-only.

        Raises:
            UnknownNameError: No such memory, or one that begins behind the one that asks.
        """
        if name not in self._values:
            raise UnknownNameError("memory", name, self._memories)
        values = self._values[name][chosen]
        values.setflags(write=False)
        return values

    def begin(self, chosen: Rows, view: TaskView, rngs: Rngs) -> None:
        """Set the values at the start of episodes; the first call must be for all.

        Raises:
            InvalidValueError: A function that does not return a row of numbers a robot.
        """
        for name, memory in self._memories.items():
            values = _checked(name, memory.start(view, rngs), len(chosen), None)
            if name not in self._values:
                self._values[name] = np.zeros((self._count, values.shape[1]), values.dtype)
            self._put(name, chosen, values)

    def update(self, chosen: Rows, view: TaskView, rngs: Rngs) -> None:
        """Update the values after a step.

        Raises:
            InvalidValueError: A function that does not return a row of numbers a robot.
        """
        for name, memory in self._memories.items():
            if memory.update is not None:
                width = self._values[name].shape[1]
                values = _checked(name, memory.update(view, rngs), len(chosen), width)
                self._put(name, chosen, values)

    def _put(self, name: str, chosen: Rows, values: NDArray[Any]) -> None:
        changed = self._values[name].astype(np.promote_types(self._values[name].dtype, values.dtype))
        changed[chosen] = values
        self._values[name] = changed


def _checked(name: str, given: Any, count: int, width: int | None) -> NDArray[Any]:
    values = np.asarray(given)
    fits = values.ndim == 2 and len(values) == count and width in (None, values.shape[-1])
    if not fits or values.dtype.kind not in "fiub":
        shape = f"({count}, {'k' if width is None else width})"
        got = Phrase(f"{values.dtype} of shape {values.shape}")
        raise InvalidValueError(f"memory {name}", f"numbers of shape {shape}, a row a robot", got)
    return values
