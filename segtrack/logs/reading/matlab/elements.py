"""A variable of a .mat file of version 5, whole or not: every length is checked before it is believed.

A variable is an element: type and length, four bytes each, then its content; one of at most four bytes has
both in two bytes each. That of a matrix consists of elements: flags, size, name, and numbers, text, or the
matrices in it (MathWorks, MAT-file format, R2019b). scipy's reader is not used for these: lengths that are
damaged make it read memory that is not its own, and end the process.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

MATRIX, COMPRESSED = 14, 15
_CELL, _STRUCT, _OBJECT, _TEXT, _SPARSE, _FUNCTION, _OPAQUE = 1, 2, 3, 4, 5, 16, 17
_NUMBERS = range(6, 16)
_IS_COMPLEX = 0x0800
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
"""Of numbers, by the type of an element."""
_CODECS = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
"""Of texts, by the type of an element."""
_MOST_PARTS = 64
"""Of a cell or an array of structs that are looked into."""
_DEEPEST = 16
"""Of structs in structs."""


@dataclass(frozen=True)
class Unread:
    """A value that is not read: what it is."""

    what: str


_KINDS = {
    _OBJECT: "an object, which MATLAB alone can read: save its numbers as a struct, as in "
    "s.time = x.Time; s.data = x.Data",
    _SPARSE: "a sparse matrix",
    _FUNCTION: "a function",
}


class MisfitError(Exception):
    """Bytes that are no variable."""


class Element(NamedTuple):
    """Part of a variable: its type, its content as far as there is, its length, and where the next one is."""

    kind: int
    content: memoryview
    length: int
    next: int


class Variable:
    """A variable, as far as there is one.

    Attributes:
        name: Of the variable; empty if it has none, or is none.
        value: Numbers (NaN where they are missing), text, a dict of a struct's fields, a list, or `Unread`;
            None if there is nothing.
        is_whole: Whether nothing is missing or damaged.
    """

    def __init__(self, data: memoryview, order: str) -> None:
        """Read the element of a variable, not compressed, as far as there is; `order` is `<` or `>`."""
        self.name = ""
        self.value: Any = None
        self.is_whole = True
        self._order = order
        try:
            self.name, self.value = self._matrix(data, 0)
        except (MisfitError, UnicodeDecodeError):
            self.is_whole = False

    def _matrix(self, data: memoryview, depth: int) -> tuple[str, Any]:
        """Name and value of a matrix."""
        whole = self._element(data, 0)
        if whole.kind != MATRIX or depth > _DEEPEST:
            raise MisfitError
        content = whole.content
        if not whole.length:
            return "", Unread("empty")
        flags = self._header(content, 0, 6)
        (word,) = struct.unpack_from(f"{self._order}I", flags.content)
        kind = word & 0xFF
        if kind == _OPAQUE:
            return _text(self._header(content, flags.next, 1)), Unread(_KINDS[_OBJECT])
        sizes = self._header(content, flags.next, 5)
        shape = tuple(np.frombuffer(sizes.content, f"{self._order}i4").tolist())
        own = self._header(content, sizes.next, 1)
        if len(shape) < 2 or min(shape) < 0:
            raise MisfitError
        return _text(own), self._value(content, own.next, word, shape, depth)

    def _value(self, content: memoryview, at: int, word: int, shape: tuple[int, ...], depth: int) -> Any:
        kind, count = word & 0xFF, int(np.prod(shape, dtype=object))
        if kind in _KINDS:
            return Unread(_KINDS[kind])
        if kind in _NUMBERS and word & _IS_COMPLEX:
            return Unread("complex numbers")
        if kind in _NUMBERS:
            return self._numbers(self._element(content, at), shape, count) if count else Unread("empty")
        if kind == _TEXT:
            return self._texts(self._element(content, at)) if count else ""
        names = self._names(content, at) if kind == _STRUCT else None
        if kind not in (_STRUCT, _CELL):
            raise MisfitError
        if count > _MOST_PARTS:
            return Unread(f"{count} {'cells' if names is None else 'structs'}")
        if names is None:
            return self._parts(content, at, count, depth)
        found: list[dict[str, Any]] = [{} for _ in range(count)]
        self._fields(content, names, found, depth)
        return found[0] if count == 1 else found

    def _numbers(self, element: Element, shape: tuple[int, ...], count: int) -> Any:
        if element.kind not in _TYPES:
            raise MisfitError
        kind = np.dtype(f"{self._order}{_TYPES[element.kind]}")
        if count * kind.itemsize != element.length:
            raise MisfitError
        there = np.frombuffer(element.content, kind, len(element.content) // kind.itemsize)
        if len(there) == count:
            return there.reshape(shape, order="F").astype(float)
        self.is_whole = False
        values = np.full(count, np.nan)
        values[: len(there)] = there
        return values.reshape(shape, order="F")

    def _texts(self, element: Element) -> str:
        codec = _CODECS.get(element.kind)
        if codec is None:
            raise MisfitError
        if codec != "utf-8" and codec != "latin-1":
            codec += "-le" if self._order == "<" else "-be"
        return bytes(element.content).decode(codec, "replace")

    def _names(self, content: memoryview, at: int) -> tuple[list[str], int]:
        """Names of a struct's fields, and where the first field is."""
        width = self._header(content, at, 5)
        texts = self._header(content, width.next, 1)
        (length,) = struct.unpack_from(f"{self._order}i", width.content)
        if length < 1:
            raise MisfitError
        parts = [bytes(texts.content[i : i + length]) for i in range(0, texts.length, length)]
        return [part.split(b"\0")[0].decode("ascii") for part in parts], texts.next

    def _fields(
        self, content: memoryview, names: tuple[list[str], int], found: list[dict[str, Any]], depth: int
    ) -> None:
        """Fill structs; those fields are missing that cannot be read, or lie behind such a one."""
        at = names[1]
        for fields in found:
            for name in names[0]:
                fields[name], at = self._part(content, at, depth)
                if at < 0:
                    return

    def _parts(self, content: memoryview, at: int, count: int, depth: int) -> list[Any]:
        parts: list[Any] = []
        while len(parts) < count and at >= 0:
            value, at = self._part(content, at, depth)
            parts.append(value)
        return parts

    def _part(self, content: memoryview, at: int, depth: int) -> tuple[Any, int]:
        """The matrix at a byte, and where the next one is; -1 if that cannot be known."""
        try:
            element = self._element(content, at)
        except MisfitError:
            self.is_whole = False
            return Unread("damaged"), -1
        following = element.next if element.kind == MATRIX else -1
        try:
            return self._matrix(content[at:following] if following > 0 else content[at:], depth + 1)[
                1
            ], following
        except (MisfitError, UnicodeDecodeError):
            self.is_whole = False
            return Unread("damaged"), following

    def _header(self, data: memoryview, at: int, kind: int) -> Element:
        """A whole element of a kind."""
        element = self._element(data, at)
        if element.kind != kind or len(element.content) < element.length:
            raise MisfitError
        if kind in (5, 6) and element.length < 4:
            raise MisfitError
        return element

    def _element(self, data: memoryview, start: int) -> Element:
        """The element that begins at a byte, as far as there is one."""
        if start < 0 or start + 8 > len(data):
            raise MisfitError
        word, length = struct.unpack_from(f"{self._order}II", data, start)
        if word >> 16:
            word, length, begin, step = word & 0xFFFF, word >> 16, start + 4, 8
            if length > 4:
                raise MisfitError
        else:
            begin, step = start + 8, 8 + length + -length % 8
        content = data[begin : begin + length]
        self.is_whole = self.is_whole and len(content) == length
        return Element(word, content, length, start + step)


def _text(element: Element) -> str:
    return bytes(element.content).decode("ascii")
