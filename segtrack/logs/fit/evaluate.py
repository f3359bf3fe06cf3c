"""Simulations of all cases at points of the scaled unknowns, none of them twice."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from segtrack.description import VehicleDescription
from segtrack.experiments import Workers
from segtrack.logs.fit.cases import Case, residuals_of
from segtrack.logs.fit.loss import Loss, corners_of, roots_of, weights_of
from segtrack.logs.fit.store import Store
from segtrack.logs.fit.unknowns import Unknown, with_parameters

Array = NDArray[np.float64]


def _simulate(job: tuple[Case, VehicleDescription, float]) -> Array:
    return residuals_of(*job)


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
        corners: Corner of the loss of each signal (k,), by the case's name [-]; see `loss`.
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
        """Sum of all losses at points, priors included [-]."""
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
        """Residuals of each case (n, k) at points, as they are [-]."""
        asked = self._asked(points)
        self._make([pair for pair in asked if self._found(*pair) is None], whole=True)
        return [
            [part for case in self.cases if (part := self._found(point, case)) is not None]
            for point in points
        ]

    def residuals(self, points: Sequence[Array]) -> list[list[Array]]:
        """Roots of the losses of each case's residuals (n, k) at points [-]."""
        tables = []
        for point, raw in zip(points, self.raw_residuals(points), strict=True):
            pairs = zip(self.cases, raw, strict=True)
            parts = [roots_of(part, self.corners[case.name]) for case, part in pairs]
            squares = sum(float((part**2).sum()) for part in parts)
            self._noted(point, squares + float((self.priors(point) ** 2).sum()))
            tables.append(parts)
        return tables

    def flat(self, points: Sequence[Array]) -> list[Array]:
        """All roots of losses at points, then the priors' residuals (n,) [-]."""
        tables = self.residuals(points)
        return [
            np.concatenate([*(part.ravel() for part in table), self.priors(point)])
            for point, table in zip(points, tables, strict=True)
        ]

    def smooth(self, points: Sequence[Array], around: Array) -> list[Array]:
        """All residuals at points, weighted as the loss weighs them around one, then the priors' (n,) [-].

        Their squares bend as the losses do there, without the corners, which would be taken for noise.
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
        """Central differences of `flat` (n, q); see `jacobian`."""
        cases, priors = self.jacobian(point, steps, unknowns)
        return np.concatenate([*(case.reshape(-1, priors.shape[1]) for case in cases), priors])

    def jacobian(
        self, point: Array, steps: Array, unknowns: Sequence[int] | None = None, raw: bool = False
    ) -> tuple[list[Array], Array]:
        """Central differences of the losses' roots by the unknowns; one-sided where a bound is near.

        Args:
            point: Point of the scaled unknowns (p,).
            steps: Step of each unknown (p,).
            unknowns: Indices of q unknowns; all if not given.
            raw: True for those of the residuals as they are.

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
        tables = self.raw_residuals(sides) if raw else self.residuals(sides)
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

    def _asked(self, points: Sequence[Array]) -> list[tuple[Array, Case]]:
        """Simulations of points, which are counted, those that are found among them."""
        asked = [(point, case) for point in points for case in self.cases]
        self.simulations += len(asked)
        return asked

    def _make(self, missing: Sequence[tuple[Array, Case]], whole: bool) -> None:
        keys = [self._key(*pair) for pair in missing]
        first = {key: i for i, key in reversed(list(enumerate(keys)))}
        chosen = sorted(first.values())
        jobs = [
            (missing[i][1], self.vehicle_at(missing[i][0]), self.clock_offset(*missing[i])) for i in chosen
        ]

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
        """Key of a case's simulation, which other logs' clocks do not enter."""
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
