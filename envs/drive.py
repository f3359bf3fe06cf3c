"""Follow a path on flat ground or on a slope."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from segtrack.envs.course import Course, Path
from segtrack.envs.parameters import Number
from segtrack.envs.task import Task
from segtrack.terrain import Plane, Ramp

_LENGTH = 3.0
"""How far the path leads along x [m]."""
_FLAT = 1.0
"""Part of it before the slope's foot [m]."""


class Drive(Task):
    """Follow a winding path, whose shape each episode draws, up a slope if there is one."""

    name = "Drive"
    parameters = {
        "winding": Number(0.4, 0.0, 1.0, "m", "how far the path leads to one side or the other"),
        "slope": Number(0.0, 0.0, 0.5, "rad", "of the ground behind the first metre"),
    }
    difficulty = "slope"
    levels = (0.0, 0.1, 0.2, 0.3, 0.4)
    corridor = 0.3
    time_limit = 40.0
    weights = {"lateral": 2.0, "heading": 0.5}

    def course(self, values: Mapping[str, Any], reach: float, rng: np.random.Generator) -> Course:
        """A curve that starts along x, on flat ground or onto a ramp."""
        slope = values["slope"]
        terrain = Ramp(slope=slope, length=10.0, distance=_FLAT) if slope > 0 else Plane()
        side = values["winding"] * float(rng.choice((-1.0, 1.0)))
        waves = float(rng.uniform(0.5, 1.0))
        x = np.linspace(0.0, _LENGTH, 61)
        y = side * (1.0 - np.cos(math.tau * waves * x / _LENGTH)) / 2
        return Course(terrain, Path(np.stack((x, y), axis=1)))
