"""Messages of a topic as numbers, joined by source in the order of the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.logs.log import Channel
from segtrack.logs.reading.message_layout import Field, MessageLayout, MisfitError, find_layout
from segtrack.logs.reading.message_types import Connection, Types, types_of

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
    """A topic, or a transform between two frames.

    Attributes:
        name: Topic, with the frames of a transform.
    """

    name: str

    def __post_init__(self) -> None:
        """Nothing has been taken yet."""
        self._parts: list[_Part] = []
        self._units: dict[str, str] = {}

    def take(
        self, orders: Integers, times: Integers, stamps: Integers | None, values: list[tuple[Field, Array]]
    ) -> None:
        """Take the numbers of some messages."""
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
        """Return the channels of all sources."""
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
