"""Tables of text, CSV, TSV and TUM, as logs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import InvalidValueError, LogFileError
from segtrack.logs.log import Channel, Log, abbreviate, format_count
from segtrack.logs.reading.headers import has_time, is_time, seconds_of
from segtrack.logs.reading.table_form import TableForm, find_form
from segtrack.logs.reading.table_rows import TableRows, read_rows

_HEAD = 2**18
"""Bytes of the beginning that the form is told from."""
_TUM_NORM = 0.01
"""Largest deviation of the median length of a trajectory's quaternions from 1."""
_CONTROL = bytes(byte for byte in range(32) if chr(byte) not in "\0\t\n\r") + b"\x7f"
_FEW_CONTROL, _FEW_ZEROS = 0.08, 0.5
"""Fractions of bytes, more of which no text has: a damaged one may have zeros, but few of the others."""


def is_text(data: bytes) -> bool:
    """Return True if bytes are those of a text, some of which may be damaged."""
    sample = data[:_HEAD].rstrip(b"\0")
    control = len(sample) - len(sample.translate(None, _CONTROL))
    return control <= _FEW_CONTROL * len(sample) and sample.count(b"\0") <= _FEW_ZEROS * len(sample)


def read_table(path: Path, data: bytes) -> Log:
    """Read a CSV, TSV or TUM file.

    Columns separated by blanks, eight of them, the last four a unit quaternion, are a trajectory as the
    tools of TUM's benchmark write it: time, position, orientation (x, y, z, w).

    Raises:
        LogFileError: The file has no rows of numbers, or decimal commas.
    """
    text, encoding = _normalize(data)
    lines = text[:_HEAD].decode(encoding, "replace").split("\n")
    form = find_form(lines, path.name)
    start = 0
    for _ in range(form.first):
        start = text.index(b"\n", start) + 1
    rows = read_rows(text[start:], form, encoding)
    if not len(rows.values) or not rows.columns:
        raise LogFileError(path.name, "has no rows of numbers")
    if path.suffix.lower() == ".tum" or _is_tum(form, rows):
        return _trajectory(path, form, rows)
    return _columns(path, form, rows)


def _columns(path: Path, form: TableForm, rows: TableRows) -> Log:
    notes = (
        [f"{format_count(form.titles, 'line')} taken for a title: before the first row"]
        if form.titles
        else []
    )
    damage = list(rows.damage)
    values = rows.values
    names = [form.names[column] for column in rows.columns]
    units = [form.units[column] for column in rows.columns]
    found = [i for i, column in enumerate(rows.columns) if form.kinds[column] == "date" or is_time(names[i])]
    times = np.arange(len(values), dtype=float)
    if found:
        i = found[0]
        is_date = form.kinds[rows.columns[i]] == "date"
        units[i] = "s" if is_date else units[i]
        values = _timed(values, i, damage, path.name)
        times, unit = _times(values[:, i], units[i], names[i], path.name)
        if not units[i]:
            notes.append(f"times are column {names[i]!r}, whose header has no unit: taken as {unit}")
    else:
        notes.append("no column is called a time: times are the numbers of the rows, from 0")
    skipped = {name: "text" for i, name in enumerate(form.names) if i not in rows.columns}
    channels = {
        name: Channel(name, times, np.ascontiguousarray(values[:, i]), units[i], path.name)
        for i, name in enumerate(names)
    }
    return Log(path, "csv", channels, abbreviate(damage), notes=tuple(notes), skipped=skipped)


def _times(values: NDArray[np.float64], unit: str, name: str, file: str) -> tuple[NDArray[np.float64], str]:
    try:
        return seconds_of(values, unit, name)
    except InvalidValueError as error:
        raise LogFileError(file, str(error)) from None


def _timed(values: NDArray[np.float64], column: int, damage: list[str], file: str) -> NDArray[np.float64]:
    """Return the rows that have a time in a column; the number of the others is added to the damage."""
    timed = has_time(values[:, column])
    if not timed.any():
        raise LogFileError(file, "has no row with a time")
    if not timed.all():
        damage.append(f"{format_count(int((~timed).sum()), 'row')} left out: without a time")
    return values[timed]


def _is_tum(form: TableForm, rows: TableRows) -> bool:
    if form.delimiter is not None or len(form.names) != 8 or set(form.kinds) != {"number"}:
        return False
    with np.errstate(over="ignore"):
        norms = np.linalg.norm(rows.values[:, 4:], axis=1) if rows.values.shape[1] == 8 else np.empty(0)
    norms = norms[np.isfinite(norms)]
    return bool(len(norms)) and abs(float(np.median(norms)) - 1) <= _TUM_NORM


def _trajectory(path: Path, form: TableForm, rows: TableRows) -> Log:
    if rows.values.shape[1] != 8:
        problem = f"a TUM trajectory must have 8 columns (t x y z qx qy qz qw), got {len(form.names)}"
        raise LogFileError(path.name, problem)
    damage = list(rows.damage)
    values = _timed(rows.values, 0, damage, path.name)
    times = np.ascontiguousarray(values[:, 0])
    parts: Sequence[tuple[str, slice, str]] = (
        ("position", slice(1, 4), "m"),
        ("orientation", slice(4, 8), "-"),
    )
    channels = {
        name: Channel(name, times, np.ascontiguousarray(values[:, part]), unit, path.name)
        for name, part, unit in parts
    }
    return Log(path, "tum", channels, abbreviate(damage))


def _normalize(data: bytes) -> tuple[bytes, str]:
    """The text with newlines alone at the ends of lines, and its encoding."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        data = data.decode("utf-16", "replace").encode()
    data = data.removeprefix(b"\xef\xbb\xbf")
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        data[:_HEAD].decode()
    except UnicodeDecodeError as error:
        if error.start < min(len(data), _HEAD) - 4:  # Else a character that the cut divides.
            return data, "latin-1"
    return data, "utf-8"
