"""Climb one step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from segtrack.envs.course import Course, straight
from segtrack.envs.parameters import Number
from segtrack.envs.task import Task
from segtrack.terrain import Step

APPROACH = 0.3
"""Free distance before an obstacle at the start [m]."""
BEYOND = 0.6
"""How far behind an obstacle's last edge the body frame must come [m]."""


class StepClimb(Task):
    """Drive at a step, climb it, stand on it. Its face is at x = 0."""

    name = "StepClimb"
    parameters = {"height": Number(0.24, 0.02, 0.6, "m", "height of the step")}
    difficulty = "height"
    levels = (0.12, 0.18, 0.24, 0.28, 0.32, 0.36, 0.40, 0.44, 0.48)
    needs_flippers = True

    def course(self, values: Mapping[str, Any], reach: float, rng: np.random.Generator) -> Course:
        """A step across the way."""
        return Course(Step(height=values["height"], distance=0.0), straight(-APPROACH - reach, BEYOND))
