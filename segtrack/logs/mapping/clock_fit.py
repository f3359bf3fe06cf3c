"""Fitted clocks and mountings of sensors, with intervals, also by the times at which messages came."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import LinAlgError, cholesky_banded
from scipy.linalg.lapack import dtbtrs
from scipy.optimize import brentq, minimize_scalar
from scipy.spatial.transform import Rotation

from segtrack.errors import ClockError, Phrase
from segtrack.geometry import rpy_of, rpys_of
from segtrack.logs.statistics import NORMAL_QUANTILE, raise_variances, sandwich
from segtrack.robot import Signal

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """Estimated number with its interval, in the unit of the quantity.

    Attributes:
        value: Estimate.
        low: Begin of the interval that holds the true value with a probability of 95 %.
        high: End of this interval.
        quantile: Half of the interval's length over the standard deviation [-]: Student's for few data.
    """

    value: float
    low: float
    high: float
    quantile: float = NORMAL_QUANTILE

    @classmethod
    def normal(cls, value: float, std: float, quantile: float = NORMAL_QUANTILE) -> Estimate:
        """Return an estimate whose error has a standard deviation, and a symmetric distribution."""
        return cls(
            float(value), float(value - quantile * std), float(value + quantile * std), float(quantile)
        )

    @property
    def relative_std(self) -> float:
        """Standard deviation of the logarithm of a positive number, 1 at most."""
        if self.low <= 0:
            return 1.0
        return min(math.log(self.high / self.low) / (2 * self.quantile), 1.0)

    @property
    def margin(self) -> float:
        """Half of the interval's length."""
        return (self.high - self.low) / 2

    @property
    def std(self) -> float:
        """Standard deviation of its error."""
        return self.margin / self.quantile

    def holds(self, value: float) -> bool:
        """Return True if a value is in the interval."""
        return self.low <= value <= self.high

    def record(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict."""
        return {"value": self.value, "low": self.low, "high": self.high}


_FARTHEST = 7.0
"""Logarithm of the ratio of both sources' parts in the residuals, up to which the likelihood is searched."""
_CEILING = 5.0
"""Logarithm of the ratio of an interval's end to the estimate, at most."""
_DROP = NORMAL_QUANTILE**2 / 2
"""Drop of the log-likelihood at the ends of an interval of 95 % (Wilks 1938)."""


@dataclass(frozen=True, eq=False)
class NoiseModel:
    """Covariance of m increments, from the white noise of the samples that they are made of.

    Attributes:
        reference: Lower bands (b, m), see `bands`, for noise of 1 in the reference's samples.
        source: Lower bands for noise of 1 in the source's samples, likewise.
    """

    reference: Array
    source: Array

    @classmethod
    def of(cls, reference: sparse.csr_matrix, source: sparse.csr_matrix) -> NoiseModel:
        """Return the model from the weights of samples in m increments (m, n)."""
        both = bands(reference @ reference.T), bands(source @ source.T)
        deepest = max(map(len, both))
        return cls(*(np.pad(each, ((0, deepest - len(each)), (0, 0))) for each in both))

    def factor(self, stds: tuple[float, float]) -> Array:
        """Return the lower Cholesky factor, in bands, for the standard deviations of both samples."""
        return cholesky_banded(stds[0] ** 2 * self.reference + stds[1] ** 2 * self.source, lower=True)

    @property
    def usual_ratio(self) -> float:
        """Standard deviation of the source's samples over the reference's at which both matter alike."""
        return math.sqrt(float(self.reference[0].mean() / self.source[0].mean()))


class NoiseLikelihood:
    """Likelihood of residuals as a function of the standard deviations of both sources.

    It is restricted to what the parameters of the fit leave (Patterson and Thompson 1971).
    """

    def __init__(self, model: NoiseModel, residual: Array, jacobian: Array) -> None:
        """Take residuals (m, k) and their derivatives by the fit's parameters (m, k, p)."""
        self.model, self.residual, self.jacobian = model, residual, jacobian
        self.freedom = max(residual.size - jacobian.shape[-1], 1)
        self.floor = 1e-9 * math.sqrt(float(np.mean(residual**2))) + 1e-15

    def likeliest(self) -> tuple[float, float]:
        """Standard deviations of the reference's samples and the source's; one may be 0 beside the other."""
        best = _smallest(lambda ratio: self._parts(ratio)[0], -_FARTHEST, _FARTHEST)
        _, rest = self._parts(best)
        reference = math.sqrt(rest / self.freedom)
        return max(reference, self.floor), max(reference * self._ratio(best), self.floor)

    def estimates(self, stds: tuple[float, float]) -> tuple[Estimate, Estimate]:
        """Return both, with intervals in which the likelihood is not much smaller; they may begin at 0."""
        least = self._cost(stds)
        return self._estimate(stds, 0, least), self._estimate(stds, 1, least)

    def _estimate(self, stds: tuple[float, float], which: int, least: float) -> Estimate:
        # Where it is about 0, its upper end is sought from a hundredth of what would explain all residuals.
        weights = (self.model.reference, self.model.source)[which][0].mean()
        own = max(stds[which], 0.01 * math.sqrt(float(np.mean(self.residual**2) / weights)))
        other = stds[1 - which]

        def excess(log: float) -> float:
            value = own * math.exp(log)

            def cost(log_other: float) -> float:
                pair = (value, other * math.exp(log_other))
                return self._cost(pair if which == 0 else pair[::-1])

            return cost(_smallest(cost, -2.0, 2.0)) - least - _DROP

        estimate = math.log(stds[which] / own)
        if excess(0.0) > 0:  # The upper end is below the hundredth.
            low = _crossing(excess, -1.0, estimate)
            high: float | None = float(brentq(excess, estimate, 0.0, xtol=1e-3))
        else:
            low = None if own > stds[which] else _crossing(excess, -1.0, estimate)
            high = _crossing(excess, 1.0, 0.0)
        return Estimate(
            stds[which],
            0.0 if low is None else own * math.exp(low),
            own * math.exp(_CEILING if high is None else high),
        )

    def _ratio(self, log: float) -> float:
        return math.exp(log) * self.model.usual_ratio

    def _parts(self, ratio: float) -> tuple[float, float]:
        """Cost with the best level for a ratio, and the sum of squares that gives the level."""
        try:
            factor = self.model.factor((1.0, self._ratio(ratio)))
        except LinAlgError:
            return math.inf, 1.0
        rest, volume = self._projected(factor)
        return self.freedom * math.log(rest) + volume, rest

    def _cost(self, stds: tuple[float, float]) -> float:
        """Less the logarithm of the likelihood."""
        try:
            rest, volume = self._projected(self.model.factor(stds))
        except LinAlgError:
            return math.inf
        return (rest + volume) / 2

    def _projected(self, factor: Array) -> tuple[float, float]:
        """Sum of squares that the parameters leave of whitened residuals, and logarithms of determinants."""
        white = whiten(factor, self.residual).ravel()
        slopes = whiten(factor, self.jacobian).reshape(len(white), -1)
        information = slopes.T @ slopes
        along = slopes.T @ white
        rest = float(white @ white - along @ np.linalg.lstsq(information, along, rcond=1e-12)[0])
        eigenvalues = np.linalg.eigvalsh(information)
        seen = eigenvalues[eigenvalues > 1e-12 * eigenvalues.max(initial=0.0)]
        volume = 2 * self.residual.shape[1] * float(np.log(factor[0]).sum()) + float(np.log(seen).sum())
        return max(rest, 1e-300), volume


def bands(matrix: sparse.spmatrix) -> Array:
    """Return the diagonal of a symmetric matrix (m, m), and the nonzero ones below it (b, m)."""
    entries = matrix.tocoo()
    below = entries.row - entries.col
    lower = np.zeros((int(below.max(initial=0)) + 1, matrix.shape[0]))
    keep = below >= 0
    lower[below[keep], entries.col[keep]] = entries.data[keep]
    return lower


def whiten(factor: Array, rows: Array) -> Array:
    """Whiten rows (m, ...): their noise becomes independent, with a standard deviation of 1."""
    solved, _ = dtbtrs(factor, rows.reshape(len(rows), -1), uplo="L")
    return np.asarray(solved).reshape(rows.shape)


def _smallest(cost: Callable[[float], float], low: float, high: float) -> float:
    return float(minimize_scalar(cost, bounds=(low, high), method="bounded", options={"xatol": 1e-2}).x)


def _crossing(excess: Callable[[float], float], sign: float, start: float) -> float | None:
    """Zero of a function that is negative at a start, on one side of it; None if there is none."""
    inside = 0.0
    for outside in (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, _CEILING):
        if excess(start + sign * outside) > 0:
            return float(brentq(excess, start + sign * inside, start + sign * outside, xtol=1e-3))
        inside = outside
    return None


FEWEST = 24
"""Least number of messages."""
_FEWEST_WINDOWS, _MOST_WINDOWS = 6, 60
UNSEEN = 0.1
"""An angle whose standard deviation is larger is not observable [rad]."""
Sight = Literal["rates", "gravity"]
_UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class SensorMounting:
    """A sensor's frame in the body frame: yaw about z, then pitch about y, then roll about x.

    Rates show it but for a turn about an axis that all turning is about: a vehicle that only pitches does
    not show how far a gyroscope is pitched. Attitudes show it by gravity, but for a turn about the vertical.

    Attributes:
        by: Evidence: turning rates, or gravity in two attitudes.
        rpy: Roll, pitch (nose down positive, as `rpy` of mapping files and vehicle files) and yaw [rad]; None
            where it cannot be seen, and roll and yaw of a sensor that is pitched by 90 deg, whose sum or
            difference alone is a rotation.
        quaternion: Rotation of the sensor's frame (x, y, z, w).
        covariance: Covariance of small turns about the body's axes, in rows [rad^2].
        quantile: Half of an interval of 95 % over its standard deviation.
    """

    by: Sight
    rpy: tuple[Estimate | None, Estimate | None, Estimate | None]
    quaternion: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]
    quantile: float

    @classmethod
    def of(
        cls, by: Sight, turned: Rotation, covariance: Array, quantile: float = NORMAL_QUANTILE
    ) -> SensorMounting:
        """Return a mounting from its rotation, with the covariance of small turns about its axes [rad^2]."""
        step = 1e-6
        more = Rotation.from_rotvec(np.concatenate([np.eye(3), -np.eye(3)]) * step) * turned
        angles = rpys_of(more.as_matrix())
        apart = np.remainder(angles[:3] - angles[3:] + np.pi, 2 * np.pi) - np.pi
        jacobian = apart.T / (2 * step)
        stds = np.sqrt(np.diag(jacobian @ covariance @ jacobian.T))
        values = rpy_of(turned.as_matrix())
        roll, pitch, yaw = (
            Estimate.normal(value, std, quantile) if std < UNSEEN else None
            for value, std in zip(values, stds, strict=True)
        )
        rows = tuple(map(tuple, covariance.tolist()))
        return cls(by, (roll, pitch, yaw), tuple(turned.as_quat().tolist()), rows, quantile)

    def nearest(self, rotation: Rotation) -> Rotation:
        """The one of the rotations that fit alike which is nearest to another: it has its unseen turns."""
        turned, axes = Rotation.from_quat(self.quaternion), self._parts()[1]
        apart = rotation * turned.inv()
        if axes.shape[1] == 1:
            x, y, z, w = apart.as_quat()
            along = 2 * math.atan2(float(axes[:, 0] @ (x, y, z)), w)
            return Rotation.from_rotvec(along * axes[:, 0]) * turned
        return Rotation.from_rotvec(axes @ (axes.T @ apart.as_rotvec())) * turned

    def holds(self, rotation: Rotation) -> bool:
        """Return True if a rotation is, as far as it can be seen, in the region of 95 %."""
        apart = (rotation * self.nearest(rotation).inv()).as_rotvec()
        axes = self._parts()[0]
        if not axes.size:
            return True
        variances = np.sum(axes * (np.array(self.covariance) @ axes), axis=0)
        distance = float(np.sum((axes.T @ apart) ** 2 / variances))
        return (
            distance
            <= float(scipy.stats.chi2.ppf(0.95, len(variances))) * (self.quantile / NORMAL_QUANTILE) ** 2
        )

    def _parts(self) -> tuple[Array, Array]:
        """Axes (3, k) of the body about which turns can be seen, and those about which they cannot."""
        variances, axes = np.linalg.eigh(np.array(self.covariance))
        seen = variances < UNSEEN**2
        return axes[:, seen], axes[:, ~seen]

    def record(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict."""
        return {"by": self.by, "rpy": [None if angle is None else angle.record() for angle in self.rpy]}


@dataclass(frozen=True)
class ClockFit:
    """A source's times t become `t + offset + skew * (t - start)`, as `Motion.on_clock` has them.

    Attributes:
        source: Name of the source.
        reference: Name of the clock it is put on: another source, or `receive times`.
        by: Evidence: receive times, or the motion that both sources measure.
        start: First time of the source, on its own clock [s].
        offset: Estimate at the start [s].
        skew: Rate by which the clock runs slow (positive) or fast (negative) [-].
        samples: Number of messages, or of increments between samples, that were used.
        left_out: Number of outliers among them.
        correlation: Correlation of both motions at the start of the fit; None by receive times.
        scale: The reference's rates over the source's; None if neither measures a rate.
        bias: Bias of the rates of `biased`: three of turning in space, in its sensor's frame [rad/s], else
            one in the unit of the rate; empty if neither measures a rate.
        biased: Name of the source or reference that measures rates; if both do, the one with more samples,
            relative to the other. Empty if neither does.
        mountings: Mountings of the source's sensor, by each kind of evidence.
        noises: Standard deviations of the reference's samples and the source's: orientations and angles
            [rad], rates [rad/s] or [m/s]; empty by receive times.
        delays: Median and 95 % quantile of the delay beyond the shortest [s]; empty but by receive times.
        unevenness: Largest deviation from an even clock [s]; 0 if it cannot be seen.
    """

    source: str
    reference: str
    by: Literal["receive times", "turning", "pitch", "yaw", "speed"]
    start: float
    offset: Estimate
    skew: Estimate
    samples: int
    left_out: int = 0
    correlation: float | None = None
    scale: Estimate | None = None
    bias: tuple[Estimate, ...] = ()
    biased: str = ""
    mountings: tuple[SensorMounting, ...] = ()
    noises: tuple[Estimate, ...] = ()
    delays: tuple[float, ...] = ()
    unevenness: float = 0.0

    def times(self, own: Array) -> Array:
        """Convert times of the source's clock to the reference's [s]."""
        return own + self.offset.value + self.skew.value * (own - self.start)

    def record(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict."""
        return asdict(self)


def fit_to_receive_times(source: str, stamps: Array, times: Array) -> ClockFit:
    """Fit the clock of a source's stamps (n,) to the clock of receive times (n,) [s].

    A message comes late, never early, so that the fastest ones show the clock: they are on the lower edge of
    receive less stamp over stamp. The line below all of them with the least sum of distances (Moon, Skelly
    and Towsley 1999) is a start; the earliest in each of about sqrt(n) windows, and the median of slopes
    between these (Paxson 1998, Sen 1968), are the fit, since they say how sure it is. The offset includes
    the shortest delay, which is unknown.

    Raises:
        ClockError: There are too few messages, or all have one stamp.
    """
    if len(stamps) < FEWEST:
        problem = Phrase(f"it has {len(stamps)} messages, at least {FEWEST} are needed")
        raise ClockError(source, "receive times", problem)
    if not np.any(np.diff(stamps) > 0):
        raise ClockError(source, "receive times", Phrase("all its messages have the same stamp"))
    since = stamps - stamps[0]
    late = (times - times[0]) - since
    at_zero, slope = _line_below(since, late)
    above = late - at_zero - slope * since
    x, y = _earliest(since, above)
    more, _, low, high = scipy.stats.theilslopes(y, x, 0.95)
    middle = float(np.median(x))
    rest = y - more * (x - middle)
    level, below, beyond = _median(rest)
    # The median line passes through the middle; to the start it takes the slope's margin along.
    down = math.hypot(level - below, (high - more) * middle)
    up = math.hypot(beyond - level, (more - low) * middle)
    offset = times[0] - stamps[0] + at_zero + level - more * middle
    delays = np.maximum(above - level - more * (since - middle), 0.0)
    return ClockFit(
        source=source,
        reference="receive times",
        by="receive times",
        start=float(stamps[0]),
        offset=Estimate(float(offset), float(offset - down), float(offset + up)),
        skew=Estimate(float(slope + more), float(slope + low), float(slope + high)),
        samples=len(stamps),
        delays=(float(np.median(delays)), float(np.quantile(delays, 0.95))),
        unevenness=float(np.max(np.abs(rest - level))),
    )


def _line_below(x: Array, y: Array) -> tuple[float, float]:
    """Value at 0 and slope of the line below all points that is nearest to them: an edge of their hull."""
    order = np.lexsort((y, x))
    hull: list[int] = []
    for i in order.tolist():
        while len(hull) > 1 and _turns_down(x, y, hull[-2], hull[-1], i):
            hull.pop()
        if not hull or x[i] > x[hull[-1]]:
            hull.append(i)
    ends = x[hull]
    right = min(max(int(np.searchsorted(ends, x.mean())), 1), len(hull) - 1)
    a, b = hull[right - 1], hull[right]
    slope = (y[b] - y[a]) / (x[b] - x[a])
    return float(y[a] - slope * x[a]), float(slope)


def _turns_down(x: Array, y: Array, a: int, b: int, c: int) -> bool:
    """Return True if b is on the line from a to c or above it."""
    return bool((y[b] - y[a]) * (x[c] - x[a]) >= (y[c] - y[a]) * (x[b] - x[a]))


def _earliest(x: Array, y: Array) -> tuple[Array, Array]:
    """The lowest point of each window of as many points."""
    windows = min(max(int(math.sqrt(len(x))), _FEWEST_WINDOWS), _MOST_WINDOWS)
    lowest = [int(part[np.argmin(y[part])]) for part in np.array_split(np.argsort(x, kind="stable"), windows)]
    return x[lowest], y[lowest]


def _median(values: Array) -> tuple[float, float, float]:
    """Median and its interval of 95 %, from the ranks between which it is."""
    ordered = np.sort(values)
    rank = int(scipy.stats.binom.ppf(0.025, len(values), 0.5))
    low = max(rank - 1, 0)
    return float(np.median(values)), float(ordered[low]), float(ordered[len(values) - 1 - low])


def mounting_by_gravity(reference: Signal, source: Signal, mounted: Rotation) -> SensorMounting:
    """Estimate a mounting from two orientations on one clock.

    Args:
        reference: Orientation of the body in its world, z up.
        source: Orientation of the sensor in a world of its own, z up, with any heading.
        mounted: Sensor frame in the body frame, roughly.
    """
    inside = (source.times >= reference.times[0]) & (source.times <= reference.times[-1])
    body = Rotation.from_quat(reference.at(source.times[inside]))
    sensor = Rotation.from_quat(source.values[inside])
    return _align(body.inv().apply(_UP), sensor.inv().apply(_UP), mounted)


def _align(body: Array, sensor: Array, mounted: Rotation) -> SensorMounting:
    """The frame in which directions of the sensor (n, 3) are those of the body (n, 3), by least squares."""
    turned, unknown = mounted, np.eye(3)  # Beforehand each angle has a standard deviation of 1 rad.
    for _ in range(10):
        seen = turned.apply(sensor)
        # A small turn v changes u by v x u.
        jacobian = -np.cross(np.eye(3)[None], seen[:, None]).swapaxes(1, 2)
        rest = body - seen
        variance = max(float(np.sum(rest**2)) / (2 * len(rest)), 1e-12)
        information = np.einsum("nkp,nkq->pq", jacobian, jacobian) / variance
        # Noise tilts a direction that stays where it is, too: so much of what seems to be seen is not.
        sizes, axes = np.linalg.eigh(information)
        information = (axes * np.maximum(sizes - 2 * len(rest), 0.0)) @ axes.T + unknown
        step = np.linalg.solve(information, np.einsum("nkp,nk->p", jacobian, rest) / variance)
        turned = Rotation.from_rotvec(-step) * turned
        if np.linalg.norm(step) < 1e-9:
            break
    inverse = np.linalg.inv(information)
    robust = sandwich(jacobian / variance**0.5, rest / variance**0.5, inverse)
    return SensorMounting.of("gravity", turned, raise_variances(inverse, robust))
