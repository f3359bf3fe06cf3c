"""Statistics of autocorrelated series, and distributions over repeats of a trial."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import wasserstein_distance

from segtrack.errors import InvalidValueError
from segtrack.logs.compare.comparison import Comparison, Run

CONFIDENCE = 0.95
REPLICATES = 1000
MAX_BLOCKS = 1000
"""Largest number of blocks; longer series have longer blocks than they need."""
_BOOTSTRAP_SEED = 20090


class Correlation(NamedTuple):
    """Autocorrelation of a series: bootstrap block length and effective sample size.

    Attributes:
        block_length: Length of blocks for a bootstrap of its mean [samples].
        independent: So many independent samples would tell as much of its mean.
    """

    block_length: int
    independent: float


def correlation_of(values: NDArray[np.float64]) -> Correlation:
    """Autocorrelation of a series (n,): bootstrap block length and effective sample size.

    The block length is that of Politis and White 2004 for the circular block bootstrap, as corrected by
    Patton, Politis and White 2009: b = (2 G^2 / D)^(1/3) n^(1/3), where G sums flat-top weight x |lag| x
    autocovariance, D is 4/3 of the squared spectrum at 0, and lags reach to twice that after which
    autocorrelations are insignificant. The independent samples are n x variance / spectrum at 0.
    """
    n = len(values)
    spread = values - values.mean()
    variance = float(spread @ spread) / n if n else 0.0
    if n < 8 or variance <= 1e-24 * float(np.max(abs(values))) ** 2:
        return Correlation(1, float(n))
    longest = max(5, math.ceil(math.sqrt(math.log10(n))))
    lags = min(math.ceil(math.sqrt(n)) + longest, n - 1)
    covariances = _autocovariances(spread, lags)
    insignificant = abs(covariances[1:] / variance) < 2.0 * math.sqrt(math.log10(n) / n)
    last = _first_run(insignificant, longest)
    reach = min(2 * max(last, 1), lags)
    at = np.arange(1, reach + 1)
    weights = np.minimum(1.0, 2.0 * (1.0 - at / reach))
    weighted = weights * covariances[1 : reach + 1]
    spectrum = variance + 2.0 * float(weighted.sum())
    if spectrum <= 0.0:
        return Correlation(1, float(n))
    g = 2.0 * float((at * weighted).sum())
    length = (2.0 * g * g / (4.0 / 3.0 * spectrum * spectrum)) ** (1.0 / 3.0) * n ** (1.0 / 3.0)
    most = math.ceil(min(3.0 * math.sqrt(n), n / 3.0))
    independent = min(max(n * variance / spectrum, 1.0), float(n))
    return Correlation(min(max(round(length), 1), most), independent)


def mean_interval(values: NDArray[np.float64]) -> tuple[float, float]:
    """Interval of `CONFIDENCE` for the mean of a series (n,), by blocks drawn from it.

    Circular block bootstrap (Politis and Romano 1992): the series' end meets its beginning. Percentiles of
    `REPLICATES`, always the same draws.
    """
    n = len(values)
    length = max(correlation_of(values).block_length, math.ceil(n / MAX_BLOCKS))
    blocks = math.ceil(n / length)
    rest = n - (blocks - 1) * length
    sums = np.concatenate([[0.0], np.cumsum(np.concatenate([values, values[:length]]))])
    starts = np.random.default_rng(_BOOTSTRAP_SEED).integers(0, n, (REPLICATES, blocks))
    totals = (sums[starts[:, :-1] + length] - sums[starts[:, :-1]]).sum(axis=1)
    totals += sums[starts[:, -1] + rest] - sums[starts[:, -1]]
    low, high = np.percentile(totals / n, [50 * (1 - CONFIDENCE), 50 * (1 + CONFIDENCE)])
    return float(low), float(high)


def _autocovariances(spread: NDArray[np.float64], lags: int) -> NDArray[np.float64]:
    """Autocovariances of a series without its mean (n,), from lag 0 to `lags` (lags + 1,)."""
    n = len(spread)
    size = 1 << (2 * n - 1).bit_length()
    power = abs(np.fft.rfft(spread, size)) ** 2
    return np.fft.irfft(power, size)[: lags + 1] / n


def _first_run(flags: NDArray[np.bool_], length: int) -> int:
    """Number of flags before the first run of so many set ones; all if there is none."""
    runs = np.convolve(flags, np.ones(length, dtype=int), mode="valid") == length
    return int(np.argmax(runs)) if runs.any() else len(flags)


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
    return tuple(_rows(repeats))


def area(simulated: Sequence[float], logged: Sequence[float]) -> tuple[float, tuple[float, float]]:
    """Area between two empirical distributions, and its interval; a repeat is drawn with both its numbers."""
    s, d = np.asarray(simulated, dtype=float), np.asarray(logged, dtype=float)
    drawn = np.random.default_rng(_AREA_SEED).integers(0, len(s), (REPLICATES, len(s)))
    # Of as many samples each, so that the distance is the mean one of those in order.
    areas = abs(np.sort(s[drawn], axis=1) - np.sort(d[drawn], axis=1)).mean(axis=1)
    low, high = np.percentile(areas, [50 * (1 - CONFIDENCE), 50 * (1 + CONFIDENCE)])
    return float(wasserstein_distance(s, d)), (float(low), float(high))


def _rows(repeats: Sequence[Comparison]) -> Iterator[AreaRow]:
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
