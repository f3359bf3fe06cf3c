"""The rows of a damaged SQLite file, found by what a row looks like: no table, tree or page head is needed.

A row is a cell: the length of its record, its number, and the record, which is a head with the type of each
value, and the values. A record that is too long for a page goes on in a chain of others
(https://www.sqlite.org/fileformat2.html, sections 1.6 and 2). The first value, the row's number again, is
always NULL in a bag's tables, and the lengths must agree, which nothing else in a file does by chance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

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


class Rows:
    """The rows of a bag's tables in a file.

    Attributes:
        topics: Number, and name, type and format of each.
        definitions: Number, type, encoding and text of each.
        messages: Number, and number of the topic, time [ns] and message of each.
        lost: Messages of which a part is missing.
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
        """Where the variable-length integer begins that ends before a byte; -1 if there is none."""
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
