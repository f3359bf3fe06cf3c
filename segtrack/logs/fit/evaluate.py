"""Simulations of all cases at points of the scaled unknowns, many at a time, none of them twice."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from segtrack.description import VehicleDescription
from segtrack.experiments.parallel import Done, Job
from segtrack.logs.fit.cases import Case, residuals_of
from segtrack.logs.fit.store import Store
from segtrack.logs.fit.unknowns import Unknown, with_parameters

Array = NDArray[np.float64]


class Pool(Protocol):
    """Pool that runs jobs: `segtrack.experiments.parallel.Workers`, or its counterpart for Ray."""

    def run(
        self, function: Callable[[Job], Done], jobs: Sequence[Job], on_done: Callable[[int, Done], object]
    ) -> list[Done]:
        """Call a function for each job; see `Workers.run`."""


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
