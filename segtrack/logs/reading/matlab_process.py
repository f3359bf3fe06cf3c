"""Program in which scipy reads the variables of a MATLAB file of version 4 to 7.2, and sends them on.

scipy trusts the lengths in a file: damaged ones make it read memory that is not its own, which ends the
process (scipy 1.17.1), or take forever. `segtrack.logs.reading.matlab` runs this file as a script, so that
only this process ends; it imports nothing of segtrack, and therefore starts in 0.4 s.

A file of version 5 (which those of MATLAB 5 to 7.2 are) is a header, and then an element for each variable:
four bytes of type, four of length, and the content, mostly compressed (MathWorks, MAT-file format, R2019b).
Each is given to scipy as a file of its own, unpacked: zlib checks all of it, scipy only what it needs.

Pickles are written to the standard output: the first byte of a variable, before it is read; its values by
name, or a sentence on damage; and None at the end. Numbers are arrays of floats, structs dicts, cells and
arrays of structs lists, texts strings, and of what cannot be read a tuple has the reason.
"""

from __future__ import annotations

import io
import pickle
import sys
import zlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import scipy.io
import scipy.sparse
from scipy.io.matlab import MatlabFunction, MatlabObject, MatlabOpaque, mat_struct

_HEADER_SIZE = 128
"""Bytes before the first variable of a file of version 5."""
_MATRIX, _COMPRESSED = 14, 15
"""Types of the elements that variables are."""
_MAX_PARTS = 64
"""Largest cell or array of structs whose parts are read."""
_MAX_DEPTH = 16
"""Deepest nesting of structs and cells that is read."""
_OBJECT = (
    "an object, which MATLAB alone can read: save its numbers as a struct, as in "
    "s.time = x.Time; s.data = x.Data"
)
_NO_VERSION = "it is none of the versions 4 to 7.2, or damaged"


def read(data: bytes) -> Iterator[int | dict[str, Any] | str]:
    """Yield what the program sends of a file, but for the end."""
    if not data.startswith(b"MATLAB 5.0") and data[126:128] not in (b"IM", b"MI"):
        yield from _variables(data, 0, _NO_VERSION) if 0 in data[:4] else (_NO_VERSION,)
        return
    order: Literal["big", "little"] = "big" if data[126:128] == b"MI" else "little"
    start = _HEADER_SIZE
    while start < len(data):
        kind, length = (int.from_bytes(data[at : at + 4], order) for at in (start, start + 4))
        stop = start + 8 + length
        if kind not in (_MATRIX, _COMPRESSED) or stop > len(data):
            yield f"from byte {start} on it is cut or damaged: no variable that begins there is read"
            return
        content = data[start:stop]
        problem = f"the variable at byte {start} is damaged: it is left out"
        try:
            content = zlib.decompress(content[8:]) if kind == _COMPRESSED else content
        except zlib.error:
            yield problem
        else:
            yield from _variables(data[:_HEADER_SIZE] + content, start, problem)
        start = stop


def _variables(file: bytes, start: int, problem: str) -> Iterator[int | dict[str, Any] | str]:
    """What scipy finds in a file whose content begins at a byte of the whole one."""
    yield start
    try:
        found = scipy.io.loadmat(io.BytesIO(file), struct_as_record=False)
        yield {name: _plain(value) for name, value in found.items() if not name.startswith("__")}
    except Exception:  # Damage raises a dozen kinds, from KeyError to scipy's own.
        yield problem


def _plain(value: Any, depth: int = 0) -> Any:
    """A value without scipy's types."""
    if depth > _MAX_DEPTH:
        return (f"structs in structs, more than {_MAX_DEPTH} deep",)
    if isinstance(value, mat_struct):
        return {name: _plain(getattr(value, name), depth + 1) for name in value._fieldnames}
    if isinstance(value, (MatlabOpaque, MatlabObject)):
        return (_OBJECT,)
    if isinstance(value, MatlabFunction):
        return ("a function",)
    if scipy.sparse.issparse(value):
        return ("a sparse matrix",)
    if value.dtype.kind == "U":
        return "\n".join(map(str, value.ravel()))
    if not value.size:
        return ("empty",)
    if value.dtype.kind == "O":
        parts = value.ravel(order="F").tolist()
        is_struct = isinstance(parts[0], mat_struct)
        if len(parts) > _MAX_PARTS:
            return (f"{len(parts)} {'structs' if is_struct else 'cells'}",)
        if is_struct and len(parts) == 1:
            return _plain(parts[0], depth)
        return [_plain(part, depth + 1) for part in parts]
    return value.astype(float) if value.dtype.kind in "fiub" else ("complex numbers",)


if __name__ == "__main__":
    for part in chain(read(Path(sys.argv[1]).read_bytes()), (None,)):
        pickle.dump(part, sys.stdout.buffer)
        sys.stdout.buffer.flush()
