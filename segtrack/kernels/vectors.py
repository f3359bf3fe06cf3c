"""Vectors of three numbers, and rows of arrays, for compiled kernels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from segtrack.kernels.compiling import compiled, entry

Vector = tuple[float, float, float]


@entry
def cross(a: Vector, b: Vector) -> Vector:
    """The vector product a x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@compiled
def dot(a: Vector, b: Vector) -> float:
    """The scalar product a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled
def sum_of(a: Vector, b: Vector) -> Vector:
    """The vector a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@compiled
def scaled(a: Vector, factor: float) -> Vector:
    """The vector factor * a."""
    return factor * a[0], factor * a[1], factor * a[2]


@compiled
def without_share(a: Vector, share: float, direction: Vector) -> Vector:
    """The vector a - share * direction."""
    return a[0] - share * direction[0], a[1] - share * direction[1], a[2] - share * direction[2]


@compiled
def row(array: NDArray[np.float64], i: int) -> Vector:
    """Row i of an array (n, 3)."""
    return array[i, 0], array[i, 1], array[i, 2]


@compiled
def offset(array: NDArray[np.float64], i: int, point: NDArray[np.float64]) -> Vector:
    """Vector from a point (3,) to row i of an array (n, 3)."""
    return array[i, 0] - point[0], array[i, 1] - point[1], array[i, 2] - point[2]


@compiled
def axis(rotations: NDArray[np.float64], i: int, k: int) -> Vector:
    """Axis k of link i, in the world."""
    return rotations[i, 0, k], rotations[i, 1, k], rotations[i, 2, k]


@compiled
def arm(rotations: NDArray[np.float64], i: int, point: Vector) -> Vector:
    """Vector from link i's centre of mass to a point of its frame, in the world [m]."""
    x, y, z = point
    return (
        rotations[i, 0, 0] * x + rotations[i, 0, 1] * y + rotations[i, 0, 2] * z,
        rotations[i, 1, 0] * x + rotations[i, 1, 1] * y + rotations[i, 1, 2] * z,
        rotations[i, 2, 0] * x + rotations[i, 2, 1] * y + rotations[i, 2, 2] * z,
    )


@compiled
def add(rows: NDArray[np.float64], i: int, a: Vector, sign: float) -> None:
    """Add `sign` times a vector to row i of an array (n, 3)."""
    rows[i, 0] += sign * a[0]
    rows[i, 1] += sign * a[1]
    rows[i, 2] += sign * a[2]


@entry
def write_rotation(rotation: NDArray[np.float64], orientation: NDArray[np.float64]) -> None:
    """Write the rotation matrix (3, 3) of Euler parameters (4,) (x, y, z, w)."""
    x, y, z, w = orientation
    rotation[0, 0] = 1 - 2 * (y * y + z * z)
    rotation[0, 1] = 2 * (x * y - z * w)
    rotation[0, 2] = 2 * (x * z + y * w)
    rotation[1, 0] = 2 * (x * y + z * w)
    rotation[1, 1] = 1 - 2 * (x * x + z * z)
    rotation[1, 2] = 2 * (y * z - x * w)
    rotation[2, 0] = 2 * (x * z - y * w)
    rotation[2, 1] = 2 * (y * z + x * w)
    rotation[2, 2] = 1 - 2 * (x * x + y * y)
