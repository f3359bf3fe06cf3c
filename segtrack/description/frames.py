"""Frames in one another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segtrack.geometry.rotation import rotation_of


@dataclass(frozen=True, eq=False)
class Frame:
    """A frame in another one. Two are equal only if they are the same: arrays have no one answer.

    Attributes:
        rotation: Its axes as columns (3, 3).
        origin: Its origin (3,) [m].
    """

    rotation: NDArray[np.float64]
    origin: NDArray[np.float64]

    @classmethod
    def at(cls, xyz: ArrayLike, rpy: tuple[float, float, float]) -> Frame:
        """From its origin (3,) [m] and its roll, pitch, yaw [rad]."""
        return cls(rotation_of(rpy), np.asarray(xyz, dtype=float))

    def __matmul__(self, inner: Frame) -> Frame:
        """The frame `inner`, given in this frame, seen from outside of this one."""
        return Frame(self.rotation @ inner.rotation, self.points(inner.origin))

    def seen_from(self, other: Frame) -> Frame:
        """This frame in another one; both are given in the same."""
        back = other.rotation.T
        return Frame(back @ self.rotation, back @ (self.origin - other.origin))

    def points(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Points (..., 3) [m] given in this frame, seen from outside."""
        return points @ self.rotation.T + self.origin

    def plane_points(self, points: NDArray[np.float64], y: float = 0.0) -> NDArray[np.float64]:
        """Points (n, 3) [m] seen from outside, of (x, z) pairs (n, 2) at `y` in this frame [m]."""
        return self.points(np.insert(points, 1, y, axis=1))
