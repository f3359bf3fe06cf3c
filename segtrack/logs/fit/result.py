"""Results of fits: of one, of several track models side by side, and which further logs would help.

A parameter makes up for what a model gets wrong, its discrepancy, and no residual shows by how much (Kennedy
and O'Hagan 2001). How far M models differ that were fitted to the same logs shows something of it. With their
estimates t_m and standard deviations s_m, a value for one model more, the real vehicle, is

    t = mean t_m,    s^2 = mean s_m^2 + (1 + 1 / M) b^2,    b^2 = sum (t_m - t)^2 / (M - 1)

where b is the term of the discrepancy. Half the interval of 95 % is the root of the mean of h_m^2, half the
models' own, and of (1 + 1 / M) (1.96 b)^2. With two models b itself is known within a factor of some three
only. What all models get wrong alike is not in it.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from segtrack.description import VehicleDescription
from segtrack.logs.fit.cases import Case, CaseScore, Offsets
from segtrack.logs.fit.estimates import Combination, FitUncertainty, ParameterEstimate, Profile, with_unit
from segtrack.logs.fit.search import Noise, SearchRun
from segtrack.logs.fit.unknowns import CLOCK_OFFSET
from segtrack.logs.statistics import CONFIDENCE

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FittedCase:
    """A log beside the simulations of the vehicle as it was and as fitted.

    Attributes:
        case: The log.
        before: Residuals with the vehicle as it was (n, k) [-].
        after: Residuals with the fitted one (n, k) [-].
        score_before: Score of `before`.
        score: Score of `after`.
        score_written: Score of the vehicle that is written, in which what is not identified may be as it was.
        offsets: Fitted offsets of its clock and of its place.
        place_std: Standard deviation of its place [m]; None where it was not fitted, or of no finished fit.
    """

    case: Case
    before: Array
    after: Array
    score_before: CaseScore
    score: CaseScore
    score_written: CaseScore
    offsets: Offsets
    place_std: float | None = None

    def summary(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict of everything but the samples."""
        files = self.case.files
        return {
            "name": self.case.name,
            "held_out": self.case.held_out,
            "files": None if files is None else vars(files),
            "rows": len(self.case.rows.measured),
            "place": {"value": self.offsets.place, "std": self.place_std, "found": self.case.place_std},
            "diverged_before": self.score_before.diverged,
            "diverged": self.score.diverged,
            "score_before": self.score_before.score,
            "score": self.score.score,
            "score_written": self.score_written.score,
            "rmse_before": dict(self.score_before.rmse),
            "rmse": dict(self.score.rmse),
            "units": dict(zip(self.case.rows.labels, self.case.rows.units, strict=True)),
        }


@dataclass(frozen=True, eq=False)
class Fit:
    """Result of a fit.

    Attributes:
        start: The vehicle from which it began.
        vehicle: The fitted one.
        written: The one that is written: `start` with the values of what is identified, or was ruled out;
            `vehicle` if the fit was interrupted.
        values: Values of all unknowns by name, in their units.
        cases: Logs that were fitted and held out.
        seed: Seed of everything random.
        simulations: Number of simulations.
        runs: Runs of the search, the best first.
        noise: Numerical noise of the simulations; None if it was interrupted before.
        estimates: Values with their uncertainty, but for places; empty if it was interrupted.
        undetermined: Combinations of unknowns that the logs do not determine, the loosest first.
        determined: Determined combinations of unknowns that are not identified by themselves.
        uncertainty: Uncertainty of the scaled unknowns; None if it was interrupted.
        information: Shares of each log's signals in what is known of each unknown, whatever places are, by
            the log's name (k, p) [-]; over all logs and priors they add up to 1. Empty if it was interrupted.
        corners: Corners of the loss of each signal (k,), by the log's name [-]; see `evaluate`.
        profiles: Profile of each of `estimates`; empty if it was interrupted.
    """

    start: VehicleDescription
    vehicle: VehicleDescription
    written: VehicleDescription
    values: Mapping[str, float]
    cases: tuple[FittedCase, ...]
    seed: int
    simulations: int
    runs: tuple[SearchRun, ...] = ()
    noise: Noise | None = None
    estimates: tuple[ParameterEstimate, ...] = ()
    undetermined: tuple[Combination, ...] = ()
    determined: tuple[Combination, ...] = ()
    uncertainty: FitUncertainty | None = None
    information: Mapping[str, Array] = field(default_factory=dict)
    corners: Mapping[str, Array] = field(default_factory=dict)
    profiles: tuple[Profile, ...] = ()

    @property
    def misfit(self) -> float | None:
        """Root mean square of what is left over of the logs that were fitted, in standard deviations [-].

        None if the simulation of one of them diverged.
        """
        fitted = [case for case in self.cases if not case.case.held_out]
        if any(case.score.diverged for case in fitted):
            return None
        left = [case.after[case.case.rows.there] for case in fitted]
        return float(np.sqrt((np.concatenate(left) ** 2).mean()))

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks on what was not identified, as it is in the written vehicle, a sentence each."""
        open_ones = (e for e in self.estimates if e.unknown.log is None and not e.is_bounded)
        return tuple(map(_remark, open_ones))

    @property
    def finished(self) -> bool:
        """True if it went through all stages; otherwise values have no uncertainty."""
        return bool(self.estimates)

    def summary(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict of everything but the samples."""
        summary: dict[str, Any] = {
            "finished": self.finished,
            "vehicle": self.start.name,
            "seed": self.seed,
            "misfit": self.misfit,
            "simulations": self.simulations,
            "values": dict(self.values),
            "cases": [case.summary() for case in self.cases],
            "runs": [{"cost": run.cost, "generations": run.generations} for run in self.runs],
        }
        if self.uncertainty is not None and self.noise is not None:
            summary |= {
                "parameters": [estimate.summary() for estimate in self.estimates],
                "unknowns": list(self.values),
                "correlations": self.uncertainty.correlations.tolist(),
                "information": {name: shares.T.tolist() for name, shares in self.information.items()},
                "effective_residuals": self.uncertainty.freedom,
                "disagreement": self.uncertainty.disagreement,
                "undetermined": [combination.summary() for combination in self.undetermined],
                "determined": [combination.summary() for combination in self.determined],
                "noise": asdict(self.noise),
                "profiles": [
                    {
                        "values": [estimate.unknown.value(x) for x in profile.scaled.tolist()],
                        "distances": profile.distances.tolist(),
                    }
                    for estimate, profile in zip(self.estimates, self.profiles, strict=True)
                ],
            }
        return summary


@dataclass(frozen=True)
class SharedEstimate:
    """A parameter by several track models.

    Attributes:
        name: Name of the unknown.
        unit: Its unit.
        by_model: Estimate of each model.
        value: Mean over the models that bound it; None if these are fewer than two.
        std: Standard deviation of it, discrepancy included, likewise.
        discrepancy: Standard deviation between the models, likewise.
        half: Half width of the interval of 95 %, likewise.
    """

    name: str
    unit: str
    by_model: Mapping[str, ParameterEstimate]
    value: float | None = None
    std: float | None = None
    discrepancy: float | None = None
    half: float | None = None

    @classmethod
    def of(cls, by_model: Mapping[str, ParameterEstimate]) -> SharedEstimate:
        """Join the estimates of one unknown."""
        first = next(iter(by_model.values()))
        shared = cls(first.name, first.unknown.unit, dict(by_model))
        known = [
            (e.value, e.std, e.interval) for e in by_model.values() if e.is_bounded and e.std is not None
        ]
        if len(known) < 2:
            return shared
        values, stds, intervals = zip(*known, strict=True)
        between = statistics.stdev(values)
        added = (1 + 1 / len(known)) * between**2
        std = math.sqrt(statistics.fmean(std**2 for std in stds) + added)
        halves = statistics.fmean((high - low) ** 2 / 4 for low, high in intervals)
        half = math.sqrt(halves + norm.ppf((1 + CONFIDENCE) / 2) ** 2 * added)
        return replace(shared, value=statistics.fmean(values), std=std, discrepancy=between, half=half)

    @property
    def interval(self) -> tuple[float, float] | None:
        """Interval of `CONFIDENCE`; None if there is no value."""
        if self.value is None or self.half is None:
            return None
        return self.value - self.half, self.value + self.half

    def summary(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict."""
        return {
            "name": self.name,
            "unit": self.unit,
            "by_model": {model: estimate.summary() for model, estimate in self.by_model.items()},
            "value": self.value,
            "std": self.std,
            "discrepancy": self.discrepancy,
            "interval": self.interval,
        }


def compare_models(fits: Mapping[str, Fit]) -> list[SharedEstimate]:
    """Return each unknown by all track models.

    Args:
        fits: Finished fits to the same logs, by the name of their track model.
    """
    names = [estimate.name for estimate in next(iter(fits.values())).estimates]
    by_model = {model: {e.name: e for e in found.estimates} for model, found in fits.items()}
    return [SharedEstimate.of({model: own[name] for model, own in by_model.items()}) for name in names]


SHOWN_BY: Mapping[str, str] = MappingProxyType(
    {
        "friction": "belts that slip: a slope or a pull at which they lose their grip, with belts and path",
        "lateral_friction": "turns on the spot and tight arcs, with belt speeds and yaw rate logged",
        "com_x": "a climb over an edge slow enough to see where the nose comes down, with pitch logged",
        "com_z": "a climb of a high step, or a slope near tipping, with pitch logged",
        "mass": "drive forces or motor currents on a slope: motion alone hardly depends on it",
        "contact_stiffness": "pitch or vertical acceleration after a drop from an edge",
        "grouser_height": "edges that only a grouser catches: a step climbed with the flippers up",
        "drive_lag": "steps of the command, with commanded and measured belt speeds logged",
        "track_separation": "turns on the spot and arcs, with belt speeds and yaw rate logged",
        "contact_length": "turns on the spot beside wide arcs, with belt speeds and yaw rate logged",
        "pulley_radius": "a climb over an edge about as high as the pulley's centre, with pitch logged",
        CLOCK_OFFSET: "quick changes that both sources see: starts, stops and turns",
    }
)
"""Drives that show a parameter, as they continue "a log with"."""


def _remark(estimate: ParameterEstimate) -> str:
    """Sentence on a parameter that is not identified: whether it was left as it was, and why."""
    unit = estimate.unknown.unit
    start = with_unit(estimate.unknown.start, unit)
    if not estimate.is_written:
        return f"{estimate.name} was left as it was, {start}: {estimate.why}"
    low, high = estimate.interval
    told = f"{with_unit(low, unit)} to {with_unit(high, unit)} are possible, {start} is not"
    return f"{estimate.name} is {with_unit(estimate.value, unit)} and not identified; {told}: {estimate.why}"


def advice_of(found: Fit) -> Mapping[str, str]:
    """Return what a further log should have, by the parameter that the logs do not bound from both sides."""
    open_ones = [estimate.name for estimate in found.estimates if not estimate.is_bounded]
    return {name: SHOWN_BY[name.partition(".")[0]] for name in open_ones}
