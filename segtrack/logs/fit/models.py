"""Fits with several track models side by side, and what a value owes to the model.

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
from dataclasses import dataclass, replace
from typing import Any

from scipy.stats import norm

from segtrack.logs.fit.estimates import ParameterEstimate
from segtrack.logs.fit.result import Fit
from segtrack.logs.statistics import CONFIDENCE


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
