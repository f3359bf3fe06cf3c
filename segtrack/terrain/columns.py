"""Intersections of convex solids with vertical lines, and corners of their sections by y = 0.

A polyhedron is an intersection of half-spaces normal . point <= offset, so a vertical line is inside it
between the highest of the planes that look down and the lowest of those that look up, where it is
inside all upright ones. A cylinder's mantle adds one quadratic equation.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from segtrack.terrain.solids import Box, ConvexSolid, Cylinder, HalfSpace, Hull, Prism

Array = NDArray[np.float64]

ON_FACE = 1e-10
"""Distance from an upright face up to which a place is on it: rounding [m]."""
UPRIGHT_PART = 1e-12
"""Least vertical part of the normal of a face that is not upright."""


def section_breaks(solids: Iterable[ConvexSolid], above: float = -math.inf) -> tuple[float, ...]:
    """Return world x of the corners of the solids' sections by y = 0, at or above a height [m]."""
    corners = [column_of(solid).corners(above) for solid in solids]
    # Faces of two solids that are in one place give one.
    return tuple(np.unique(np.round(np.concatenate([[], *corners]), 12)).tolist())


class Column(Protocol):
    """Convex solid prepared for intersection with vertical lines."""

    def span(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Lower and upper end of each vertical line's part in the solid, at places (n,) [m].

        Where a line misses the solid, the upper end is -inf or below the lower one.
        """

    def corners(self, above: float = -math.inf) -> Array:
        """World x of the corners of the solid's section by y = 0 at z >= `above` [m]."""


def column_of(solid: ConvexSolid) -> Column:
    """Prepare a convex solid for intersection with vertical lines."""
    match solid:
        case Box(size, center, quaternion):
            axes = Rotation.from_quat(quaternion).as_matrix().T
            normals = np.concatenate([axes, -axes])
            return HalfSpaces(normals, normals @ center + np.tile(size, 2) / 2)
        case HalfSpace(point, normal):
            return HalfSpaces(np.array([normal]), np.array([np.dot(normal, point)]))
        case Prism(outline, width):
            corners = np.array(outline)
            sides = np.roll(corners, -1, axis=0) - corners
            outwards = np.stack([sides[:, 1], -sides[:, 0]], axis=1) / np.linalg.norm(sides, axis=1)[:, None]
            normals = np.concatenate([np.insert(outwards, 1, 0.0, axis=1), [[0, 1, 0], [0, -1, 0]]])
            offsets = np.concatenate([np.sum(outwards * corners, axis=1), [width / 2, width / 2]])
            return HalfSpaces(normals, offsets)
        case Hull():
            faces = np.unique(np.round(ConvexHull(solid.points).equations, 12), axis=0)
            return HalfSpaces(faces[:, :3], -faces[:, 3])
        case Cylinder(radius, length, center, quaternion):
            axis = Rotation.from_quat(quaternion).apply((0.0, 1.0, 0.0))
            ends = np.array([axis @ center, -(axis @ center)]) + length / 2
            return RoundColumn(HalfSpaces(np.array([axis, -axis]), ends), np.array(center), radius, length)


@dataclass(frozen=True, eq=False)
class HalfSpaces:
    """Convex polyhedron as an intersection of half-spaces.

    Attributes:
        normals: Unit outward normals in the world (f, 3).
        offsets: Distances of the planes from the world's origin along the normals (f,) [m].
    """

    normals: Array
    offsets: Array

    def span(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Lower and upper end of each vertical line's part in the solid, at places (n,) [m]; see `Column`."""
        z = self.normals[:, 2]
        room = self.offsets[:, None] - self.normals[:, :2] @ np.stack([x, y])
        upwards, downwards = z > UPRIGHT_PART, z < -UPRIGHT_PART
        high = np.min(room[upwards] / z[upwards, None], axis=0, initial=math.inf)
        low = np.max(room[downwards] / z[downwards, None], axis=0, initial=-math.inf)
        outside = np.any(room[~(upwards | downwards)] < -ON_FACE, axis=0)
        return low, np.where(outside, -math.inf, high)

    def corners(self, above: float = -math.inf) -> Array:
        """World x of the corners of the solid's section by y = 0 at z >= `above` [m]."""
        lines, offsets = self.normals[:, [0, 2]], self.offsets
        if above > -math.inf:
            lines, offsets = np.concatenate([lines, [[0.0, -1.0]]]), np.append(offsets, -above)
        first, second = np.triu_indices(len(lines), 1)
        turn = lines[first, 0] * lines[second, 1] - lines[first, 1] * lines[second, 0]
        meet = np.abs(turn) > UPRIGHT_PART
        first, second, turn = first[meet], second[meet], turn[meet]
        a, b = offsets[first], offsets[second]
        x = (a * lines[second, 1] - b * lines[first, 1]) / turn
        z = (b * lines[first, 0] - a * lines[second, 0]) / turn
        inside = lines @ np.stack([x, z]) <= offsets[:, None] + ON_FACE
        return np.asarray(x[inside.all(axis=0)])


@dataclass(frozen=True, eq=False)
class RoundColumn:
    """Cylinder at any pose, prepared for intersection with vertical lines.

    Attributes:
        ends: Space between its two end planes.
        center: Centre in the world (3,) [m].
        radius: Radius [m].
        length: Length [m].
    """

    ends: HalfSpaces
    center: Array
    radius: float
    length: float

    @property
    def _axis(self) -> Array:
        return np.asarray(self.ends.normals[0])

    def span(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Lower and upper end of each vertical line's part in the solid, at places (n,) [m]; see `Column`."""
        low, high = self.ends.span(x, y)
        axis = self._axis
        away = np.stack([x, y, np.zeros_like(x)], axis=1) - (*self.center[:2], 0.0)
        across = away - np.outer(away @ axis, axis)  # From the axis's line, at the centre's height.
        rise = np.array([0.0, 0.0, 1.0]) - axis[2] * axis
        a, b = rise @ rise, across @ rise
        c = np.sum(across**2, axis=1) - self.radius**2
        if a < UPRIGHT_PART:
            return low, np.where(c > 2 * self.radius * ON_FACE, -math.inf, high)
        root = np.sqrt(np.maximum(b**2 - a * c, 0.0))
        low = np.maximum(low, self.center[2] + (-b - root) / a)
        high = np.minimum(high, self.center[2] + (-b + root) / a)
        return low, np.where(b**2 < a * c, -math.inf, high)

    def corners(self, above: float = -math.inf) -> Array:
        """World x of the ends and corners of the cylinder's section by y = 0, at any height [m]."""
        axis = self._axis
        return np.concatenate([self._on_ends(axis), self._on_mantle(axis)])

    def _on_ends(self, axis: Array) -> Array:
        """World x of the points where y = 0 cuts the rims of the two ends [m]."""
        level = axis[[0, 2]]
        size = np.linalg.norm(level)
        if size < UPRIGHT_PART:
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
        """World x of the points where the lateral surface is vertical in the plane y = 0 [m]."""
        flat = math.hypot(axis[0], axis[1])
        if flat < UPRIGHT_PART:
            if abs(self.center[1]) > self.radius:
                return np.zeros(0)
            half = math.sqrt(self.radius**2 - self.center[1] ** 2)
            return self.center[0] + np.array([-half, half])
        if abs(axis[1]) < UPRIGHT_PART:
            return np.zeros(0)
        found = []
        for side in (-1.0, 1.0):
            rim = self.center[:2] + side * self.radius * np.array([axis[1], -axis[0]]) / flat
            along = -rim[1] / axis[1]
            if abs(along) <= self.length / 2:
                found.append(rim[0] + along * axis[0])
        return np.array(found)
