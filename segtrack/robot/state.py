"""Where a robot is and how it moves."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.engine import FrameMotion


@dataclass(frozen=True)
class RobotState:
    """Pose and velocity of a robot's body.

    Attributes:
        position: Body frame in the world (3,) [m].
        orientation: Body frame in the world, quaternion (x, y, z, w).
        velocity: Of the body's centre of mass in the world (3,) [m/s].
        angular_velocity: Of the body in the world (3,) [rad/s].
        roll: About the body's x axis [rad].
        pitch: Body's x axis above the horizontal, nose up positive [rad].
        yaw: About the world's z axis [rad].
    """

    position: tuple[float, float, float]
    orientation: tuple[float, float, float, float]
    velocity: tuple[float, float, float]
    angular_velocity: tuple[float, float, float]
    roll: float
    pitch: float
    yaw: float

    @classmethod
    def of(cls, body: FrameMotion) -> RobotState:
        """The state of a robot whose body frame moves like this."""
        roll, pitch, yaw = attitude_of(body.rotation)
        return cls(
            position=_vector(body.position),
            orientation=body.orientation,
            velocity=_vector(body.velocity),
            angular_velocity=_vector(body.angular_velocity),
            roll=roll,
            pitch=pitch,
            yaw=yaw,
        )


def attitude_of(rotation: NDArray[np.float64]) -> tuple[float, float, float]:
    """Roll, pitch and yaw [rad] as in `RobotState`, of a body's rotation into the world (3, 3)."""
    roll = math.atan2(rotation[2, 1], rotation[2, 2])
    pitch = math.asin(min(max(rotation[2, 0], -1.0), 1.0))
    return roll, pitch, math.atan2(rotation[1, 0], rotation[0, 0])


def _vector(array: NDArray[np.float64]) -> tuple[float, float, float]:
    x, y, z = array.tolist()
    return x, y, z
