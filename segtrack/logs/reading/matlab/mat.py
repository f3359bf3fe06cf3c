"""The variables of a .mat file as a log: vectors, matrices and structs of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import InvalidValueError, LogFileError
from segtrack.logs.log import Channel, Log
from segtrack.logs.reading.damage import summed
from segtrack.logs.reading.headers import is_time, seconds_of, unit_of
from segtrack.logs.reading.matlab.elements import Unread
from segtrack.logs.reading.matlab.variables import read_variables


@dataclass(frozen=True, eq=False)
class _Clock:
    """Times of a struct's values, and where they are from."""

    name: str
    times: NDArray[np.float64]


@dataclass
class _Content:
    """What has been found."""

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
        LogFileError: No numbers can be read, or times are in a unit that is none.
    """
    found = read_variables(data)
    content = _Content(path.name)
    _take(content, "", found.values, None)
    if not content.channels and not content.skipped:
        reason = f": {'; '.join(found.damage)}" if found.damage else ""
        raise LogFileError(path.name, f"has no variables that can be read{reason}")
    if content.untimed:
        names = ", ".join(content.untimed)
        content.notes.append(f"there is no time beside {names}: times are the numbers of the values, from 0")
    return Log(
        path,
        "mat",
        content.channels,
        summed(found.damage),
        notes=tuple(content.notes),
        skipped=content.skipped,
    )


def _take(content: _Content, scope: str, values: Mapping[str, Any], clock: _Clock | None) -> None:
    """Take the values of a struct, or of the file."""
    clock = _clock(content, scope, values) or clock
    texts = {name.lower(): value for name, value in values.items() if isinstance(value, str)}
    unit = texts.get("unit") or texts.get("units") or ""
    for name, value in values.items():
        _take_value(content, scope, f"{scope}.{name}" if scope else name, value, clock, unit)


def _take_value(
    content: _Content, scope: str, name: str, value: Any, clock: _Clock | None, unit: str
) -> None:
    if isinstance(value, Mapping):
        _take(content, name, value, clock)
    elif isinstance(value, list):
        for i, part in enumerate(value):
            _take_value(content, scope, f"{name}[{i}]", part, clock, unit)
    elif (problem := _problem(value)) is not None:
        content.skipped[name] = problem
    else:
        _take_numbers(content, name, scope, value, clock, unit)


def _clock(content: _Content, scope: str, values: Mapping[str, Any]) -> _Clock | None:
    """The times that a struct has."""
    for name, value in values.items():
        if is_time(name) and _problem(value) is None and max(value.shape) == value.size:
            dotted = f"{scope}.{name}" if scope else name
            try:
                seconds, unit = seconds_of(value.ravel().astype(float), unit_of(name), name)
            except InvalidValueError as error:
                raise LogFileError(content.file, str(error)) from None
            if not unit_of(name):
                content.notes.append(f"times are {dotted}, which has no unit: taken as {unit}")
            return _Clock(dotted, seconds)
    return None


def _take_numbers(
    content: _Content, name: str, scope: str, value: Any, clock: _Clock | None, unit: str
) -> None:
    """Take a vector or matrix, its longer side, or the one as long as the times, over time."""
    numbers = np.squeeze(value).astype(float)
    axis = int(np.argmax(numbers.shape))
    timed = clock is not None and len(clock.times) in numbers.shape
    if clock is not None and timed:
        axis = numbers.shape.index(len(clock.times))
    numbers = np.ascontiguousarray(np.moveaxis(numbers, axis, 0))
    source = scope or content.file
    if clock is not None and timed:
        there = np.isfinite(clock.times)  # Not all of them if the file is damaged.
        times, numbers = clock.times[there], numbers[there]
        unit = "s" if name == clock.name else unit
    else:
        times = np.arange(len(numbers), dtype=float)
        source = f"{source} ({len(numbers)} values)"
        content.untimed.append(name)
    content.channels[name] = Channel(name, times, numbers, unit_of(name) or unit, source)


def _problem(value: Any) -> str | None:
    """Why a value is no numbers over time."""
    if isinstance(value, Unread):
        return value.what
    if isinstance(value, str) or value.dtype.kind == "U":
        return "text"
    if value.dtype.kind not in "fiub":
        return "complex numbers"
    if value.size < 2:
        return "one number" if value.size else "empty"
    return None if np.squeeze(value).ndim <= 2 else "numbers with more than two dimensions"
