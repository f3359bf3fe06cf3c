"""Simulations of all cases at points of the scaled unknowns, none of them twice, and their cost.

A few samples that the noise does not explain (a belt that slipped on a pebble, a pose that jumped) pull least
squares as far as they are off. Huber's loss (1964) is the square up to a corner, and
goes on along the tangent there:

    rho(r) = r^2                 for |r| <= c
    rho(r) = 2 c |r| - c^2       beyond

with c = 1.345 scales, at which it needs 5 % more samples than squares where all errors are normal. The scale
of a signal of a log is that of its own residuals, 1.4826 times their median size, and at least the noise that
is stated: what the model gets wrong everywhere is no outlier.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from segtrack.description import VehicleDescription
from segtrack.errors import FileAccessError, InvalidValueError, Phrase
from segtrack.experiments import Workers
from segtrack.logs.fit.cases import Case, Offsets, residuals_of
from segtrack.logs.fit.unknowns import CLOCK_OFFSET, PLACE, Unknown, with_parameters

Array = NDArray[np.float64]
Loss = Literal["huber", "squares"]
LOSSES: tuple[Loss, ...] = get_args(Loss)
CORNER = 1.345
"""Corner of Huber's loss, over the scale [-]."""
_NORMAL = 1.4826
"""Standard deviation of normal errors over the median of their sizes [-]."""


def corners_of(residuals: Array, there: NDArray[np.bool_], loss: Loss) -> Array:
    """Return the corner of each signal's loss (k,) [-], infinite for squares.

    Args:
        residuals: Residuals of a log, over their standard deviations (n, k) [-].
        there: True where there is one (n, k).
        loss: The loss.
    """
    if loss == "squares":
        return np.full(residuals.shape[1], np.inf)
    columns = zip(residuals.T, there.T, strict=True)
    medians = [float(np.median(abs(column[mask]))) if mask.any() else 0.0 for column, mask in columns]
    return CORNER * np.maximum(_NORMAL * np.array(medians), 1.0)


def roots_of(residuals: Array, corners: Array) -> Array:
    """Return signed roots of losses (n, k) [-], whose squares are the losses.

    Args:
        residuals: Residuals, over their standard deviations (n, k) [-].
        corners: Corner of each signal's loss (k,) [-].
    """
    sizes = abs(residuals)
    with np.errstate(invalid="ignore"):
        beyond = np.sqrt(np.maximum(2 * corners * sizes - corners**2, 0.0))
    return np.asarray(np.where(sizes <= corners, residuals, np.sign(residuals) * beyond))


def influences_of(residuals: Array, corners: Array) -> Array:
    """Return half the losses' derivatives by the residuals (n, k) [-]."""
    return np.clip(residuals, -corners, corners)


def weights_of(residuals: Array, corners: Array) -> Array:
    """Return the influences over the residuals (n, k) [-], 1 at 0."""
    beyond = abs(residuals) > corners
    return np.asarray(np.where(beyond, corners / np.where(beyond, abs(residuals), 1.0), 1.0))


def slopes_of(residuals: Array, corners: Array) -> Array:
    """Return the derivatives of the influences (n, k) [-]: 1, or 0 of what is far off."""
    return (abs(residuals) <= corners).astype(float)


PARTS = (1.0, 0.5, 0.25, 0.125)
"""Parts of a step over which slopes are taken [-]."""
STRAIGHT = 0.5
"""Second difference of residuals over the first, up to which they are taken for a straight line [-]."""
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


def _simulate(job: tuple[Case, VehicleDescription, Offsets]) -> Array:
    return residuals_of(*job)


def _moved(point: Array, i: int, by: float) -> Array:
    """A point with one unknown moved, within its bounds."""
    side = point.copy()
    side[i] = min(max(side[i] + by, 0.0), 1.0)
    return side


def _bend(low: Array, middle: Array, high: Array) -> float:
    """Second difference over the first, of all residuals together [-]; 0 where nothing changes."""
    change = float(np.linalg.norm(high - low))
    return float(np.linalg.norm(high - 2 * middle + low)) / change if change > 0 else 0.0


def offsets_of(case: Case, values: Mapping[str, float]) -> Offsets:
    """Offsets of a case by the values of unknowns, 0 of what is not among them."""
    clock, place = (values.get(f"{name}.{case.name}", 0.0) for name in (CLOCK_OFFSET, PLACE))
    return Offsets(clock, place)


class Evaluator:
    """Costs, residuals and derivatives of a fit's simulations.

    A cost is the sum of all losses, and the root of a loss, with its residual's sign, stands for the residual
    wherever squares are minimised.

    Attributes:
        cases: Fitted cases.
        unknowns: Unknowns in the order of a point's components.
        simulations: Number that were asked for so far, made or found.
        seen: Points that were asked for so far, with their costs.
        best: Point with the least cost so far (p,).
        best_cost: Its cost [-].
        corners: Corner of the loss of each signal (k,), by the case's name [-]; see the top of the file.
    """

    def __init__(
        self,
        vehicle: VehicleDescription,
        cases: Sequence[Case],
        unknowns: Sequence[Unknown],
        pool: Workers,
        store: Store,
        loss: Loss = "squares",
    ) -> None:
        """Take what is simulated, where results are kept, and the loss of residuals."""
        self.vehicle, self.cases, self.unknowns = vehicle, tuple(cases), tuple(unknowns)
        self._pool, self._store = pool, store
        self.simulations = 0
        self.seen: list[tuple[Array, float]] = []
        self.best = self.start
        self.best_cost = np.inf
        self._loss: Loss = loss
        self.corners = {case.name: np.full(case.rows.measured.shape[1], np.inf) for case in self.cases}

    @property
    def start(self) -> Array:
        """Point of the vehicle as it is given (p,)."""
        return np.array([unknown.scaled(unknown.start) for unknown in self.unknowns])

    def rescale(self, point: Array) -> None:
        """Take the scale of each signal from its residuals at a point (p,), from now on the best one."""
        if self._loss == "squares":
            return
        pairs = zip(self.cases, self.raw_residuals([point])[0], strict=True)
        self.corners = {case.name: corners_of(raw, case.rows.there, self._loss) for case, raw in pairs}
        self.best_cost = np.inf
        self.residuals([point])

    def costs(self, points: Sequence[Array]) -> list[float]:
        """Sum of all losses at each point, priors included [-].

        Args:
            points: Points of the scaled unknowns, each (p,).
        """
        asked = self._asked(points)
        missing = [pair for pair in asked if self._store.cost(self._cost_key(*pair)) is None]
        for pair in missing:
            if (raw := self._found(*pair)) is not None:  # From before the corners were others.
                self._keep_cost(pair, raw)
        self._make([pair for pair in missing if self._store.cost(self._cost_key(*pair)) is None], whole=False)
        found = []
        for point in points:
            parts = [self._store.cost(self._cost_key(point, case)) for case in self.cases]
            cost = sum(part for part in parts if part is not None)
            found.append(self._noted(point, cost + float((self.priors(point) ** 2).sum())))
        return found

    def raw_residuals(self, points: Sequence[Array]) -> list[list[Array]]:
        """Residuals of each case at points, without the loss.

        Args:
            points: Points of the scaled unknowns, each (p,).

        Returns:
            For each point, residuals of each case (n, k) [-], n rows of k signals.
        """
        asked = self._asked(points)
        self._make([pair for pair in asked if self._found(*pair) is None], whole=True)
        return [
            [part for case in self.cases if (part := self._found(point, case)) is not None]
            for point in points
        ]

    def residuals(self, points: Sequence[Array]) -> list[list[Array]]:
        """Residuals of each case at points, with the loss: their squares are the losses.

        Args:
            points: Points of the scaled unknowns, each (p,).

        Returns:
            For each point, signed roots of the losses of each case (n, k) [-], n rows of k signals.
        """
        tables = []
        for point, raw in zip(points, self.raw_residuals(points), strict=True):
            pairs = zip(self.cases, raw, strict=True)
            parts = [roots_of(part, self.corners[case.name]) for case, part in pairs]
            squares = sum(float((part**2).sum()) for part in parts)
            self._noted(point, squares + float((self.priors(point) ** 2).sum()))
            tables.append(parts)
        return tables

    def flat(self, points: Sequence[Array]) -> list[Array]:
        """At each point, `residuals` of all cases and then the priors', in one array (n,) [-]."""
        tables = self.residuals(points)
        return [
            np.concatenate([*(part.ravel() for part in table), self.priors(point)])
            for point, table in zip(points, tables, strict=True)
        ]

    def smooth(self, points: Sequence[Array], around: Array) -> list[Array]:
        """At each point, weighted residuals of all cases and then the priors', in one array (n,) [-].

        Their squares bend as the losses do at `around`, without the corners, which would be taken for noise.

        Args:
            points: Points of the scaled unknowns, each (p,).
            around: Point whose residuals give the weights (p,).
        """
        pairs = zip(self.cases, self.raw_residuals([around])[0], strict=True)
        weights = [np.sqrt(weights_of(raw, self.corners[case.name])) for case, raw in pairs]
        return [
            np.concatenate(
                [*((w * r).ravel() for w, r in zip(weights, raw, strict=True)), self.priors(point)]
            )
            for point, raw in zip(points, self.raw_residuals(points), strict=True)
        ]

    def flat_jacobian(self, point: Array, steps: Array, unknowns: Sequence[int] | None = None) -> Array:
        """Slopes of `flat` (n, q); see `jacobian`."""
        cases, priors = self.jacobian(point, steps, unknowns)
        return np.concatenate([*(case.reshape(-1, priors.shape[1]) for case in cases), priors])

    def jacobian(
        self, point: Array, steps: Array, unknowns: Sequence[int] | None = None, raw: bool = False
    ) -> tuple[list[Array], Array]:
        """Slopes of the losses' roots by the unknowns.

        They are central differences, one-sided where a bound is near. A climb now and then goes another way
        on one side of a point, and all that follows is something else: so where a log's residuals on both
        sides are no straight line, the largest of `PARTS` of the step over which they are one counts. With
        none the point is at an edge: the side to which they change less counts, over the step over which they
        are most nearly a line.

        Args:
            point: Point of the scaled unknowns (p,).
            steps: Step of each unknown (p,).
            unknowns: Indices of q unknowns; all if not given.
            raw: True for those of the residuals as they are.

        Returns:
            Of each case (n, k, q), and of the priors (p, q).
        """
        tables_at = self.raw_residuals if raw else self.residuals
        (here,) = tables_at([point])
        chosen = np.arange(len(point)) if unknowns is None else np.array(unknowns)
        columns: list[list[Array]] = [[np.zeros_like(table) for table in here] for _ in chosen]
        priors = np.zeros((len(point), len(chosen)))
        bends = np.full((len(chosen), len(here)), np.inf)
        for part in PARTS:
            bent = np.flatnonzero((bends > STRAIGHT).any(axis=1)).tolist()
            moves = [(i, part * steps[i]) for i in chosen[bent].tolist()]
            ends = [_moved(point, i, sign * by) for i, by in moves for sign in (1, -1)]
            tables = iter(tables_at(ends))
            for k, column in enumerate(bent):
                i = chosen[column]
                up, down, above, below = *ends[2 * k : 2 * k + 2], next(tables), next(tables)
                width = up[i] - down[i]
                priors[:, column] = (self.priors(up) - self.priors(down)) / width
                for c, (high, middle, low) in enumerate(zip(above, here, below, strict=True)):
                    one_sided = point[i] in (up[i], down[i])
                    bend = 0.0 if one_sided else _bend(low, middle, high)
                    if bend < bends[column, c] and bends[column, c] > STRAIGHT:
                        slopes = [(high - low) / width]
                        if bend > STRAIGHT:
                            slopes = [
                                (high - middle) / (up[i] - point[i]),
                                (middle - low) / (point[i] - down[i]),
                            ]
                        bends[column, c], columns[column][c] = bend, min(slopes, key=np.linalg.norm)
        return [np.stack([own[c] for own in columns], axis=-1) for c in range(len(here))], priors

    def priors(self, point: Array) -> Array:
        """Residuals of the priors (p,) [-]; 0 where there is none."""
        return np.array(
            [
                0.0 if u.prior is None else (u.value(x) - u.prior.mean) / u.prior.std
                for u, x in zip(self.unknowns, point.tolist(), strict=True)
            ]
        )

    def vehicle_at(self, point: Array) -> VehicleDescription:
        """Vehicle with the parameter values of a point (p,) of the scaled unknowns."""
        pairs = zip(self.unknowns, point.tolist(), strict=True)
        return with_parameters(self.vehicle, {u.name: u.value(x) for u, x in pairs if u.log is None})

    def offsets(self, point: Array, case: Case) -> Offsets:
        """Offsets of a case at a point, 0 of what is not fitted."""
        pairs = zip(self.unknowns, point.tolist(), strict=True)
        return offsets_of(case, {u.name: u.value(x) for u, x in pairs if u.log == case.name})

    def _asked(self, points: Sequence[Array]) -> list[tuple[Array, Case]]:
        """Simulations of points, which are counted, those that are found among them."""
        asked = [(point, case) for point in points for case in self.cases]
        self.simulations += len(asked)
        return asked

    def _make(self, missing: Sequence[tuple[Array, Case]], whole: bool) -> None:
        keys = [self._key(*pair) for pair in missing]
        first = {key: i for i, key in reversed(list(enumerate(keys)))}
        chosen = sorted(first.values())
        jobs = [(missing[i][1], self.vehicle_at(missing[i][0]), self.offsets(*missing[i])) for i in chosen]

        def keep(job: int, residuals: Array) -> None:
            self._keep_cost(missing[chosen[job]], residuals)
            if whole:
                self._store.put_residuals(keys[chosen[job]], residuals)

        if jobs:
            self._pool.run(_simulate, jobs, keep)

    def _keep_cost(self, pair: tuple[Array, Case], residuals: Array) -> None:
        cost = float((roots_of(residuals, self.corners[pair[1].name]) ** 2).sum())
        self._store.put_cost(self._cost_key(*pair), cost)

    def _found(self, point: Array, case: Case) -> Array | None:
        return self._store.residuals(self._key(point, case), case.rows.measured.shape)

    def _key(self, point: Array, case: Case) -> bytes:
        """Key of a case's simulation, which other logs' clocks and places do not enter."""
        pairs = zip(self.unknowns, point.tolist(), strict=True)
        own = [x for unknown, x in pairs if unknown.log in (None, case.name)]
        return hashlib.sha256(case.name.encode() + b"\0" + np.array(own).tobytes()).digest()

    def _cost_key(self, point: Array, case: Case) -> bytes:
        """Key of a simulation's cost, which the corners of the loss enter."""
        return hashlib.sha256(self._key(point, case) + self.corners[case.name].tobytes()).digest()

    def _noted(self, point: Array, cost: float) -> float:
        self.seen.append((point.copy(), cost))
        if cost < self.best_cost:
            self.best, self.best_cost = point.copy(), cost
        return cost
