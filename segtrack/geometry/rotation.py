"""Rotations as URDF writes them: fixed-axis roll, pitch, yaw."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def rotation_of(rpy: Sequence[float]) -> NDArray[np.float64]:
    """Rotation matrix of URDF's fixed-axis roll, pitch, yaw [rad]."""
    roll, pitch, yaw = rpy
    cr, sr = math.cos(roll), math.sin(roll)
    cp, sp = math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def rpy_of(rotation: NDArray[np.float64]) -> tuple[float, float, float]:
    """Roll, pitch, yaw [rad] of a rotation matrix; at gimbal lock the yaw is zero."""
    pitch = math.atan2(-rotation[2, 0], math.hypot(rotation[0, 0], rotation[1, 0]))
    if abs(math.cos(pitch)) < 1e-9:
        return math.atan2(-rotation[1, 2], rotation[1, 1]), pitch, 0.0
    return math.atan2(rotation[2, 1], rotation[2, 2]), pitch, math.atan2(rotation[1, 0], rotation[0, 0])


def rotation_about_y(angle: float) -> NDArray[np.float64]:
    """Rotation matrix (3, 3) about +y by `angle` [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def quaternion_of(rotation: NDArray[np.float64]) -> tuple[float, float, float, float]:
    """Quaternion (x, y, z, w) of a rotation matrix (3, 3), by its largest component (Shepperd's method)."""
    (a, b, c), (d, e, f), (g, h, i) = rotation.tolist()
    squares = (1 + a - e - i, 1 - a + e - i, 1 - a - e + i, 1 + a + e + i)  # Four times each.
    double = math.sqrt(max(squares))
    x, y, z, w = (
        (squares[0], b + d, c + g, h - f),
        (b + d, squares[1], f + h, c - g),
        (c + g, f + h, squares[2], d - b),
        (h - f, c - g, d - b, squares[3]),
    )[squares.index(max(squares))]
    return x / (2 * double), y / (2 * double), z / (2 * double), w / (2 * double)
