"""Cross rough ground, another one in each episode."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from segtrack.envs.course import Course, straight
from segtrack.envs.parameters import Choice, Number
from segtrack.envs.step_climb import APPROACH, BEYOND
from segtrack.envs.task import Task
from segtrack.terrain import Boxes, GroundBox, StepField, Terrain, Waves

_LENGTH = 2.0
"""Extent of the rough ground along x, from x = 0 on [m]."""
_WIDTH = 2.0
"""Extent across, about y = 0 [m]."""
_BOXES = 25
_CELL = 0.2
"""Edge of a step field's posts [m]."""
_RAIL = 0.06
"""Length of a rail along x [m]."""
_CRESTS = 5


class RoughTerrain(Task):
    """Cross two metres of random boxes, step field, waves or rails. They begin at x = 0."""

    name = "RoughTerrain"
    parameters = {
        "roughness": Number(0.1, 0.02, 0.4, "m", "height of the highest obstacle"),
        "kind": Choice(
            ("boxes", "step_field", "waves", "rails"),
            ("boxes", "step_field", "waves", "rails"),
            "what the ground is made of",
        ),
    }
    difficulty = "roughness"
    levels = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
    time_limit = 25.0

    def course(self, values: Mapping[str, Any], reach: float, rng: np.random.Generator) -> Course:
        """A field of one kind, with flat ground before and behind it."""
        terrain = _FIELDS[values["kind"]](values["roughness"], rng)
        return Course(terrain, straight(-APPROACH - reach, _LENGTH + BEYOND))


def _boxes(roughness: float, rng: np.random.Generator) -> Terrain:
    """Boxes of random size, place and heading."""
    return Boxes(
        boxes=tuple(
            GroundBox(
                x=rng.uniform(0.3, _LENGTH - 0.3),
                y=rng.uniform(-_WIDTH / 2, _WIDTH / 2),
                length=rng.uniform(0.15, 0.5),
                width=rng.uniform(0.15, 0.5),
                height=rng.uniform(0.1, 1.0) * roughness,
                yaw=rng.uniform(0.0, math.pi),
            )
            for _ in range(_BOXES)
        )
    )


def _step_field(roughness: float, rng: np.random.Generator) -> Terrain:
    """Posts side by side."""
    return StepField(
        max_height=roughness,
        cell=_CELL,
        rows=round(_LENGTH / _CELL),
        columns=round(_WIDTH / _CELL),
        distance=0.0,
        seed=int(rng.integers(2**31)),
    )


def _waves(roughness: float, rng: np.random.Generator) -> Terrain:
    """Crests across the way, of random height and length."""
    ends = np.sort(rng.uniform(0.0, _LENGTH, _CRESTS - 1))
    # Between evenly spaced ends and random ones, so that no crest is a wall.
    even = np.linspace(0.0, _LENGTH, _CRESTS + 1)
    lengths = np.diff((0.0, *(0.7 * even[1:-1] + 0.3 * ends), _LENGTH))
    heights = rng.uniform(0.3, 1.0, _CRESTS) * roughness
    return Waves(heights=tuple(heights), lengths=tuple(lengths), distance=0.0, width=2 * _WIDTH)


def _rails(roughness: float, rng: np.random.Generator) -> Terrain:
    """Bars across the way, of random height and nearly square to it."""
    edges = np.linspace(0.2, _LENGTH - 0.2, 6)
    return Boxes(
        boxes=tuple(
            GroundBox(
                x=float(x + rng.uniform(-0.1, 0.1)),
                y=0.0,
                length=_RAIL,
                width=2 * _WIDTH,
                height=rng.uniform(0.3, 1.0) * roughness,
                yaw=rng.uniform(-0.3, 0.3),
            )
            for x in edges
        )
    )


_FIELDS = {"boxes": _boxes, "step_field": _step_field, "waves": _waves, "rails": _rails}
