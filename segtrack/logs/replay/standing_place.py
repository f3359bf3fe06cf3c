"""Ground and walls under a vehicle that stands upright, and between it and its obstacle."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from segtrack.courses import Wall, Zone
from segtrack.logs.replay.path import Place
from segtrack.logs.replay.terrain import LoadedTerrain
from segtrack.world import height_of

_SAMPLES = 41
"""Places along each side of a vehicle at which the ground under it is looked at."""
_END = _SAMPLES // 3
"""So many of them are an end or a side."""
_LINE = 1e-3
"""Width of the line along which walls are looked for between a vehicle and its obstacle [m]."""

Array = NDArray[np.float64]


class StandingPlace:
    """Box around an upright vehicle at a place of a terrain.

    Attributes:
        place: Pose of the body frame.
        low: Smallest corner of the box in the body frame (3,) [m].
        high: Largest corner likewise.
        terrain: Ground and walls.
        face: World x of the obstacle that it drives at along +x [m]; infinite without one.
    """

    def __init__(self, place: Place, low: Array, high: Array, terrain: LoadedTerrain, face: float) -> None:
        """Take a box at a place."""
        self.place, self.low, self.high, self.terrain, self.face = place, low, high, terrain, face

    @property
    def size(self) -> Array:
        """Extents along the body's axes (3,) [m]."""
        return self.high - self.low

    @cached_property
    def _points(self) -> tuple[Array, Array]:
        """World x and y, rows from the rear to the front, columns from the right to the left [m]."""
        along, across = (np.linspace(self.low[i], self.high[i], _SAMPLES) for i in (0, 1))
        return self._in_world(*np.meshgrid(along, across, indexing="ij"))

    def _in_world(self, along: Array, across: Array) -> tuple[Array, Array]:
        cosine, sine = math.cos(self.place.yaw), math.sin(self.place.yaw)
        x = self.place.x + cosine * along - sine * across
        return x, self.place.y + sine * along + cosine * across

    @cached_property
    def heights(self) -> Array:
        """Heights of the ground under it, walls left out, in rows from the rear to the front [m]."""
        return height_of(self.terrain.driven_on, *self._points)

    @property
    def ground(self) -> float:
        """Height of the highest ground under it before its obstacle, walls left out [m]."""
        middle = float(height_of(self.terrain.driven_on, self.place.x, self.place.y))
        return float(self.heights[self._points[0] < self.face].max(initial=middle))

    def walls_inside(self) -> Iterator[Wall]:
        """Yield the walls that it would be inside of if it stood on its ground."""
        x, y = self._in_world(*((self.low + self.high) / 2)[:2, None])
        length, width, height = self.size.tolist()
        space = Zone(
            float(x[0]), float(y[0]), self.place.yaw, length, width, self.ground, self.ground + height
        )
        return self._overlapping(space)

    def walls_ahead(self) -> Iterator[Wall]:
        """Yield the walls between its middle and its obstacle."""
        if not math.isfinite(self.face):
            return iter(())
        reach = max(self.face - self.place.x, _LINE)
        top = self.ground + float(self.size[2])
        line = Zone(self.place.x + reach / 2, self.place.y, 0.0, reach, _LINE, self.ground, top)
        return self._overlapping(line)

    def _overlapping(self, space: Zone) -> Iterator[Wall]:
        for wall in self.terrain.walls:
            own = Zone(wall.x, wall.y, wall.yaw, wall.length, wall.width, wall.bottom, wall.top)
            if space.overlaps(own):
                yield wall

    def without_walls(self) -> str | None:
        """Change of the terrain that frees it of walls that it is inside of or behind; None without any.

        Walls beside it come first: where these are too near, those at the ends of its lane are, too.
        """
        walls = [*self.walls_inside(), *self.walls_ahead()]
        if not walls:
            return None
        corners = [self._corners(wall) for wall in walls]
        beside = [np.abs(across).min() for along, across in corners if np.ptp(along) > np.ptp(across)]
        if beside:
            takes = max(abs(self.low[1]), abs(self.high[1]))
            near = f"a wall is {min(beside):.2f} m beside the vehicle's middle, which takes {takes:.2f} m"
            return f"widen the lane: {near}"
        along = corners[0][0]
        if along.mean() < 0 or math.isfinite(self.face):
            by = f"{along.max() - self.low[0]:.2f} m"
            return (
                f"lengthen the terrain by {by} behind the start, as a wall ends it so far before the "
                "vehicle's rear (or leave that wall out: `walls: {start: false}`)"
            )
        return f"move the wall into which the vehicle's front reaches by {self.high[0] - along.min():.2f} m"

    def _corners(self, wall: Wall) -> tuple[Array, Array]:
        """Distances ahead and to the left of the body frame of the corners of a wall (4,) [m]."""
        signs = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]]) / 2
        along, across = (signs * [wall.length, wall.width]).T
        turn, back = complex(math.cos(wall.yaw), math.sin(wall.yaw)), -self.place.yaw
        corners = turn * (along + 1j * across) + complex(wall.x - self.place.x, wall.y - self.place.y)
        corners = corners * complex(math.cos(back), math.sin(back))
        return corners.real, corners.imag

    def unevenness(self) -> str:
        """Largest difference of the ground under it from that under its middle, in words."""
        middle = float(np.median(self.heights))
        ends = {
            "rear": self.heights[:_END],
            "front": self.heights[-_END:],
            "right": self.heights[:, :_END],
            "left": self.heights[:, -_END:],
        }
        apart = {
            name: max(float(part.max()) - middle, float(part.min()) - middle, key=abs)
            for name, part in ends.items()
        }
        end = max(apart, key=lambda name: abs(apart[name]))
        side = "above" if apart[end] > 0 else "below"
        return f"under its {end} the ground is {abs(apart[end]):.2f} m {side} that under its middle"
