"""The messages of a topic, as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from segtrack.logs.log import Channel
from segtrack.logs.reading.bags.messages.layout import Field, Layout, MisfitError, find_layout
from segtrack.logs.reading.bags.messages.source import Source, seconds
from segtrack.logs.reading.bags.messages.types import Connection, Types, types_of

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
"""What is too much to be read for motion's sake, by message type."""
_HELD = 9
"""Numbers at a time from which on they are held once where they never change, as covariances do."""
NO_TIME = -(2**63)
"""Instead of a time that is damaged."""


class Topic:
    """The messages of a topic, as numbers.

    Attributes:
        type: Of the messages.
        count: Of the messages.
        skipped: What else than numbers there is, by name.
        problems: What could not be read, a sentence each.
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
        self._layouts: dict[tuple[Connection, int], list[Layout]] = {}
        self._sources: dict[str, Source] = {}

    @property
    def problems(self) -> list[str]:
        """What could not be read, a sentence each."""
        if not self._misfits:
            return self._problems
        text = f"{self._misfits} of {self.count} messages are no {self.type} and are left out"
        return [*self._problems, f"{self.name}: {text} ({self._last_misfit})"]

    def channels(self) -> list[Channel]:
        """The numbers."""
        return [channel for source in self._sources.values() for channel in source.channels()]

    def take(
        self,
        connection: Connection,
        orders: NDArray[np.int64],
        times: NDArray[np.int64],
        sizes: NDArray[np.int64],
        content: bytes,
    ) -> None:
        """Turn messages into numbers.

        Args:
            connection: That they are of.
            orders: Their places among all messages of the bag (n,).
            times: Of reception (n,) [ns].
            sizes: Their lengths (n,) [bytes].
            content: Their bytes, one after the other.
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
        """Why messages of a connection cannot be turned into numbers."""
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
        self,
        connection: Connection,
        orders: NDArray[np.int64],
        times: NDArray[np.int64],
        matrix: NDArray[np.uint8],
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

    def _layout(self, connection: Connection, message: bytes) -> Layout | None:
        try:
            layout = find_layout(message, connection.type, self._types[connection], connection.encoding)
        except MisfitError as error:
            self._misfits += 1
            self._last_misfit = str(error)
            return None
        self.skipped |= {f"{self.name}{name}": what for name, what in layout.skipped.items()}
        return layout

    def _read(
        self,
        layout: Layout,
        orders: NDArray[np.int64],
        times: NDArray[np.int64],
        matrix: NDArray[np.uint8],
    ) -> None:
        for block in layout.blocks:
            name = f"{self.name}{block.source}"
            source = self._sources.setdefault(name, Source(name))
            stamps = None if block.stamp is None else nanoseconds(matrix, block.stamp)
            source.take(orders, times, stamps, [(part, numbers(matrix, part)) for part in block.fields])


def numbers(matrix: NDArray[np.uint8], part: Field) -> NDArray[np.float64]:
    """Numbers of a field in all rows of messages (n,), or (n, k) for k at a time."""
    if part.is_time:
        return seconds(nanoseconds(matrix, part))
    values: NDArray[np.float64] = _column(
        matrix, part, (part.code, (part.width,)) if part.width else part.code
    )
    if part.width >= _HELD and len(values) and (values == values[0]).all():
        return np.broadcast_to(values[0].astype(float), values.shape)
    return values.astype(float)


def nanoseconds(matrix: NDArray[np.uint8], part: Field) -> NDArray[np.int64]:
    """A time in all rows of messages (n,) [ns]."""
    values = _column(matrix, part, [("s", part.code), ("n", f"{part.code[0]}u4")])
    return values["s"].astype(np.int64) * 10**9 + values["n"]


def _column(matrix: NDArray[np.uint8], part: Field, kind: Any) -> NDArray[Any]:
    """The bytes of a field in all rows, as a type of numpy's."""
    own = np.dtype(kind)
    table = np.dtype(
        {"names": ["v"], "formats": [own], "offsets": [part.offset], "itemsize": matrix.shape[1]}
    )
    return matrix.view(table)["v"][:, 0]
