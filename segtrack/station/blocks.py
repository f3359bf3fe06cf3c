"""The latest value of something, in memory that two processes share: one writes, one reads, nobody waits.

A sequence lock: the writer makes the sequence number odd, writes, and makes it even again; a reader that
meets an odd number, or another one after copying than before, looks again. A checksum catches what a
processor that reorders writes would let through.
"""

from __future__ import annotations

import struct
import zlib
from multiprocessing.context import SpawnContext
from typing import Any

_HEADER = struct.Struct("<QII")
"""Sequence number, length [B] and checksum."""
_ATTEMPTS = 100


class LatestValue:
    """A block of shared memory with the latest bytes that one process wrote."""

    def __init__(self, context: SpawnContext, capacity: int) -> None:
        """Allocate a block for at most `capacity` bytes; handed to the other process when that is started."""
        self.capacity = capacity
        self._memory: Any = context.RawArray("B", _HEADER.size + capacity)
        self._sequence = 0

    def write(self, data: bytes) -> None:
        """Replace the value; one process alone may call it.

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
        """Sequence number and value; None before the first, and where the writer is in the way."""
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
