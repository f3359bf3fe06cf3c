"""Fitted clocks and mountings of sensors, with intervals, also by the times at which messages came."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
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
class TimeUncertainty:
    """Error of a source's times: an offset at the time at which it is known best, and an independent skew.

    Attributes:
        least: Standard deviation of the times there [s].
        skew: Standard deviation of the rate at which the error grows from there on, either way [-].
        best: Time at which they are known best [s], on the clock that its user names.
    """

    least: float
    skew: float = 0.0
    best: float = 0.0

    @classmethod
    def of(cls, offset: float, skew: float, covariance: float, start: float) -> TimeUncertainty:
        """Return that of an offset at a start and a skew, from their standard deviations and covariance."""
        since = -covariance / skew**2 if skew > 0 else 0.0
        return cls(math.sqrt(max(offset**2 - (since * skew) ** 2, 0.0)), skew, start + since)

    def std(self, times: ArrayLike) -> Array:
        """Standard deviation of the source's times, at times (n,) [s]."""
        return np.hypot(self.least, self.skew * (np.asarray(times) - self.best))

    def parts(self, start: float) -> tuple[tuple[float, float], tuple[float, float]]:
        """Offsets at a start [s] and skews of two independent errors of one standard deviation."""
        return (self.least, 0.0), (self.skew * (start - self.best), self.skew)

    def plus(self, other: TimeUncertainty) -> TimeUncertainty:
        """Return that of times with both errors."""
        skew = math.hypot(self.skew, other.skew)
        if skew == 0:
            return replace(self, least=math.hypot(self.least, other.least))
        best = (self.skew**2 * self.best + other.skew**2 * other.best) / skew**2
        return TimeUncertainty(float(np.hypot(self.std(best), other.std(best))), skew, best)

    def __str__(self) -> str:
        """Standard deviation where it is least, and how it grows."""
        if self.skew == 0:
            return f"{self.least:.2g} s"
        return f"{self.least:.2g} s at {self.best:.2f} s, and {self.skew:.2g} s more each second from there"

    def record(self) -> dict[str, float]:
        """Return a JSON-serialisable dict."""
        return asdict(self)


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
        covariance: Covariance of the errors of offset and skew [s].
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
    covariance: float
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

    @property
    def uncertainty(self) -> TimeUncertainty:
        """Uncertainty of the times of the source, on the clock that it is put on."""
        start = self.start + self.offset.value
        return TimeUncertainty.of(self.offset.std, self.skew.std, self.covariance, start)

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
    skew = Estimate(float(slope + more), float(slope + low), float(slope + high))
    delays = np.maximum(above - level - more * (since - middle), 0.0)
    return ClockFit(
        source=source,
        reference="receive times",
        by="receive times",
        start=float(stamps[0]),
        offset=Estimate(float(offset), float(offset - down), float(offset + up)),
        skew=skew,
        covariance=-middle * skew.std**2,
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
    return SensorMounting.of("gravity", turned, raise_variances(inverse, robust.covariance))
