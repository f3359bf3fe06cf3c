"""MCAP files: their messages in the order of the file, without the index and as far as they are readable.

A file is a row of records, each a byte for its kind, eight for its length, and its content; chunks hold
records (https://mcap.dev/spec). After a damaged place reading goes on with the next bytes that begin a
row of several sound records.
"""

from __future__ import annotations

import re
import struct
import zlib

from segtrack.logs.log import BAG_MAGIC
from segtrack.logs.reading.bag_content import BagFileContent, Message, RecordReader, unpack
from segtrack.logs.reading.message_layout import Connection, normal_name

_FOOTER, _SCHEMA, _CHANNEL, _MESSAGE, _CHUNK, _STATISTICS, _DATA_END = 2, 3, 4, 5, 6, 11, 15
_SHORTEST = dict(enumerate((8, 20, 14, 16, 22, 40, 6, 64, 32, 48, 46, 8, 20, 17, 4), start=1))
"""Length of the content of a record, by its kind [bytes]."""
_LONGEST = 2**32
"""Longer records are damage [bytes]."""
_PRIVATE = 0x80
_HEAD = struct.Struct("<BQ")
_MESSAGE_HEAD = struct.Struct("<BQHIQQ")
_CANDIDATE = re.compile(rb"[\x01-\x0f][\s\S]{4}\0{4}")
_SOUND = 3
"""Records in a row that are believed."""
_NEAR = 86_400 * 10**9
"""Time between messages of a recording that is believed where bytes are damaged [ns]."""


def read_mcap(data: memoryview, content: BagFileContent) -> None:
    """Read the messages of a file into `content`, and add sentences on its damage there."""
    reader = _McapReader(content)
    magic = BAG_MAGIC["mcap"]
    start = len(magic)
    if bytes(data[:start]) != magic:
        content.damage.append("the first bytes are damaged")
    reader.records(data, start, "", resumes=True)
    reader.finish(data)


class _McapReader(RecordReader):
    """A walk through the records of a file and of its chunks, with the description of its messages so far.

    Attributes:
        expected: Number of messages by the summary.
        checksum: Checksum of the data before the summary, 0 if none is given.
        data_end: First byte behind these data.
        schemas: Type, encoding and definition by number.
        channels: Topic, encoding and schema by number.
    """

    def __init__(self, content: BagFileContent) -> None:
        super().__init__(content)
        self.expected: int | None = None
        self.checksum = self.data_end = 0
        self.schemas: dict[int, tuple[str, str, str]] = {}
        self.channels: dict[int, tuple[str, str, int]] = {}

    def message_at(self, data: memoryview, at: int) -> Message | None:
        """See `RecordReader`."""
        if at + _MESSAGE_HEAD.size > len(data):
            return None
        kind, length, channel, _, time, _ = _MESSAGE_HEAD.unpack_from(data, at)
        if kind != _MESSAGE or length < _SHORTEST[_MESSAGE]:
            return None
        return channel, time, at + _MESSAGE_HEAD.size, at + _HEAD.size + length

    def finish(self, data: memoryview) -> None:
        """Add the damage that only the whole file shows, and close the content."""
        damage = self.content.damage
        if self.expected is not None and self.expected != self.count:
            damage.append(f"{self.count} messages could be read of {self.expected} in its summary")
        elif not self.ended and not self.is_cut:
            damage.append("it was not closed, or is cut: there is no summary at its end")
        elif self.checksum and not damage and zlib.crc32(data[: self.data_end]) != self.checksum:
            damage.append("it does not match its checksum: some values may be wrong")
        self.content.close()

    def find_next(self, data: memoryview, start: int) -> int | None:
        """See `RecordReader`."""
        found = (match.start() for match in _CANDIDATE.finditer(data, start))
        return next((at for at in found if self._is_sound(data, at)), None)

    def _is_sound(self, data: memoryview, at: int) -> bool:
        """Return True if several records in a row begin at a byte; the last may be cut by the end."""
        for i in range(_SOUND):
            if len(data) - at < _HEAD.size:
                return i > 0
            kind, length = _HEAD.unpack_from(data, at)
            if length < _SHORTEST.get(kind, _LONGEST) or length >= _LONGEST:
                return False
            if kind == _MESSAGE and at + _MESSAGE_HEAD.size <= len(data) and not self._is_known(data, at):
                return False
            at += _HEAD.size + length
            if at > len(data):
                return i > 0
        return True

    def _is_known(self, data: memoryview, at: int) -> bool:
        """Return True if a message's channel is known, or its time near that of one before."""
        _, _, channel, _, time, _ = _MESSAGE_HEAD.unpack_from(data, at)
        last = self.last_time
        return channel in self.channels or last is None or abs(time - last) < _NEAR

    def take_record(self, data: memoryview, at: int, where: str, batch: list[Message]) -> int | None:
        """See `RecordReader`."""
        kind, length = _HEAD.unpack_from(data, at) if at + _HEAD.size <= len(data) else (0, 0)
        stop = at + _HEAD.size + length
        record = data[at + _HEAD.size : stop]
        if kind == _CHUNK:
            self.hand_on(data, batch)
        if len(record) < length and (kind != _CHUNK or where):
            return None
        if kind < _PRIVATE and len(record) < _SHORTEST.get(kind, _LONGEST):
            return None
        try:
            if kind == _SCHEMA:
                self._schema(record)
            elif kind == _CHANNEL:
                self._channel(record)
            elif kind == _CHUNK:
                return stop if not where and self._chunk(record, at, length) else None
            elif kind == _STATISTICS:
                (self.expected,) = struct.unpack_from("<Q", record)
            elif kind == _DATA_END:
                (self.checksum,) = struct.unpack_from("<I", record)
                self.data_end = at
            elif kind == _FOOTER:
                self.ended = True
        except (struct.error, UnicodeDecodeError):
            return None
        return None if kind == _MESSAGE else stop

    def _schema(self, record: memoryview) -> None:
        (number,) = struct.unpack_from("<H", record)
        name, at = _text(record, 2)
        encoding, at = _text(record, at)
        definition, _ = _text(record, at)
        self.schemas[number] = name, encoding, definition
        for channel, (topic, message_encoding, schema) in self.channels.items():
            if schema == number:
                self._connect(channel, topic, message_encoding, schema)

    def _channel(self, record: memoryview) -> None:
        number, schema = struct.unpack_from("<HH", record)
        topic, at = _text(record, 4)
        encoding, _ = _text(record, at)
        self.channels[number] = topic, encoding, schema
        if schema in self.schemas:
            self._connect(number, topic, encoding, schema)
        elif not schema:
            self.content.connect(number, Connection(topic, "", encoding))

    def _connect(self, channel: int, topic: str, encoding: str, schema: int) -> None:
        name, language, text = self.schemas[schema]
        text = text if language in ("ros1msg", "ros2msg", "ros2idl") else ""
        connection = Connection(topic, normal_name(name), encoding, text, language == "ros2idl")
        self.content.connect(channel, connection)

    def _chunk(self, record: memoryview, at: int, length: int) -> bool:
        """Read a chunk, which should be so long; returns whether it is one."""
        _, _, size, checksum = struct.unpack_from("<QQQI", record)
        compression, begin = _text(record, 28)
        (packed,) = struct.unpack_from("<Q", record, begin)
        if begin + 8 + packed != length:
            return False
        where = f"the chunk at byte {at}"
        try:
            data, whole = unpack(record[begin + 8 :], compression)
        except ValueError:
            self.content.damage.append(f"{where} is compressed by {compression!r}, which is not known")
            return True
        whole = whole and len(data) == size
        matches = not whole or not checksum or zlib.crc32(data) == checksum
        if compression and not matches:  # Any of its bytes may depend on those that are damaged.
            self.content.damage.append(f"{where} does not match its checksum and is left out")
            return True
        before = self.count
        self.records(memoryview(data), 0, where, resumes=not compression)
        count = self.count - before
        if not whole:
            self.add_partial_chunk(where, len(data), size, count)
        elif not matches:
            text = f"some of its {count} messages may be wrong"
            self.content.damage.append(f"{where} does not match its checksum: {text}")
        return True


def _text(record: memoryview, at: int) -> tuple[str, int]:
    """A text that follows its length, and where it ends."""
    (length,) = struct.unpack_from("<I", record, at)
    end = at + 4 + length
    if end > len(record):
        raise struct.error("a text that is cut")
    return bytes(record[at + 4 : end]).decode(), end
