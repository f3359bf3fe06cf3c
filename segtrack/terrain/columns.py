"""Convex solids cut by vertical lines: how high each reaches over a place.

A polyhedron is an intersection of half-spaces normal . point <= offset, so a vertical line is inside it
between the highest of the planes that look down and the lowest of those that look up, where it is
inside all upright ones. A cylinder's mantle adds one quadratic equation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from segtrack.terrain.solids import Box, Cylinder, HalfSpace, Hull

Array = NDArray[np.float64]

_ON_FACE = 1e-10
"""A place that is no further from an upright face is on it: rounding [m]."""
_UPRIGHT = 1e-12
"""Least vertical part of the normal of a face that is not upright."""


class Column(Protocol):
    """A convex solid, ready to be cut."""

    def span(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Lower and upper end of the vertical lines at places (n,) [m].

        Where a line misses the solid, the upper end is -inf or below the lower one.
        """

    def corners(self) -> Array:
        """World x of the corners of its section by the plane y = 0 [m]."""


def column_of(solid: Box | Cylinder | HalfSpace | Hull) -> Column:
    """A convex solid, ready to be cut."""
    match solid:
        case Box(center, half_extents, quaternion):
            axes = Rotation.from_quat(quaternion).as_matrix().T
            normals = np.concatenate([axes, -axes])
            return Polyhedron(normals, normals @ center + np.tile(half_extents, 2))
        case HalfSpace(point, normal):
            return Polyhedron(np.array([normal]), np.array([np.dot(normal, point)]))
        case Hull(points):
            faces = np.unique(np.round(ConvexHull(points).equations, 12), axis=0)
            return Polyhedron(faces[:, :3], -faces[:, 3])
        case Cylinder(center, radius, length, quaternion):
            axis = Rotation.from_quat(quaternion).apply((0.0, 0.0, 1.0))
            ends = np.array([axis @ center, -(axis @ center)]) + length / 2
            return RoundColumn(Polyhedron(np.array([axis, -axis]), ends), np.array(center), radius, length)


@dataclass(frozen=True, eq=False)
class Polyhedron:
    """An intersection of half-spaces.

    Attributes:
        normals: Unit vectors out of them, in the world (f, 3).
        offsets: Distances of their planes from the world's origin along these (f,) [m].
    """

    normals: Array
    offsets: Array

    def span(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Lower and upper end of the vertical lines at places (n,) [m], as `Column` says."""
        z = self.normals[:, 2]
        room = self.offsets[:, None] - self.normals[:, :2] @ np.stack([x, y])
        upwards, downwards = z > _UPRIGHT, z < -_UPRIGHT
        high = np.min(room[upwards] / z[upwards, None], axis=0, initial=math.inf)
        low = np.max(room[downwards] / z[downwards, None], axis=0, initial=-math.inf)
        outside = np.any(room[~(upwards | downwards)] < -_ON_FACE, axis=0)
        return low, np.where(outside, -math.inf, high)

    def corners(self) -> Array:
        """World x of the corners of its section by the plane y = 0 [m]."""
        lines = self.normals[:, [0, 2]]
        first, second = np.triu_indices(len(lines), 1)
        turn = lines[first, 0] * lines[second, 1] - lines[first, 1] * lines[second, 0]
        meet = np.abs(turn) > _UPRIGHT
        first, second, turn = first[meet], second[meet], turn[meet]
        a, b = self.offsets[first], self.offsets[second]
        x = (a * lines[second, 1] - b * lines[first, 1]) / turn
        z = (b * lines[first, 0] - a * lines[second, 0]) / turn
        inside = lines @ np.stack([x, z]) <= self.offsets[:, None] + _ON_FACE
        return np.asarray(x[inside.all(axis=0)])


@dataclass(frozen=True, eq=False)
class RoundColumn:
    """A cylinder.

    Attributes:
        ends: The space between the planes of its two ends.
        center: In the world (3,) [m].
        radius: [m]
        length: [m]
    """

    ends: Polyhedron
    center: Array
    radius: float
    length: float

    @property
    def _axis(self) -> Array:
        return np.asarray(self.ends.normals[0])

    def span(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Lower and upper end of the vertical lines at places (n,) [m], as `Column` says."""
        low, high = self.ends.span(x, y)
        axis = self._axis
        away = np.stack([x, y, np.zeros_like(x)], axis=1) - (*self.center[:2], 0.0)
        across = away - np.outer(away @ axis, axis)  # From the axis's line, at the centre's height.
        rise = np.array([0.0, 0.0, 1.0]) - axis[2] * axis
        a, b = rise @ rise, across @ rise
        c = np.sum(across**2, axis=1) - self.radius**2
        if a < _UPRIGHT:
            return low, np.where(c > 2 * self.radius * _ON_FACE, -math.inf, high)
        root = np.sqrt(np.maximum(b**2 - a * c, 0.0))
        low = np.maximum(low, self.center[2] + (-b - root) / a)
        high = np.minimum(high, self.center[2] + (-b + root) / a)
        return low, np.where(b**2 < a * c, -math.inf, high)

    def corners(self) -> Array:
        """World x of the ends of its section by the plane y = 0, and of the corners between them [m]."""
        axis = self._axis
        return np.concatenate([self._on_ends(axis), self._on_mantle(axis)])

    def _on_ends(self, axis: Array) -> Array:
        """Where y = 0 cuts the rims of the two ends."""
        level = axis[[0, 2]]
        size = np.linalg.norm(level)
        if size < _UPRIGHT:
            return np.zeros(0)
        found = []
        for end in (-self.length / 2, self.length / 2):
            middle = self.center + end * axis
            # The chord begins at the point of the end's plane and of y = 0 that is nearest to its middle.
            foot = middle[[0, 2]] + axis[1] * middle[1] / size**2 * level
            gap = (foot[0] - middle[0]) ** 2 + middle[1] ** 2 + (foot[1] - middle[2]) ** 2
            if gap <= self.radius**2:
                half = math.sqrt(self.radius**2 - gap)
                found += [foot[0] + sign * half * level[1] / size for sign in (-1, 1)]
        return np.array(found)

    def _on_mantle(self, axis: Array) -> Array:
        """Where the mantle is upright in y = 0."""
        flat = math.hypot(axis[0], axis[1])
        if flat < _UPRIGHT:
            if abs(self.center[1]) > self.radius:
                return np.zeros(0)
            half = math.sqrt(self.radius**2 - self.center[1] ** 2)
            return self.center[0] + np.array([-half, half])
        if abs(axis[1]) < _UPRIGHT:
            return np.zeros(0)
        found = []
        for side in (-1.0, 1.0):
            rim = self.center[:2] + side * self.radius * np.array([axis[1], -axis[0]]) / flat
            along = -rim[1] / axis[1]
            if abs(along) <= self.length / 2:
                found.append(rim[0] + along * axis[0])
        return np.array(found)
