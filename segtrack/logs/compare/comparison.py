"""Result of the comparison of simulated motions with logged ones, and over repeats of a trial."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from scipy.stats import wasserstein_distance

from segtrack.errors import InvalidValueError
from segtrack.logs.compare.errors import Error
from segtrack.logs.compare.phases import Phases, SampledMotion
from segtrack.logs.compare.uncertainty import COVERAGE, DataUncertainty, Uncertainty
from segtrack.logs.statistics import REPLICATES, percentile_interval
from segtrack.robot import Motion

Run = Literal["commanded", "measured"]
"""Belt and flipper motion of the log that drove a simulation."""
Verdict = Literal["within", "beyond", "unknown"]


class WrongValue(NamedTuple):
    """A wrong value of a parameter of the vehicle, and what it changes an error by.

    Attributes:
        parameter: Name of the parameter.
        value: Half of the vehicle file's value, or one and a half of it, if it can have that; for 0,
            `COVERAGE` standard deviations away.
        unit: Unit of both values.
        change: Change of the error in a simulation with that value, in the error's unit, less what other time
            steps change it by; None if that simulation failed, or has no such error.
        needed: Change from which it is seen: `COVERAGE` u_val.
    """

    parameter: str
    value: float
    unit: str
    change: float | None
    needed: float

    @property
    def is_seen(self) -> bool:
        """True if the error would tell this value."""
        return self.change is not None and self.change > self.needed


@dataclass(frozen=True)
class ErrorRow:
    """An error of the whole, or of a phase.

    Attributes:
        run: Simulation that is compared.
        phase: Its name, or `whole`.
        quantity: Description of the quantity.
        unit: Unit of all numbers.
        logged: D of ASME V&V 20; None for an error over time.
        simulated: S; None likewise.
        error: E = S - D, or the root mean square of it over time.
        mean: Mean of an error over time, where that has a sign.
        interval: 95 % interval of an error over time, for this stretch, by block bootstrap; None for others.
        independent: So many independent samples an error over time is worth.
        range_fraction: Error over the range of what was logged, for an error over time.
        parts: Its uncertainty.
        verdict: `within` `COVERAGE` standard uncertainties, `beyond` them, or `unknown`.
        wrong_values: Wrong values of parameters that are stated as uncertain, and what they would change.
    """

    run: Run
    phase: str
    quantity: str
    unit: str
    logged: float | None
    simulated: float | None
    error: float
    mean: float | None
    interval: tuple[float, float] | None
    independent: float | None
    range_fraction: float | None
    parts: Uncertainty
    verdict: Verdict
    wrong_values: tuple[WrongValue, ...] = ()

    @property
    def tells(self) -> tuple[str, ...]:
        """Parameters that the error tells: all their wrong values would be seen in it."""
        unseen = {wrong.parameter for wrong in self.wrong_values if not wrong.is_seen}
        names = dict.fromkeys(wrong.parameter for wrong in self.wrong_values)
        return tuple(name for name in names if name not in unseen)

    @property
    def is_imposed(self) -> bool:
        """True for what a simulation by measured belts has from the log: it is not judged by it."""
        return self.run == "measured" and self.quantity.startswith(("belt speed", "flipper"))

    @property
    def uncertainty(self) -> float | None:
        """Standard validation uncertainty u_val, of what of it is known; None if a part of it failed."""
        return self.parts.validation

    @property
    def words(self) -> str:
        """The verdict, with by how much the model errs."""
        u = self.uncertainty
        if self.verdict == "unknown" or u is None:
            return "unknown: a simulation or the log's noise takes it away"
        if self.verdict == "within":
            return "within"
        return f"errs by {self.error:.3g} +- {COVERAGE * u:.2g}"

    def summary(self) -> dict[str, object]:
        """Return a JSON-serialisable dict."""
        numerics = self.parts.numerics
        return {
            "run": self.run,
            "phase": self.phase,
            "quantity": self.quantity,
            "unit": self.unit,
            "logged": self.logged,
            "simulated": self.simulated,
            "error": self.error,
            "mean": self.mean,
            "interval_95": None if self.interval is None else list(self.interval),
            "independent_samples": self.independent,
            "fraction_of_range": self.range_fraction,
            "u_num": None if numerics is None else numerics.value,
            "u_num_method": None if numerics is None else numerics.method,
            "u_num_order": None if numerics is None else numerics.order,
            "u_input": self.parts.input_uncertainty if self.parts.inputs else "not given",
            "u_input_by": dict(self.parts.inputs),
            "u_data": self.parts.data_uncertainty,
            "u_data_by": dict(self.parts.data),
            "u_val": self.uncertainty,
            "verdict": self.verdict,
            "tells": list(self.tells),
            "wrong_values": [{**wrong._asdict(), "is_seen": wrong.is_seen} for wrong in self.wrong_values],
        }


@dataclass(frozen=True)
class CurrentFit:
    """A side's simulated drive force over its logged motor current; of a current only the shape is compared.

    Attributes:
        side: left or right.
        force_per_current: Least squares through zero [N/A].
        correlation: Correlation of the two [-].
        independent: So many independent samples it is of.
    """

    side: str
    force_per_current: float
    correlation: float
    independent: float

    def summary(self) -> dict[str, object]:
        """Return a JSON-serialisable dict."""
        return {
            "side": self.side,
            "force_per_current_N_per_A": self.force_per_current,
            "correlation": self.correlation,
            "independent_samples": self.independent,
        }


@dataclass(frozen=True, eq=False)
class RunComparison:
    """One simulation of a log beside it.

    Attributes:
        run: Simulation that is compared.
        logged: The log, on the clock that both are compared on.
        simulated: The simulation.
        logged_phases: Phases of the log.
        simulated_phases: Phases of the simulation, by the same definitions.
        rows: Errors.
        errors: All values of each row's error, by quantity and phase.
        currents: Fits of logged motor currents.
        notes: Missing and estimated quantities, a sentence each.
        laid: Simulated positions and orientations as they are compared, laid onto the log's; None without.
    """

    run: Run
    logged: SampledMotion
    simulated: SampledMotion
    logged_phases: Phases
    simulated_phases: Phases
    rows: tuple[ErrorRow, ...]
    errors: Mapping[tuple[str, str], Error]
    currents: tuple[CurrentFit, ...]
    notes: tuple[str, ...]
    laid: Motion | None = None

    def find(self, quantity: str, phase: str = "whole") -> ErrorRow | None:
        """The row of a quantity and phase, if there is one."""
        return next((row for row in self.rows if (row.quantity, row.phase) == (quantity, phase)), None)

    def summary(self) -> dict[str, object]:
        """Return a JSON-serialisable dict of everything but the samples."""
        return {
            "logged_phases": self.logged_phases.summary(),
            "simulated_phases": self.simulated_phases.summary(),
            "rows": [row.summary() for row in self.rows],
            "currents": [fit.summary() for fit in self.currents],
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class SplitRow:
    """An error, told apart into what the actuators do and what the ground does.

    Attributes:
        phase: Its name, or `whole`.
        quantity: Description of the quantity.
        unit: Unit of all numbers.
        commanded: Error of the simulation driven by commands: actuators and contact.
        measured: Error of that driven by measured belts and flippers: contact alone.
        actuator: Difference of the two simulations; over time its root mean square.
    """

    phase: str
    quantity: str
    unit: str
    commanded: float
    measured: float
    actuator: float


@dataclass(frozen=True, eq=False)
class Comparison:
    """Both simulations of a log beside it.

    Attributes:
        name: Name of the log.
        alignment: Alignment of positions with the logged ones.
        inputs: Standard deviations of the simulation's inputs, by name; empty if none were given.
        data: Uncertainty of the log besides its noise.
        runs: Comparisons by simulation.
        split: Actuator and contact error, where there are both runs.
        finished: True if all simulations for the uncertainties were done.
    """

    name: str
    alignment: str
    inputs: Mapping[str, float]
    data: DataUncertainty
    runs: Mapping[Run, RunComparison]
    split: tuple[SplitRow, ...]
    finished: bool = True

    @property
    def rows(self) -> tuple[ErrorRow, ...]:
        """Rows of all runs."""
        return tuple(row for run in self.runs.values() for row in run.rows)

    def summary(self) -> dict[str, object]:
        """Return a JSON-serialisable dict of everything but the samples."""
        return {
            "log": self.name,
            "alignment": self.alignment,
            "coverage": COVERAGE,
            "inputs": dict(self.inputs) or "not given",
            "data": self.data.summary(),
            "finished": self.finished,
            "runs": {run: comparison.summary() for run, comparison in self.runs.items()},
            "actuator_and_contact": [vars(row) for row in self.split],
        }


_AREA_SEED = 20090


@dataclass(frozen=True)
class AreaRow:
    """A number over repeats.

    Attributes:
        run: Simulation that is compared.
        phase: Its name, or `whole`.
        quantity: Description of the quantity.
        unit: Unit of all numbers.
        logged: D of each repeat.
        simulated: S of each repeat.
        area: Between the two distributions.
        interval: 95 % interval of the area, by resampled repeats; biased upwards where repeats are few.
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
        """Return a JSON-serialisable dict."""
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
    return tuple(_area_rows(repeats))


def area(simulated: Sequence[float], logged: Sequence[float]) -> tuple[float, tuple[float, float]]:
    """Area between two empirical distributions, and its interval; a repeat is drawn with both its numbers."""
    s, d = np.asarray(simulated, dtype=float), np.asarray(logged, dtype=float)
    drawn = np.random.default_rng(_AREA_SEED).integers(0, len(s), (REPLICATES, len(s)))
    # Of as many samples each, so that the distance is the mean one of those in order.
    areas = abs(np.sort(s[drawn], axis=1) - np.sort(d[drawn], axis=1)).mean(axis=1)
    return float(wasserstein_distance(s, d)), percentile_interval(areas)


def _area_rows(repeats: Sequence[Comparison]) -> Iterator[AreaRow]:
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
