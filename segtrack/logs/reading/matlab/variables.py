"""The variables of a .mat file, each read on its own, so that a damaged one takes no other with it.

A file of version 5 is a header and then an element for each variable: type and length, four bytes each,
and its content, mostly compressed (MathWorks, MAT-file format, R2019b).
"""

from __future__ import annotations

import io
import re
import struct
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import scipy.io

from segtrack.logs.reading.matlab.partial import MATRIX, read_partial

HEADER = 128
_COMPRESSED = 15
_NEXT = {
    "<": re.compile(rb"\x0f\0\0\0[\s\S]{4}\x78[\x01\x5e\x9c\xda]|\x0e\0\0\0[\s\S]{4}\x06\0\0\0\x08\0\0\0"),
    ">": re.compile(rb"\0\0\0\x0f[\s\S]{4}\x78[\x01\x5e\x9c\xda]|\0\0\0\x0e[\s\S]{4}\0\0\0\x06\0\0\0\x08"),
}
"""How an element of a variable begins, by byte order."""


class Variables(NamedTuple):
    """What of a file's variables could be read.

    Attributes:
        values: By name, as scipy gives them.
        damage: What could not be read.
    """

    values: dict[str, Any]
    damage: list[str]


def read_variables(data: bytes) -> Variables:
    """Read the variables of a file."""
    if not data[:HEADER].startswith(b"MATLAB 5.0") and data[126:128] not in (b"IM", b"MI"):
        return _read_version_4(data)
    values: dict[str, Any] = {}
    damage: list[str] = []
    order = ">" if data[126:128] == b"MI" else "<"
    header = data[:HEADER]
    if data[124:128] not in (b"\x00\x01IM", b"\x01\x00MI"):
        damage.append("its header is damaged")
        header = b"MATLAB 5.0 MAT-file".ljust(124) + (b"\x01\x00MI" if order == ">" else b"\x00\x01IM")
    for start, stop in _elements(data, order, damage):
        element = data[start:stop]
        (length,) = struct.unpack_from(f"{order}I", element, 4)
        found = _whole(header, element) if len(element) == 8 + length else None
        if found is None:
            found = _partial(header, element, order)
            kept = f": of it {', '.join(found)} could be read in part" if found else ""
            place = f"the variable at byte {start} is damaged" if stop < len(data) else "the last is cut"
            damage.append(f"{place}{kept}")
        values |= {name: value for name, value in found.items() if not name.startswith("__")}
    return Variables(values, damage)


def _elements(data: bytes, order: str, damage: list[str]) -> Iterator[tuple[int, int]]:
    """Where elements begin and end, the last one where the file does if it is cut."""
    start = HEADER
    while start + 8 <= len(data):
        kind, length = struct.unpack_from(f"{order}II", data, start)
        stop = start + 8 + length
        if kind not in (MATRIX, _COMPRESSED) or (stop > len(data) and _next(data, start + 1, order)):
            following = _next(data, start + 1, order) or len(data)
            if kind in (MATRIX, _COMPRESSED):
                yield start, following
            else:
                damage.append(f"bytes {start} to {following} are no variable")
            start = following
            continue
        yield start, min(stop, len(data))
        start = stop


def _next(data: bytes, start: int, order: str) -> int | None:
    found = _NEXT[order].search(data, start)
    return None if found is None else found.start()


def _whole(header: bytes, element: bytes) -> dict[str, Any] | None:
    """The variable of a sound element; None if it is not sound."""
    try:
        return scipy.io.loadmat(io.BytesIO(header + element))
    except Exception:  # Whatever a damaged file makes scipy raise: a dozen kinds, from KeyError to zlib's.
        return None


def _partial(header: bytes, element: bytes, order: str) -> dict[str, Any]:
    (kind,) = struct.unpack_from(f"{order}I", element)
    if kind != _COMPRESSED:
        return read_partial(header, element, order)
    unpacked = zlib.decompressobj()
    try:
        content = unpacked.decompress(element[8:])
    except zlib.error:  # Bytes before the damage may be wrong as well: where it is cannot be told.
        return {}
    return {} if unpacked.eof else read_partial(header, content, order)


def _read_version_4(data: bytes) -> Variables:
    try:
        found = scipy.io.loadmat(io.BytesIO(data))
    except Exception:  # As above.
        return Variables({}, ["it is none of the versions 4 to 7.2, or damaged"])
    return Variables({n: value for n, value in found.items() if not n.startswith("__")}, [])
