"""Messages of a bag on their way from files to topics: unpacking and batches."""

from __future__ import annotations

import bz2
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import lz4.frame
import numpy as np
import zstandard
from numpy.typing import NDArray

from segtrack.logs.log import Channel
from segtrack.logs.reading.bag_topic import NO_TIME, Topic
from segtrack.logs.reading.message_types import Connection, types_of

_STEP = 512
"""Bytes that are unpacked at a time where not all can be."""


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
        whole = stream.decompress(data)
        if stream.eof:
            return whole, True
        return whole, False
    except (RuntimeError, ValueError, OSError, EOFError, MemoryError, zstandard.ZstdError):
        return _beginning(makers[compression](), bytes(data)), False


def _beginning(stream: Any, data: bytes) -> bytes:
    """All that comes out before the first error: a block is checked before any of it comes out."""
    parts = []
    try:
        for start in range(0, len(data), _STEP):
            parts.append(stream.decompress(data[start : start + _STEP]))
    except (RuntimeError, ValueError, OSError, EOFError, MemoryError, zstandard.ZstdError):
        pass
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
        found: dict[str, Channel] = {}
        for topic in self.topics.values():
            found |= {channel.name: channel for channel in topic.channels()}
        return found


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
        places: Sequence[int] | None = None,
    ) -> None:
        """Take messages.

        They are put together at once: many small objects that stay for long cost Python's collector of
        garbage more time than reading them.

        Args:
            numbers: Numbers of their connections.
            times: Receive times [ns].
            messages: Bytes of each.
            places: Order in the file, from any start; the order in which they are taken if not given.
        """
        if not numbers:
            return
        if self._packing:
            messages = [unpack(message, self._packing)[0] for message in messages]
        received, owners = _nanoseconds(times), np.array(numbers)
        sizes = np.fromiter(map(len, messages), np.int64, len(messages))
        first = self._bag.count
        orders = np.arange(first, first + len(messages)) if places is None else np.array(places)
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
            waiting = self._pending.pop(number)
            connection = self.connections[number]
            topic = self._bag.topic(connection)
            orders, times = np.concatenate(waiting.orders), np.concatenate(waiting.times)
            sizes, content = np.concatenate(waiting.sizes), b"".join(waiting.content)
            topic.take(connection, orders, times, sizes, content)
        self._size = 0


def _nanoseconds(times: Sequence[int]) -> NDArray[np.int64]:
    """Times as an array; `NO_TIME` for those after the year 2262, which are damage."""
    try:
        return np.array(times, dtype=np.int64)
    except OverflowError:
        return np.array([time if abs(time) < 2**63 else NO_TIME for time in times], dtype=np.int64)
