"""Files of bags, by format: their messages in the order of the file, as far as they are readable.

Of MCAP and ROS 1 the index is not used. A file of MCAP is a row of records, each a byte for its kind, eight
for its length, and its content; chunks hold records (https://mcap.dev/spec). A bag of ROS 1 is a row of
records: length of the header, header, length of the data, data. A header is a row of fields, `name=value`,
each behind its length; chunks hold records (http://wiki.ros.org/Bags/Format/2.0). After a damaged place
reading goes on with the next bytes that begin a row of several sound records, or that are a header.

A database of SQLite that is damaged is refused, with the command that recovers it.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sqlite3
import struct
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from operator import itemgetter
from pathlib import Path

from segtrack.errors import LogFileError
from segtrack.logs.log import BAG_MAGIC
from segtrack.logs.reading.bag_content import BATCH, BagFileContent, Message, RecordReader, unpack
from segtrack.logs.reading.message_layout import Connection, normal_name

_FOOTER, _SCHEMA, _CHANNEL, _MCAP_MESSAGE, _MCAP_CHUNK, _STATISTICS, _DATA_END = 2, 3, 4, 5, 6, 11, 15
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
        if kind != _MCAP_MESSAGE or length < _SHORTEST[_MCAP_MESSAGE]:
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
            if (
                kind == _MCAP_MESSAGE
                and at + _MESSAGE_HEAD.size <= len(data)
                and not self._is_known(data, at)
            ):
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
        if kind == _MCAP_CHUNK:
            self.hand_on(data, batch)
        if len(record) < length and (kind != _MCAP_CHUNK or where):
            return None
        if kind < _PRIVATE and len(record) < _SHORTEST.get(kind, _LONGEST):
            return None
        try:
            if kind == _SCHEMA:
                self._schema(record)
            elif kind == _CHANNEL:
                self._channel(record)
            elif kind == _MCAP_CHUNK:
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
        return None if kind == _MCAP_MESSAGE else stop

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


_ROS1_MESSAGE, _ROS1_CHUNK, _CHUNK_INFO, _CONNECTION = 2, 5, 6, 7
_LENGTH = struct.Struct("<I")
_KIND = re.compile(rb"\x04\0\0\0op=[\x02-\x07]")
_LONGEST_HEADER = 2**16
"""Longer headers are damage [bytes]."""
_AROUND_KIND = 512
"""Bytes of a header on either side of its kind, at most, where one is looked for."""
_FIELDS = {b"op=": "B", b"conn=": "I", b"time=": "Q"}
"""Fields of a message's header, and their formats."""

MessageHead = Callable[[memoryview, int], tuple[int, int, int] | None]
"""Number of the connection, time [ns], and where the data begin; None if there is no message at a byte."""


def read_ros1(data: memoryview, content: BagFileContent) -> None:
    """Read the messages of a file into `content`, and add sentences on its damage there."""
    magic = BAG_MAGIC["ros1 bag"]
    start = len(magic)
    if bytes(data[:start]) != magic:
        content.damage.append("the first bytes are damaged")
    reader = _Ros1Reader(content)
    reader.records(data, start, "", resumes=True)
    if not reader.indexed and not reader.is_cut:
        content.damage.append("it was not closed, or is cut: there is no index at its end")
    content.close()


class _Ros1Reader(RecordReader):
    """A walk through the records of a file and of its chunks.

    Attributes:
        indexed: True once the index at the end has been met.
    """

    def __init__(self, content: BagFileContent) -> None:
        super().__init__(content)
        self.indexed = False
        self._message_head: MessageHead = lambda data, at: None

    def message_at(self, data: memoryview, at: int) -> Message | None:
        """See `RecordReader`."""
        found = self._message_head(data, at)
        if found is None or found[2] + 4 > len(data):
            return None
        number, time, begin = found
        return number, time, begin + 4, begin + 4 + _LENGTH.unpack_from(data, begin)[0]

    def take_record(self, data: memoryview, at: int, where: str, batch: list[Message]) -> int | None:
        """See `RecordReader`; the first message of a kind, too, whose fields say how to read others fast."""
        header = read_header(data, at)
        if header is None or header[1] + 4 > len(data):
            return None
        fields, begin = header
        kind = fields[b"op"][0]
        (length,) = _LENGTH.unpack_from(data, begin)
        content, stop = data[begin + 4 : begin + 4 + length], begin + 4 + length
        if kind == _ROS1_CHUNK and not where:
            self.hand_on(data, batch)
            return min(stop, len(data)) if self._chunk(fields, content, at, length) else None
        if stop > len(data):
            return None
        if kind == _ROS1_MESSAGE:
            message_head = _message_head(list(fields))
            found = None if message_head is None else message_head(data, at)
            if message_head is None or found is None:
                return None
            self._message_head = message_head
            batch.append((found[0], found[1], begin + 4, stop))
        elif kind == _CONNECTION:
            self._connect(fields, content)
        self.indexed = self.indexed or kind == _CHUNK_INFO
        return stop

    def find_next(self, data: memoryview, start: int) -> int | None:
        """See `RecordReader`."""
        for found in _KIND.finditer(data, start):
            for at in range(found.start() - 4, max(start, found.start() - _AROUND_KIND) - 1, -1):
                end = at + 4 + _LENGTH.unpack_from(data, at)[0]
                if found.end() <= end <= found.end() + _AROUND_KIND and read_header(data, at) is not None:
                    return at
        return None

    def _connect(self, fields: Mapping[bytes, bytes], content: memoryview) -> None:
        said = _fields(content)
        number = fields.get(b"conn", b"")
        if said is None or len(number) != 4 or b"type" not in said:
            return
        parts = fields.get(b"topic", b"").decode("utf-8", "replace").split("/")
        topic = "/" * (parts[0] == "") + "/".join(filter(None, parts))
        kind = said[b"type"].decode("utf-8", "replace")
        definition = said.get(b"message_definition", b"").decode("utf-8", "replace")
        connection = Connection(topic, normal_name(kind), "ros1", definition)
        self.content.connect(_LENGTH.unpack(number)[0], connection)

    def _chunk(self, fields: Mapping[bytes, bytes], packed: memoryview, at: int, length: int) -> bool:
        """Read a chunk, which should be so long; returns whether it is one."""
        compression = fields.get(b"compression", b"").decode("latin-1")
        if not compression or len(fields.get(b"size", b"")) != 4:
            return False
        (size,) = _LENGTH.unpack(fields[b"size"])
        if compression == "none" and size != length:
            return False
        where = f"the chunk at byte {at}"
        try:
            data, whole = unpack(packed, compression)
        except ValueError:
            self.content.damage.append(f"{where} is compressed by {compression!r}, which is not known")
            return True
        before = self.count
        self.records(memoryview(data), 0, where, resumes=compression == "none")
        if not whole or len(data) != size:
            self.add_partial_chunk(where, len(data), size, self.count - before)
        return True


def read_header(data: memoryview, at: int) -> tuple[dict[bytes, bytes], int] | None:
    """The fields of a header, and where its record's data begin; None if there is none that is sound."""
    if at + 4 > len(data):
        return None
    (length,) = _LENGTH.unpack_from(data, at)
    end = at + 4 + length
    if not 0 < length <= _LONGEST_HEADER or end > len(data):
        return None
    fields = _fields(data[at + 4 : end])
    return None if fields is None or len(fields.get(b"op", b"")) != 1 else (fields, end)


def _fields(data: memoryview) -> dict[bytes, bytes] | None:
    """The fields that bytes consist of; None if they do not."""
    fields: dict[bytes, bytes] = {}
    at = 0
    while at < len(data):
        if at + 4 > len(data):
            return None
        (length,) = _LENGTH.unpack_from(data, at)
        part = bytes(data[at + 4 : at + 4 + length])
        name, equals, value = part.partition(b"=")
        if len(part) != length or not equals:
            return None
        fields[name] = value
        at += 4 + length
    return fields


def _message_head(names: list[bytes]) -> MessageHead | None:
    """A fast reader of messages' headers with fields in an order; None if these are no message's."""
    keys = [name + b"=" for name in names]
    if set(keys) != set(_FIELDS):
        return None
    whole = struct.Struct("<I" + "".join(f"I{len(key)}s{_FIELDS[key]}" for key in keys))
    lengths = [len(key) + struct.calcsize(f"<{_FIELDS[key]}") for key in keys]
    kind, number, time = (3 * keys.index(key) + 3 for key in _FIELDS)
    fixed = itemgetter(0, 1, 2, 4, 5, 7, 8, kind)
    parts = (part for pair in zip(lengths, keys, strict=True) for part in pair)
    expected = (whole.size - 4, *parts, _ROS1_MESSAGE)

    def read(data: memoryview, at: int) -> tuple[int, int, int] | None:
        if at + whole.size > len(data):
            return None
        values = whole.unpack_from(data, at)
        if fixed(values) != expected:
            return None
        stamp = values[time]
        return values[number], (stamp & 0xFFFFFFFF) * 10**9 + (stamp >> 32), at + whole.size

    return read


_MESSAGES = """
SELECT topic_id, timestamp, data FROM messages
WHERE typeof(topic_id) = 'integer' AND typeof(timestamp) = 'integer' AND typeof(data) = 'blob' ORDER BY id
"""


def read_sqlite(path: Path, content: BagFileContent) -> None:
    """Read the messages of a file into `content`.

    Raises:
        LogFileError: The database is damaged, or is no bag.
    """
    try:
        with _open(path) as database:
            _check(database)
            _read_topics(database, content)
            _read_messages(database, content)
    except (sqlite3.Error, OverflowError, MemoryError, UnicodeDecodeError) as error:
        name, problem = shlex.quote(path.name), str(error) or "it asks for more memory than there is"
        recovery = f"sqlite3 {name} .recover | sqlite3 recovered.db3"
        raise LogFileError(path.name, f"its database is damaged ({problem}); try: {recovery}") from None
    content.close()


@contextmanager
def _open(path: Path) -> Iterator[sqlite3.Connection]:
    """The database; of one that was not closed a copy, with what had not been written into it yet."""
    beside = [path.with_name(path.name + end) for end in ("-wal", "-journal")]
    with ExitStack() as stack:
        uri = f"{path.absolute().as_uri()}?immutable=1&mode=ro"
        if any(file.exists() and file.stat().st_size for file in beside):
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="segtrack-"))
            for file in (path, *beside):
                with suppress(FileNotFoundError):
                    shutil.copy(file, folder)
            uri = Path(folder, path.name).as_uri()
        database = stack.enter_context(closing(sqlite3.connect(uri, uri=True)))
        database.text_factory = lambda text: text.decode("utf-8", "replace")
        yield database


def _read_topics(database: sqlite3.Connection, content: BagFileContent) -> None:
    definitions: dict[str, tuple[str, str]] = {}
    with suppress(sqlite3.OperationalError):  # Earlier versions have no definitions.
        rows = database.execute(
            "SELECT topic_type, encoding, encoded_message_definition FROM message_definitions"
        )
        definitions = {row[0]: row[1:] for row in rows if all(isinstance(text, str) for text in row)}
    rows = database.execute("SELECT id, name, type, serialization_format FROM topics")
    for number, name, kind, encoding in rows:
        if isinstance(name, str) and isinstance(kind, str) and isinstance(encoding, str):
            language, text = definitions.get(kind, ("", ""))
            known = language in ("ros2msg", "ros2idl")
            connection = Connection(
                name, normal_name(kind), encoding, text if known else "", language == "ros2idl"
            )
            content.connect(number, connection)


def _read_messages(database: sqlite3.Connection, content: BagFileContent) -> None:
    """Read the rows that are of the types that they must be."""
    rows = database.execute(_MESSAGES)
    while batch := rows.fetchmany(BATCH):
        content.take(*zip(*batch, strict=True))


def _check(database: sqlite3.Connection) -> None:
    """Raise where the table of messages is damaged: SQL does not notice that rows are missing."""
    (found,) = database.execute("PRAGMA quick_check(messages)").fetchone()
    if found != "ok":
        raise sqlite3.DatabaseError(str(found).splitlines()[-1])
