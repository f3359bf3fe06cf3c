"""How high terrain is, and a robot on it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segtrack.errors import InvalidValueError
from segtrack.robot import Robot
from segtrack.terrain import Terrain

_SAMPLES = 41
"""Along each side of a robot's bounding box."""


def height_of(terrains: Sequence[Terrain], x: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
    """Height of the ground [m] at points (x, y) of any shape [m]; -inf where there is none."""
    x, y = np.broadcast_arrays(x, y)
    heights = np.full(x.shape, -np.inf)
    for terrain in terrains:
        heights = np.maximum(heights, terrain.height_at(x, y))
    return heights


def check_ground(terrains: Sequence[Terrain], point: Sequence[float]) -> None:
    """Refuse to find a height where there is no ground to find.

    Args:
        terrains: All there are; none is flat ground at z = 0.
        point: In the world (2,) [m].

    Raises:
        InvalidValueError: No terrain there has heights to sample.
    """
    try:
        ground = not terrains or bool(np.isfinite(height_of(terrains, *point)))
    except InvalidValueError:
        ground = False
    if not ground:
        expected = "given with a height where terrain has none to sample"
        raise InvalidValueError("position [m]", expected, point)


def clearing_height(robot: Robot, terrains: Sequence[Terrain]) -> float:
    """How far to lift a robot that it just clears the terrain under its bounding box [m]."""
    low, high = robot.bounds()
    x = np.linspace(low[0], high[0], _SAMPLES)
    y = np.linspace(low[1], high[1], _SAMPLES)
    ground = float(np.max(height_of(terrains, *np.meshgrid(x, y)))) if terrains else 0.0
    return ground - low[2]
