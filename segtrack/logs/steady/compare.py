"""Measured steady turns beside simulated ones: by how much they differ, for all and by how they turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segtrack.description import VehicleDescription
from segtrack.errors import InvalidValueError, Phrase
from segtrack.logs.mapping import SteadyTable
from segtrack.logs.statistics import percentile_interval
from segtrack.logs.steady.table import Array

RESAMPLES = 2000
"""Number of resamplings of the rows, for intervals."""
_SEED = 1
RADII: Mapping[str, tuple[float, float]] = {
    "nearly on the spot": (0.0, 0.25),
    "belts against each other": (0.25, 0.5),
    "about a track, or tighter than 1.5 gauges": (0.5, 1.5),
    "wider": (1.5, np.inf),
}
"""Classes of turns by the radius of belts that do not slip, over the gauge: from, and to below."""
SPEEDS = 3
"""Classes of turns by their faster belt, of as many rows each."""


@dataclass(frozen=True)
class Spread:
    """Spread of values over rows.

    Attributes:
        low: Lower quartile.
        median: Median of the values.
        high: Upper quartile.
        interval: 95 % interval of the median, by resampling rows.
    """

    low: float
    median: float
    high: float
    interval: tuple[float, float]

    def summary(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict."""
        return {"quartiles": [self.low, self.high], "median": self.median, "interval": list(self.interval)}


@dataclass(frozen=True, eq=False)
class SteadyGroup:
    """Turns of one kind.

    Attributes:
        name: Description of the class.
        rows: Indices of the rows (m,).
        rmse: Root mean square of simulated less measured, by response, in its unit.
        difference: Simulated less measured, by response, in its unit.
        measured_ratio: Measured yaw rate over that without slip [-]; None where none of them turns.
        simulated_ratio: Simulated yaw rate over that without slip, likewise [-].
        ratio: Measured over simulated yaw rate, likewise [-].
    """

    name: str
    rows: NDArray[np.intp]
    rmse: Mapping[str, float]
    difference: Mapping[str, Spread]
    measured_ratio: Spread | None
    simulated_ratio: Spread | None
    ratio: Spread | None

    def summary(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict of everything but the rows."""
        ratios = {
            "measured_over_no_slip": self.measured_ratio,
            "simulated_over_no_slip": self.simulated_ratio,
            "measured_over_simulated": self.ratio,
        }
        return {
            "name": self.name,
            "turns": len(self.rows),
            "rmse": dict(self.rmse),
            "simulated_less_measured": {key: spread.summary() for key, spread in self.difference.items()},
        } | {name: None if spread is None else spread.summary() for name, spread in ratios.items()}


@dataclass(frozen=True, eq=False)
class SteadyComparison:
    """Measured turns beside simulated ones.

    Attributes:
        measured: Logged turns.
        simulated: Simulated turns of the same belts.
        gauge: Distance of the tracks [m].
        groups: All turns, then classes of them by radius and by speed.
    """

    measured: SteadyTable
    simulated: SteadyTable
    gauge: float
    groups: tuple[SteadyGroup, ...]

    def summary(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict."""
        return {
            "measured": self.measured.name,
            "simulated": self.simulated.name,
            "turns": len(self.measured),
            "gauge": self.gauge,
            "groups": [group.summary() for group in self.groups],
        }


def compare_turns(
    measured: SteadyTable, simulated: SteadyTable, vehicle: VehicleDescription
) -> SteadyComparison:
    """Compare a table with the same turns simulated.

    Args:
        measured: Logged turns.
        simulated: Turns that `simulate_table` returns.
        vehicle: Vehicle that drove, for its gauge.

    Raises:
        InvalidValueError: The tables are not of the same turns.
    """
    if measured.belts.shape != simulated.belts.shape or (measured.belts != simulated.belts).any():
        raise InvalidValueError("simulated turns", "those of the measured belts", Phrase("others"))
    gauge = vehicle.require_track_offsets().gauge
    generator = np.random.default_rng(_SEED)
    groups = tuple(
        _group(name, rows, measured, simulated, gauge, generator)
        for name, rows in _classes(measured)
        if len(rows)
    )
    return SteadyComparison(measured, simulated, gauge, groups)


def _classes(table: SteadyTable) -> Iterator[tuple[str, NDArray[np.intp]]]:
    yield "all", np.arange(len(table))
    radius = np.round(table.radius_over_gauge(), 9)
    for name, (low, high) in RADII.items():
        yield name, np.flatnonzero(table.turning & (radius >= low) & (radius < high))
    fastest = abs(table.belts).max(axis=1)
    ends = np.quantile(fastest, np.linspace(0, 1, SPEEDS + 1))
    for i in range(SPEEDS):
        last = i == SPEEDS - 1
        inside = (fastest >= ends[i]) & ((fastest <= ends[i + 1]) if last else (fastest < ends[i + 1]))
        yield f"faster belt {ends[i]:.3f} to {ends[i + 1]:.3f} m/s", np.flatnonzero(inside)


def _group(
    name: str,
    rows: NDArray[np.intp],
    measured: SteadyTable,
    simulated: SteadyTable,
    gauge: float,
    generator: np.random.Generator,
) -> SteadyGroup:
    logged, made = measured.chosen(rows), simulated.chosen(rows)
    differences = {key: made.responses[key] - logged.responses[key] for key in logged.responses}
    turning = logged.turning
    ratios: list[Spread | None] = [None] * 3
    if turning.any():
        real, model = logged.yaw_rate(gauge)[turning], made.yaw_rate(gauge)[turning]
        without = logged.no_slip_rate(gauge)[turning]
        ratios = [spread_of(values, generator) for values in (real / without, model / without, real / model)]
    return SteadyGroup(
        name,
        rows,
        {key: float(np.sqrt((values**2).mean())) for key, values in differences.items()},
        {key: spread_of(values, generator) for key, values in differences.items()},
        *ratios,
    )


def spread_of(values: Array, generator: np.random.Generator) -> Spread:
    """Quartiles of values (n,), and the interval of their median by resampling."""
    low, median, high = np.percentile(values, [25, 50, 75]).tolist()
    chosen = generator.integers(0, len(values), (RESAMPLES, len(values)))
    return Spread(low, median, high, percentile_interval(np.median(values[chosen], axis=1)))
