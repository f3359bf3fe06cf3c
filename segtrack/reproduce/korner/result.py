"""Results of the study, and its runs in separate processes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from segtrack.experiments import run_parallel
from segtrack.reproduce.korner.plan import KornerPlan
from segtrack.reproduce.korner.series import SeriesResult, run_series


@dataclass(frozen=True)
class KornerResult:
    """Results of the plan's series, under the plan's field names."""

    steps: tuple[SeriesResult, ...]
    gaps: tuple[SeriesResult, ...]
    trapezoids: tuple[SeriesResult, ...]
    half_rounds: tuple[SeriesResult, ...]
    places: tuple[SeriesResult, ...]

    def marks(self, kind: str) -> str:
        """Return S (success) or F (failure) for each run trapezoid of a kind, `barrier` or `ditch`."""
        runs = [each for each in self.trapezoids if each.series.name.startswith(kind)]
        return "".join("F" if each.failed else "S" for each in runs)

    def maps(self) -> dict[str, tuple[SeriesResult, ...]]:
        """Return results over the sprocket's place, grouped by the raised quantity and the driving mode."""
        names = dict.fromkeys(each.series.name for each in self.places)
        return {name: tuple(each for each in self.places if each.series.name == name) for name in names}

    def summary(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict of all runs, without paths."""
        trends = {
            name: {
                "places": len(runs),
                "refused": sum(bool(each.refused) for each in runs),
                "limited": sum(each.limit is not None for each in runs),
                "per_height": trend(runs, 1),
                "per_way_forward": trend(runs, 0),
            }
            for name, runs in self.maps().items()
        }
        return {
            "steps": [_entry(each) for each in self.steps],
            "gaps": [_entry(each) for each in self.gaps],
            "barriers": self.marks("barrier"),
            "ditches": self.marks("ditch"),
            "trapezoids": [_entry(each) for each in self.trapezoids],
            "half_rounds": [
                _entry(each)
                | {
                    "limiting_speed": each.limiting_speed(lambda trial: trial.peak),
                    "limiting_speed_filtered": each.limiting_speed(lambda trial: trial.filtered_peak),
                }
                for each in self.half_rounds
            ],
            "places": [_entry(each) for each in self.places],
            "trends": trends,
        }


def trend(runs: tuple[SeriesResult, ...], axis: int) -> float | None:
    """Slope of the limit over the sprocket's x (`axis` 0) or z (1), by least squares in both [- or 1/s]."""
    found = [(*each.series.place, each.limit) for each in runs if each.series.place and each.limit]
    if len({row[:2] for row in found}) < 3:
        return None
    x, z, heights = np.array(found).T
    slopes = np.linalg.lstsq(np.stack([x, z, np.ones_like(x)], axis=1), heights, rcond=None)[0]
    return float(slopes[axis])


def run_plan(
    plan: KornerPlan, *, workers: int | None = None, on_done: Callable[[], object] | None = None
) -> KornerResult:
    """Run all series of a plan.

    Args:
        plan: Series of the study.
        workers: Largest number of parallel processes; by default the number of cores.
        on_done: Function called after each series.
    """
    done = iter(run_parallel(run_series, plan.series, workers=workers, on_done=on_done))
    places = tuple(next(done) for _ in plan.places)
    steps, gaps, trapezoids, half_rounds = (
        tuple(next(done) for _ in part) for part in (plan.steps, plan.gaps, plan.trapezoids, plan.half_rounds)
    )
    return KornerResult(steps, gaps, trapezoids, half_rounds, places)


def _entry(result: SeriesResult) -> dict[str, Any]:
    place, chain = result.series.place, result.chain
    trials = [
        {name: value for name, value in trial._asdict().items() if name != "path"} for trial in result.trials
    ]
    return {
        "name": result.series.name,
        "place": place._asdict() if place else None,
        "shoes": chain.shoes if chain else None,
        "idler_slide": chain.slide if chain else None,
        "largest": result.largest,
        "limit": result.limit,
        "refused": result.refused,
        "trials": trials,
    }
