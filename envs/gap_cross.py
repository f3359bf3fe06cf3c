"""Cross a gap in the ground."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from segtrack.envs.course import Course, straight
from segtrack.envs.parameters import Number
from segtrack.envs.step_climb import APPROACH, BEYOND
from segtrack.envs.task import Task
from segtrack.terrain import Gap


class GapCross(Task):
    """Drive over a gap, without falling into it. Its near wall is at x = 0."""

    name = "GapCross"
    parameters = {
        "length": Number(0.3, 0.05, 1.0, "m", "distance between the walls"),
        "depth": Number(0.5, 0.1, 2.0, "m", "depth of the gap"),
    }
    difficulty = "length"
    levels = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)

    def course(self, values: Mapping[str, Any], reach: float, rng: np.random.Generator) -> Course:
        """A gap across the way."""
        gap = Gap(length=values["length"], distance=0.0, depth=values["depth"])
        return Course(gap, straight(-APPROACH - reach, values["length"] + BEYOND))
