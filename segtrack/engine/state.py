"""How what an engine simulates moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class FrameMotion:
    """Pose and velocity of a link frame in the world.

    Attributes:
        position: Origin of the frame (3,) [m].
        orientation: Quaternion (x, y, z, w).
        rotation: The orientation as a matrix (3, 3).
        center: Centre of mass of the link (3,) [m].
        velocity: Of the centre of mass (3,) [m/s].
        angular_velocity: (3,) [rad/s].
    """

    position: NDArray[np.float64]
    orientation: tuple[float, float, float, float]
    rotation: NDArray[np.float64]
    center: NDArray[np.float64]
    velocity: NDArray[np.float64]
    angular_velocity: NDArray[np.float64]

    def velocity_at(self, point: Sequence[float]) -> NDArray[np.float64]:
        """Velocity in the world (3,) [m/s] of a point (3,) of the link's frame [m]."""
        arm = self.position + self.rotation @ np.asarray(point) - self.center
        (a, b, c), (x, y, z) = self.angular_velocity.tolist(), arm.tolist()
        return self.velocity + np.array(
            [b * z - c * y, c * x - a * z, a * y - b * x]
        )  # As np.cross, at once.


class BeltState(NamedTuple):
    """A belt in motion.

    Attributes:
        travel: Since the start [m].
        speed: Positive when it drives the vehicle forward [m/s].
        force: What the drive exerts on the belt along its travel [N].
        energy: Work of the drive on the belt since the start [J].
    """

    travel: float
    speed: float
    force: float
    energy: float


class FlipperState(NamedTuple):
    """A flipper in motion.

    Attributes:
        angle: Tip raised above its line at angle 0 [rad].
        speed: Raising positive [rad/s].
        torque: What its motor exerts in the raising direction [N m].
    """

    angle: float
    speed: float
    torque: float
