"""Program of the process in which scipy reads the variables of a MATLAB file.

scipy trusts the lengths in a file: damaged ones make it read memory that is not its own, which ends the
process (scipy 1.17.1), or take forever. `segtrack.logs.reading.matlab` runs this file as a script, so that
only this process ends; it imports nothing of segtrack, and therefore starts in 0.4 s.

The folder given as the first argument has `job.json` with the MATLAB file's path and, for each variable,
its first byte and the one behind its last; the second argument is the number of the variable to start with.
Each variable is written into the folder as `NUMBER.npz`, a damaged one as null, before the next one is read.
"""

from __future__ import annotations

import io
import json
import os
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse
from numpy.typing import NDArray
from scipy.io.matlab import MatlabFunction, MatlabObject, MatlabOpaque, mat_struct

HEADER_SIZE = 128
"""Bytes before the first variable of a file of version 5."""
MATRIX, COMPRESSED = 14, 15
"""Types of the elements that variables are."""
_MAX_PARTS = 64
"""Largest cell or array of structs whose parts are read."""
_MAX_DEPTH = 16
"""Deepest nesting of structs and cells that is read."""
_OBJECT = (
    "an object, which MATLAB alone can read: save its numbers as a struct, as in "
    "s.time = x.Time; s.data = x.Data"
)


def read_element(data: bytes, start: int, stop: int) -> dict[str, Any]:
    """Return the variables, by name, that scipy finds between two bytes of a file.

    A variable of version 5 is given to scipy as a file of its own, unpacked: zlib checks all of a packed
    variable, scipy only what it needs. From byte 0 on it is a whole file of version 4.
    """
    content = data[start:stop]
    if start:
        big_endian = data[126:128] == b"MI"
        kind = int.from_bytes(content[:4], "big" if big_endian else "little")
        content = data[:HEADER_SIZE] + (zlib.decompress(content[8:]) if kind == COMPRESSED else content)
    found = scipy.io.loadmat(io.BytesIO(content), struct_as_record=False)
    return {name: value for name, value in found.items() if not name.startswith("__")}


def describe_value(value: Any, arrays: list[NDArray[np.float64]], depth: int = 0) -> list[Any]:
    """Return a variable for JSON as a pair of kind and content; numbers are appended to `arrays`.

    The kinds: `struct` with its fields, `list` with its parts, `text`, `numbers` with their place in
    `arrays`, and `unread` with the reason.
    """
    if depth > _MAX_DEPTH:
        return ["unread", f"structs in structs, more than {_MAX_DEPTH} deep"]
    if isinstance(value, mat_struct):
        fields = value._fieldnames
        return ["struct", {name: describe_value(getattr(value, name), arrays, depth + 1) for name in fields}]
    if isinstance(value, (MatlabOpaque, MatlabObject)):
        return ["unread", _OBJECT]
    if isinstance(value, MatlabFunction):
        return ["unread", "a function"]
    if scipy.sparse.issparse(value):
        return ["unread", "a sparse matrix"]
    if not value.size:
        return ["text", ""] if value.dtype.kind == "U" else ["unread", "empty"]
    if value.dtype.kind == "U":
        return ["text", "\n".join(map(str, value.ravel()))]
    if value.dtype.kind == "O":
        return _describe_parts(value.ravel(order="F").tolist(), arrays, depth)
    if value.dtype.kind not in "fiub":
        return ["unread", "complex numbers"]
    arrays.append(value.astype(float))
    return ["numbers", len(arrays) - 1]


def _describe_parts(parts: list[Any], arrays: list[NDArray[np.float64]], depth: int) -> list[Any]:
    """Return a cell, an array of structs, or a single struct."""
    is_struct = isinstance(parts[0], mat_struct)
    if len(parts) > _MAX_PARTS:
        return ["unread", f"{len(parts)} {'structs' if is_struct else 'cells'}"]
    if is_struct and len(parts) == 1:
        return describe_value(parts[0], arrays, depth)
    return ["list", [describe_value(part, arrays, depth + 1) for part in parts]]


def _run(folder: Path, first: int) -> None:
    path, elements = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    data = Path(path).read_bytes()
    for number, (start, stop) in list(enumerate(elements))[first:]:
        arrays: list[NDArray[np.float64]] = []
        tree = None
        try:
            found = read_element(data, start, stop)
            tree = {name: describe_value(value, arrays) for name, value in found.items()}
        except Exception:  # Damage raises a dozen kinds, from KeyError to scipy's own.
            arrays = []
        temporary = folder / "unfinished"
        with temporary.open("wb") as file:
            np.savez(file, np.array(json.dumps(tree)), *arrays)
        os.replace(temporary, folder / f"{number}.npz")


if __name__ == "__main__":
    _run(Path(sys.argv[1]), int(sys.argv[2]))
