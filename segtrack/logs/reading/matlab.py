"""MATLAB files of versions 4 to 7.2, read by scipy in a process of its own, as a `Log`.

A file of version 5 (which those of MATLAB 5 to 7.2 are) is a header, and then an element for each variable:
four bytes of type, four of length, and the content, mostly compressed (MathWorks, MAT-file format, R2019b).
Each variable is read alone, so that a damaged one takes no other with it.
"""

from __future__ import annotations

import json
import re
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import InvalidValueError, LogFileError
from segtrack.logs.log import Channel, Log, abbreviate
from segtrack.logs.reading import matlab_process
from segtrack.logs.reading.headers import has_time, is_time, seconds_of, unit_of

_ELEMENTS = (matlab_process.MATRIX, matlab_process.COMPRESSED)
_NEXT = {
    "<": re.compile(rb"\x0f\0\0\0[\s\S]{4}\x78[\x01\x5e\x9c\xda]|\x0e\0\0\0[\s\S]{4}\x06\0\0\0\x08\0\0\0"),
    ">": re.compile(rb"\0\0\0\x0f[\s\S]{4}\x78[\x01\x5e\x9c\xda]|\0\0\0\x0e[\s\S]{4}\0\0\0\x06\0\0\0\x08"),
}
"""First bytes of a variable, by byte order."""
_RUN = "import runpy, sys; runpy.run_path(sys.argv.pop(1), run_name='__main__')"
_TIME, _TIME_PER_BYTE = 60.0, 1e-6
"""Time limit of the process [s], and what is added for each byte of the file [s]."""
_MAX_ENDS = 5
"""Variables that may end the process before the remaining ones are given up."""


class _Unread(NamedTuple):
    """Variable without numbers over time, and the reason."""

    reason: str


@dataclass(frozen=True, eq=False)
class _Clock:
    """Times of a struct's values, and the name of the field that has them."""

    name: str
    times: NDArray[np.float64]


@dataclass
class _Content:
    """Channels of a file, and remarks on them, while its variables are gone through."""

    file: str
    channels: dict[str, Channel] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    untimed: list[str] = field(default_factory=list)


def read_mat(path: Path, data: bytes) -> Log:
    """Read a MATLAB file of version 4 to 7.2.

    Structs give dotted names. Times of values are the vector of the same length that is called a time,
    in the same struct or in the nearest one around it; the numbers of the values, from 0, if there is none.

    Raises:
        LogFileError: No numbers can be read, or times have a unit that is not one of time.
    """
    damage: list[str] = []
    values = _read_variables(path, _find_variables(data, damage), len(data), damage)
    content = _Content(path.name)
    _take_struct(content, "", values, None)
    if not content.channels and not content.skipped:
        reason = f": {'; '.join(abbreviate(damage))}" if damage else ""
        raise LogFileError(path.name, f"has no variables that can be read{reason}")
    if content.untimed:
        names = ", ".join(content.untimed)
        content.notes.append(f"there is no time beside {names}: times are the numbers of the values, from 0")
    notes = tuple(content.notes)
    return Log(path, "mat", content.channels, abbreviate(damage), notes=notes, skipped=content.skipped)


def _find_variables(data: bytes, damage: list[str]) -> list[tuple[int, int]]:
    """First byte of each variable, and the one behind its last; a file of version 4 counts as one."""
    if not data.startswith(b"MATLAB 5.0") and data[126:128] not in (b"IM", b"MI"):
        if 0 in data[:4]:
            return [(0, len(data))]
        damage.append("it is none of the versions 4 to 7.2, or damaged")
        return []
    order = ">" if data[126:128] == b"MI" else "<"
    found = []
    start = matlab_process.HEADER_SIZE
    while start + 8 <= len(data):
        kind, length = struct.unpack_from(f"{order}II", data, start)
        stop = start + 8 + length
        is_inside = kind in _ELEMENTS and stop <= len(data)
        if is_inside:
            found.append((start, stop))
        if is_inside and (stop == len(data) or _begins_variable(data, stop, order)):
            start = stop
            continue
        # This length is damaged, or what follows. Fields of structs that are met here have no names.
        following = _NEXT[order].search(data, start + 1)
        if kind in _ELEMENTS and stop > len(data) and following is None:
            damage.append("the last variable is cut: it is left out")
            return found
        first = stop if is_inside else start
        start = len(data) if following is None else following.start()
        if first < start:
            damage.append(f"bytes {first} to {start} are no variable that can be read")
    if start < len(data):
        damage.append(f"the last {len(data) - start} bytes are no variable")
    return found


def _begins_variable(data: bytes, start: int, order: str) -> bool:
    return data[start : start + 4] in {struct.pack(f"{order}I", kind) for kind in _ELEMENTS}


def _read_variables(
    path: Path, elements: list[tuple[int, int]], size: int, damage: list[str]
) -> dict[str, Any]:
    """Variables by name: numbers, text, a dict of a struct's fields, a list, or `_Unread`."""
    found: dict[str, Any] = {}
    ends = number = 0
    with tempfile.TemporaryDirectory(prefix="segtrack-") as name:
        folder = Path(name)
        (folder / "job.json").write_text(json.dumps([str(path.resolve()), elements]), encoding="utf-8")
        while number < len(elements) and ends < _MAX_ENDS:
            _run_process(folder, number, _TIME + _TIME_PER_BYTE * size)
            while (file := folder / f"{number}.npz").exists():
                variables = _load(file)
                if variables is None:
                    damage.append(_damaged(elements[number]))
                found |= variables or {}
                number += 1
            if number < len(elements):
                damage.append(_damaged(elements[number]))
                ends += 1
                number += 1
    if number < len(elements):
        damage.append(f"{len(elements) - number} more variables are left out: {ends} ended scipy's process")
    return found


def _damaged(element: tuple[int, int]) -> str:
    start, _ = element
    if not start:
        return "it is none of the versions 4 to 7.2, or damaged"
    return f"the variable at byte {start} is damaged: it is left out"


def _run_process(folder: Path, first: int, limit: float) -> None:
    """Let scipy read the variables from a number on, as far as it comes within a time [s].

    The working directory is the folder, so that Python finds no user's file in place of a module.
    """
    command = [sys.executable, "-c", _RUN, str(Path(matlab_process.__file__)), str(folder), str(first)]
    try:
        subprocess.run(command, cwd=folder, timeout=limit, capture_output=True, check=False)
    except subprocess.TimeoutExpired:
        pass  # The variable that it was at has no file.


def _load(file: Path) -> dict[str, Any] | None:
    """Variables that the process has written, None if they are damaged; numpy refuses pickles."""
    with np.load(file, allow_pickle=False) as stored:
        arrays = [stored[f"arr_{i}"] for i in range(len(stored.files))]
    tree = json.loads(str(arrays[0]))
    return None if tree is None else {name: _restore(value, arrays[1:]) for name, value in tree.items()}


def _restore(described: list[Any], arrays: list[NDArray[np.float64]]) -> Any:
    """Inverse of `matlab_process.describe_value`."""
    kind, content = described
    if kind == "struct":
        return {name: _restore(value, arrays) for name, value in content.items()}
    if kind == "list":
        return [_restore(value, arrays) for value in content]
    if kind == "numbers":
        return arrays[content]
    return content if kind == "text" else _Unread(content)


def _take_struct(content: _Content, scope: str, values: Mapping[str, Any], clock: _Clock | None) -> None:
    """Take the fields of a struct, or the variables of the file."""
    clock = _find_clock(content, scope, values) or clock
    texts = {name.lower(): value for name, value in values.items() if isinstance(value, str)}
    unit = texts.get("unit") or texts.get("units") or ""
    for name, value in values.items():
        _take_value(content, scope, f"{scope}.{name}" if scope else name, value, clock, unit)


def _take_value(
    content: _Content, scope: str, name: str, value: Any, clock: _Clock | None, unit: str
) -> None:
    if isinstance(value, Mapping):
        _take_struct(content, name, value, clock)
    elif isinstance(value, list):
        for i, part in enumerate(value):
            _take_value(content, scope, f"{name}[{i}]", part, clock, unit)
    elif (problem := _problem(value)) is not None:
        content.skipped[name] = problem
    else:
        _take_numbers(content, name, scope, value, clock, unit)


def _find_clock(content: _Content, scope: str, values: Mapping[str, Any]) -> _Clock | None:
    """The times that a struct has among its fields."""
    for name, value in values.items():
        if is_time(name) and _problem(value) is None and max(value.shape) == value.size:
            dotted = f"{scope}.{name}" if scope else name
            try:
                seconds, unit = seconds_of(value.ravel(), unit_of(name), name)
            except InvalidValueError as error:
                raise LogFileError(content.file, str(error)) from None
            timed = has_time(seconds)
            if not timed.all():
                missing = f"{int((~timed).sum())} of {len(timed)} numbers of {dotted} are no times"
                content.notes.append(f"{missing}: values of these are left out")
            if not timed.any():
                continue
            if not unit_of(name):
                content.notes.append(f"times are {dotted}, which has no unit: taken as {unit}")
            return _Clock(dotted, seconds)
    return None


def _take_numbers(
    content: _Content, name: str, scope: str, value: Any, clock: _Clock | None, unit: str
) -> None:
    """Take a vector or matrix, its longer side, or the one as long as the times, over time."""
    numbers = np.squeeze(value)
    axis = int(np.argmax(numbers.shape))
    timed = clock is not None and len(clock.times) in numbers.shape
    if clock is not None and timed:
        axis = numbers.shape.index(len(clock.times))
    numbers = np.ascontiguousarray(np.moveaxis(numbers, axis, 0))
    source = scope or content.file
    if clock is not None and timed:
        there = has_time(clock.times)
        times, numbers = clock.times[there], numbers[there]
        unit = "s" if name == clock.name else unit
    else:
        times = np.arange(len(numbers), dtype=float)
        source = f"{source} ({len(numbers)} values)"
        content.untimed.append(name)
    content.channels[name] = Channel(name, times, numbers, unit_of(name) or unit, source)


def _problem(value: Any) -> str | None:
    """Reason why a value is no numbers over time; None if it is."""
    if isinstance(value, _Unread):
        return value.reason
    if isinstance(value, str):
        return "text"
    if isinstance(value, (Mapping, list)):
        return "a struct"
    if value.size < 2:
        return "one number"
    return None if np.squeeze(value).ndim <= 2 else "numbers with more than two dimensions"
