"""How a sensor sits on its vehicle: three angles, each with its interval, or not to be seen from the log.

Rates show it but for a turn about an axis that all turning is about: a vehicle that only pitches says nothing
of how far a gyroscope is pitched. Attitudes show it by gravity, but for a turn about the vertical.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation, Slerp

from segtrack.logs.clocks.uncertainty import NORMAL_QUANTILE, Estimate, sandwich
from segtrack.logs.motion import Signal

UNSEEN = 0.1
"""An angle whose standard deviation is larger is not observable [rad]."""
Sight = Literal["rates", "gravity"]
_UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Mounting:
    """A sensor's frame in the body frame: yaw about z, then pitch about y, then roll about x.

    Attributes:
        by: What shows it: turning rates, or gravity as two attitudes have it.
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
    ) -> Mounting:
        """A frame that is turned in the body frame, with a small error about its axes (3, 3) [rad^2]."""
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
        """As JSON can hold it."""
        return {"by": self.by, "rpy": [None if angle is None else angle.record() for angle in self.rpy]}


def mounting_by_gravity(reference: Signal, source: Signal, mounted: Rotation) -> Mounting:
    """From two orientations on one clock.

    Args:
        reference: Of the body in its world, z up.
        source: Of the sensor in its own, z up; what it takes for forward is left open.
        mounted: Sensor frame in the body frame, about.
    """
    inside = (source.times >= reference.times[0]) & (source.times <= reference.times[-1])
    body = Slerp(reference.times, Rotation.from_quat(reference.values))(source.times[inside])
    sensor = Rotation.from_quat(source.values[inside])
    return _aligned(body.inv().apply(_UP), sensor.inv().apply(_UP), mounted)


def _aligned(body: NDArray[np.float64], sensor: NDArray[np.float64], mounted: Rotation) -> Mounting:
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
    raised = np.sqrt(np.maximum(np.diag(robust) / np.diag(inverse), 1.0))
    return Mounting.of("gravity", turned, inverse * np.outer(raised, raised))
