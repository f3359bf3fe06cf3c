"""Messages of a bag on their way from the records of its files to topics, past damage, in batches."""

from __future__ import annotations

import bz2
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import lz4.frame
import numpy as np
import zstandard
from numpy.typing import NDArray

from segtrack.logs.log import Channel
from segtrack.logs.reading.bag_topic import NO_TIME, Topic
from segtrack.logs.reading.message_types import Connection, types_of

Message = tuple[int, int, int, int]
"""Message in the bytes of a file: connection, receive time [ns], first byte, and the one behind the last."""


class RecordReader(ABC):
    """A walk through the records of a file and of its chunks.

    Attributes:
        content: Receiver of messages and of sentences on damage.
        count: Number of messages.
        last_time: Receive time of the last message [ns]; None before the first.
        is_cut: True if the file ends in the middle of a record.
        ended: True once the last record of the file has been met.
    """

    def __init__(self, content: BagFileContent) -> None:
        """No record has been read yet."""
        self.content = content
        self.count = 0
        self.last_time: int | None = None
        self.is_cut = self.ended = False

    @abstractmethod
    def message_at(self, data: memoryview, at: int) -> Message | None:
        """Return the message whose record begins at a byte, quickly; None if there is none."""

    @abstractmethod
    def take_record(self, data: memoryview, at: int, where: str, batch: list[Message]) -> int | None:
        """Take a record of any other kind; returns where it ends, None if it is not sound."""

    @abstractmethod
    def find_next(self, data: memoryview, start: int) -> int | None:
        """Return the first byte of the next sound record; None if there is none."""

    def records(self, data: memoryview, at: int, where: str, resumes: bool) -> None:
        """Read records.

        Args:
            data: Bytes of the file, or of a chunk.
            at: First byte of the records.
            where: Name of the chunk, for messages; empty for the file.
            resumes: True to go on behind a damaged place.
        """
        batch: list[Message] = []
        end, before, after_message = len(data), at, False
        while at < end and not (self.ended and not where):
            message = self.message_at(data, at)
            if message is not None and message[3] <= end:
                batch.append(message)
                stop, after_message = message[3], True
            else:
                taken = self.take_record(data, at, where, batch)
                if taken is None:
                    following = self.find_next(data, before + 1) if resumes else None
                    if following is not None and following < at and after_message and batch:
                        batch.pop()  # Its length was damaged, and led beyond sound records.
                    taken = self.resume(at, before, following, end, where)
                stop, after_message = taken, False
            if len(batch) > BATCH:
                self.hand_on(data, batch, kept=int(after_message))
            before, at = at, stop
        self.hand_on(data, batch)

    def hand_on(self, data: memoryview, batch: list[Message], kept: int = 0) -> None:
        """Hand messages on, but for so many of the last ones."""
        count = len(batch) - kept
        if count > 0:
            numbers, times, _, _ = zip(*batch[:count], strict=True)
            self.content.take(numbers, times, [data[start:stop] for *_, start, stop in batch[:count]])
            del batch[:count]
            self.count += count
            self.last_time = times[-1]

    def resume(self, at: int, before: int, following: int | None, end: int, where: str) -> int:
        """Add a damaged record to the damage; return the byte to go on from.

        Args:
            at: First byte of the record.
            before: First byte of the record before it.
            following: First byte of the next sound record behind `before`; None if there is none.
            end: Number of bytes.
            where: Name of the chunk; empty for the file.
        """
        behind = f" of {where}" if where else ""
        if following is not None:
            first = before if following < at else at  # Then the length of the one before was damaged.
            self.content.damage.append(f"bytes {first} to {following}{behind} are no records")
            return following
        if where:
            self.content.damage.append(f"{where} has no more records from its byte {at} on")
        else:
            self.is_cut = True
            place = f"which begins at byte {at} of {end}"
            self.content.damage.append(f"it ends in the middle of a record, {place}")
        return end

    def add_partial_chunk(self, where: str, there: int, size: int, count: int) -> None:
        """Add a chunk that is not whole to the damage."""
        part = f"{there} of its {size} bytes could be read, {count} messages"
        self.content.damage.append(f"{where} is not whole: {part}")


_STEP = 512
"""Bytes that are unpacked at a time where not all can be."""
_UNPACKING = RuntimeError, ValueError, OSError, EOFError, MemoryError, zstandard.ZstdError
"""Errors by which the three kinds of compression say that bytes are damaged."""


def unpack(data: bytes | memoryview, compression: str) -> tuple[bytes | memoryview, bool]:
    """Unpack bytes.

    Args:
        data: Compressed bytes.
        compression: Method: `zstd`, `lz4` or `bz2`; `none` or empty for none.

    Returns:
        The readable bytes, and True if these are all.

    Raises:
        ValueError: No such compression is known.
    """
    if compression in ("", "none"):
        return data, True
    makers: dict[str, Any] = {
        "zstd": lambda: zstandard.ZstdDecompressor().decompressobj(),
        "lz4": lz4.frame.LZ4FrameDecompressor,
        "bz2": bz2.BZ2Decompressor,
    }
    if compression not in makers:
        raise ValueError(compression)
    stream = makers[compression]()
    try:
        return stream.decompress(data), stream.eof
    except _UNPACKING:
        return _beginning(makers[compression](), bytes(data)), False


def _beginning(stream: Any, data: bytes) -> bytes:
    """All that comes out before the first error: a block is checked before any of it comes out."""
    parts = []
    with suppress(*_UNPACKING):
        for start in range(0, len(data), _STEP):
            parts.append(stream.decompress(data[start : start + _STEP]))
    return b"".join(parts)


BATCH = 512
"""Messages to be handed on at a time: with many more, Python's collector of garbage sets in for each."""
_FLUSHED = 2**26
"""Bytes of messages that are held before they are turned into numbers."""


@dataclass
class _Pending:
    """Messages of a connection that have not been turned into numbers yet, in pieces."""

    orders: list[NDArray[np.int64]] = field(default_factory=list)
    times: list[NDArray[np.int64]] = field(default_factory=list)
    sizes: list[NDArray[np.int64]] = field(default_factory=list)
    content: list[bytes] = field(default_factory=list)


class BagContent:
    """Content of a bag as far as it has been read.

    Attributes:
        damage: Sentences on unreadable parts.
        topics: Topics by name.
        count: Number of messages.
    """

    def __init__(self) -> None:
        """Nothing has been read yet."""
        self.damage: list[str] = []
        self.topics: dict[str, Topic] = {}
        self.count = 0

    def topic(self, connection: Connection) -> Topic:
        """Return the topic of a connection."""
        if connection.topic not in self.topics:
            self.topics[connection.topic] = Topic(connection)
        return self.topics[connection.topic]

    def channels(self) -> dict[str, Channel]:
        """Return all channels by name."""
        return {channel.name: channel for topic in self.topics.values() for channel in topic.channels()}


class BagFileContent:
    """Content of one file of a bag; its messages may come before the connections that describe them.

    Attributes:
        damage: Sentences on unreadable parts, shared with the bag.
        connections: Connections by number.
    """

    def __init__(self, bag: BagContent, packing: str = "") -> None:
        """Nothing of the file has been read yet.

        Args:
            bag: Content of the whole bag.
            packing: Compression of each message; empty for none.
        """
        self._packing = packing
        self.damage = bag.damage
        self.connections: dict[int, Connection] = {}
        self._bag = bag
        self._doubtful: dict[int, Connection] = {}
        self._pending: dict[int, _Pending] = {}
        self._size = 0

    def connect(self, number: int, connection: Connection) -> None:
        """Add the connection of a number; the first sound one counts, since files repeat them."""
        if number not in self.connections:
            doubtful = types_of(connection)[1] is not None  # Files say it twice.
            (self._doubtful if doubtful else self.connections).setdefault(number, connection)

    def take(
        self,
        numbers: Sequence[int],
        times: Sequence[int],
        messages: Sequence[bytes | memoryview],
    ) -> None:
        """Take messages.

        They are put together at once: many small objects that stay for long cost Python's collector of
        garbage more time than reading them.

        Args:
            numbers: Numbers of their connections.
            times: Receive times [ns].
            messages: Bytes of each.
        """
        if not numbers:
            return
        if self._packing:
            messages = [unpack(message, self._packing)[0] for message in messages]
        received, owners = _nanoseconds(times), np.array(numbers)
        sizes = np.fromiter(map(len, messages), np.int64, len(messages))
        first = self._bag.count
        orders = np.arange(first, first + len(messages))
        for number in np.unique(owners).tolist():
            own = np.flatnonzero(owners == number)
            waiting = self._pending.setdefault(number, _Pending())
            waiting.orders.append(orders[own])
            waiting.times.append(received[own])
            waiting.sizes.append(sizes[own])
            waiting.content.append(b"".join([messages[row] for row in own.tolist()]))
        self._bag.count += len(messages)
        self._size += int(sizes.sum())
        if self._size > _FLUSHED:
            self._flush()

    def close(self) -> None:
        """Turn all held messages into numbers; those without a connection are lost."""
        self.connections = self._doubtful | self.connections
        self._flush()
        for number, waiting in self._pending.items():
            count = sum(map(len, waiting.sizes))
            self.damage.append(f"{count} messages of connection {number}, of which nothing is said, are lost")
        self._pending.clear()

    def _flush(self) -> None:
        for number in [number for number in self._pending if number in self.connections]:
            waiting, connection = self._pending.pop(number), self.connections[number]
            orders, times, sizes = map(np.concatenate, (waiting.orders, waiting.times, waiting.sizes))
            self._bag.topic(connection).take(connection, orders, times, sizes, b"".join(waiting.content))
        self._size = 0


def _nanoseconds(times: Sequence[int]) -> NDArray[np.int64]:
    """Times as an array; `NO_TIME` for those after the year 2262, which are damage."""
    try:
        return np.array(times, dtype=np.int64)
    except OverflowError:
        return np.array([time if abs(time) < 2**63 else NO_TIME for time in times], dtype=np.int64)
