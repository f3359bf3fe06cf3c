"""Simulations of all cases at points of the scaled unknowns, none of them twice, kept for resuming."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segtrack.description import VehicleDescription
from segtrack.errors import FileAccessError, InvalidValueError, Phrase
from segtrack.experiments.parallel import Pool
from segtrack.logs.fit.cases import Case, residuals_of
from segtrack.logs.fit.unknowns import Unknown, with_parameters

Array = NDArray[np.float64]


def _simulate(job: tuple[Case, VehicleDescription, float]) -> Array:
    return residuals_of(*job)


class Evaluator:
    """Costs, residuals and derivatives of a fit's simulations.

    Attributes:
        cases: Fitted cases.
        unknowns: Unknowns in the order of a point's components.
        simulations: Number that were asked for so far, made or found.
        seen: Points that were asked for so far, with their costs.
        best: Point with the least cost so far (p,).
        best_cost: Its cost [-].
    """

    def __init__(
        self,
        vehicle: VehicleDescription,
        cases: Sequence[Case],
        unknowns: Sequence[Unknown],
        pool: Pool,
        store: Store,
        on_simulation: Callable[[], object] = lambda: None,
    ) -> None:
        """Take what is simulated, and where results are kept."""
        self.vehicle, self.cases, self.unknowns = vehicle, tuple(cases), tuple(unknowns)
        self._pool, self._store, self._on_simulation = pool, store, on_simulation
        self.simulations = 0
        self.seen: list[tuple[Array, float]] = []
        self.best = self.start
        self.best_cost = np.inf

    @property
    def start(self) -> Array:
        """Point of the vehicle as it is given (p,)."""
        return np.array([unknown.scaled(unknown.start) for unknown in self.unknowns])

    def costs(self, points: Sequence[Array]) -> list[float]:
        """Sum of all squared residuals at points, priors included [-]."""
        asked = [(point, case) for point in points for case in self.cases]
        self._make([pair for pair in asked if self._store.cost(self._key(*pair)) is None], whole=False)
        found = []
        for point in points:
            parts = [self._store.cost(self._key(point, case)) for case in self.cases]
            cost = sum(part for part in parts if part is not None)
            found.append(self._noted(point, cost + float((self.priors(point) ** 2).sum())))
        return found

    def residuals(self, points: Sequence[Array]) -> list[list[Array]]:
        """Residuals of each case (n, k) at points [-]."""
        asked = [(point, case) for point in points for case in self.cases]
        self._make([pair for pair in asked if self._found(*pair) is None], whole=True)
        tables = []
        for point in points:
            parts = [part for case in self.cases if (part := self._found(point, case)) is not None]
            squares = sum(float((part**2).sum()) for part in parts)
            self._noted(point, squares + float((self.priors(point) ** 2).sum()))
            tables.append(parts)
        return tables

    def flat(self, points: Sequence[Array]) -> list[Array]:
        """All residuals at points, then the priors' (n,) [-]."""
        tables = self.residuals(points)
        return [
            np.concatenate([*(part.ravel() for part in table), self.priors(point)])
            for point, table in zip(points, tables, strict=True)
        ]

    def flat_jacobian(self, point: Array, steps: Array, unknowns: Sequence[int] | None = None) -> Array:
        """Central differences of `flat` (n, q); see `jacobian`."""
        cases, priors = self.jacobian(point, steps, unknowns)
        return np.concatenate([*(case.reshape(-1, priors.shape[1]) for case in cases), priors])

    def jacobian(
        self, point: Array, steps: Array, unknowns: Sequence[int] | None = None
    ) -> tuple[list[Array], Array]:
        """Central differences of the residuals by the unknowns; one-sided where a bound is near.

        Args:
            point: Point of the scaled unknowns (p,).
            steps: Step of each unknown (p,).
            unknowns: Indices of q unknowns; all if not given.

        Returns:
            Of each case (n, k, q), and of the priors (p, q).
        """
        chosen = range(len(point)) if unknowns is None else unknowns
        sides = []
        for i in chosen:
            for sign in (1, -1):
                side = point.copy()
                side[i] = min(max(side[i] + sign * steps[i], 0.0), 1.0)
                sides.append(side)
        tables = self.residuals(sides)
        columns, priors = [], []
        for at, i in enumerate(chosen):
            up, down = sides[2 * at : 2 * at + 2]
            (above, below), width = tables[2 * at : 2 * at + 2], up[i] - down[i]
            columns.append([(a - b) / width for a, b in zip(above, below, strict=True)])
            priors.append((self.priors(up) - self.priors(down)) / width)
        cases = [np.stack([column[c] for column in columns], axis=-1) for c in range(len(self.cases))]
        return cases, np.stack(priors, axis=-1)

    def priors(self, point: Array) -> Array:
        """Residuals of the priors (p,) [-]; 0 where there is none."""
        return np.array(
            [
                0.0 if u.prior is None else (u.value(x) - u.prior.mean) / u.prior.std
                for u, x in zip(self.unknowns, point.tolist(), strict=True)
            ]
        )

    def vehicle_at(self, point: Array) -> VehicleDescription:
        """The vehicle at a point."""
        pairs = zip(self.unknowns, point.tolist(), strict=True)
        return with_parameters(self.vehicle, {u.name: u.value(x) for u, x in pairs if u.log is None})

    def clock_offset(self, point: Array, case: Case) -> float:
        """Clock offset of a case at a point [s]; 0 if it is not fitted."""
        pairs = zip(self.unknowns, point.tolist(), strict=True)
        return next((u.value(x) for u, x in pairs if u.log == case.name), 0.0)

    def _make(self, missing: Sequence[tuple[Array, Case]], whole: bool) -> None:
        keys = [self._key(*pair) for pair in missing]
        first = {key: i for i, key in reversed(list(enumerate(keys)))}
        chosen = sorted(first.values())
        jobs = [
            (missing[i][1], self.vehicle_at(missing[i][0]), self.clock_offset(*missing[i])) for i in chosen
        ]

        def keep(job: int, residuals: Array) -> None:
            self._store.put(keys[chosen[job]], residuals, whole)
            self._on_simulation()

        if jobs:
            self._pool.run(_simulate, jobs, keep)

    def _found(self, point: Array, case: Case) -> Array | None:
        return self._store.residuals(self._key(point, case), case.rows.measured.shape)

    def _key(self, point: Array, case: Case) -> bytes:
        """Key of a case's simulation, which other logs' clocks do not enter."""
        pairs = zip(self.unknowns, point.tolist(), strict=True)
        own = [x for unknown, x in pairs if unknown.log in (None, case.name)]
        return hashlib.sha256(case.name.encode() + b"\0" + np.array(own).tobytes()).digest()

    def _noted(self, point: Array, cost: float) -> float:
        self.simulations += len(self.cases)
        self.seen.append((point.copy(), cost))
        if cost < self.best_cost:
            self.best, self.best_cost = point.copy(), cost
        return cost


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
        """Sum of squared residuals; None if it is not known."""
        found = self._base.execute("select cost from costs where key = ?", (key,)).fetchone()
        return None if found is None else float(found[0])

    def residuals(self, key: bytes, shape: tuple[int, ...]) -> Array | None:
        """Residuals of a shape; None if they are not known."""
        found = self._base.execute("select data from residuals where key = ?", (key,)).fetchone()
        return None if found is None else np.frombuffer(found[0]).reshape(shape)

    def put(self, key: bytes, residuals: Array, whole: bool) -> None:
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
