"""The sun: where it stands, and what it sees, which is what lies in no shadow."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from segtrack.rendering.raster import Projection, Work, allocate_buffer, clear, draw_triangles
from segtrack.rendering.shading import Shadow

SUN = np.array([0.35, -0.55, 0.76]) / math.sqrt(0.35**2 + 0.55**2 + 0.76**2)
"""Direction to the sun in the world, of length 1 (3,)."""
_RIGHT = np.cross((0.0, 0.0, 1.0), SUN) / np.linalg.norm(np.cross((0.0, 0.0, 1.0), SUN))
_AXES = np.array([_RIGHT, np.cross(SUN, _RIGHT), -SUN])
_FAR = 1e3
"""Rays begin so far behind what casts shadows [m]."""


class ShadowMap:
    """Picture of what casts shadows, as the sun sees it."""

    def __init__(self, size: int, triangles: int, *, blur: int = 0, on_bodies: bool = False) -> None:
        """Prepare for so many triangles.

        Args:
            size: Width and height [pixels].
            triangles: Number of triangles that cast shadows.
            blur: Half the width over which shadows' edges are softened, beside one pixel [pixels].
            on_bodies: Whether shadows fall on bodies, too.
        """
        self._buffer = allocate_buffer(size, size, triangles)
        self._blur, self._on_bodies = blur, on_bodies

    def cast(
        self,
        casters: Sequence[tuple[NDArray[np.float64], NDArray[np.int32]]],
        middle: NDArray[np.float64],
        reach: float,
        lift: float,
        work: Work,
    ) -> Shadow:
        """Draw what casts shadows.

        Args:
            casters: Points in the world (n, 3) [m] and triangles (m, 3) of each surface.
            middle: Middle of what is looked at, in the world (3,) [m].
            reach: Distance around it to which shadows are shown [m].
            lift: Distance by which points are tested nearer to the sun than they are [m].
            work: Room for the points.
        """
        size, first = len(self._buffer.nearness), 0
        room = size - 2 * self._blur - 6
        projection = Projection(middle, _AXES, room / (2 * reach), False, SUN)
        clear(self._buffer)
        for points, triangles in casters:
            draw_triangles(points, triangles, first, -_FAR, False, projection, self._buffer, work)
            first += len(triangles)
        return Shadow(projection, self._buffer.nearness, self._blur, lift, self._on_bodies)
