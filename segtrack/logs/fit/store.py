"""State file of a fit: what its simulations gave, kept for resuming."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import FileAccessError, InvalidValueError, Phrase

Array = NDArray[np.float64]
HASH = "sha256:"
"""Begins what stands for a value that is too long to be told."""
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
        """Sum of losses; None if it is not known."""
        found = self._base.execute("select cost from costs where key = ?", (key,)).fetchone()
        return None if found is None else float(found[0])

    def residuals(self, key: bytes, shape: tuple[int, ...]) -> Array | None:
        """Residuals of a shape; None if they are not known."""
        found = self._base.execute("select data from residuals where key = ?", (key,)).fetchone()
        return None if found is None else np.frombuffer(found[0]).reshape(shape)

    def put_cost(self, key: bytes, cost: float) -> None:
        """Keep the cost of a simulation."""
        self._put("costs", key, cost)

    def put_residuals(self, key: bytes, residuals: Array) -> None:
        """Keep the residuals of a simulation."""
        self._put("residuals", key, np.ascontiguousarray(residuals).tobytes())

    def _put(self, table: str, key: bytes, value: float | bytes) -> None:
        self._base.execute(f"insert or replace into {table} values (?, ?)", (key, value))
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
