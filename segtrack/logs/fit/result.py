"""What a fit found: values with their uncertainty, what the logs do not say, and how well they are met."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segtrack.description import VehicleDescription
from segtrack.logs.fit.simulated.cases import Case, CaseScore
from segtrack.logs.fit.stages.estimates import Combination, Estimate
from segtrack.logs.fit.stages.noise import Noise
from segtrack.logs.fit.stages.profiles import Profile
from segtrack.logs.fit.stages.search import Run
from segtrack.logs.fit.stages.uncertainty import Uncertainty

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FittedCase:
    """A log beside the simulations of the vehicle as it was and as fitted.

    Attributes:
        case: The log.
        before: Residuals with the vehicle as it was (n, k) [-].
        after: Residuals with the fitted one (n, k) [-].
        score_before: Of `before`.
        score: Of `after`.
        clock_offset: As fitted [s].
    """

    case: Case
    before: Array
    after: Array
    score_before: CaseScore
    score: CaseScore
    clock_offset: float

    def summary(self) -> dict[str, Any]:
        """Everything but what is sampled, as plain values with the names that JSON has."""
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
            "rmse_before": dict(self.score_before.rmse),
            "rmse": dict(self.score.rmse),
            "units": dict(zip(self.case.rows.labels, self.case.rows.units, strict=True)),
        }


@dataclass(frozen=True, eq=False)
class Fit:
    """What came of a fit.

    Attributes:
        start: The vehicle from which it began.
        vehicle: The fitted one.
        values: Of all unknowns by name, in their units.
        cases: Logs that were fitted and held out.
        seed: Of everything random.
        simulations: That were asked for.
        runs: Of the search, the best first.
        noise: How rough the simulations are; None if it was interrupted before.
        estimates: Values with their uncertainty; empty if it was interrupted.
        undetermined: Combinations of unknowns that the logs do not determine, the loosest first.
        determined: Of unknowns that are not identified, combinations that nevertheless are.
        uncertainty: Of the scaled unknowns; None if it was interrupted.
        profiles: Of each unknown; empty if it was interrupted.
    """

    start: VehicleDescription
    vehicle: VehicleDescription
    values: Mapping[str, float]
    cases: tuple[FittedCase, ...]
    seed: int
    simulations: int
    runs: tuple[Run, ...] = ()
    noise: Noise | None = None
    estimates: tuple[Estimate, ...] = ()
    undetermined: tuple[Combination, ...] = ()
    determined: tuple[Combination, ...] = ()
    uncertainty: Uncertainty | None = None
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
    def finished(self) -> bool:
        """Whether it went through all stages: without, values have no uncertainty."""
        return bool(self.estimates)

    def summary(self) -> dict[str, Any]:
        """Everything but what is sampled, as plain values with the names that JSON has."""
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
                "effective_residuals": self.uncertainty.freedom,
                "disagreement": self.uncertainty.disagreement,
                "undetermined": [combination.summary() for combination in self.undetermined],
                "determined": [combination.summary() for combination in self.determined],
                "noise": {
                    "level": self.noise.level,
                    "cost": self.noise.cost,
                    "spacing": self.noise.spacing,
                    "steps": list(self.noise.steps),
                },
                "profiles": [
                    {
                        "values": [estimate.unknown.value(x) for x in profile.scaled.tolist()],
                        "distances": profile.distances.tolist(),
                    }
                    for estimate, profile in zip(self.estimates, self.profiles, strict=True)
                ],
            }
        return summary
