"""ROS 1 bags: their messages in the order of the file, without the index and as far as they are readable.

A bag is a row of records: length of the header, header, length of the data, data. A header is a row of
fields, `name=value`, each behind its length; chunks hold records (http://wiki.ros.org/Bags/Format/2.0).
After a damaged place reading goes on with the next bytes that are a header.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from operator import itemgetter

from segtrack.logs.log import BAG_MAGIC
from segtrack.logs.reading.bag_content import BagFileContent, Message, RecordReader, unpack
from segtrack.logs.reading.message_layout import Connection, normal_name

_MESSAGE, _CHUNK, _CHUNK_INFO, _CONNECTION = 2, 5, 6, 7
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
        if kind == _CHUNK and not where:
            self.hand_on(data, batch)
            return min(stop, len(data)) if self._chunk(fields, content, at, length) else None
        if stop > len(data):
            return None
        if kind == _MESSAGE:
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
    expected = (whole.size - 4, *parts, _MESSAGE)

    def read(data: memoryview, at: int) -> tuple[int, int, int] | None:
        if at + whole.size > len(data):
            return None
        values = whole.unpack_from(data, at)
        if fixed(values) != expected:
            return None
        stamp = values[time]
        return values[number], (stamp & 0xFFFFFFFF) * 10**9 + (stamp >> 32), at + whole.size

    return read
