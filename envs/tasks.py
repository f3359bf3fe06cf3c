"""Tasks that come with segtrack, and the table of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from segtrack.envs.fields import FIELD_LENGTH, FIELDS
from segtrack.envs.library import KINDS, LEVELS, draw_library, library_index
from segtrack.envs.parameters import Number, WordChoice
from segtrack.envs.task import APPROACH, BEYOND, EpisodeCourse, Path, Task, straight
from segtrack.errors import InvalidValueError, UnknownNameError
from segtrack.terrain import Gap, Plane, Ramp, Stairs, Step


class StepClimb(Task):
    """Drive at a step, climb it, stand on it. Its face is at x = 0."""

    name = "StepClimb"
    parameters = {"height": Number(0.24, 0.02, 0.6, "m", "height of the step")}
    difficulty = "height"
    levels = (0.12, 0.18, 0.24, 0.28, 0.32, 0.36, 0.40, 0.44, 0.48)
    needs_flippers = True

    def course(self, values: Mapping[str, Any], reach: float, rng: np.random.Generator) -> EpisodeCourse:
        """Lay out a step across the path."""
        return EpisodeCourse(Step(height=values["height"], distance=0.0), straight(-APPROACH - reach, BEYOND))


_LANDING = 4.0


class StairClimb(Task):
    """Go up a flight of stairs, or down from its landing. The first edge on the way is at x = 0."""

    name = "StairClimb"
    parameters = {
        "riser": Number(0.15, 0.02, 0.3, "m", "height of a stair"),
        "tread": Number(0.30, 0.15, 0.6, "m", "depth of a stair"),
        "stairs": Number(4, 1, 12, "-", "number of risers", whole=True),
        "direction": WordChoice("up", ("up", "down"), "which way"),
    }
    difficulty = "riser"
    levels = (0.08, 0.11, 0.14, 0.17, 0.20, 0.23)
    needs_flippers = True
    time_limit = 25.0

    def course(self, values: Mapping[str, Any], reach: float, rng: np.random.Generator) -> EpisodeCourse:
        """Lay out stairs up to a landing, or a landing with stairs down from it."""
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
        return EpisodeCourse(stairs, straight(-APPROACH - reach, run + BEYOND))


class GapCross(Task):
    """Drive over a gap, without falling into it. Its near wall is at x = 0."""

    name = "GapCross"
    parameters = {
        "length": Number(0.3, 0.05, 1.0, "m", "distance between the walls"),
        "depth": Number(0.5, 0.1, 2.0, "m", "depth of the gap"),
    }
    difficulty = "length"
    levels = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)

    def course(self, values: Mapping[str, Any], reach: float, rng: np.random.Generator) -> EpisodeCourse:
        """Lay out a gap across the path."""
        gap = Gap(length=values["length"], distance=0.0, depth=values["depth"])
        return EpisodeCourse(gap, straight(-APPROACH - reach, values["length"] + BEYOND))


class RoughTerrain(Task):
    """Cross two metres of random boxes, step field, waves or rails. They begin at x = 0."""

    name = "RoughTerrain"
    parameters = {
        "roughness": Number(0.1, 0.02, 0.4, "m", "height of the highest obstacle"),
        "kind": WordChoice(
            ("boxes", "step_field", "waves", "rails"),
            ("boxes", "step_field", "waves", "rails"),
            "what the ground is made of",
        ),
    }
    difficulty = "roughness"
    levels = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
    time_limit = 25.0

    def course(self, values: Mapping[str, Any], reach: float, rng: np.random.Generator) -> EpisodeCourse:
        """Lay out a field of one kind, with flat ground before and behind it."""
        terrain = FIELDS[values["kind"]](values["roughness"], rng)
        return EpisodeCourse(terrain, straight(-APPROACH - reach, FIELD_LENGTH + BEYOND))


_PATH_LENGTH = 3.0
"""Extent of the path along x [m]."""
_FLAT = 1.0
"""Part of it before the slope's foot [m]."""


class Drive(Task):
    """Follow a winding path, whose shape each episode draws, up a slope if there is one."""

    name = "Drive"
    parameters = {
        "winding": Number(0.4, 0.0, 1.0, "m", "lateral excursion of the path to one side or the other"),
        "slope": Number(0.0, 0.0, 0.5, "rad", "slope of the ground behind the first metre"),
    }
    difficulty = "slope"
    levels = (0.0, 0.1, 0.2, 0.3, 0.4)
    corridor = 0.3
    time_limit = 40.0
    weights = {"lateral": 2.0, "heading": 0.5}

    def course(self, values: Mapping[str, Any], reach: float, rng: np.random.Generator) -> EpisodeCourse:
        """Lay out a curve that starts along x, on flat ground or onto a ramp."""
        slope = values["slope"]
        terrain = Ramp(slope=slope, length=10.0, distance=_FLAT) if slope > 0 else Plane()
        side = values["winding"] * float(rng.choice((-1.0, 1.0)))
        waves = float(rng.uniform(0.5, 1.0))
        x = np.linspace(0.0, _PATH_LENGTH, 61)
        y = side * (1.0 - np.cos(math.tau * waves * x / _PATH_LENGTH)) / 2
        return EpisodeCourse(terrain, Path(np.stack((x, y), axis=1)))


class Traverse(Task):
    """Drive over an obstacle of a library made in advance, which begins at x = 0, or along a winding way."""

    name = "Traverse"
    parameters = {
        "kind": WordChoice(KINDS, KINDS, "kind of obstacle"),
        "level": Number(2, 0, LEVELS - 1, "-", "level of the library, from the easiest on", whole=True),
    }
    difficulty = "level"
    levels = tuple(map(float, range(LEVELS)))
    time_limit = 40.0

    def __init__(self, seed: int = 0, variants: int = 4) -> None:
        """Choose a library.

        Args:
            seed: Seed of its obstacles.
            variants: Number of obstacles of each kind and level, of which an episode draws one.

        Raises:
            InvalidValueError: Not whole numbers, or below 0 or 1.
        """
        for what, value, least in (("seed", seed, 0), ("variants", variants, 1)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InvalidValueError(f"{what} of a library", f"a whole number from {least}", value)
        self._seed, self._variants = seed, variants

    def library(self, reach: float) -> Sequence[EpisodeCourse]:
        """Return the courses of the library."""
        return draw_library(self._seed, self._variants, reach)

    def course(self, values: Mapping[str, Any], reach: float, rng: np.random.Generator) -> EpisodeCourse:
        """Choose one of the variants."""
        variant = int(rng.integers(self._variants))
        return self.library(reach)[library_index(values["kind"], values["level"], variant, self._variants)]


TASKS: dict[str, type[Task]] = {
    task.name: task for task in (StepClimb, StairClimb, GapCross, RoughTerrain, Drive, Traverse)
}


def find_task(name: str) -> type[Task]:
    """Find a task by its name.

    Raises:
        UnknownNameError: There is none of that name.
    """
    if name not in TASKS:
        raise UnknownNameError("task", name, TASKS)
    return TASKS[name]
