"""Result of a fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segtrack.description import VehicleDescription
from segtrack.logs.fit.cases import Case, CaseScore
from segtrack.logs.fit.estimates import Combination, ParameterEstimate, with_unit
from segtrack.logs.fit.profiles import Profile
from segtrack.logs.fit.search import Noise, SearchRun
from segtrack.logs.fit.uncertainty import FitUncertainty

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
        score_written: Score of the vehicle that is written, in which only what is identified was changed.
        clock_offset: Fitted clock offset [s].
    """

    case: Case
    before: Array
    after: Array
    score_before: CaseScore
    score: CaseScore
    score_written: CaseScore
    clock_offset: float

    def summary(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict of everything but the samples."""
        files = self.case.files
        return {
            "name": self.case.name,
            "held_out": self.case.held_out,
            "files": None if files is None else vars(files),
            "rows": len(self.case.rows.measured),
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
        written: The one that is written: `start` with the values of what is identified; `vehicle` if the fit
            was interrupted.
        values: Values of all unknowns by name, in their units.
        cases: Logs that were fitted and held out.
        seed: Seed of everything random.
        simulations: Number of simulations.
        runs: Runs of the search, the best first.
        noise: Numerical noise of the simulations; None if it was interrupted before.
        estimates: Values with their uncertainty; empty if it was interrupted.
        undetermined: Combinations of unknowns that the logs do not determine, the loosest first.
        determined: Determined combinations of unknowns that are not identified by themselves.
        uncertainty: Uncertainty of the scaled unknowns; None if it was interrupted.
        information: Shares of each log's signals in what is known of each unknown, by the log's name
            (k, p) [-]; over all logs and priors they add up to 1. Empty if it was interrupted.
        corners: Corners of the loss of each signal (k,), by the log's name [-]; see `loss`.
        profiles: Profile of each unknown; empty if it was interrupted.
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
        """Remarks on what was not identified and stays as it was in the written vehicle, a sentence each."""
        left = (e for e in self.estimates if e.unknown.log is None and not e.is_bounded)
        stays = ((e, with_unit(e.unknown.start, e.unknown.unit)) for e in left)
        return tuple(f"{e.name} was left as it was, {value}: {e.why}" for e, value in stays)

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
