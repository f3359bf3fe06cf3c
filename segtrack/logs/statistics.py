"""Statistics of signals: their noise, and errors that are correlated over time."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d

Array = NDArray[np.float64]

NORMAL_MEDIAN = 0.6745
"""Median of what is normally distributed, without its sign, over its standard deviation."""


def noise_of(values: Array) -> float:
    """Return the standard deviation of the noise of even samples (n,), or the largest of k at a time (n, k).

    Second differences of white noise have six times its variance, those of a smooth signal hardly any; their
    median is that of nearly all of the signal, jumps and spikes left out.
    """
    if len(values) < 3:
        return 0.0
    columns = np.diff(values, 2, axis=0).reshape(len(values) - 2, -1)
    return max(noise_of_differences(column) for column in columns.T)


def noise_of_differences(second: Array) -> float:
    """Return the standard deviation of the noise by second differences, of any shape."""
    return float(np.median(abs(second)) / (NORMAL_MEDIAN * math.sqrt(6.0)))


CONFIDENCE = 0.95
"""Probability with which an interval holds the true value."""
NORMAL_QUANTILE = 1.959964
"""Quantile of the normal distribution for an interval of 95 %."""

_CHANCE = 2.0
"""Correlations of n independent values are below this over the root of n [-], nearly always."""


def autocovariances(values: Array) -> Array:
    """Covariances of a series (n,) about 0 with itself, by lags from 0 samples on (n,); sums over n."""
    n = len(values)
    size = 1 << (2 * n - 1).bit_length()
    power = abs(np.fft.rfft(values, size)) ** 2
    return np.fft.irfft(power, size)[:n] / n


def memory(values: Array, white: float = 0.0) -> int:
    """First lag at which a series (n,) about 0 is correlated with itself by no more than chance [samples].

    Args:
        values: The series.
        white: Variance of white noise that each sample has besides.
    """
    covariances = autocovariances(values)
    small = covariances[1:] < _CHANCE / len(values) ** 0.5 * (covariances[0] + white)
    return 1 + int(np.argmax(small)) if small.any() else len(values)


def effective_samples(values: Array, white: float = 0.0, centred: bool = False) -> float:
    """Number of independent samples that tell as much of a mean as a series (n,) about 0; at most n.

    n v / s, with the variance v and the spectrum at 0, s, the sum of covariances over lags of either sign: of
    a series whose samples are r times those before and new noise, n (1 - r) / (1 + r). Covariances are summed
    in pairs of neighbouring lags as long as a pair is positive, and none counts more than those before it
    (Geyer 1992, initial monotone sequence, which ends late by chance: 1 to 10 % too few samples). Taking its
    own mean from a series takes s / n from each covariance, which is added again.

    Args:
        values: The series.
        white: Variance of white noise that each sample has besides.
        centred: True if its own mean was taken away.
    """
    n, covariances = len(values), autocovariances(values)
    covariances[0] += white
    pairs = covariances[: n // 2 * 2].reshape(-1, 2).sum(axis=1)
    count = max(1, int(np.argmax(pairs <= 0.0)) if (pairs <= 0.0).any() else len(pairs))
    spectrum = 2.0 * float(np.minimum.accumulate(pairs[:count]).sum()) - covariances[0]
    if spectrum <= covariances[0]:
        return float(n)
    if not centred:
        return float(n * covariances[0] / spectrum)
    return float(1.0 + max(n - (4 * count - 1), 0) * covariances[0] / spectrum)


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


def correlation_of(values: Array) -> Correlation:
    """Autocorrelation of a series (n,): bootstrap block length and effective sample size.

    The block length is that of Politis and White 2004 for the circular block bootstrap, as corrected by
    Patton, Politis and White 2009: b = (2 G^2 / D)^(1/3) n^(1/3), where G sums flat-top weight x |lag| x
    autocovariance, D is 4/3 of the squared spectrum at 0, and lags reach to twice that after which
    autocorrelations are insignificant. The independent samples are `effective_samples`.
    """
    n = len(values)
    spread = values - values.mean()
    variance = float(spread @ spread) / n if n else 0.0
    if n < 8 or variance <= 1e-24 * float(np.max(abs(values))) ** 2:
        return Correlation(1, float(n))
    longest = max(5, math.ceil(math.sqrt(math.log10(n))))
    lags = min(math.ceil(math.sqrt(n)) + longest, n - 1)
    covariances = autocovariances(spread)[: lags + 1]
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
    return Correlation(min(max(round(length), 1), most), effective_samples(spread, centred=True))


def mean_interval(values: Array) -> tuple[float, float]:
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
    return percentile_interval(totals / n)


def percentile_interval(draws: Array) -> tuple[float, float]:
    """Interval of `CONFIDENCE` that draws of a bootstrap (m,) give: it leaves out as many at either end."""
    low, high = np.percentile(draws, [50 * (1 - CONFIDENCE), 50 * (1 + CONFIDENCE)])
    return float(low), float(high)


def _first_run(flags: NDArray[np.bool_], length: int) -> int:
    """Number of flags before the first run of so many set ones; all if there is none."""
    runs = np.convolve(flags, np.ones(length, dtype=int), mode="valid") == length
    return int(np.argmax(runs)) if runs.any() else len(flags)


_LEVEL_WINDOW, _LEAST_LAGS = 3.0, 1.5
"""Residuals among which their level is estimated, and least lags of their correlation, over the root of n."""


class Sandwich(NamedTuple):
    """Covariance of least-squares estimates, whatever their residuals are.

    Attributes:
        covariance: Covariance of the estimates (p, p).
        freedom: Degrees of freedom of each variance, since it is estimated from the residuals (p,).
    """

    covariance: Array
    freedom: Array


def sandwich(jacobian: Array, residual: Array, inverse: Array) -> Sandwich:
    """Covariance of least-squares estimates whose residuals are uneven, and correlated over time.

    J^T R J between two inverses of the information, with the covariance of residuals r_i and r_j as l_i l_j
    rho(i - j): each of k series has a level l by the residuals around (a vehicle that stands trembles less
    than one that drives), and all have one correlation rho of residuals over levels, weighed by Bartlett's
    kernel (Newey and West 1987) over as many lags as Andrews (1991, his equation 6.4) finds best for an
    autoregression, at least 1.5 root n. Sums over residuals times derivatives would say too little where few
    residuals show an estimate.

    Args:
        jacobian: Derivatives of k residuals at each of n times, in their order (n, k, p).
        residual: Residuals (n, k).
        inverse: Inverse of the information matrix of the estimates (p, p).
    """
    count, width, _ = jacobian.shape
    window = min(math.ceil(_LEVEL_WINDOW * math.sqrt(count)), count)
    levels = _levels(residual, window)
    covariances = np.mean([autocovariances(column) for column in (residual / levels).T], axis=0)
    lags = _lags(covariances)
    covariances = covariances[: lags + 1] * (1 - np.arange(lags + 1) / (lags + 1))
    scores = (jacobian * levels[..., None]) @ inverse.T
    size = 1 << (2 * count - 1).bit_length()
    spectrum = 2 * np.fft.rfft(covariances, size).real - covariances[0]
    spectrum[1:-1] *= 2  # Of either sign.
    waves = np.fft.rfft(scores, size, axis=0)
    total = np.einsum("nkp,n,nkq->pq", waves.conj(), spectrum / size, waves, optimize=True).real
    powers = np.add.reduceat(scores**2, np.arange(0, count, window)).reshape(-1, inverse.shape[0])
    powers /= np.maximum(powers.sum(axis=0), np.finfo(float).tiny)
    by_levels = np.sum(powers**2, axis=0) / window
    by_lags = lags / (1.5 * count * width)
    return Sandwich(total * count / max(count - len(inverse), 1), 1 / np.maximum(by_levels + by_lags, 1e-9))


def _levels(residual: Array, window: int) -> Array:
    """Root mean squares of the residuals around each (n, k), which are 0 nowhere."""
    sums = uniform_filter1d(residual**2, window, axis=0, mode="nearest")
    least = 1e-6 * float(np.mean(residual**2)) + np.finfo(float).tiny
    return np.sqrt(np.maximum(sums, least))


def raise_variances(model: Array, robust: Array) -> Array:
    """Return the model's covariance, each variance raised to the robust one's where that is larger (p, p)."""
    raised = np.sqrt(np.maximum(np.diag(robust) / np.diag(model), 1.0))
    return model * np.outer(raised, raised)


def _lags(covariances: Array) -> int:
    """Number of lags to weigh of a series with these autocovariances (n,), taken as an autoregression."""
    count = len(covariances)
    slope = float(np.clip(covariances[1] / covariances[0], -0.97, 0.97))
    alpha = 4 * slope**2 / ((1 - slope) ** 2 * (1 + slope) ** 2)
    best = max(1.1447 * (alpha * count) ** (1 / 3), _LEAST_LAGS * math.sqrt(count))
    return min(math.ceil(best), count // 4)


def score_covariances(residuals: Array, sensitivities: Array, white: float) -> tuple[Array, Array]:
    """Covariance of J^T r (p, p) as if residuals were white, and as they are correlated, which is no less.

    Over time and between signals (Morelli and Klein 1997): sum over i, j of J_i^T R(i - j) J_j, with R(l) the
    mean over i of r_i r_(i+l)^T (1 - l / n), over lags up to the largest `memory` of a signal.

    Args:
        residuals: Residuals r (n, k), 0 where there are none.
        sensitivities: Their derivatives J (n, k, p).
        white: Variance of white noise that each residual has besides.
    """
    n = len(residuals)
    there = (residuals != 0).astype(float)
    parts = []
    for lag in range(max(memory(column, white) for column in residuals.T)):
        early, late = slice(0, n - lag), slice(lag, n)
        pairs = there[late].T @ there[early]
        covariance = residuals[late].T @ residuals[early] / np.maximum(pairs, 1.0) * (1 - lag / n)
        if lag == 0:
            covariance += white * np.eye(len(covariance))
        towards = np.einsum("nki,kl->nli", sensitivities[late], covariance)
        parts.append(np.einsum("nli,nlj->ij", towards, sensitivities[early]))
    coloured = sum((part + part.T for part in parts[1:]), np.zeros_like(parts[0]))
    values, vectors = np.linalg.eigh(coloured)
    return parts[0], parts[0] + (vectors * np.maximum(values, 0.0)) @ vectors.T
