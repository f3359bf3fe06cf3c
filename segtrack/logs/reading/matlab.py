"""MATLAB files of versions 4 to 7.2, read by scipy in a process of its own, as a `Log`."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import InvalidValueError, LogFileError
from segtrack.logs.log import Channel, Log, abbreviate
from segtrack.logs.reading import matlab_process
from segtrack.logs.reading.headers import has_time, is_time, seconds_of, unit_of

_RUN = "import runpy, sys; runpy.run_path(sys.argv.pop(1), run_name='__main__')"
_TIME, _TIME_PER_BYTE = 60.0, 1e-6
"""Time limit of the process [s], and what is added for each byte of the file [s]."""


class _Clock(NamedTuple):
    """Times of a struct's values [s], and the name of the field that has them."""

    name: str
    times: NDArray[np.float64]


def read_mat(path: Path) -> Log:
    """Read a MATLAB file of version 4 to 7.2.

    Structs give dotted names. Times of values are the vector of the same length that is called a time,
    in the same struct or in the nearest one around it; the numbers of the values, from 0, if there is none.

    Raises:
        LogFileError: No numbers can be read, or times have a unit that is not one of time.
    """
    damage: list[str] = []
    content = _Content(path.name)
    content.take("", "", _read_variables(path, damage), None, "")
    if not content.channels and not content.skipped:
        reason = f": {'; '.join(abbreviate(damage))}" if damage else ""
        raise LogFileError(path.name, f"has no variables that can be read{reason}")
    if content.untimed:
        names = ", ".join(content.untimed)
        content.notes.append(f"there is no time beside {names}: times are the numbers of the values, from 0")
    notes = tuple(content.notes)
    return Log(path, "mat", content.channels, abbreviate(damage), notes=notes, skipped=content.skipped)


def _read_variables(path: Path, damage: list[str]) -> dict[str, Any]:
    """Variables by name, see `matlab_process`, as far as scipy comes; adds to the damage.

    The working directory is an empty folder, so that Python finds no user's file in place of a module.
    """
    command = [sys.executable, "-c", _RUN, str(Path(matlab_process.__file__)), str(path.resolve())]
    limit = _TIME + _TIME_PER_BYTE * path.stat().st_size
    with TemporaryDirectory(prefix="segtrack-") as empty:
        try:
            done = subprocess.run(command, cwd=empty, timeout=limit, capture_output=True, check=False)
            sent = io.BytesIO(done.stdout)
        except subprocess.TimeoutExpired as error:
            sent = io.BytesIO(error.stdout or b"")
    found, start = dict[str, Any](), 0
    try:
        while (part := pickle.load(sent)) is not None:
            if isinstance(part, int):
                start = part
            elif isinstance(part, str):
                damage.append(part)
            else:
                found |= part
    except (EOFError, pickle.UnpicklingError):
        damage.append(f"scipy broke down at byte {start}: no variable that begins there or behind is read")
    return found


class _Content:
    """Channels of a file, and remarks on them, while its variables are gone through."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.channels: dict[str, Channel] = {}
        self.skipped: dict[str, str] = {}
        self.notes: list[str] = []
        self.untimed: list[str] = []

    def take(self, scope: str, name: str, value: Any, clock: _Clock | None, unit: str) -> None:
        """Take a value in the scope of a struct, or of the file, with that one's clock and unit."""
        if isinstance(value, Mapping):
            clock = self._clock(name, value) or clock
            texts = {key.lower(): text for key, text in value.items() if isinstance(text, str)}
            unit = texts.get("unit") or texts.get("units") or ""
            for key, part in value.items():
                self.take(name, f"{name}.{key}" if name else key, part, clock, unit)
        elif isinstance(value, list):
            for i, part in enumerate(value):
                self.take(scope, f"{name}[{i}]", part, clock, unit)
        elif (problem := _problem(value)) is not None:
            self.skipped[name] = problem
        else:
            self._take_numbers(scope, name, np.squeeze(value), clock, unit)

    def _clock(self, scope: str, values: Mapping[str, Any]) -> _Clock | None:
        """The times that a struct has among its fields."""
        for name, value in values.items():
            if not is_time(name) or _problem(value) is not None or max(value.shape) < value.size:
                continue
            dotted = f"{scope}.{name}" if scope else name
            try:
                seconds, unit = seconds_of(value.ravel(), unit_of(name), name)
            except InvalidValueError as error:
                raise LogFileError(self.file, str(error)) from None
            timed = has_time(seconds)
            if not timed.all():
                missing = f"{int((~timed).sum())} of {len(timed)} numbers of {dotted} are no times"
                self.notes.append(f"{missing}: values of these are left out")
            if not timed.any():
                continue
            if not unit_of(name):
                self.notes.append(f"times are {dotted}, which has no unit: taken as {unit}")
            return _Clock(dotted, seconds)
        return None

    def _take_numbers(
        self, scope: str, name: str, numbers: NDArray[np.float64], clock: _Clock | None, unit: str
    ) -> None:
        """Take a vector or matrix, its longer side, or the one as long as the times, over time."""
        source = scope or self.file
        if clock is not None and len(clock.times) in numbers.shape:
            there = has_time(clock.times)
            times = clock.times[there]
            numbers = np.moveaxis(numbers, numbers.shape.index(len(clock.times)), 0)[there]
            unit = "s" if name == clock.name else unit
        else:
            numbers = np.moveaxis(numbers, int(np.argmax(numbers.shape)), 0)
            times = np.arange(len(numbers), dtype=float)
            source = f"{source} ({len(numbers)} values)"
            self.untimed.append(name)
        values = np.ascontiguousarray(numbers)
        self.channels[name] = Channel(name, times, values, unit_of(name) or unit, source)


def _problem(value: Any) -> str | None:
    """Reason why a value is no numbers over time; None if it is."""
    if isinstance(value, tuple):
        return str(value[0])
    if isinstance(value, str):
        return "text"
    if isinstance(value, (Mapping, list)):
        return "a struct"
    if value.size < 2:
        return "one number"
    return None if np.squeeze(value).ndim <= 2 else "numbers with more than two dimensions"
