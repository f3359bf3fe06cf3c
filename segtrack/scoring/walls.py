"""Whether a vehicle touches a wall: convex polygons in plan against upright boxes, by separating axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.courses import Wall

_ROUNDING = 1e-9
"""Sides this short have no direction, and gaps this small are none [m]."""


class Outline(NamedTuple):
    """Convex parts of a vehicle, seen from above.

    Attributes:
        points: Corners of all parts in the world's plan, those of each counterclockwise (n, 2) [m].
        counts: How many corners each part has (p,).
        z_min: Lowest point of each in the world (p,) [m].
        z_max: Highest point of each in the world (p,) [m].
    """

    points: NDArray[np.float64]
    counts: NDArray[np.intp]
    z_min: NDArray[np.float64]
    z_max: NDArray[np.float64]

    @property
    def polygons(self) -> list[NDArray[np.float64]]:
        """Corners of each part, counterclockwise (k, 2) [m]."""
        return np.split(self.points, np.cumsum(self.counts)[:-1])


class WallSensor:
    """Tells whether one of a course's walls is touched.

    Two convex shapes in a plane are apart if and only if one of their sides' normals separates them. In
    height only ranges are compared: a vehicle that leans over a low wall may be said to touch it early.

    Attributes:
        distance: A wall nearer than this is touched [m]; near its corners up to 1.4 times as far.
    """

    def __init__(self, walls: Sequence[Wall], distance: float = 0.0) -> None:
        """Take a course's walls."""
        self.distance = distance
        self._middles = np.array([(wall.x, wall.y) for wall in walls]).reshape(-1, 2)
        yaws = np.array([wall.yaw for wall in walls])
        axes = [[np.cos(yaws), np.sin(yaws)], [-np.sin(yaws), np.cos(yaws)]]
        self._axes = np.moveaxis(np.array(axes), 2, 0)  # Of each wall, as rows (w, 2, 2).
        self._halves = np.array([(wall.length, wall.width) for wall in walls]).reshape(-1, 2) / 2 + distance
        signs = np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)])
        corners = np.einsum("wi,ci,wij->wcj", self._halves, signs, self._axes)
        self._corners = corners + self._middles[:, None]
        self._bottoms = np.array([wall.bottom for wall in walls])
        self._tops = np.array([wall.top for wall in walls])

    def touches(self, outline: Outline) -> bool:
        """Return whether a part overlaps a wall; sides that just meet do not."""
        near = self._near(outline)
        if not len(near):
            return False
        apart = self._apart_by_parts(outline, near) | self._apart_by_walls(outline, near)
        apart |= self._bottoms[near, None] >= outline.z_max
        apart |= self._tops[near, None] <= outline.z_min
        return not apart.all()

    def _near(self, outline: Outline) -> NDArray[np.intp]:
        """Indices of the walls that reach into a circle around all parts."""
        low, high = outline.points.min(axis=0), outline.points.max(axis=0)
        middle, radius = (low + high) / 2, float(np.hypot(*(high - low))) / 2
        seen = np.einsum("wij,wj->wi", self._axes, middle - self._middles)
        gaps = np.maximum(np.abs(seen) - self._halves, 0.0)
        return np.flatnonzero((gaps**2).sum(axis=1) <= radius**2)

    def _apart_by_parts(self, outline: Outline, near: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether a side of each part has a wall wholly outside of it (w, p)."""
        points, ends = outline.points, np.cumsum(outline.counts)
        starts, after = ends - outline.counts, np.arange(1, len(points) + 1)
        after[ends - 1] = starts
        sides = points[after] - points
        lengths = np.hypot(*sides.T)
        normals = np.stack([sides[:, 1], -sides[:, 0]]) / np.maximum(lengths, _ROUNDING)
        reach = (normals * points.T).sum(axis=0)
        outside = (self._corners[near] @ normals).min(axis=1) >= reach - _ROUNDING
        return np.logical_or.reduceat(outside & (lengths > _ROUNDING), starts, axis=1)

    def _apart_by_walls(self, outline: Outline, near: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether a side of each wall has a part wholly outside of it (w, p)."""
        starts = np.cumsum(outline.counts) - outline.counts
        seen = self._axes[near] @ (outline.points - self._middles[near, None]).swapaxes(1, 2)
        halves = self._halves[near][:, :, None] - _ROUNDING
        beyond = np.minimum.reduceat(seen, starts, axis=2) >= halves
        before = np.maximum.reduceat(seen, starts, axis=2) <= -halves
        return np.any(beyond | before, axis=1)
