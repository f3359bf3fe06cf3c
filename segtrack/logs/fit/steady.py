"""Steady turns simulated: as a case of a fit, and beside what was measured, for all and by how they turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segtrack.description import VehicleDescription
from segtrack.engine import EngineName
from segtrack.errors import InvalidValueError, Phrase, UnknownNameError
from segtrack.experiments import drive_turns, run_parallel, uniform_turns
from segtrack.logs.fit.cases import LogFiles, Offsets, Rows
from segtrack.logs.mapping import RESPONSES, SteadyTable
from segtrack.logs.statistics import percentile_interval

Array = NDArray[np.float64]
DATA = Path(str(resources.files("segtrack.logs").joinpath("data")))
"""Folder of the recorded turns that are bundled, with their mapping and fit file."""


def responses_of(belts: Array, tracks: Array, yaw_rate: Array, keys: Sequence[str]) -> Array:
    """Responses in the order of keys (n, k), of belts and tracks (n, 2) [m/s] and yaw rates (n,) [rad/s]."""
    slips = belts - tracks
    every = {"slip_velocity.left": slips[:, 0], "slip_velocity.right": slips[:, 1], "yaw_rate": yaw_rate}
    return np.stack([every[key] for key in keys], axis=1)


UNIFORM = "uniform pressure"
"""Instead of a track model: planar Coulomb friction under uniform pressure, in closed form but for a root."""
PARTS = 27
"""Into which the turns of a table are divided, for many processes and a progress bar."""


def simulate_turns(
    vehicle: VehicleDescription,
    belts: Array,
    track_model: str,
    engine: EngineName | None = None,
    keys: Sequence[str] = tuple(RESPONSES),
) -> Array:
    """Responses of turns (n, k), in the order of keys.

    Args:
        vehicle: Vehicle that drives.
        belts: Speeds of the left and the right belts (n, 2) [m/s].
        track_model: `UNIFORM`, or what builds its tracks.
        engine: Name of the engine; one that runs the track model if not given.
        keys: Responses, see `RESPONSES`.

    Raises:
        UnknownNameError: No such track model or engine.
        InvalidValueError: An engine that does not run the track model, or a body without tracks on a side.
        DivergedError: The simulation broke down.
    """
    if track_model == UNIFORM:
        turns = uniform_turns(vehicle, belts)
    else:
        turns = drive_turns(vehicle, belts, track_model, engine)
    return responses_of(belts, turns.tracks, turns.yaw_rate, keys)


def simulate_table(
    vehicle: VehicleDescription,
    table: SteadyTable,
    track_model: str,
    workers: int | None = None,
    on_part: Callable[[], object] = lambda: None,
) -> SteadyTable:
    """A table's turns as simulated: the same belts, all responses.

    Args:
        vehicle: Vehicle that drives.
        table: Whose belt speeds it gets.
        track_model: See `simulate_turns`.
        workers: Processes; as many as there are cores if not given.
        on_part: Called after each of `part_count`.
    """
    parts = np.array_split(table.belts, part_count(table))
    simulate = partial(simulate_turns, vehicle, track_model=track_model)
    found = np.concatenate(run_parallel(simulate, parts, workers=workers, on_done=on_part))
    responses = {key: found[:, i].copy() for i, key in enumerate(RESPONSES)}
    return SteadyTable(f"{table.name}, {track_model}", table.belts, responses)


def part_count(table: SteadyTable) -> int:
    """Return the number of parts of `simulate_table`."""
    return min(PARTS, len(table))


@dataclass(frozen=True, eq=False)
class SteadyCase:
    """A table of steady turns, and what simulates it.

    Attributes:
        name: Name of the case.
        table: Logged table.
        signals: Compared responses: standard deviation of each, None for the table's own.
        track_model: Name of the track model; `uniform pressure` for planar friction without a simulator.
        engine: Name of the engine; one that runs the track model if not given.
        held_out: True if it is scored only.
        files: Files that it was read from.
        rows: Measured values, made of the others.
    """

    name: str
    table: SteadyTable
    signals: Mapping[str, float | None]
    track_model: str = "compliant"
    engine: EngineName | None = None
    held_out: bool = False
    files: LogFiles | None = None
    rows: Rows = field(init=False)

    def __post_init__(self) -> None:
        """Make the table of what is compared.

        Raises:
            UnknownNameError: A response that the table lacks.
            InvalidValueError: No responses, or one without a standard deviation.
        """
        if not self.signals:
            raise InvalidValueError(f"signals of {self.name}", "one or more", Phrase("none"))
        stds = []
        for key, given in self.signals.items():
            if key not in self.table.responses:
                raise UnknownNameError(f"response of {self.name}", key, self.table.responses)
            std = given if given is not None else self.table.std.get(key)
            if std is None or not std > 0:
                what = f"standard deviation of {key} of {self.name}"
                raise InvalidValueError(what, "given, above 0", Phrase("none") if std is None else std)
            stds.append(std)
        measured = np.stack([self.table.responses[key] for key in self.signals], axis=1)
        units = tuple(RESPONSES[key] for key in self.signals)
        each = np.tile(stds, (len(measured), 1))
        rows = Rows(tuple(self.signals), units, None, measured, each, np.zeros(len(stds)))
        object.__setattr__(self, "rows", rows)

    @property
    def place_std(self) -> float:
        """Zero: turns have no place."""
        return 0.0

    def simulated(self, vehicle: VehicleDescription, offsets: Offsets) -> Array:
        """See `Case.simulated`; turns have no clock."""
        return simulate_turns(vehicle, self.table.belts, self.track_model, self.engine, tuple(self.signals))


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
