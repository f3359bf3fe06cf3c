"""Mounting of a sensor on its vehicle: three angles, each with its interval, or unknown from the log.

Rates show the mounting but for a turn about an axis that all turning is about: a vehicle that only pitches
does not show how far a gyroscope is pitched. Attitudes show it by gravity, but for a turn about the vertical.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation, Slerp

from segtrack.logs.clocks.estimates import NORMAL_QUANTILE, Estimate, raise_variances, sandwich
from segtrack.robot.motion import Signal

UNSEEN = 0.1
"""An angle whose standard deviation is larger is not observable [rad]."""
Sight = Literal["rates", "gravity"]
_UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class SensorMounting:
    """A sensor's frame in the body frame: yaw about z, then pitch about y, then roll about x.

    Attributes:
        by: Evidence: turning rates, or gravity in two attitudes.
        rpy: Roll, pitch (nose down positive, as `rpy` of mapping files and vehicle files) and yaw [rad]; None
            where it cannot be seen.
    """

    by: Sight
    rpy: tuple[Estimate | None, Estimate | None, Estimate | None]

    @classmethod
    def of(
        cls,
        by: Sight,
        turned: Rotation,
        covariance: NDArray[np.float64],
        quantile: float = NORMAL_QUANTILE,
    ) -> SensorMounting:
        """Return a mounting from its rotation, with the covariance of small turns about its axes [rad^2]."""
        step = 1e-6
        more = Rotation.from_rotvec(np.concatenate([np.eye(3), -np.eye(3)]) * step) * turned
        angles = more.as_euler("ZYX")[:, ::-1]
        jacobian = (angles[:3] - angles[3:]).T / (2 * step)
        stds = np.sqrt(np.diag(jacobian @ covariance @ jacobian.T))
        values = turned.as_euler("ZYX")[::-1]
        roll, pitch, yaw = (
            Estimate.normal(value, std, quantile) if std < UNSEEN else None
            for value, std in zip(values, stds, strict=True)
        )
        return cls(by, (roll, pitch, yaw))

    def record(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict."""
        return {"by": self.by, "rpy": [None if angle is None else angle.record() for angle in self.rpy]}


def mounting_by_gravity(reference: Signal, source: Signal, mounted: Rotation) -> SensorMounting:
    """Estimate a mounting from two orientations on one clock.

    Args:
        reference: Orientation of the body in its world, z up.
        source: Orientation of the sensor in a world of its own, z up, with any heading.
        mounted: Sensor frame in the body frame, roughly.
    """
    inside = (source.times >= reference.times[0]) & (source.times <= reference.times[-1])
    body = Slerp(reference.times, Rotation.from_quat(reference.values))(source.times[inside])
    sensor = Rotation.from_quat(source.values[inside])
    return _align(body.inv().apply(_UP), sensor.inv().apply(_UP), mounted)


def _align(body: NDArray[np.float64], sensor: NDArray[np.float64], mounted: Rotation) -> SensorMounting:
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
