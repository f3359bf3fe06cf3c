"""Rotations in URDF's convention, and mass properties of rigid bodies that add and subtract."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segtrack.geometry.path import BeltPath

GRAVITY = 9.81
"""Acceleration of free fall, unless a world is told another one [m/s^2]."""
STANDARD_GRAVITY = 9.80665
"""The unit g, as the metre and the second define it [m/s^2]."""


def rotation_of(rpy: Sequence[float]) -> NDArray[np.float64]:
    """Rotation matrix (3, 3) of URDF's fixed-axis roll, pitch, yaw [rad]."""
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


_LOCKED, _LOST = 1e-6, 1e-13
"""Cosines of the pitch at gimbal lock, and where rounding leaves nothing of the roll [-]."""


def rpy_of(rotation: NDArray[np.float64]) -> tuple[float, float, float]:
    """Roll, pitch, yaw [rad] of a rotation matrix; at gimbal lock the roll is zero."""
    (a, b, c), (d, e, f), (g, h, i) = rotation.tolist()
    cosine = math.hypot(a, d)
    pitch = math.atan2(-g, cosine)
    if cosine > _LOCKED:
        return math.atan2(h, i), pitch, math.atan2(d, a)
    # Rounding leaves little of the roll, or nothing: the yaw is what this roll leaves of the rotation.
    roll = math.atan2(h, i) if cosine > _LOST else 0.0
    sine, cosine = math.sin(roll), math.cos(roll)
    return roll, pitch, math.atan2(sine * c - cosine * b, cosine * e - sine * f)


def rpys_of(rotations: NDArray[np.float64]) -> NDArray[np.float64]:
    """Roll, pitch, yaw (..., 3) [rad] of rotation matrices (..., 3, 3); at gimbal lock the roll is zero."""
    (a, b, c), (d, e, f), (g, h, i) = np.moveaxis(rotations, (-2, -1), (0, 1))
    cosine = np.hypot(a, d)
    roll = np.where(cosine > _LOST, np.arctan2(h, i), 0.0)
    left = np.arctan2(np.sin(roll) * c - np.cos(roll) * b, np.cos(roll) * e - np.sin(roll) * f)
    yaw = np.where(cosine > _LOCKED, np.arctan2(d, a), left)
    return np.stack([roll, np.arctan2(-g, cosine), yaw], axis=-1)


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


def rotations_of(quaternions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rotation matrices (N, 3, 3) of unit quaternions (x, y, z, w) (N, 4), bit for bit as in kernels."""
    x, y, z, w = quaternions.T
    rows = (
        *(1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        *(2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        *(2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )
    return np.ascontiguousarray(np.array(rows).T).reshape(-1, 3, 3)


def rotated(rotations: NDArray[np.float64], vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Vectors (N, 3) rotated by matrices (N, 3, 3), with bits that do not depend on N (unlike `@`)."""
    x, y, z = vectors.T[..., None]
    return np.asarray(rotations[..., 0] * x + rotations[..., 1] * y + rotations[..., 2] * z)


_IDENTITY = np.eye(3)


@dataclass(frozen=True)
class MassProperties:
    """Mass, first and second moments of a body about a frame's origin.

    Attributes:
        mass: Mass [kg].
        first_moment: Mass times centre of mass (3,) [kg m].
        second_moment: Integral of r r^T dm (3, 3) [kg m^2].
    """

    mass: float
    first_moment: NDArray[np.float64]
    second_moment: NDArray[np.float64]

    def __add__(self, other: MassProperties) -> MassProperties:
        """Sum of two bodies' properties, about their common origin."""
        return MassProperties(
            self.mass + other.mass,
            self.first_moment + other.first_moment,
            self.second_moment + other.second_moment,
        )

    def __sub__(self, other: MassProperties) -> MassProperties:
        """Properties of the remainder when the other body is removed, about their common origin."""
        return MassProperties(
            self.mass - other.mass,
            self.first_moment - other.first_moment,
            self.second_moment - other.second_moment,
        )

    def scaled(self, share: float) -> MassProperties:
        """Properties with the mass scaled by `share` [-], its distribution unchanged."""
        return MassProperties(share * self.mass, share * self.first_moment, share * self.second_moment)

    def transformed(self, rotation: NDArray[np.float64], origin: NDArray[np.float64]) -> MassProperties:
        """Properties in another frame, in which this frame has `rotation` (3, 3) and `origin` (3,) [m]."""
        moment = rotation @ self.first_moment
        cross = np.outer(origin, moment)
        second = (
            rotation @ self.second_moment @ rotation.T
            + cross
            + cross.T
            + self.mass * np.outer(origin, origin)
        )
        return MassProperties(self.mass, moment + self.mass * origin, second)

    @property
    def center(self) -> NDArray[np.float64]:
        """Centre of mass (3,) [m]."""
        return self.first_moment / self.mass

    @property
    def inertia(self) -> NDArray[np.float64]:
        """Inertia tensor (3, 3) about the centre of mass, in the frame's axes [kg m^2]."""
        center = self.center
        central = self.second_moment - self.mass * (center[:, None] * center)
        return np.trace(central) * _IDENTITY - central

    @classmethod
    def of(cls, mass: float, center: ArrayLike, inertia: NDArray[np.float64]) -> MassProperties:
        """Build from mass [kg], centre (3,) [m] and inertia (3, 3) about the centre [kg m^2]."""
        middle = np.asarray(center, dtype=float)
        central = np.trace(inertia) / 2 * _IDENTITY - inertia
        return cls(mass, mass * middle, central + mass * (middle[:, None] * middle))

    @classmethod
    def of_box(cls, mass: float, center: ArrayLike, size: Sequence[float]) -> MassProperties:
        """Mass properties of a uniform box with sides `size` (3,) [m]."""
        squares = np.square(size)
        return cls.of(mass, center, mass / 12 * np.diag(squares.sum() - squares))


def uniform_belt(path: BeltPath, width: float, mass: float) -> MassProperties:
    """Mass properties of a uniform belt about the track frame's origin."""
    nodes, weights = np.polynomial.legendre.leggauss(32)
    total = MassProperties(0.0, np.zeros(3), np.zeros((3, 3)))
    for segment in path.segments:
        plane = segment.point_at((nodes + 1) * segment.length / 2)
        points = np.stack([plane[:, 0], np.zeros(len(nodes)), plane[:, 1]], axis=1)
        masses = weights / 2 * mass * segment.length / path.perimeter
        second = np.einsum("n,ni,nj->ij", masses, points, points) + np.diag(
            [0, masses.sum() * width**2 / 12, 0]
        )
        total = total + MassProperties(float(masses.sum()), masses @ points, second)
    return total


def spin_momentum(path: BeltPath, mass: float) -> float:
    """Angular momentum of a running uniform belt about y, per belt speed [kg m]: 2 mass area / perimeter."""
    points = path.outline()
    after = np.roll(points, -1, axis=0)
    area = np.sum(points[:, 1] * after[:, 0] - points[:, 0] * after[:, 1]) / 2
    return float(2 * mass * area / path.perimeter)
