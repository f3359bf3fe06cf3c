"""Tasks that come with segtrack, and the table of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from segtrack.envs.parameters import Number, WordChoice
from segtrack.envs.task import EpisodeCourse, Path, Task, straight
from segtrack.errors import UnknownNameError
from segtrack.terrain import Boxes, Gap, GroundBox, Plane, Ramp, Stairs, Step, StepField, Terrain, Waves

APPROACH = 0.3
"""Free distance before an obstacle at the start [m]."""
BEYOND = 0.6
"""Distance behind an obstacle's last edge that the body frame must reach [m]."""


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
        terrain = _FIELDS[values["kind"]](values["roughness"], rng)
        return EpisodeCourse(terrain, straight(-APPROACH - reach, _LENGTH + BEYOND))


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


TASKS: dict[str, type[Task]] = {
    task.name: task for task in (StepClimb, StairClimb, GapCross, RoughTerrain, Drive)
}


def find_task(name: str) -> type[Task]:
    """Find a task by its name.

    Raises:
        UnknownNameError: There is none of that name.
    """
    if name not in TASKS:
        raise UnknownNameError("task", name, TASKS)
    return TASKS[name]
