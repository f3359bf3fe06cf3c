"""Latest command and state in shared memory, and orders and reports through a pipe."""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from multiprocessing.context import SpawnContext
from typing import Any, ClassVar, Literal, TypeAlias

from segtrack.courses import Result
from segtrack.recording import Command, DriveSetup
from segtrack.station.protocol import Flag, RunState

_HEADER = struct.Struct("<QII")
"""Sequence number, length [B] and checksum."""
_ATTEMPTS = 100


class LatestValue:
    """Shared memory with the latest bytes written by one process."""

    def __init__(self, context: SpawnContext, capacity: int) -> None:
        """Allocate shared memory for `capacity` bytes; the other process gets it when it starts."""
        self.capacity = capacity
        self._memory: Any = context.RawArray("B", _HEADER.size + capacity)
        self._sequence = 0

    def write(self, data: bytes) -> None:
        """Replace the value; only one process may call it.

        Raises:
            ValueError: It does not fit.
        """
        if len(data) > self.capacity:
            raise ValueError(f"{len(data)} bytes do not fit into {self.capacity}")
        memory = memoryview(self._memory).cast("B")
        struct.pack_into("<Q", memory, 0, self._sequence + 1)
        struct.pack_into("<II", memory, 8, len(data), zlib.crc32(data))
        memory[_HEADER.size : _HEADER.size + len(data)] = data
        self._sequence += 2
        struct.pack_into("<Q", memory, 0, self._sequence)

    def read(self) -> tuple[int, bytes] | None:
        """Read sequence number and value; None before the first, or while the writer is busy."""
        memory = memoryview(self._memory).cast("B")
        for _ in range(_ATTEMPTS):
            before, length, checksum = _HEADER.unpack_from(memory)
            if before == 0:
                return None
            if before % 2 or length > self.capacity:
                continue
            data = bytes(memory[_HEADER.size : _HEADER.size + length])
            (after,) = struct.unpack_from("<Q", memory)
            if after == before and zlib.crc32(data) == checksum:
                return before // 2, data
        return None


COMMAND_CAPACITY, STATE_CAPACITY = 1024, 1 << 20
"""Sizes of the two blocks of shared memory [B]."""


@dataclass(frozen=True)
class StampedCommand:
    """Command of the driver, with the conditions under which it may be applied.

    Attributes:
        scene: Number of the scene for which it was given.
        came: Monotonic clock when the controls arrived [s]; -inf if nobody drives.
        client_time: Client's clock when it sent the controls [ms].
        e_stop: True while the emergency stop is latched.
        command: Speeds of belts and flippers; names all flippers, in the vehicle's order.
        delay: Time that the client measured from earlier controls to the picture of their effect [s]; NaN
            if unknown.
    """

    _HEAD: ClassVar[struct.Struct] = struct.Struct("<Qdd??ddId")

    scene: int
    came: float
    client_time: float
    e_stop: bool
    command: Command = Command()
    delay: float = math.nan

    def pack(self) -> bytes:
        """Serialise to bytes for shared memory; flippers go by their order."""
        command, speeds = self.command, self.command.flipper_speeds.values()
        stamp = self.scene, self.came, self.client_time, self.e_stop
        speed = command.flatten, command.left, command.right
        head = self._HEAD.pack(*stamp, *speed, len(speeds), self.delay)
        return head + struct.pack(f"<{len(speeds)}d", *speeds)

    @classmethod
    def unpack(cls, data: bytes, flippers: tuple[str, ...]) -> StampedCommand:
        """Parse the bytes for a vehicle with these flippers, in this order."""
        scene, came, client_time, e_stop, flatten, left, right, count, delay = cls._HEAD.unpack_from(data)
        speeds = struct.unpack_from(f"<{count}d", data, cls._HEAD.size)
        named = dict(zip(flippers, speeds, strict=False))  # Another scene's may have other flippers.
        return cls(scene, came, client_time, e_stop, Command(left, right, named, flatten), delay)


WATCHDOG = 0.3
"""Age up to which a command counts [s]."""


def stop_flags(latest: StampedCommand | None, scene: int, now: float) -> Flag:
    """Return the reasons that hold the vehicle at `now` [s]; without any, the command is applied.

    Args:
        latest: Last received command; None before the first.
        scene: Number of the simulated scene; a command for another scene counts as none.
        now: Monotonic clock [s].
    """
    flags = Flag(0)
    if latest is not None and latest.e_stop:
        flags |= Flag.E_STOP
    if latest is None or latest.scene != scene or not now - latest.came <= WATCHDOG:
        flags |= Flag.WATCHDOG
    return flags


TrialAction: TypeAlias = Literal["begin", "abandon", "help"]


@dataclass(frozen=True)
class Build:
    """Order to build another drive, with its scene number."""

    scene: int
    setup: DriveSetup


@dataclass(frozen=True)
class SetRun:
    """Order to start, pause, reset or stop the run."""

    action: Literal["start", "pause", "reset", "stop"]


@dataclass(frozen=True)
class SetTrial:
    """Order to begin or abandon a trial, or to record help in it.

    Attributes:
        action: Action; the other fields are for beginning.
        operator: Name of the operator.
        repetitions: Largest number of repetitions.
        conditions: Conditions of the result, by name.
        allowed_failures: Failures that still pass, by repetitions tried; None for the trial's own rules.
    """

    action: TrialAction
    operator: str = ""
    repetitions: int = 10
    conditions: Mapping[str, str] = field(default_factory=dict)
    allowed_failures: Mapping[int, int] | None = None


@dataclass(frozen=True)
class ShowContacts:
    """Order to put contact loads into states, or leave them out."""

    on: bool


@dataclass(frozen=True)
class Close:
    """Order to end the process."""


Order: TypeAlias = Build | SetRun | SetTrial | ShowContacts | Close


@dataclass(frozen=True)
class Taken:
    """Report that an order was carried out, or that its failure was reported."""


@dataclass(frozen=True)
class RunReport:
    """Report of the run's state, with the reason."""

    state: RunState
    reason: str = ""


@dataclass(frozen=True)
class ProcessDied:
    """Report that the simulation process died, and was replaced by a new one without a drive."""

    reason: str


@dataclass(frozen=True)
class NoPriority:
    """Report that the operating system refuses the process a higher priority."""


@dataclass(frozen=True)
class SceneReport:
    """Report of the drive's scene: the fields of `protocol.SceneMessage`."""

    fields: dict[str, Any]


@dataclass(frozen=True)
class TrialReport:
    """Report of a trial's progress: the fields of `protocol.TrialStatus`."""

    fields: dict[str, Any]


@dataclass(frozen=True)
class TrialEnded:
    """Report of a trial's end, with its result."""

    result: Result


@dataclass(frozen=True)
class Refused:
    """Report that an order was refused, with the reason; nothing has changed."""

    reason: str


@dataclass(frozen=True)
class RecordingReport:
    """Report that a recording was begun or closed, with the file's name."""

    name: str
    closed: bool


Report: TypeAlias = (
    Taken
    | Refused
    | RunReport
    | NoPriority
    | ProcessDied
    | SceneReport
    | TrialReport
    | TrialEnded
    | RecordingReport
)
