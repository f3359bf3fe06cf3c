"""State file of a fit: its problem, and every simulation that it has made, so that it can be resumed."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from segtrack.errors import FileAccessError, InvalidValueError, Phrase
from segtrack.logs.fit.cases import Case
from segtrack.logs.fit.unknowns import Unknown
from segtrack.logs.replay import LoadedTerrain
from segtrack.recording.setup import PACKAGES, version_of

HASH = "sha256:"
"""Begins what stands for a value that is too long to be told."""
_LONGEST = 80
"""Characters of a value that is told as it is."""


def describe(cases: Sequence[Case], unknowns: Sequence[Unknown], **others: Any) -> dict[str, Any]:
    """All that a fit's simulations and stages depend on, part by part, those first that tell most."""
    return {
        "parameters": [unknown.name for unknown in unknowns],
        "logs": [case.name for case in cases],
        **{part: _short(value) for part, value in others.items()},
        **dict(_of_unknowns(unknowns)),
        **dict(_of_cases(cases)),
        **{f"version of {name}": version_of(name) for name in (*PACKAGES, "cmaes")},
    }


def _of_unknowns(unknowns: Sequence[Unknown]) -> Iterator[tuple[str, Any]]:
    for unknown in unknowns:
        yield f"start of {unknown.name}", unknown.start
        yield f"bounds of {unknown.name}", [unknown.low, unknown.high]
        yield f"prior of {unknown.name}", _short(unknown.prior)


def _of_cases(cases: Sequence[Case]) -> Iterator[tuple[str, Any]]:
    """All fields of each case: logged values, times, belts, settings, files, whether it is held out."""
    for case in cases:
        yield f"kind of {case.name}", type(case).__name__
        for key, value in _fields(case).items():
            yield f"{key} of {case.name}", _short(value)


def _short(value: Any) -> Any:
    """A value as JSON can hold it, or its hash if it is long."""
    plain = _plain(value)
    text = json.dumps(plain, sort_keys=True)
    return plain if len(text) <= _LONGEST else HASH + hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case np.ndarray():
            data = np.ascontiguousarray(value).tobytes()
            return [str(value.dtype), list(value.shape), hashlib.sha256(data).hexdigest()]
        case np.generic():
            return value.item()
        case Path():
            return value.as_posix()
        case BaseModel():
            return value.model_dump(mode="json")
        case LoadedTerrain():
            return [value.name, value.sha256]
        case Mapping():
            return {str(key): _plain(part) for key, part in value.items()}
        case list() | tuple():
            return [_plain(part) for part in value]
        case _ if callable(value):
            return f"{value.__module__}.{value.__qualname__}"
        case _:
            return _plain(_fields(value))


def _fields(value: Any) -> dict[str, Any]:
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return dict(vars(value))


FILE = "state.sqlite"
"""Name in a results folder."""
_PATIENCE = 1.0
"""Time between two writes to the disk, which are either whole or nothing [s]."""


class Store:
    """Costs and residuals of simulations, by a key; what is killed loses those of its last second."""

    def __init__(
        self, folder: Path | None = None, problem: Mapping[str, Any] | None = None, resume: bool = False
    ) -> None:
        """Open the state file of a folder.

        Args:
            folder: Folder of the results; None keeps everything in memory.
            problem: Description of the fit, JSON-serialisable.
            resume: Go on with what is there, which must be of the same problem.

        Raises:
            FileAccessError: There is nothing to resume, there is a fit that is not to be resumed, or the
                file cannot be used.
            InvalidValueError: The state file is of another problem.
        """
        self._path = None if folder is None else folder / FILE
        if self._path is not None:
            there = self._path.is_file()
            if resume and not there:
                raise FileAccessError("resume from", self._path, "no such file")
            if there and not resume:
                reason = f"there is one already, in {FILE}; go on with it by --resume, or give another --out"
                raise FileAccessError("begin a fit in", self._path.parent, reason)
            self._path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._open(problem or {}, resume)
        except sqlite3.Error as error:
            raise FileAccessError("use", self._path, str(error)) from None

    def _open(self, problem: Mapping[str, Any], resume: bool) -> None:
        self._base = sqlite3.connect(":memory:" if self._path is None else self._path)
        self._written = time.monotonic()
        with self._base:
            self._base.execute("create table if not exists problem (part text primary key, value text)")
            self._base.execute("create table if not exists costs (key blob primary key, cost real)")
            self._base.execute("create table if not exists residuals (key blob primary key, data blob)")
        parts = {part: json.dumps(value, sort_keys=True) for part, value in problem.items()}
        if resume:
            kept = dict(self._base.execute("select part, value from problem").fetchall())
            for part in dict.fromkeys([*parts, *sorted(kept)]):
                if kept.get(part) != parts.get(part):
                    before, now = _describe(kept.get(part)), _describe(parts.get(part))
                    untold = before is None or now is None
                    when = f"when the fit of {self._path} began"
                    expected = f"what it was {when}" if untold else f"{before} as {when}"
                    raise InvalidValueError(part, expected, Phrase("something else" if untold else str(now)))
        else:
            with self._base:
                self._base.executemany("insert into problem values (?, ?)", parts.items())

    def cost(self, key: bytes) -> float | None:
        """Sum of squared residuals; None if it is not known."""
        found = self._base.execute("select cost from costs where key = ?", (key,)).fetchone()
        return None if found is None else float(found[0])

    def residuals(self, key: bytes, shape: tuple[int, ...]) -> NDArray[np.float64] | None:
        """Residuals of a shape; None if they are not known."""
        found = self._base.execute("select data from residuals where key = ?", (key,)).fetchone()
        return None if found is None else np.frombuffer(found[0]).reshape(shape)

    def put(self, key: bytes, residuals: NDArray[np.float64], whole: bool) -> None:
        """Keep the cost of a simulation, and its residuals if they are asked for whole."""
        cost = float((residuals**2).sum())
        self._base.execute("insert or replace into costs values (?, ?)", (key, cost))
        if whole:
            data = np.ascontiguousarray(residuals).tobytes()
            self._base.execute("insert or replace into residuals values (?, ?)", (key, data))
        if time.monotonic() > self._written + _PATIENCE:
            self._base.commit()
            self._written = time.monotonic()

    def close(self) -> None:
        """Write what is left, and close the file."""
        self._base.commit()
        self._base.close()


def _describe(text: str | None) -> str | None:
    """A part of a problem in words; None for what is not there, or is too long to be told."""
    match None if text is None else json.loads(text):
        case list(values) if values and not any(isinstance(value, dict | list) for value in values):
            return ", ".join(map(str, values))
        case bool() | int() | float() as value:
            return str(value)
        case str(value) if value and not value.startswith(HASH):
            return value
        case _:
            return None
