"""The messages of an MCAP file, in the order of the file, as far as there are: its index is not needed.

A file is a row of records, each a byte for its kind, eight for its length, and its content; chunks hold
records (https://mcap.dev/spec). After a damaged place reading goes on with the next bytes that begin a
row of several sound records.
"""

from __future__ import annotations

import re
import struct
import zlib
from dataclasses import dataclass, field

from segtrack.logs.reading.bags.content import BATCH, FileContent
from segtrack.logs.reading.bags.files.records import Batch, RecordReader
from segtrack.logs.reading.bags.files.unpacking import unpack
from segtrack.logs.reading.bags.messages.types import Connection, normal_name

MAGIC = b"\x89MCAP0\r\n"
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


def read_mcap(data: memoryview, content: FileContent) -> None:
    """Read the messages of a file.

    Args:
        data: The file.
        content: That takes them, and what is damaged.
    """
    reader = _Reader(content)
    start = len(MAGIC)
    if bytes(data[:start]) != MAGIC:
        content.damage.append("the first bytes are damaged")
    reader.records(data, start, "", resumes=True)
    reader.finish(data)


@dataclass
class _Said:
    """What a file says of its messages.

    Attributes:
        ended: Whether its last record has been met.
        expected: How many there are by the summary.
        checksum: Of the data before the summary, 0 if none is given.
        data_end: Where these end.
        schemas: Type, encoding and definition by number.
        channels: Topic, encoding and schema by number.
    """

    ended: bool = False
    expected: int | None = None
    checksum: int = 0
    data_end: int = 0
    schemas: dict[int, tuple[str, str, str]] = field(default_factory=dict)
    channels: dict[int, tuple[str, str, int]] = field(default_factory=dict)


class _Reader(RecordReader):
    """A walk through the records of a file and of its chunks."""

    def __init__(self, content: FileContent) -> None:
        super().__init__(content)
        self.said = _Said()

    def records(self, data: memoryview, at: int, where: str, resumes: bool) -> None:
        """Read records.

        Args:
            data: Of the file, or of a chunk.
            at: Where they begin.
            where: They are, for messages; empty for the file.
            resumes: Whether to go on behind a damaged place.
        """
        batch = Batch(data)
        add = batch.numbers.append, batch.times.append, batch.starts.append, batch.stops.append
        add_number, add_time, add_start, add_stop = add
        end, before = len(data), at
        after_message = False
        head, message_head = _HEAD.unpack_from, _MESSAGE_HEAD.unpack_from
        while at < end and not (self.said.ended and not where):
            kind = length = 0
            if at + _MESSAGE_HEAD.size <= end:
                kind, length, channel, _, time, _ = message_head(data, at)
            elif at + _HEAD.size <= end:
                kind, length = head(data, at)
            stop = at + _HEAD.size + length
            if kind == _MESSAGE and length >= _SHORTEST[_MESSAGE] and stop <= end:
                add_number(channel)
                add_time(time)
                add_start(at + _MESSAGE_HEAD.size)
                add_stop(stop)
                after_message = True
            else:
                if kind == _CHUNK:
                    self.hand_on(batch)
                if not self._take(kind, data[at + _HEAD.size : stop], at, length, where):
                    following = self._next(data, before + 1) if resumes else None
                    if following is not None and following < at and after_message and len(batch):
                        batch.pop()  # Its length was damaged, and led beyond sound records.
                    stop = self.resume(at, before, following, end, where)
                after_message = False
            if len(batch) > BATCH:
                self.hand_on(batch, kept=int(after_message))
            before, at = at, stop
        self.hand_on(batch)

    def finish(self, data: memoryview) -> None:
        """Say what is missing in the whole, and that nothing more comes."""
        damage, said = self.content.damage, self.said
        if said.expected is not None and said.expected != self.count:
            damage.append(f"{self.count} messages could be read of {said.expected} in its summary")
        elif not said.ended and not self.is_cut:
            damage.append("it was not closed, or is cut: there is no summary at its end")
        elif said.checksum and not damage and zlib.crc32(data[: said.data_end]) != said.checksum:
            damage.append("it does not match its checksum: some values may be wrong")
        self.content.close()

    def _next(self, data: memoryview, start: int) -> int | None:
        """Where the next sound records begin."""
        found = (match.start() for match in _CANDIDATE.finditer(data, start))
        return next((at for at in found if self._is_sound(data, at)), None)

    def _is_sound(self, data: memoryview, at: int) -> bool:
        """Whether several records in a row begin at a byte, the last of which may be cut by the end."""
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
        """Whether a message's channel is known, or its time is near that of one before."""
        _, _, channel, _, time, _ = _MESSAGE_HEAD.unpack_from(data, at)
        last = self.last_time
        return channel in self.said.channels or last is None or abs(time - last) < _NEAR

    def _take(self, kind: int, record: memoryview, at: int, length: int, where: str) -> bool:
        """Take a record that is no message, which should be so long; returns whether it is sound."""
        if len(record) < length and (kind != _CHUNK or where):
            return False
        if kind < _PRIVATE and len(record) < _SHORTEST.get(kind, _LONGEST):
            return False
        try:
            if kind == _SCHEMA:
                self._schema(record)
            elif kind == _CHANNEL:
                self._channel(record)
            elif kind == _CHUNK:
                return not where and self._chunk(record, at, length)
            elif kind == _STATISTICS:
                (self.said.expected,) = struct.unpack_from("<Q", record)
            elif kind == _DATA_END:
                (self.said.checksum,) = struct.unpack_from("<I", record)
                self.said.data_end = at
            elif kind == _FOOTER:
                self.said.ended = True
        except (struct.error, UnicodeDecodeError):
            return False
        return kind != _MESSAGE

    def _schema(self, record: memoryview) -> None:
        (number,) = struct.unpack_from("<H", record)
        name, at = _text(record, 2)
        encoding, at = _text(record, at)
        definition, _ = _text(record, at)
        self.said.schemas[number] = name, encoding, definition
        for channel, (topic, message_encoding, schema) in self.said.channels.items():
            if schema == number:
                self._connect(channel, topic, message_encoding, schema)

    def _channel(self, record: memoryview) -> None:
        number, schema = struct.unpack_from("<HH", record)
        topic, at = _text(record, 4)
        encoding, _ = _text(record, at)
        self.said.channels[number] = topic, encoding, schema
        if schema in self.said.schemas:
            self._connect(number, topic, encoding, schema)
        elif not schema:
            self.content.connect(number, Connection(topic, "", encoding))

    def _connect(self, channel: int, topic: str, encoding: str, schema: int) -> None:
        name, language, text = self.said.schemas[schema]
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
            self.say_of_chunk(where, len(data), size, count)
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
