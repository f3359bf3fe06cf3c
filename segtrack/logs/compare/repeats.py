"""Repeats of one trial: how far what was simulated is from what was measured, as distributions.

The area between the two empirical distribution functions of a number (Ferson, Oberkampf and Ginzburg 2008)
is the Wasserstein distance of the first order. It has the number's unit, is 0 for distributions that are
alike, and the difference of the means where they do not overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import wasserstein_distance

from segtrack.errors import InvalidValueError
from segtrack.logs.compare.comparison import Comparison, Run
from segtrack.logs.compare.uncertainty.bootstrap import CONFIDENCE, REPLICATES

_SEED = 20090


@dataclass(frozen=True)
class AreaRow:
    """A number over repeats.

    Attributes:
        run: Of which simulation.
        phase: Its name, or `whole`.
        quantity: What is compared, in words.
        unit: Of all numbers.
        logged: D of each repeat.
        simulated: S of each repeat.
        area: Between the two distributions.
        interval: Of the area, 95 %, by repeats drawn anew; it leans to larger areas where repeats are few.
    """

    run: Run
    phase: str
    quantity: str
    unit: str
    logged: tuple[float, ...]
    simulated: tuple[float, ...]
    area: float
    interval: tuple[float, float]

    def summary(self) -> dict[str, object]:
        """Everything as plain values with the names that JSON has."""
        return {
            **vars(self),
            "logged": list(self.logged),
            "simulated": list(self.simulated),
            "interval": list(self.interval),
        }


def area_rows(repeats: Sequence[Comparison]) -> tuple[AreaRow, ...]:
    """The area metric of every number that all repeats of a trial have.

    Raises:
        InvalidValueError: There are less than two.
    """
    if len(repeats) < 2:
        raise InvalidValueError("repeats of a trial", "two or more", len(repeats))
    return tuple(_rows(repeats))


def area(simulated: Sequence[float], logged: Sequence[float]) -> tuple[float, tuple[float, float]]:
    """Area between two empirical distributions, and its interval; a repeat is drawn with both its numbers."""
    s, d = np.asarray(simulated, dtype=float), np.asarray(logged, dtype=float)
    drawn = np.random.default_rng(_SEED).integers(0, len(s), (REPLICATES, len(s)))
    # Of as many samples each, so that the distance is the mean one of those in order.
    areas = abs(np.sort(s[drawn], axis=1) - np.sort(d[drawn], axis=1)).mean(axis=1)
    low, high = np.percentile(areas, [50 * (1 - CONFIDENCE), 50 * (1 + CONFIDENCE)])
    return float(wasserstein_distance(s, d)), (float(low), float(high))


def _rows(repeats: Sequence[Comparison]) -> Iterator[AreaRow]:
    for run, comparison in repeats[0].runs.items():
        others = [repeat.runs[run] for repeat in repeats[1:] if run in repeat.runs]
        for row in comparison.rows:
            if row.logged is None:
                continue
            found = [row, *(other.find(row.quantity, row.phase) for other in others)]
            rows = [other for other in found if other is not None and other.logged is not None]
            if len(rows) < len(repeats):
                continue
            logged = tuple(float(r.logged) for r in rows if r.logged is not None)
            simulated = tuple(float(r.simulated) for r in rows if r.simulated is not None)
            yield AreaRow(run, row.phase, row.quantity, row.unit, logged, simulated, *area(simulated, logged))
