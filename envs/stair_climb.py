"""Climb a flight of stairs, or come down one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from segtrack.envs.course import Course, straight
from segtrack.envs.parameters import Choice, Number
from segtrack.envs.step_climb import APPROACH, BEYOND
from segtrack.envs.task import Task
from segtrack.terrain import Stairs

_LANDING = 4.0


class StairClimb(Task):
    """Go up a flight of stairs, or down from its landing. The first edge on the way is at x = 0."""

    name = "StairClimb"
    parameters = {
        "riser": Number(0.15, 0.02, 0.3, "m", "height of a stair"),
        "tread": Number(0.30, 0.15, 0.6, "m", "depth of a stair"),
        "stairs": Number(4, 1, 12, "-", "number of risers", whole=True),
        "direction": Choice("up", ("up", "down"), "which way"),
    }
    difficulty = "riser"
    levels = (0.08, 0.11, 0.14, 0.17, 0.20, 0.23)
    needs_flippers = True
    time_limit = 25.0

    def course(self, values: Mapping[str, Any], reach: float, rng: np.random.Generator) -> Course:
        """Stairs up to a landing, or a landing with stairs down from it."""
        riser, tread, count = values["riser"], values["tread"], values["stairs"]
        run = (count - 1) * tread
        if values["direction"] == "up":
            stairs = Stairs(riser=riser, tread=tread, count=count, distance=0.0, landing=_LANDING)
        else:
            # Its far side, down which the way leads, begins at x = 0.
            distance = -_LANDING - run
            stairs = Stairs(
                riser=riser, tread=tread, count=count, distance=distance, landing=_LANDING, down=True
            )
        return Course(stairs, straight(-APPROACH - reach, run + BEYOND))
