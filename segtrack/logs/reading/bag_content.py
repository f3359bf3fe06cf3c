"""Messages of a bag from the records of its files to topics of numbers, past damage, in batches."""

from __future__ import annotations

import bz2
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import lz4.frame
import numpy as np
import zstandard
from numpy.typing import NDArray

from segtrack.logs.log import Channel
from segtrack.logs.reading.message_layout import (
    TRANSFORMS,
    Connection,
    Field,
    MessageLayout,
    MisfitError,
    Types,
    find_layout,
    types_of,
)

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
_EXACT = 2**53
"""Integers up to this one are floating-point numbers, too."""


class _Part(NamedTuple):
    """Some messages: times [ns], stamps [ns], and numbers by field."""

    orders: Integers
    times: Integers
    stamps: Integers | None
    values: dict[str, Array]


@dataclass
class MessageSource:
    """Source of channels: a topic, or one of the transforms in a topic.

    Attributes:
        name: Name of the topic, followed by the two frames of a transform, or by the frame whose pose it is
            where the topic has several; names of channels begin with it.
    """

    name: str

    def __post_init__(self) -> None:
        """Nothing has been taken yet."""
        self._parts: list[_Part] = []
        self._units: dict[str, str] = {}

    def take(
        self, orders: Integers, times: Integers, stamps: Integers | None, values: list[tuple[Field, Array]]
    ) -> None:
        """Take the numbers of some messages.

        Args:
            orders: Places among all messages of the bag (n,).
            times: Receive times (n,) [ns].
            stamps: Times in the messages' headers (n,) [ns]; None without.
            values: Fields, each with its numbers in these messages, (n,) or (n, k).
        """
        self._units.update({part.name: part.unit for part, _ in values})
        named = {part.name: numbers for part, numbers in values}
        self._parts.append(_Part(orders, times, stamps, named))

    def channels(self) -> list[Channel]:
        """Return the channels in the order of the file; NaN in messages that lack a field."""
        orders = np.concatenate([part.orders for part in self._parts])
        into = None if (np.diff(orders) > 0).all() else np.argsort(orders, kind="stable")
        times = to_seconds(_ordered(np.concatenate([part.times for part in self._parts]), into))
        stamps = self._stamps(into)
        return [
            Channel(
                f"{self.name}{name}", times, _ordered(self._together(name), into), unit, self.name, stamps
            )
            for name, unit in self._units.items()
        ]

    def _stamps(self, into: NDArray[np.intp] | None) -> Array | None:
        """Stamps, None if there are none or all are zero, as those of a driver that sets none."""
        given = [part.stamps for part in self._parts if part.stamps is not None]
        if len(given) < len(self._parts):
            return None
        stamps = np.concatenate(given)
        return to_seconds(_ordered(stamps, into)) if stamps.any() else None

    def _together(self, name: str) -> Array:
        found = [part.values.get(name) for part in self._parts]
        there = [values for values in found if values is not None]
        if len(there) == len(found) and len({values.shape[1:] for values in there}) == 1:
            return _joined(there)
        width = max(values.shape[1] if values.ndim == 2 else 0 for values in there)
        parts = []
        for part, values in zip(self._parts, found, strict=True):
            filled = np.full((len(part.orders), width) if width else len(part.orders), np.nan)
            if values is not None and width:
                columns = values.reshape(len(values), -1)
                filled[:, : columns.shape[1]] = columns
            elif values is not None:
                filled[:] = values
            parts.append(filled)
        return np.concatenate(parts)


def to_seconds(nanoseconds: Integers) -> Array:
    """Convert times from [ns] to the nearest [s]."""
    if (abs(nanoseconds) < _EXACT).all():
        return nanoseconds / 1e9
    whole, rest = np.divmod(nanoseconds, 10**9)
    return whole + rest / 1e9


def _joined(parts: list[Array]) -> Array:
    """The parts one after the other; held once if they never change."""
    first = parts[0]
    if all(part.strides[0] == 0 and part.ndim == 2 and (part[0] == first[0]).all() for part in parts):
        return np.broadcast_to(first[0], (sum(map(len, parts)), first.shape[1]))
    return np.concatenate(parts)


def _ordered(values: NDArray, into: NDArray[np.intp] | None) -> NDArray:
    return values if into is None else values[into]


_WITHOUT_NUMBERS = {
    "sensor_msgs/msg/Image": "pictures",
    "sensor_msgs/msg/CompressedImage": "pictures",
    "sensor_msgs/msg/PointCloud2": "point clouds",
    "sensor_msgs/msg/PointCloud": "point clouds",
    "sensor_msgs/msg/LaserScan": "scans",
    "sensor_msgs/msg/MultiEchoLaserScan": "scans",
    "nav_msgs/msg/OccupancyGrid": "maps",
    "nav_msgs/msg/Path": "paths",
    "visualization_msgs/msg/Marker": "markers",
    "visualization_msgs/msg/MarkerArray": "markers",
}
"""Message types without numbers over time that a motion needs, and their names for users."""
_HELD = 9
"""Numbers at a time from which on they are held once where they never change, as covariances do."""
NO_TIME = -(2**63)
"""Instead of a time that is damaged."""


class Topic:
    """Messages of a topic, as numbers.

    Attributes:
        type: Message type.
        count: Number of messages.
        skipped: Content other than numbers: its kind, by name.
        problems: Sentences on unreadable messages.
    """

    def __init__(self, connection: Connection) -> None:
        """No message has been read yet."""
        self.name, self.type = connection.topic, connection.type
        self.count = 0
        self.skipped: dict[str, str] = {}
        self._misfits = 0
        self._last_misfit = ""
        self._types: dict[Connection, Types] = {}
        self._problems: list[str] = []
        self._layouts: dict[tuple[Connection, int], list[MessageLayout]] = {}
        self._sources: dict[str, MessageSource] = {}

    @property
    def problems(self) -> list[str]:
        """Sentences on unreadable messages."""
        if not self._misfits:
            return self._problems
        text = f"{self._misfits} of {self.count} messages are no {self.type} and are left out"
        return [*self._problems, f"{self.name}: {text} ({self._last_misfit})"]

    def channels(self) -> list[Channel]:
        """Return the channels of all sources; one of a single body is called as the topic."""
        if len(self._sources) == 1 and self.type not in TRANSFORMS:
            (source,) = self._sources.values()
            source.name = self.name
        return [channel for source in self._sources.values() for channel in source.channels()]

    def take(
        self, connection: Connection, orders: Integers, times: Integers, sizes: Integers, content: bytes
    ) -> None:
        """Turn messages into numbers.

        Args:
            connection: Connection of the messages.
            orders: Places among all messages of the bag (n,).
            times: Receive times (n,) [ns].
            sizes: Lengths (n,) [bytes].
            content: Bytes of all, one after the other.
        """
        self.count += len(sizes)
        reason = self._reason(connection)
        if reason is not None:
            self.skipped[self.name] = reason
            return
        sound = (times != NO_TIME) & (sizes > 0)
        if not sound.all():
            self._misfits += int((~sound).sum())
            self._last_misfit = "they are empty, or their times after the year 2262"
        view, ends = memoryview(content), np.cumsum(sizes)
        for size in np.unique(sizes[sound]).tolist():
            rows = np.flatnonzero(sound & (sizes == size))
            alike = content
            if len(rows) < len(sizes):
                alike = b"".join([view[end - size : end] for end in ends[rows].tolist()])
            matrix = np.frombuffer(alike, np.uint8).reshape(len(rows), size)
            self._take_alike(connection, orders[rows], times[rows], matrix)

    def _reason(self, connection: Connection) -> str | None:
        """Reason why messages of a connection cannot be turned into numbers; None if they can."""
        if connection.type != self.type:
            return f"messages of a second type, {connection.type}"
        if connection.encoding not in ("cdr", "ros1"):
            return f"messages encoded as {connection.encoding or 'nothing that is said'}"
        if connection.type in _WITHOUT_NUMBERS:
            return _WITHOUT_NUMBERS[connection.type]
        if connection not in self._types:
            self._types[connection], problem = types_of(connection)
            self._problems += [] if problem is None else [f"{self.name}: {problem}"]
        if connection.type not in self._types[connection]:
            return f"messages of type {connection.type}, which neither the file nor ROS defines"
        return None

    def _take_alike(
        self, connection: Connection, orders: Integers, times: Integers, matrix: NDArray[np.uint8]
    ) -> None:
        """Turn messages of one size into numbers, those of one layout at once."""
        known = self._layouts.setdefault((connection, matrix.shape[1]), [])
        left = np.arange(len(matrix))
        tried = 0
        while len(left):
            if tried == len(known):
                layout = self._layout(connection, matrix[left[0]].tobytes())
                if layout is None:
                    left = left[1:]
                    continue
                known.append(layout)
            layout = known[tried]
            tried += 1
            rest = slice(None) if len(left) == len(matrix) else left[:, None]
            guarded = matrix[rest, layout.guards]
            fits = (guarded == layout.expected).all(axis=1)
            if fits.any():
                rows = left[fits]
                alike = matrix if len(rows) == len(matrix) else matrix[rows]
                self._read(layout, orders[rows], times[rows], alike)
                left = left[~fits]

    def _layout(self, connection: Connection, message: bytes) -> MessageLayout | None:
        try:
            layout = find_layout(message, connection.type, self._types[connection], connection.encoding)
        except MisfitError as error:
            self._misfits += 1
            self._last_misfit = str(error)
            return None
        self.skipped |= {f"{self.name}{name}": what for name, what in layout.skipped.items()}
        return layout

    def _read(
        self, layout: MessageLayout, orders: Integers, times: Integers, matrix: NDArray[np.uint8]
    ) -> None:
        for block in layout.blocks:
            name = f"{self.name}{block.source}"
            source = self._sources.setdefault(name, MessageSource(name))
            stamps = None if block.stamp is None else read_nanoseconds(matrix, block.stamp)
            source.take(orders, times, stamps, [(part, read_numbers(matrix, part)) for part in block.fields])


def read_numbers(matrix: NDArray[np.uint8], part: Field) -> Array:
    """Read a field in all rows of messages (n,), or (n, k) for k numbers at a time."""
    if part.is_time:
        return to_seconds(read_nanoseconds(matrix, part))
    values: Array = _column(matrix, part, (part.code, (part.width,)) if part.width else part.code)
    if part.width >= _HELD and len(values) and (values == values[0]).all():
        return np.broadcast_to(values[0].astype(float), values.shape)
    return values.astype(float)


def read_nanoseconds(matrix: NDArray[np.uint8], part: Field) -> Integers:
    """Read a time in all rows of messages (n,) [ns]."""
    values = _column(matrix, part, [("s", part.code), ("n", f"{part.code[0]}u4")])
    return values["s"].astype(np.int64) * 10**9 + values["n"]


def _column(matrix: NDArray[np.uint8], part: Field, kind: Any) -> NDArray[Any]:
    """The bytes of a field in all rows, as a type of numpy's."""
    own = np.dtype(kind)
    table = np.dtype(
        {"names": ["v"], "formats": [own], "offsets": [part.offset], "itemsize": matrix.shape[1]}
    )
    return matrix.view(table)["v"][:, 0]


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
        damage: Sentences on unreadable parts of its files.
        topics: Topics of which a message has been turned into numbers or skipped, by name.
        count: Number of messages read so far, of all topics.
    """

    def __init__(self) -> None:
        """Nothing has been read yet."""
        self.damage: list[str] = []
        self.topics: dict[str, Topic] = {}
        self.count = 0

    def topic(self, connection: Connection) -> Topic:
        """Return the topic of a connection; it is added if it is new."""
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
