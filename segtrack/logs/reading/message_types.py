"""Fields of message types, and cursors that go from field to field of a message."""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Any, NamedTuple

from rosbags.typesys import Stores, TypesysError, get_types_from_idl, get_types_from_msg, get_typestore

Fields = list[tuple[str, tuple[int, Any]]]
BASE, NAME, ARRAY, SEQUENCE = 1, 2, 3, 4
"""Kinds of field: a number or text, a message, a fixed number of these, any number of these."""
TIME, DURATION, HEADER = (
    "builtin_interfaces/msg/Time",
    "builtin_interfaces/msg/Duration",
    "std_msgs/msg/Header",
)
_IDL = "IDL: "
_RULE = "=" * 80 + "\n"


class Connection(NamedTuple):
    """Description of some messages of a file.

    Attributes:
        topic: Topic that they were sent on.
        type: Message type, as `package/msg/Name`.
        encoding: Serialisation: `cdr` or `ros1`; others are not read.
        definition: Definition of the type, empty if the file has none.
        is_idl: True for a definition in IDL.
    """

    topic: str
    type: str
    encoding: str
    definition: str = ""
    is_idl: bool = False


class Types:
    """Fields by message type."""

    def __init__(self, own: dict[str, Any], default: dict[str, Any]) -> None:
        """Prefer a file's own definitions to those of a distribution."""
        self._own, self._default = own, default

    def __contains__(self, kind: object) -> bool:
        """Return True for a known type."""
        return kind in self._own or kind in self._default

    def fields(self, kind: str) -> Fields:
        """Names and descriptions of a type's fields.

        Raises:
            KeyError: The type is not known.
        """
        found = self._own[kind] if kind in self._own else self._default[kind]
        return found[1]


def normal_name(kind: str) -> str:
    """Return a type's name in the form of ROS 2: `package/msg/Name`."""
    parts = kind.split("/")
    return f"{parts[0]}/msg/{parts[1]}" if len(parts) == 2 else kind


def types_of(connection: Connection) -> tuple[Types, str | None]:
    """Return the types that a connection's messages consist of, and the problem of its definition."""
    own, problem = _parsed(connection.definition, connection.type, connection.is_idl)
    return Types(own, _default(connection.encoding)), problem


@lru_cache(maxsize=256)
def _parsed(text: str, kind: str, is_idl: bool) -> tuple[dict[str, Any], str | None]:
    found: dict[str, Any] = {}
    try:
        if not is_idl:
            return (get_types_from_msg(text, kind) if text.strip() else {}), None
        parts = text.split(_RULE)[1:] if text.startswith(_RULE + _IDL) else [text]
        for part in parts:
            found |= get_types_from_idl(part.split("\n", 1)[1] if part.startswith(_IDL) else part)
    except (TypesysError, ValueError, IndexError, KeyError, RecursionError, AssertionError):
        return {}, f"the definition of {kind} is damaged"
    return found, None


@lru_cache(maxsize=2)
def _default(encoding: str) -> dict[str, Any]:
    """Fields of the types that ROS distributes: those of ROS 1 differ in some, and lack others, as of tf2."""
    found = dict(get_typestore(Stores.ROS2_HUMBLE).fielddefs)
    return found | get_typestore(Stores.ROS1_NOETIC).fielddefs if encoding == "ros1" else found


_ENCAPSULATION = 4
_PADDING = 3
"""Bytes behind a message of CDR that are none of it, at most."""


class MisfitError(Exception):
    """Bytes that are no message of their type."""


class Cursor:
    """A place in a message.

    Attributes:
        is_cdr: True for a message in CDR.
        order: Byte order, `<` or `>`.
        guards: Places of the lengths and names met so far: first byte, and the one behind the last.
    """

    def __init__(self, data: bytes, encoding: str) -> None:
        """Begin at the first field.

        Raises:
            MisfitError: The encapsulation is not that of plain CDR.
        """
        self._data = data
        self._at = 0
        self.is_cdr = encoding == "cdr"
        self.order = "<"
        self.guards: list[tuple[int, int]] = []
        if self.is_cdr:
            if data[:2] not in (b"\0\0", b"\0\1"):
                raise MisfitError(f"its encapsulation is {data[:2].hex(' ')}")
            self.order, self._at = "<" if data[1] else ">", _ENCAPSULATION
            self.guards.append((0, 2))

    def numbers(self, size: int, count: int) -> int:
        """Go over numbers of a size [bytes]; returns where the first one is.

        Raises:
            MisfitError: The message is shorter.
        """
        self._align(size)
        begin = self._at
        self._go(size * count)
        return begin

    def length(self) -> int:
        """Go over the length of a text or sequence; returns it.

        Raises:
            MisfitError: The message is shorter.
        """
        begin = self.numbers(4, 1)
        self.guards.append((begin, self._at))
        (length,) = struct.unpack_from(f"{self.order}I", self._data, begin)
        if length > len(self._data):
            raise MisfitError(f"a length of {length} in {len(self._data)} bytes")
        return int(length)

    def unguard_length(self) -> None:
        """Remove the last length from the guards: it may change from message to message."""
        self.guards.pop()

    def text(self) -> tuple[int, int]:
        """Go over a text; returns where it is: first byte, and the one behind the last.

        Raises:
            MisfitError: The message is shorter.
        """
        length = self.length()
        begin = self._at
        self._go(length)
        return begin, self._at - (self.is_cdr and length > 0)

    def key(self, span: tuple[int, int]) -> str:
        """The text at a place; messages in which it is another are built otherwise."""
        self.guards.append(span)
        return self._data[slice(*span)].decode("utf-8", "replace")

    def check_end(self) -> None:
        """Check that this is the end of the message.

        Raises:
            MisfitError: There are more bytes.
        """
        spare = len(self._data) - self._at
        if spare > (_PADDING if self.is_cdr else 0):
            raise MisfitError(f"{spare} bytes are left over")

    def _go(self, count: int) -> None:
        self._at += count
        if self._at > len(self._data):
            raise MisfitError(f"{self._at - len(self._data)} bytes are missing")

    def _align(self, size: int) -> None:
        if self.is_cdr:
            self._at += -(self._at - _ENCAPSULATION) % size
