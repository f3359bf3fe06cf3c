"""The messages of a bag, by topic, turned into numbers as they come so that only those are held."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from segtrack.logs.log import Channel
from segtrack.logs.reading.bags.files.unpacking import unpack
from segtrack.logs.reading.bags.messages.topic import Topic
from segtrack.logs.reading.bags.messages.types import Connection, types_of

Row = tuple[int, int, bytes | memoryview]
"""Number of the connection, time of reception [ns], and message."""
_FLUSHED = 2**26
"""Bytes of messages that are held before they are turned into numbers."""


@dataclass
class _Pending:
    """Messages of a connection that have not been turned into numbers yet."""

    orders: list[int] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    messages: list[bytes | memoryview] = field(default_factory=list)


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

    def take(self, rows: Sequence[Row], size: int, places: Iterable[int] | None = None) -> None:
        """Take messages.

        Args:
            rows: The messages.
            size: About how many bytes they have.
            places: In the file, counted from anywhere; in their order behind those before if not given.
        """
        pending = self._pending
        orders = range(self._bag.count, self._bag.count + len(rows))
        for order, (number, time, message) in zip(places or orders, rows, strict=True):
            waiting = pending.get(number)
            if waiting is None:
                waiting = pending[number] = _Pending()
            waiting.orders.append(order)
            waiting.times.append(time)
            waiting.messages.append(self._unpacked(message) if self._packing else message)
        self._bag.count += len(rows)
        self._size += size
        if self._size > _FLUSHED:
            self._flush()

    def close(self) -> None:
        """Take it that no more messages come."""
        self.connections = self._doubtful | self.connections
        self._flush()
        for number, waiting in self._pending.items():
            count = len(waiting.messages)
            self.damage.append(f"{count} messages of connection {number}, of which nothing is said, are lost")
        self._pending.clear()

    def _unpacked(self, message: bytes | memoryview) -> bytes:
        return bytes(unpack(message, self._packing)[0])

    def _flush(self) -> None:
        for number in [number for number in self._pending if number in self.connections]:
            waiting = self._pending.pop(number)
            connection = self.connections[number]
            topic = self._bag.topic(connection)
            topic.take(connection, waiting.orders, waiting.times, waiting.messages)
        self._size = 0
