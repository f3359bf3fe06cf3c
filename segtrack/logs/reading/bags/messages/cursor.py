"""A place in a message that goes from field to field, by the rules of CDR or of ROS 1.

CDR aligns each number to its size, counted from behind the four bytes of encapsulation, which also say the
order of bytes, and ends texts with a zero (OMG, Common Data Representation, as ROS 2 uses it); ROS 1 has no
gaps and is little-endian.
"""

from __future__ import annotations

import struct

_ENCAPSULATION = 4
_PADDING = 3
"""Bytes behind a message of CDR that are none of it, at most."""


class MisfitError(Exception):
    """Bytes that are no message of their type."""


class Cursor:
    """A place in a message.

    Attributes:
        is_cdr: Whether the message is in CDR.
        order: Of the bytes, `<` or `>`.
        guards: Where lengths and names are that have been met: first byte, and the one behind the last.
    """

    def __init__(self, data: bytes, encoding: str) -> None:
        """Begin at the first field.

        Raises:
            MisfitError: It is encapsulated as no plain CDR.
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
            MisfitError: There are not so many bytes.
        """
        self._align(size)
        begin = self._at
        self._go(size * count)
        return begin

    def length(self) -> int:
        """Go over the length of a text or sequence; returns it.

        Raises:
            MisfitError: There are not so many bytes.
        """
        begin = self.numbers(4, 1)
        self.guards.append((begin, self._at))
        (length,) = struct.unpack_from(f"{self.order}I", self._data, begin)
        if length > len(self._data):
            raise MisfitError(f"a length of {length} in {len(self._data)} bytes")
        return int(length)

    def forget_length(self) -> None:
        """Take the last length for one that may change."""
        self.guards.pop()

    def text(self) -> tuple[int, int]:
        """Go over a text; returns where it is: first byte, and the one behind the last.

        Raises:
            MisfitError: There are not so many bytes.
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
        """See to it that this is the end.

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
