"""What there is of a variable that is cut or damaged: its first numbers, its whole fields."""

from __future__ import annotations

import io
import struct
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import scipy.io

MATRIX = 14
_STRUCT = 2
_NUMBERS = range(6, 16)
_COMPLEX = 0x0800
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
"""Of numbers, by the type of an element."""
_MOST = 2**31
"""Numbers of a matrix that are believed."""


class _Element(NamedTuple):
    """Part of a variable: its type, its content as far as there is, its length, and where the next one is."""

    kind: int
    content: bytes
    length: int
    next: int


def read_partial(header: bytes, data: bytes, order: str) -> dict[str, Any]:
    """Read what there is of a variable.

    Args:
        header: Of a file, for scipy.
        data: The element of the variable, not compressed, as far as there is.
        order: Of the bytes, `<` or `>`.

    Returns:
        By name a matrix with NaN where its numbers are missing, or, for a struct, its fields by their
        dotted names; empty if there is nothing.
    """
    found: dict[str, Any] = {}
    with suppress(struct.error, ValueError, KeyError, IndexError, MemoryError):
        _read(header, data, order, "", found)
    return found


def _read(header: bytes, data: bytes, order: str, name: str, found: dict[str, Any]) -> None:
    """Add what there is of a variable, or of a field with a dotted name."""
    flags = _element(data, 8, order)
    sizes = _element(data, flags.next, order)
    own = _element(data, sizes.next, order)
    (word,) = struct.unpack_from(f"{order}I", flags.content)
    shape = tuple(np.frombuffer(sizes.content, f"{order}i4").tolist())
    name = name or own.content.decode("ascii")
    if word & 0xFF in _NUMBERS and not word & _COMPLEX:
        found[name] = _numbers(_element(data, own.next, order), shape, order)
    elif word & 0xFF == _STRUCT and set(shape) == {1}:
        _read_fields(header, data, own.next, order, name, found)


def _numbers(element: _Element, shape: tuple[int, ...], order: str) -> Any:
    kind = np.dtype(f"{order}{_TYPES[element.kind]}")
    count = int(np.prod(shape))
    if not 0 < count < _MOST or count * kind.itemsize != element.length:
        raise ValueError(shape)
    there = np.frombuffer(element.content, kind, len(element.content) // kind.itemsize)
    values = np.full(count, np.nan)
    values[: len(there)] = there
    return values.reshape(shape, order="F")


def _read_fields(
    header: bytes, data: bytes, start: int, order: str, name: str, found: dict[str, Any]
) -> None:
    width = _element(data, start, order)
    names = _element(data, width.next, order)
    (length,) = struct.unpack_from(f"{order}i", width.content)
    at = names.next
    for i in range(0, names.length, length):
        field = names.content[i : i + length].split(b"\0")[0].decode("ascii")
        element = _element(data, at, order)
        whole = _whole(header, data[at : at + 8 + element.length], order)
        if whole is not None:
            found[f"{name}.{field}"] = whole
        else:
            _read(header, data[at:], order, f"{name}.{field}", found)
        at = element.next


def _whole(header: bytes, data: bytes, order: str) -> Any:
    """The value of a field, which has no name of its own; None if it is not whole."""
    flags = _element(data, 8, order)
    sizes = _element(data, flags.next, order)
    own = _element(data, sizes.next, order)
    named = data[8 : sizes.next] + struct.pack(f"{order}I4s", 0x10001, b"x")
    content = named + data[own.next :]
    file = header + struct.pack(f"{order}II", MATRIX, len(content)) + content
    (length,) = struct.unpack_from(f"{order}I", data, 4)
    if len(data) < 8 + length:
        return None
    try:
        return scipy.io.loadmat(io.BytesIO(file)).get("x")
    except Exception:  # Whatever a damaged file makes scipy raise.
        return None


def _element(data: bytes, start: int, order: str) -> _Element:
    """The element that begins at a byte; a small one has length and type in one word."""
    (word,) = struct.unpack_from(f"{order}I", data, start)
    if word >> 16:
        kind, length, begin, step = word & 0xFFFF, word >> 16, start + 4, 8
    else:
        (length,) = struct.unpack_from(f"{order}I", data, start + 4)
        kind, begin, step = word, start + 8, 8 + length + -length % 8
    return _Element(kind, data[begin : begin + length], length, start + step)
