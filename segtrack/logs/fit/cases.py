"""Cases of a fit: each log as a table of measured values, beside the same table simulated.

A row is an instant of a log, or a turn of a table of steady turns; a column is a number of a signal. Rows of
an instant are means over `WINDOW`, with the weight of as many samples as they have: so that what a log says
does not depend on its rate, and neighbouring residuals are a fixed time apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from segtrack.description import VehicleDescription
from segtrack.errors import DivergedError, InvalidValueError, Phrase, UnknownNameError
from segtrack.robot import Motion, Signal, quantity_of

Array = NDArray[np.float64]
WINDOW = 0.05
"""Time over which a log's samples are averaged [s]."""
LOST = 1e3
"""Residual of everything where a simulation diverged [standard deviations]."""
_ANGLES = ("roll", "pitch", "yaw")


@dataclass(frozen=True, eq=False)
class Rows:
    """Measured values as a table.

    Attributes:
        labels: Label of each column: a signal's key, with an axis where it has several.
        units: Unit of each column.
        times: Time of each value (n, k) [s]; None where rows are no instants.
        measured: (n, k); NaN where there is none.
        std: Standard deviation of each value (n, k), in the column's unit.
        shifts: Standard deviation of what all values of a column may be off by, in its unit (k,): of the
            place where a log was put, for example; infinite where nothing is known of it.
    """

    labels: tuple[str, ...]
    units: tuple[str, ...]
    times: Array | None
    measured: Array
    std: Array
    shifts: Array

    @property
    def there(self) -> NDArray[np.bool_]:
        """Mask of the values that there are (n, k)."""
        return np.isfinite(self.measured)


@dataclass(frozen=True)
class LogFiles:
    """Files that a case was read from.

    Attributes:
        log: File of the log.
        log_sha256: SHA-256 of its bytes.
        terrain: File or name of the terrain; None for flat ground.
        terrain_sha256: Hash of its content, `LoadedTerrain.sha256`.
    """

    log: str
    log_sha256: str
    terrain: str | None = None
    terrain_sha256: str | None = None


class Case(Protocol):
    """A log, or table, of a fit."""

    @property
    def name(self) -> str:
        """Name in messages and files."""

    @property
    def held_out(self) -> bool:
        """True if it takes no part in the fit, and is scored only."""

    @property
    def files(self) -> LogFiles | None:
        """Files that it was read from; None if there were none."""

    @property
    def rows(self) -> Rows:
        """Measured values."""

    def simulated(self, vehicle: VehicleDescription, clock_offset: float) -> Array:
        """Simulate the table (n, k); NaN where there is no value.

        Args:
            vehicle: Vehicle that drives.
            clock_offset: Delay of the clock of the log's sensors behind that of its belts [s].

        Raises:
            DivergedError: The simulation broke down.
        """


def residuals_of(case: Case, vehicle: VehicleDescription, clock_offset: float = 0.0) -> Array:
    """Simulated less measured values over their standard deviations (n, k) [-]; 0 where one is missing.

    What a column may be off by as a whole is taken out as far as it is unknown, such that the sum of squares
    is that of the residuals under their joint covariance with it.
    """
    rows = case.rows
    try:
        differences = case.simulated(vehicle, clock_offset) - rows.measured
    except DivergedError:
        return np.where(rows.there, LOST, 0.0)
    turning = [label in ("roll", "yaw") for label in rows.labels]
    differences[:, turning] = (differences[:, turning] + np.pi) % (2 * np.pi) - np.pi
    residuals = np.nan_to_num(differences / rows.std, nan=0.0)
    along = np.where(np.isfinite(differences), 1 / rows.std, 0.0)
    lengths = np.maximum((along**2).sum(axis=0), np.finfo(float).tiny)
    share = 1 - 1 / np.sqrt(1 + rows.shifts**2 * lengths)
    return np.asarray(residuals - along * (share * (along * residuals).sum(axis=0) / lengths))


@dataclass(frozen=True, eq=False)
class MotionCase:
    """A logged motion, and what simulates it.

    Attributes:
        name: Name of the case.
        motion: Logged motion in the terrain's frame.
        signals: Compared signals: standard deviation by key, None for the signal's own.
        simulate: Called with a vehicle and this case, importable by name; gives the motion as simulated.
        settings: Further input of `simulate`.
        driving: Keys of the signals that drive the simulation, whose clock is the reference.
        held_out: True if it is scored only.
        files: Files that it was read from.
        shifts: Standard deviation of what all values of a column may be off by, see `Rows`, by its label.
        rows: Measured values, made of the others.
    """

    name: str
    motion: Motion
    signals: Mapping[str, float | None]
    simulate: Callable[[VehicleDescription, MotionCase], Motion]
    settings: Any = None
    driving: tuple[str, ...] = ()
    held_out: bool = False
    files: LogFiles | None = None
    shifts: Mapping[str, float] = field(default_factory=dict)
    rows: Rows = field(init=False)

    def __post_init__(self) -> None:
        """Make the table.

        Raises:
            UnknownNameError: A key of no quantity, or of none that the log has.
            InvalidValueError: No signals, or one without a standard deviation.
        """
        if not self.signals:
            raise InvalidValueError(f"signals of {self.name}", "one or more", Phrase("none"))
        object.__setattr__(self, "rows", _tabulated(self))

    def signal(self, key: str, motion: Motion) -> Signal:
        """A signal of a motion, angles from its orientation if need be.

        Raises:
            UnknownNameError: The motion has none.
        """
        found = motion.angle(key) if key in _ANGLES else motion.signals.get(key)
        if found is None:
            raise UnknownNameError(f"signal of {motion.name}", key, motion.signals)
        return found

    def simulated(self, vehicle: VehicleDescription, clock_offset: float) -> Array:
        """See `Case.simulated`."""
        motion = self.simulate(vehicle, self)
        reference = {self.motion.signals[key].source for key in self.driving if key in self.motion.signals}
        assert self.rows.times is not None
        columns: list[Array] = []
        for key in self.signals:
            logged, made = self.signal(key, self.motion), self.signal(key, motion)
            own = clock_offset if logged.source not in reference else 0.0
            for i in range(quantity_of(key).width):
                columns.append(_column(made, i, self.rows.times[:, len(columns)], own))
        return np.stack(columns, axis=1)

    @property
    def has_two_clocks(self) -> bool:
        """True if a compared signal has another source than those that drive the simulation."""
        reference = {self.motion.signals[key].source for key in self.driving if key in self.motion.signals}
        return any(self.signal(key, self.motion).source not in reference for key in self.signals)


@dataclass(frozen=True)
class CaseScore:
    """Score of a vehicle's simulation of a log.

    Attributes:
        score: Root mean square of all residuals over their standard deviations [-]; None if the simulation
            diverged.
        rmse: Root mean square of simulated less measured, by column, in its unit; likewise.
    """

    score: float | None
    rmse: Mapping[str, float | None]

    @property
    def diverged(self) -> bool:
        """True if the simulation diverged."""
        return self.score is None

    def __str__(self) -> str:
        """The score, for tables."""
        return "diverged" if self.score is None else f"{self.score:.2f}"


def score_of(case: Case, residuals: Array) -> CaseScore:
    """Score a case by its residuals over standard deviations (n, k)."""
    there, rows = case.rows.there, case.rows
    if (residuals[there] == LOST).all():
        return CaseScore(None, dict.fromkeys(rows.labels))
    squares = np.where(there, residuals * rows.std, 0.0) ** 2
    # A mean of several samples counts as many.
    counts = np.where(there, rows.std.max(axis=0) ** 2 / rows.std**2, 0.0)
    rmse = np.sqrt((squares * counts).sum(axis=0) / counts.sum(axis=0))
    score = float(np.sqrt((residuals[there] ** 2).mean()))
    return CaseScore(score, dict(zip(rows.labels, rmse.tolist(), strict=True)))


def _tabulated(case: MotionCase) -> Rows:
    first, last = case.motion.span
    edges = first + WINDOW * np.arange(max(1, round((last - first) / WINDOW)) + 1)
    labels: list[str] = []
    units: list[str] = []
    columns: list[tuple[Array, Array, Array]] = []
    for key, given in case.signals.items():
        quantity, signal = quantity_of(key), case.signal(key, case.motion)
        std = given if given is not None else signal.std
        if quantity.width == 4:
            raise InvalidValueError(
                f"signals of {case.name}", "roll, pitch and yaw instead", Phrase(f"{key}")
            )
        if std is None or not std > 0:
            what = f"standard deviation of signal {key} of {case.name}"
            raise InvalidValueError(what, "given, above 0", Phrase("none") if std is None else std)
        for i in range(quantity.width):
            labels.append(key if quantity.width == 1 else f"{key}.{'xyz'[i]}")
            units.append(quantity.unit)
            columns.append(_means(signal, i, np.asarray(edges), std))
    times, measured, stds = (np.stack(part, axis=1) for part in zip(*columns, strict=True))
    shifts = np.array([case.shifts.get(label, 0.0) for label in labels])
    return Rows(tuple(labels), tuple(units), times, measured, stds, shifts)


def _means(signal: Signal, axis: int, edges: Array, std: float) -> tuple[Array, Array, Array]:
    """Mean times, mean values and their standard deviations by window (n,)."""
    values = signal.values if signal.values.ndim == 1 else signal.values[:, axis]
    n = len(edges) - 1
    window = np.floor((signal.times - edges[0]) / WINDOW).astype(int)
    inside = (window >= 0) & (window < n)
    counts = np.bincount(window[inside], minlength=n)
    with np.errstate(invalid="ignore"):
        times = np.bincount(window[inside], signal.times[inside], n) / counts
        means = np.bincount(window[inside], values[inside], n) / counts
    middles = (edges[1:] + edges[:-1]) / 2
    times = np.where(counts > 0, times, middles)
    return times, means, std / np.sqrt(np.maximum(counts, 1))


def _column(signal: Signal, axis: int, times: Array, offset: float) -> Array:
    """Values at times on a clock that is behind; NaN where that is outside of what was simulated."""
    values = signal.at(times + offset)
    column = values if values.ndim == 1 else values[:, axis]
    first, last = signal.times[0], signal.times[-1]
    # Without an offset no more than half a window or a sample is outside.
    outside = (times + offset < min(first, times[0])) | (times + offset > max(last, times[-1]))
    return np.where(outside, np.nan, column)
