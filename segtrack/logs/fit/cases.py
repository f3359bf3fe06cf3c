"""Cases of a fit: each log as a table of measured values, beside the same table simulated.

A row is an instant of a log, or a turn of a table of steady turns; a column is a number of a signal. Rows of
an instant are means over `WINDOW`, with the weight of as many samples as they have: so that what a log says
does not depend on its rate, and neighbouring residuals are a fixed time apart. What is simulated is averaged
over the same samples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

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


class Offsets(NamedTuple):
    """Offsets of a log that a fit finds besides the vehicle.

    Attributes:
        clock: Delay of the clock of its sensors behind that of its belts [s].
        place: Place along x of its terrain, less that where it was put [m].
    """

    clock: float = 0.0
    place: float = 0.0


NO_OFFSETS = Offsets()


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

    @property
    def place_std(self) -> float:
        """Standard deviation of the place where it was put on its terrain, along x [m]; 0 if it is known."""

    def simulated(self, vehicle: VehicleDescription, offsets: Offsets) -> Array:
        """Simulate the table (n, k); NaN where there is no value.

        Args:
            vehicle: Vehicle that drives.
            offsets: Offsets of the log.

        Raises:
            DivergedError: The simulation broke down.
        """


def residuals_of(case: Case, vehicle: VehicleDescription, offsets: Offsets = NO_OFFSETS) -> Array:
    """Simulated less measured values over their standard deviations (n, k) [-]; 0 where one is missing.

    What a column may be off by as a whole is taken out as far as it is unknown, such that the sum of squares
    is that of the residuals under their joint covariance with it.
    """
    rows = case.rows
    try:
        differences = case.simulated(vehicle, offsets) - rows.measured
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
        simulate: Called with a vehicle, this case and the offset of its place [m], importable by name; gives
            the motion as simulated, where the log was put.
        settings: Further input of `simulate`.
        driving: Keys of the signals that drive the simulation, whose clock is the reference.
        held_out: True if it is scored only.
        files: Files that it was read from.
        shifts: Standard deviation of what all values of a column may be off by, see `Rows`, by its label.
        place_std: Standard deviation of the place where the motion was put, see `Case` [m].
        rows: Measured values, made of the others.
    """

    name: str
    motion: Motion
    signals: Mapping[str, float | None]
    simulate: Callable[[VehicleDescription, MotionCase, float], Motion]
    settings: Any = None
    driving: tuple[str, ...] = ()
    held_out: bool = False
    files: LogFiles | None = None
    shifts: Mapping[str, float] = field(default_factory=dict)
    place_std: float = 0.0
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

    def simulated(self, vehicle: VehicleDescription, offsets: Offsets) -> Array:
        """See `Case.simulated`."""
        motion = self.simulate(vehicle, self, offsets.place)
        reference = {self.motion.signals[key].source for key in self.driving if key in self.motion.signals}
        edges = _edges(self.motion)
        columns: list[Array] = []
        for key in self.signals:
            logged, made = self.signal(key, self.motion), self.signal(key, motion)
            own = offsets.clock if logged.source not in reference else 0.0
            columns += [
                _means(logged.times, values, edges) for values in _values_at(made, logged.times, own).T
            ]
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
    edges = _edges(case.motion)
    middles = (edges[1:] + edges[:-1]) / 2
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
        counts, times = _counts(signal.times, edges), _means(signal.times, signal.times, edges)
        for i, values in enumerate(signal.values.reshape(len(signal.times), -1).T):
            labels.append(key if quantity.width == 1 else f"{key}.{'xyz'[i]}")
            units.append(quantity.unit)
            measured = _means(signal.times, values, edges)
            columns.append(
                (np.where(counts > 0, times, middles), measured, std / np.sqrt(np.maximum(counts, 1)))
            )
    times, measured, stds = (np.stack(part, axis=1) for part in zip(*columns, strict=True))
    shifts = np.array([case.shifts.get(label, 0.0) for label in labels])
    return Rows(tuple(labels), tuple(units), times, measured, stds, shifts)


def _edges(motion: Motion) -> Array:
    """Ends of the windows over which a motion is averaged (n + 1,) [s]."""
    first, last = motion.span
    return np.asarray(first + WINDOW * np.arange(max(1, round((last - first) / WINDOW)) + 1))


def _counts(times: Array, edges: Array) -> Array:
    """Number of samples in each window (n,)."""
    return _sums(times, np.ones(len(times)), edges)


def _sums(times: Array, values: Array, edges: Array) -> Array:
    """Sum over the samples in each window (n,)."""
    count = len(edges) - 1
    window = np.floor((times - edges[0]) / WINDOW).astype(int)
    inside = (window >= 0) & (window < count)
    return np.asarray(np.bincount(window[inside], values[inside], count), dtype=float)


def _means(times: Array, values: Array, edges: Array) -> Array:
    """Mean of values (m,) at times (m,) [s] by window (n,); NaN where there is none."""
    with np.errstate(invalid="ignore"):
        return np.asarray(_sums(times, values, edges) / _counts(times, edges))


def _values_at(signal: Signal, times: Array, offset: float) -> Array:
    """Values at times on a clock that is behind (m, k); NaN where that is outside of what was simulated."""
    values = signal.at(times + offset).reshape(len(times), -1)
    # Without an offset no more than a sample is outside.
    first, last = min(signal.times[0], times[0]), max(signal.times[-1], times[-1])
    outside = (times + offset < first) | (times + offset > last)
    return np.where(outside[:, None], np.nan, values)
