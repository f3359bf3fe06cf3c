"""The messages of a bag, by topic, turned into numbers as they come so that only those are held."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from segtrack.logs.log import Channel
from segtrack.logs.reading.bags.files.unpacking import unpack
from segtrack.logs.reading.bags.messages.topic import NO_TIME, Topic
from segtrack.logs.reading.bags.messages.types import Connection, types_of

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
    """What has been read of a bag.

    Attributes:
        damage: What could not be read, a sentence each.
        topics: By name.
        count: Of messages.
    """

    def __init__(self) -> None:
        """Nothing has been read yet."""
        self.damage: list[str] = []
        self.topics: dict[str, Topic] = {}
        self.count = 0

    def topic(self, connection: Connection) -> Topic:
        """The topic of a connection."""
        if connection.topic not in self.topics:
            self.topics[connection.topic] = Topic(connection)
        return self.topics[connection.topic]

    def channels(self) -> dict[str, Channel]:
        """The numbers, by name."""
        found: dict[str, Channel] = {}
        for topic in self.topics.values():
            found |= {channel.name: channel for channel in topic.channels()}
        return found


class FileContent:
    """What has been read of one of a bag's files: messages may come before what is said of them.

    Attributes:
        damage: What could not be read, a sentence each; the bag's.
        connections: By number.
    """

    def __init__(self, bag: BagContent, packing: str = "") -> None:
        """Nothing of the file has been read yet.

        Args:
            bag: Which the file is of.
            packing: By which each message is compressed; empty for none.
        """
        self._packing = packing
        self.damage = bag.damage
        self.connections: dict[int, Connection] = {}
        self._bag = bag
        self._doubtful: dict[int, Connection] = {}
        self._pending: dict[int, _Pending] = {}
        self._size = 0

    def connect(self, number: int, connection: Connection) -> None:
        """Take what the file says of messages with a number; the first time counts if it is sound."""
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
            numbers: Of their connections.
            times: Of reception [ns].
            messages: Their bytes.
            places: In the file, counted from anywhere; in their order behind those before if not given.
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
        """Take it that no more messages come."""
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
