"""SQLite files of ROS 2 bags: messages by SQL as far as it reaches, the rest by the look of their rows."""

from __future__ import annotations

import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from segtrack.logs.reading.bag_content import BATCH, BagFileContent
from segtrack.logs.reading.message_types import Connection, normal_name

_PAGE = 4096
"""Size of a page where the file's first bytes do not say it."""
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 8: 0, 9: 0}
"""Bytes of an integer by its type; the last two are 0 and 1."""
_LONG = rb"(?:[\x0d-\x7f]|[\x81-\xff][\0-\x7f])"
_ROW = re.compile(
    rb"(?=[\x05-\x0d]\0[\x01-\x06\x08\x09][\x01-\x06\x08\x09]|[\x05-\x18]\0" + _LONG + _LONG + _LONG + rb")"
)
"""The head of a record: its length, NULL, two integers or three texts."""


class _Row(NamedTuple):
    """Number and values of a row."""

    number: int
    values: list[Any]


class SqliteRows:
    """The rows of a bag's tables in a file.

    Attributes:
        topics: Number, and name, type and format of each.
        definitions: Number, type, encoding and text of each.
        messages: Number, and number of the topic, time [ns] and message of each.
        lost: Number of messages of which a part is missing.
    """

    def __init__(self, data: memoryview) -> None:
        """Look for rows in a file."""
        self.topics: list[tuple[int, tuple[str, str, str]]] = []
        self.definitions: list[tuple[int, str, str, str]] = []
        self.messages: list[tuple[int, tuple[int, int, bytes]]] = []
        self.lost = 0
        self._data = data
        size = int.from_bytes(data[16:18], "big")
        self._size = 2**16 if size == 1 else size if 512 <= size and size & (size - 1) == 0 else _PAGE
        self._usable = self._size - (data[20] if len(data) > 20 and data[20] <= 32 else 0)
        for found in _ROW.finditer(data):
            row = self._row(found.start())
            if row is not None:
                self._take(row)

    def _take(self, row: _Row) -> None:
        match row.values:
            case [None, int(topic), int(time), bytes(message)]:
                self.messages.append((row.number, (topic, time, message)))
            case [None, str(kind), "ros2msg" | "ros2idl" as encoding, str(text), *_]:
                self.definitions.append((row.number, kind, encoding, text))
            case [None, str(name), str(kind), str(form), *_] if "/" in kind:
                self.topics.append((row.number, (name, kind, form)))

    def _row(self, head: int) -> _Row | None:
        """The row whose record begins at a byte; None if there is none."""
        types = self._types(head)
        if types is None:
            return None
        length = self._data[head] + sum(map(_width, types))
        begin = self._before(head)
        number, end = self._varint(begin)
        said = _as_varint(length)
        if end != head or bytes(self._data[max(begin - len(said), 0) : begin]) != said:
            return None
        record = self._record(head, length)
        if record is None:
            self.lost += len(types) == 4 and types[-1] % 2 == 0
            return None
        return _Row(number, list(_values(record[self._data[head] :], types)))

    def _types(self, head: int) -> list[int] | None:
        """Types of a record's values."""
        end = head + self._data[head]
        types, at = [], head + 1
        while at < end <= len(self._data):
            kind, at = self._varint(at)
            types.append(kind)
        return types if at == end and 10 not in types and 11 not in types else None

    def _record(self, start: int, length: int) -> bytes | None:
        """The bytes of a record, the chain behind it included; None if some are missing."""
        usable, data = self._usable, self._data
        local = length
        if length > usable - 35:
            least = (usable - 12) * 32 // 255 - 23
            spread = least + (length - least) % (usable - 4)
            local = spread if spread <= usable - 35 else least
        page_end = start - start % self._size + usable
        if start + local > min(page_end, len(data)):
            return None
        parts, missing, at = [bytes(data[start : start + local])], length - local, start + local
        while missing > 0:
            following = int.from_bytes(data[at : at + 4], "big")
            at = (following - 1) * self._size
            part = bytes(data[at + 4 : at + 4 + min(missing, usable - 4)]) if following else b""
            if len(part) < min(missing, usable - 4):
                return None
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)

    def _before(self, end: int) -> int:
        """First byte of the variable-length integer that ends before a byte; -1 if there is none."""
        at = end - 1
        while at > 0 and self._data[at - 1] & 0x80 and end - at < 9:
            at -= 1
        return at if end > 0 else -1

    def _varint(self, at: int) -> tuple[int, int]:
        """A variable-length integer, seven bits a byte, and where it ends."""
        value = 0
        for i in range(9):
            if not 0 <= at < len(self._data):
                return -1, -1
            byte = self._data[at]
            at += 1
            if i == 8:
                return value << 8 | byte, at
            value = value << 7 | byte & 0x7F
            if byte < 0x80:
                break
        return value, at


def _as_varint(value: int) -> bytes:
    """The bytes of a variable-length integer below 2^56."""
    groups = [value & 0x7F]
    while value := value >> 7:
        groups.insert(0, value & 0x7F | 0x80)
    return bytes(groups)


def _width(kind: int) -> int:
    """Bytes of a value by its type."""
    return (kind - 12) // 2 if kind >= 12 else 8 if kind == 7 else _INTEGERS.get(kind, 0)


def _values(content: bytes, types: list[int]) -> Iterator[Any]:
    at = 0
    for kind in types:
        part = content[at : at + _width(kind)]
        at += len(part)
        if kind >= 12:
            yield part.decode("utf-8", "replace") if kind % 2 else part
        elif kind in (8, 9):
            yield kind - 8
        else:
            yield int.from_bytes(part, "big", signed=True) if kind in _INTEGERS else None


_MESSAGES = """
SELECT id, topic_id, timestamp, data FROM messages
WHERE typeof(topic_id) = 'integer' AND typeof(timestamp) = 'integer' AND typeof(data) = 'blob' ORDER BY id
"""
_MOST_TOPICS = 10_000
"""Numbers of topics that are believed where the database is damaged."""


def read_sqlite(path: Path, data: memoryview, content: BagFileContent) -> None:
    """Read the messages of a file into `content`, and add sentences on its damage there."""
    read: list[int] = []
    problem = None
    try:
        with _open(path) as database:
            _read_topics(database, content)
            _read_messages(database, content, read)
            problem = _check(database)
    except (sqlite3.Error, OverflowError, MemoryError, UnicodeDecodeError) as error:
        problem = str(error) or "it asks for more memory than there is"
    if problem is not None:
        _salvage(data, content, set(read), problem)
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
            _connect(content, number, name, kind, encoding, definitions)


def _connect(
    content: BagFileContent,
    number: int,
    name: str,
    kind: str,
    form: str,
    definitions: dict[str, tuple[str, str]],
) -> None:
    """Take a row of the table of topics."""
    encoding, text = definitions.get(kind, ("", ""))
    known = encoding in ("ros2msg", "ros2idl")
    connection = Connection(name, normal_name(kind), form, text if known else "", encoding == "ros2idl")
    content.connect(number, connection)


def _read_messages(database: sqlite3.Connection, content: BagFileContent, read: list[int]) -> None:
    """Take the rows that are of the types that they must be; `read` gets their numbers."""
    rows = database.execute(_MESSAGES)
    while batch := rows.fetchmany(BATCH):
        places, numbers, times, messages = zip(*batch, strict=True)
        content.take(numbers, times, messages, places)
        read += places


def _check(database: sqlite3.Connection) -> str | None:
    """Find damage of the table of messages: SQL does not notice that rows are missing."""
    (found,) = database.execute("PRAGMA quick_check(messages)").fetchone()
    return None if found == "ok" else str(found).splitlines()[-1]


def _salvage(data: memoryview, content: BagFileContent, read: set[int], error: str) -> None:
    """Take the rows that SQL does not reach."""
    rows = SqliteRows(data)
    definitions = {kind: (encoding, text) for _, kind, encoding, text in rows.definitions}
    for number, topic in rows.topics:
        _connect(content, number, *topic, definitions)
    there = {place: row for place, row in rows.messages if place not in read and 0 < row[0] < _MOST_TOPICS}
    places = sorted(there)
    messages = [there[place] for place in places]
    numbers, times = [row[0] for row in messages], [row[1] for row in messages]
    content.take(numbers, times, [row[2] for row in messages], places)
    count = len(read) + len(places)
    lost = f"; {rows.lost} are cut" if rows.lost else ""
    content.damage.append(f"the database is damaged ({error}): {count} messages could be read{lost}")
