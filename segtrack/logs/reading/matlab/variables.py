"""The variables of a .mat file, each read on its own, so that a damaged one takes no other with it.

A file of version 5 is a header and then an element for each variable, mostly compressed.
"""

from __future__ import annotations

import io
import re
import struct
import zlib
from typing import Any, NamedTuple

import scipy.io

from segtrack.logs.reading.matlab.elements import COMPRESSED, MATRIX, Variable

_HEADER = 128
_ELEMENTS = (MATRIX, COMPRESSED)
_NEXT = {
    "<": re.compile(rb"\x0f\0\0\0[\s\S]{4}\x78[\x01\x5e\x9c\xda]|\x0e\0\0\0[\s\S]{4}\x06\0\0\0\x08\0\0\0"),
    ">": re.compile(rb"\0\0\0\x0f[\s\S]{4}\x78[\x01\x5e\x9c\xda]|\0\0\0\x0e[\s\S]{4}\0\0\0\x06\0\0\0\x08"),
}
"""How the element of a variable begins, by the order of bytes."""


class Variables(NamedTuple):
    """What of a file's variables could be read.

    Attributes:
        values: By name; see `Variable`.
        damage: What could not be read.
    """

    values: dict[str, Any]
    damage: list[str]


def read_variables(data: bytes) -> Variables:
    """Read the variables of a file."""
    if not data.startswith(b"MATLAB 5.0") and data[126:128] not in (b"IM", b"MI"):
        return _read_version_4(data)
    order = ">" if data[126:128] == b"MI" else "<"
    found = Variables({}, [])
    view = memoryview(data)
    start = _HEADER
    while start + 8 <= len(data):
        kind, length = struct.unpack_from(f"{order}II", data, start)
        stop = start + 8 + length
        if kind in _ELEMENTS:
            stop = _read(data, view, start, stop, order, found)
        else:
            stop = _next(data, start + 1, order) or len(data)
            found.damage.append(f"bytes {start} to {stop} are no variable")
        start = stop
    if start < len(data):
        found.damage.append(f"the last {len(data) - start} bytes are no variable")
    return found


def _read(data: bytes, view: memoryview, start: int, stop: int, order: str, found: Variables) -> int:
    """Read the variable at a byte; returns where the next one is."""
    variable = _variable(view[start:stop], order)
    if variable.name and variable.value is not None:
        found.values[variable.name] = variable.value
    if variable.is_whole and stop <= len(data):
        return stop
    there = f": there is part of {variable.name}" if variable.name else ""
    following = _next(data, start + 1, order)
    if stop > len(data) and (variable.name or following is None):
        found.damage.append(f"the last variable is cut{there}")
        return len(data)
    found.damage.append(f"the variable at byte {start} is damaged{there}")
    at_stop = data[stop : stop + 4] in (b"", *(struct.pack(f"{order}I", kind) for kind in _ELEMENTS))
    if stop <= len(data) and at_stop:
        return stop
    return following or len(data)  # The length was damaged, too.


def _variable(element: memoryview, order: str) -> Variable:
    (kind,) = struct.unpack_from(f"{order}I", element)
    if kind == MATRIX:
        return Variable(element, order)
    unpacked = zlib.decompressobj()
    try:
        content = unpacked.decompress(element[8:])
    except zlib.error:  # Bytes before the damage may be wrong as well: where it is cannot be told.
        content = b""
    variable = Variable(memoryview(content), order)
    variable.is_whole = variable.is_whole and unpacked.eof
    return variable


def _next(data: bytes, start: int, order: str) -> int | None:
    found = _NEXT[order].search(data, start)
    return None if found is None else found.start()


def _read_version_4(data: bytes) -> Variables:
    """The variables of a file of version 4, one of whose first four bytes is zero."""
    if 0 not in data[:4]:
        return Variables({}, ["it is none of the versions 4 to 7.2, or damaged"])
    try:
        found = scipy.io.loadmat(io.BytesIO(data))
    except Exception:  # Whatever a damaged file makes it raise: a dozen kinds, from KeyError to its own.
        return Variables({}, ["it is none of the versions 4 to 7.2, or damaged"])
    return Variables({name: value for name, value in found.items() if not name.startswith("__")}, [])
