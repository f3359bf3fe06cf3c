"""Pose, velocity and attitude of a robot's body."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.geometry import rpy_of, rpys_of


class RobotState(NamedTuple):
    """Pose and velocity of a robot's body.

    Attributes:
        position: Body frame in the world (3,) [m].
        orientation: Body frame in the world, quaternion (x, y, z, w).
        velocity: Velocity of the body's centre of mass in the world (3,) [m/s].
        angular_velocity: Angular velocity of the body in the world (3,) [rad/s].
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


def attitude_of(rotation: NDArray[np.float64]) -> tuple[float, float, float]:
    """Roll, pitch and yaw [rad] as in `RobotState`, of a body's rotation into the world (3, 3)."""
    roll, pitch, yaw = rpy_of(rotation)
    return roll, -pitch, yaw


def attitudes_of(
    rotations: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Rolls, pitches and yaws (N,) [rad], as `attitude_of`, of N rotations into the world (N, 3, 3)."""
    roll, pitch, yaw = np.moveaxis(rpys_of(rotations), -1, 0)
    return roll, -pitch, yaw
