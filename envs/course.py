"""The ground of an episode and the way over it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.terrain import Terrain


class PathPoint(NamedTuple):
    """Where somebody is on a path.

    Attributes:
        progress: Length of the path up to the nearest point of it [m].
        lateral: Distance to the left of its line there [m].
        heading: Of the path there, about the world's z axis [rad].
    """

    progress: float
    lateral: float
    heading: float


@dataclass(frozen=True, eq=False)
class Path:
    """A way over the ground, as a line through points.

    Attributes:
        points: World x and y (n, 2) [m], n >= 2.
    """

    points: NDArray[np.float64]

    @cached_property
    def _directions(self) -> NDArray[np.float64]:
        steps = np.diff(self.points, axis=0)
        return np.asarray(steps / np.linalg.norm(steps, axis=1)[:, None])

    @cached_property
    def _marks(self) -> NDArray[np.float64]:
        """Length of the path up to each point (n,) [m]."""
        return np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(self.points, axis=0), axis=1))))

    @property
    def length(self) -> float:
        """From the first to the last point [m]."""
        return float(self._marks[-1])

    def locate(self, x: float, y: float) -> PathPoint:
        """The point of the path that is nearest to world x and y [m]."""
        offsets = np.array([x, y]) - self.points[:-1]
        along = np.clip(np.sum(offsets * self._directions, axis=1), 0.0, np.diff(self._marks))
        aside = offsets - along[:, None] * self._directions
        i = int(np.argmin(np.sum(aside**2, axis=1)))
        dx, dy = self._directions[i]
        lateral = dx * offsets[i, 1] - dy * offsets[i, 0]
        return PathPoint(float(self._marks[i] + along[i]), float(lateral), math.atan2(dy, dx))

    def at(self, progress: float) -> tuple[float, float]:
        """World x and y after some length of the path [m]; its ends beyond it."""
        return (
            float(np.interp(progress, self._marks, self.points[:, 0])),
            float(np.interp(progress, self._marks, self.points[:, 1])),
        )


def straight(x_start: float, x_end: float) -> Path:
    """Along y = 0 [m]."""
    return Path(np.array([[x_start, 0.0], [x_end, 0.0]]))


@dataclass(frozen=True)
class Course:
    """What a task makes of its parameters for one episode.

    Attributes:
        terrain: The ground.
        path: From where the body frame starts to where it shall come, heading along it.
    """

    terrain: Terrain
    path: Path
