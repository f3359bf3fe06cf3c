"""Tables of text, CSV, TSV and TUM, as logs: their columns, and which of them are the times."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import InvalidValueError, LogFileError
from segtrack.logs.log import Channel, Log, abbreviate, format_count, format_locations
from segtrack.logs.reading.headers import find_stamp, has_time, is_time, seconds_of
from segtrack.logs.reading.table_form import HEAD, Kind, TableForm, find_form, normalize
from segtrack.logs.reading.table_rows import TableRows, read_rows

Array = NDArray[np.float64]
_TUM_NORM = 0.01
"""Largest deviation of the median length of a trajectory's quaternions from 1."""


def read_table(path: Path, data: bytes) -> Log:
    """Read a CSV, TSV or TUM file.

    Columns separated by blanks, eight of them, the last four a unit quaternion, are a trajectory as the
    tools of TUM's benchmark write it: time, position, orientation (x, y, z, w).

    Raises:
        LogFileError: The file has no rows of numbers, or decimal commas.
    """
    text, encoding = normalize(data)
    lines = text[:HEAD].decode(encoding, "replace").split("\n")
    form = find_form(lines, path.name)
    start = 0
    for _ in range(form.first):
        start = text.index(b"\n", start) + 1
    rows = read_rows(text, start, form, encoding)
    if not rows.values.size:
        raise LogFileError(path.name, "has no rows of numbers")
    other = _tum_problem(form, rows)
    if path.name.lower().removesuffix(".gz").endswith(".tum") or other == "":
        return _trajectory(path, form, rows)
    return _columns(path, form, rows, [] if other is None else [f"no TUM trajectory: {other}"])


def _columns(path: Path, form: TableForm, rows: TableRows, notes: list[str]) -> Log:
    if form.titles:
        notes.append(f"{format_count(form.titles, 'line')} taken for a title: before the first row")
    damage = list(rows.damage)
    values = rows.values
    names = [form.names[column] for column in rows.columns]
    units = [form.units[column] for column in rows.columns]
    kinds = [form.kinds[column] for column in rows.columns]
    found = [i for i, kind in enumerate(kinds) if kind == "date" or (kind == "number" and is_time(names[i]))]
    for i, (name, column) in enumerate(zip(names, values, strict=True)):
        if i not in found[:1] and len(infinite := np.flatnonzero(np.isinf(column))):
            rows_of_it = format_locations("row", (infinite + 1).tolist())
            damage.append(f"column {name!r}: infinite, taken as missing, in {rows_of_it}")
            column[infinite] = np.nan
    times = np.arange(values.shape[1], dtype=float)
    if found:
        i = found[0]
        units[i] = "s" if kinds[i] == "date" else units[i]
        values = _timed(values, values[i], damage, path.name)
        try:
            times, unit = seconds_of(values[i], units[i], names[i])
        except InvalidValueError as error:
            raise LogFileError(path.name, str(error)) from None
        if not units[i]:
            notes.append(f"times are column {names[i]!r}, whose header has no unit: taken as {unit}")
    elif parts := _parts_of_times(names, kinds):
        values = _timed(values, values[list(parts)].sum(axis=0), damage, path.name)
        times = np.sum([values[i] / count for i, count in parts.items()], axis=0)
        units = ["s" if i in parts and not units[i] else unit for i, unit in enumerate(units)]
        listed = " and ".join(repr(names[i]) for i in parts)
        notes.append(f"times are column{'s' * (len(parts) > 1)} {listed}")
    else:
        notes.append("no column is called a time: times are the numbers of the rows, from 0")
    skipped = {name: "text" for i, name in enumerate(form.names) if i not in rows.columns}
    channels = {name: Channel(name, times, values[i], units[i], path.name) for i, name in enumerate(names)}
    return Log(path, "csv", channels, abbreviate(damage), notes=tuple(notes), skipped=skipped)


def _parts_of_times(names: Sequence[str], kinds: Sequence[Kind]) -> dict[int, float]:
    """Columns whose sum is the time, each with the number of its units in a second; none if there are none.

    A date and a time of day, or this alone; or whole seconds and nanoseconds.
    """
    if "clock" in kinds:
        return {kinds.index(kind): 1.0 for kind in ("day", "clock") if kind in kinds}
    stamp = find_stamp(names)
    return {} if stamp is None else dict(zip(stamp, (1.0, 1e9), strict=True))


def _timed(values: Array, times: Array, damage: list[str], file: str) -> Array:
    """Return the numbers (k, n) of rows that have a time (n,); how many do not is added to the damage."""
    timed = has_time(times)
    if not timed.any():
        raise LogFileError(file, "has no row with a time")
    if timed.all():
        return values
    damage.append(f"{format_count(int((~timed).sum()), 'row')} left out: without a time")
    return values[:, timed]


def _tum_problem(form: TableForm, rows: TableRows) -> str | None:
    """Describe why eight columns separated by blanks are no trajectory; empty for one, None for others."""
    if form.delimiter is not None or len(form.names) != 8:
        return None
    if others := [i for i in range(8) if form.kinds[i] != "number" or i not in rows.columns]:
        return f"column {others[0] + 1} must hold numbers, got {form.kinds[others[0]]}"
    with np.errstate(over="ignore"):
        norms = np.linalg.norm(rows.values[4:], axis=0)
    known = np.flatnonzero(np.isfinite(norms))
    if len(known) and abs(float(np.median(norms[known])) - 1) <= _TUM_NORM:
        return ""
    wrong = known[abs(norms[known] - 1) > _TUM_NORM]
    got = f"one of length {norms[wrong[0]]:.3g} in row {wrong[0] + 1}" if len(wrong) else "none"
    return f"columns 5 to 8 must be unit quaternions, got {got}"


def _trajectory(path: Path, form: TableForm, rows: TableRows) -> Log:
    if len(rows.values) != 8:
        problem = f"a TUM trajectory must have 8 columns (t x y z qx qy qz qw), got {len(form.names)}"
        raise LogFileError(path.name, problem)
    damage = list(rows.damage)
    values = _timed(rows.values, rows.values[0], damage, path.name)
    times, unit = seconds_of(values[0], "", "column 1")
    notes = () if unit == "s" else (f"times are column 1, taken as {unit}",)
    channels = {
        name: Channel(name, times, np.ascontiguousarray(values[part].T), unit, path.name)
        for name, part, unit in (("position", np.s_[1:4], "m"), ("orientation", np.s_[4:8], "-"))
    }
    return Log(path, "tum", channels, abbreviate(damage), notes=notes)
