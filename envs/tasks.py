"""Bundled tasks, with random fields and obstacles of growing difficulty, and the table of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter
from scipy.spatial.transform import Rotation

from segtrack.envs.parameters import Number, WordChoice
from segtrack.envs.task import APPROACH, BEYOND, EpisodeCourse, Path, Task, straight
from segtrack.errors import InvalidValueError, UnknownNameError, whole
from segtrack.geometry import Box
from segtrack.terrain import (
    Boxes,
    Gap,
    GroundBox,
    Heightfield,
    Hurdle,
    Obstacle,
    Obstacles,
    Plane,
    Ramp,
    Stairs,
    StaticBody,
    Step,
    StepField,
    Terrain,
    Waves,
    floor,
)

LEVELS = 10
"""Number of levels, a tenth of the difficulty each."""
_WINDING, _POINTS = 3.0, 21
"""Length along x of winding ways [m], and number of their points."""
_FIELD_LENGTH = 2.0
"""Usual extent of a random field of obstacles along x, from x = 0 on [m]."""
_WIDTH = 2.0
"""Extent of a field across, about y = 0 [m]."""
_BOXES, _RAILS = 25, 6
_CELL = 0.2
"""Edge of a step field's posts [m]."""
_RAIL = 0.06
"""Length of a rail along x [m]."""
_CRESTS = 5
_SLABS, _STEEPEST = 30, 0.35
"""Number of rubble's slabs, and the angle from the horizontal up to which they lean [rad]."""
_SPACING, _AROUND, _BLUR, _RISE = 0.1, 2.0, 1.5, 0.3
"""Spacing of rough ground's points [m], flat ground before and behind it [m], its smoothness in points, and
the length over which it rises from flat ground [m]."""


ASKEW: Mapping[str, Any] = {
    "initial_yaw": (-0.5, 0.5),
    "initial_flippers_front": (-0.6, 1.2),
    "initial_flippers_rear": (-0.6, 1.2),
}
"""Spread of starts that no constant action recovers from: turned away from the path, flippers anywhere."""


def _many(usual: int, extent: float) -> int:
    """Number of obstacles on a field of an extent [m], of which there are usually so many."""
    return round(usual * extent / _FIELD_LENGTH)


def _boxes(roughness: float, extent: float, rng: np.random.Generator) -> Terrain:
    """Return boxes of random size, place and heading, up to `roughness` high [m]."""
    return Boxes(
        boxes=tuple(
            GroundBox(
                x=rng.uniform(0.3, extent - 0.3),
                y=rng.uniform(-_WIDTH / 2, _WIDTH / 2),
                length=rng.uniform(0.15, 0.5),
                width=rng.uniform(0.15, 0.5),
                height=rng.uniform(0.1, 1.0) * roughness,
                yaw=rng.uniform(0.0, math.pi),
            )
            for _ in range(_many(_BOXES, extent))
        )
    )


def _step_field(roughness: float, extent: float, rng: np.random.Generator) -> Terrain:
    """Return adjacent posts of random height, up to `roughness` [m]."""
    return StepField(
        max_height=roughness,
        cell=_CELL,
        rows=round(extent / _CELL),
        columns=round(_WIDTH / _CELL),
        distance=0.0,
        seed=int(rng.integers(2**31)),
    )


def _waves(roughness: float, extent: float, rng: np.random.Generator) -> Terrain:
    """Return waves across the path, of random height up to `roughness` [m] and random length."""
    crests = _many(_CRESTS, extent)
    ends = np.sort(rng.uniform(0.0, extent, crests - 1))
    # Between evenly spaced ends and random ones, so that no crest is a wall.
    even = np.linspace(0.0, extent, crests + 1)
    lengths = np.diff((0.0, *(0.7 * even[1:-1] + 0.3 * ends), extent))
    heights = rng.uniform(0.3, 1.0, crests) * roughness
    return Waves(heights=tuple(heights), lengths=tuple(lengths), distance=0.0, width=2 * _WIDTH)


def _rails(roughness: float, extent: float, rng: np.random.Generator) -> Terrain:
    """Return bars nearly square to the path, of random height up to `roughness` [m]."""
    edges = np.linspace(0.2, extent - 0.2, _many(_RAILS, extent))
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


def _rubble(roughness: float, extent: float, rng: np.random.Generator) -> Terrain:
    """Return overlapping slabs tilted in random directions, up to `roughness` high [m]."""
    slabs = []
    for _ in range(_many(_SLABS, extent)):
        length, width = rng.uniform(0.15, 0.5, 2)
        top = rng.uniform(0.2, 1.0) * roughness
        size = np.array([length, width, max(0.1, top)])
        toward, lean, yaw = rng.uniform((0.0, 0.0, 0.0), (math.tau, _STEEPEST, math.tau))
        turn = Rotation.from_rotvec(lean * np.array([math.cos(toward), math.sin(toward), 0.0]))
        turn *= Rotation.from_rotvec((0.0, 0.0, yaw))
        reach = float(np.abs(turn.as_matrix()[2]) @ size) / 2
        x, y = rng.uniform((0.3, -_WIDTH / 2), (extent - 0.3, _WIDTH / 2)).tolist()
        sizes, quaternion = tuple(size.tolist()), tuple(turn.as_quat().tolist())
        slabs.append(Box(sizes, (x, y, top - reach), quaternion))
    return StaticBody(parts=(*floor(), *slabs), name="rubble")  # type: ignore[arg-type]


def _rough_ground(roughness: float, extent: float, rng: np.random.Generator) -> Terrain:
    """Return a heightfield of smooth hills up to `roughness` [m], between flat ends."""
    rows, columns = round((extent + 2 * _AROUND) / _SPACING) + 1, round(2 * _WIDTH / _SPACING) + 1
    hillocks = gaussian_filter(rng.normal(size=(rows, columns)), _BLUR)
    hillocks = (hillocks - hillocks.min()) / np.ptp(hillocks)
    x = _SPACING * np.arange(rows) - _AROUND
    rise = (np.minimum(x, extent - x) / _RISE).clip(0.0, 1.0)
    heights = roughness * hillocks * (rise**2 * (3 - 2 * rise))[:, None]
    return Heightfield(heights=heights, spacing=_SPACING, center=(extent / 2, 0.0))


_FIELDS = {"boxes": _boxes, "step_field": _step_field, "waves": _waves, "rails": _rails}
"""Fields of `RoughTerrain`, by kind: functions of the height of obstacles and the extent [m], and a source
of random numbers."""


class _Site(NamedTuple):
    """Obstacle from x = 0, and the waypoints behind its start (n, 2) [m]."""

    terrain: Terrain
    way: NDArray[np.float64]


def _before(terrain: Terrain, length: float) -> _Site:
    """Obstacle of a length that is crossed straight ahead."""
    return _Site(terrain, np.array([[length + BEYOND, 0.0]]))


def _step(difficulty: float, rng: np.random.Generator) -> _Site:
    return _before(Step(height=0.05 + 0.4 * difficulty, distance=0.0), 0.0)


def _stairs(difficulty: float, rng: np.random.Generator, up: bool) -> _Site:
    riser, tread, count = 0.06 + 0.22 * difficulty, float(rng.uniform(0.25, 0.35)), int(rng.integers(3, 6))
    run = (count - 1) * tread
    start = 0.0 if up else -_LANDING - run
    stairs = Stairs(riser=riser, tread=tread, count=count, distance=start, landing=_LANDING, down=not up)
    return _before(stairs, run)


def _gap(difficulty: float, rng: np.random.Generator) -> _Site:
    length = 0.1 + 0.6 * difficulty
    return _before(Gap(length=length, distance=0.0, depth=0.5), length)


def _ramp(difficulty: float, rng: np.random.Generator) -> _Site:
    length, plateau = rng.uniform((0.8, 0.5), (1.4, 1.0)).tolist()
    ramp = Ramp(slope=0.1 + 0.55 * difficulty, length=length, plateau=plateau, distance=0.0, down=True)
    return _before(ramp, ramp.extent)


def _field(
    make: Callable[[float, float, np.random.Generator], Terrain], lowest: float, highest: float
) -> Callable[[float, np.random.Generator], _Site]:
    """Return a maker of fields whose highest obstacle lies between two heights by difficulty [m]."""

    def site(difficulty: float, rng: np.random.Generator) -> _Site:
        return _before(make(lowest + difficulty * (highest - lowest), _FIELD_LENGTH, rng), _FIELD_LENGTH)

    return site


def _winding(difficulty: float, rng: np.random.Generator) -> _Site:
    side, waves = (0.2 + 0.8 * difficulty) * float(rng.choice((-1.0, 1.0))), float(rng.uniform(0.5, 1.0))
    x = np.linspace(0.0, _WINDING, _POINTS)
    y = side * (1.0 - np.cos(math.tau * waves * x / _WINDING)) / 2
    return _Site(Plane(), np.stack([x, y], axis=1))


def _mix(difficulty: float, rng: np.random.Generator) -> _Site:
    """Three obstacles of different kinds, one behind the other."""
    x, parts = 0.0, list[Obstacle]()
    for kind in rng.permutation(len(_PARTS))[:3].tolist():
        if parts:
            x += float(rng.uniform(0.7, 1.0))
        parts.append(_PARTS[kind](x, difficulty, rng))
        x += parts[-1].extent
    return _before(Obstacles(obstacles=tuple(parts)), x)


def _block(x: float, difficulty: float, rng: np.random.Generator) -> Obstacle:
    return Step(height=0.04 + 0.2 * difficulty, length=float(rng.uniform(0.6, 1.2)), distance=x)


def _flight(x: float, difficulty: float, rng: np.random.Generator) -> Obstacle:
    tread, count = float(rng.uniform(0.25, 0.35)), int(rng.integers(2, 4))
    return Stairs(
        riser=0.05 + 0.13 * difficulty, tread=tread, count=count, landing=0.8, distance=x, down=True
    )


def _hump(x: float, difficulty: float, rng: np.random.Generator) -> Obstacle:
    length, plateau = rng.uniform((0.6, 0.3), (1.0, 0.8)).tolist()
    return Ramp(slope=0.1 + 0.4 * difficulty, length=length, plateau=plateau, distance=x, down=True)


def _crests(x: float, difficulty: float, rng: np.random.Generator) -> Obstacle:
    heights, lengths = (0.03 + 0.2 * difficulty) * rng.uniform(0.4, 1.0, 3), rng.uniform(0.3, 0.6, 3)
    return Waves(heights=tuple(heights), lengths=tuple(lengths), distance=x)


def _hurdle(x: float, difficulty: float, rng: np.random.Generator) -> Obstacle:
    return Hurdle(height=0.03 + 0.2 * difficulty, length=float(rng.uniform(0.05, 0.2)), distance=x)


_PARTS = (_block, _flight, _hump, _crests, _hurdle)
_KINDS: dict[str, Callable[[float, np.random.Generator], _Site]] = {
    "step": _step,
    "stairs_up": lambda difficulty, rng: _stairs(difficulty, rng, up=True),
    "stairs_down": lambda difficulty, rng: _stairs(difficulty, rng, up=False),
    "gap": _gap,
    "ramp": _ramp,
    "boxes": _field(_boxes, 0.04, 0.3),
    "rubble": _field(_rubble, 0.04, 0.3),
    "step_field": _field(_step_field, 0.04, 0.35),
    "rough": _field(_rough_ground, 0.06, 0.45),
    "winding": _winding,
    "mix": _mix,
}
"""Makers by kind: functions of a difficulty from 0 to 1 and of a source of random numbers."""
KINDS = tuple(_KINDS)
"""Kinds of obstacles, in the order of a library's indices."""


def library_index(kind: str, level: int, variant: int, variants: int) -> int:
    """Return the library index of an obstacle, for `variants` obstacles of each kind and level."""
    return (KINDS.index(kind) * LEVELS + level) * variants + variant


@cache
def draw_library(seed: int, variants: int, reach: float) -> tuple[EpisodeCourse, ...]:
    """Make a library of courses; equal arguments make equal ones.

    Variants are spread over their level, from a tenth of the difficulty to the next one. An obstacle does not
    depend on how many variants there are.

    Args:
        seed: Seed of all random numbers.
        variants: Number of obstacles of each kind and level.
        reach: Distance from the body frame to the vehicle's foremost point, flippers at 0 [m].

    Returns:
        Courses, by `library_index`.
    """
    courses = list[EpisodeCourse]()
    for number, make in enumerate(_KINDS.values()):
        for level in range(LEVELS):
            for variant in range(variants):
                rng = np.random.default_rng((seed, number, level, variant))
                site = make((level + float(rng.uniform())) / LEVELS, rng)
                path = Path(np.concatenate([[[-APPROACH - reach, 0.0]], site.way]))
                courses.append(EpisodeCourse(site.terrain, path, len(courses)))
    return tuple(courses)


class StepClimb(Task):
    """Drive at a step, climb it, and stand on it. Its face is at x = 0."""

    name = "StepClimb"
    parameters = {"height": Number(0.24, 0.02, 0.6, "m", "height of the step")}
    difficulty = "height"
    levels = (0.32, 0.36, 0.40, 0.44, 0.48, 0.52, 0.56)
    curriculum = (0.12, 0.18, 0.24, 0.28, *levels)
    needs_flippers = True

    def course(self, values: Mapping[str, Any], reach: float, rng: np.random.Generator) -> EpisodeCourse:
        """Build a step across the path."""
        return EpisodeCourse(Step(height=values["height"], distance=0.0), straight(-APPROACH - reach, BEYOND))


_LANDING = 4.0


class StairClimb(Task):
    """Climb a flight of stairs, or descend from its landing. The first edge is at x = 0."""

    name = "StairClimb"
    parameters = {
        "riser": Number(0.15, 0.02, 0.4, "m", "height of a stair"),
        "tread": Number(0.30, 0.15, 0.6, "m", "depth of a stair"),
        "stairs": Number(4, 1, 12, "-", "number of risers", whole=True),
        "direction": WordChoice("up", ("up", "down"), "which way"),
    }
    difficulty = "riser"
    levels = (0.26, 0.28, 0.30)
    curriculum = (0.08, 0.11, 0.14, 0.17, 0.20, 0.22, 0.24, *levels)
    spread = ASKEW
    needs_flippers = True
    time_limit = 25.0

    def course(self, values: Mapping[str, Any], reach: float, rng: np.random.Generator) -> EpisodeCourse:
        """Build stairs up to a landing, or a landing with stairs down."""
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
    """Cross a gap without falling into it. Its near wall is at x = 0."""

    name = "GapCross"
    parameters = {
        "length": Number(0.3, 0.05, 1.0, "m", "distance between the walls"),
        "depth": Number(0.5, 0.1, 2.0, "m", "depth of the gap"),
    }
    difficulty = "length"
    levels = (0.55, 0.56, 0.57, 0.58)
    curriculum = (0.2, 0.3, 0.4, 0.5, 0.53, *levels)
    spread = ASKEW

    def course(self, values: Mapping[str, Any], reach: float, rng: np.random.Generator) -> EpisodeCourse:
        """Build a gap across the path."""
        gap = Gap(length=values["length"], distance=0.0, depth=values["depth"])
        return EpisodeCourse(gap, straight(-APPROACH - reach, values["length"] + BEYOND))


class RoughTerrain(Task):
    """Cross random boxes, a step field, waves or rails. They begin at x = 0."""

    name = "RoughTerrain"
    parameters = {
        "roughness": Number(0.1, 0.02, 0.5, "m", "height of the highest obstacle"),
        "kind": WordChoice(
            ("boxes", "step_field", "waves", "rails"),
            ("boxes", "step_field", "waves", "rails"),
            "what the ground is made of",
        ),
        "length": Number(_FIELD_LENGTH, 1.0, 6.0, "m", "extent of the field along the path"),
    }
    difficulty = "roughness"
    levels = (0.4, 0.45, 0.5)
    curriculum = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, *levels)
    spread = {**ASKEW, "length": 4.0}
    time_limit = 25.0

    def __init__(self, variants: int = 0, seed: int = 0) -> None:
        """Choose where grounds come from.

        Args:
            variants: 0 to draw the ground of each episode anew; else it is one of a library made in advance,
                with so many of each kind and each `ROUGHNESS_STEP` of roughness, to which it is rounded. In a
                batch an episode then begins in a tenth of the time.
            seed: Seed of the library.

        Raises:
            InvalidValueError: Not whole numbers, or below 0.
        """
        self._variants, self._seed = (
            whole(f"{what} of a library", value, 0)
            for what, value in (("variants", variants), ("seed", seed))
        )

    def library(self, reach: float) -> Sequence[EpisodeCourse]:
        """Return the courses of the library; empty without one."""
        return rough_library(self._seed, self._variants, reach) if self._variants else ()

    def course(self, values: Mapping[str, Any], reach: float, rng: np.random.Generator) -> EpisodeCourse:
        """Build a field of one kind between flat ground, or choose one of the library."""
        extent = values["length"]
        if self._variants:
            if extent != _FIELD_LENGTH:
                raise InvalidValueError("length", f"{_FIELD_LENGTH:g} on grounds of a library", extent)
            step = round(values["roughness"] / ROUGHNESS_STEP) - 1
            kind, variant = list(_FIELDS).index(values["kind"]), int(rng.integers(self._variants))
            return self.library(reach)[(kind * _ROUGHNESSES + step) * self._variants + variant]
        return _field_course(_FIELDS[values["kind"]](values["roughness"], extent, rng), extent, reach)


ROUGHNESS_STEP, _ROUGHNESSES = 0.02, 25
"""Step of the roughness of a library of `RoughTerrain` from the least on [m], and number of them."""


def _field_course(terrain: Terrain, extent: float, reach: float) -> EpisodeCourse:
    return EpisodeCourse(terrain, straight(-APPROACH - reach, extent + BEYOND))


@cache
def rough_library(seed: int, variants: int, reach: float) -> tuple[EpisodeCourse, ...]:
    """Make a library of fields, by kind, roughness and variant; equal arguments make equal ones.

    Args:
        seed: Seed of all random numbers.
        variants: Number of fields of each kind and roughness.
        reach: Distance from the body frame to the vehicle's foremost point, flippers at 0 [m].
    """
    courses = list[EpisodeCourse]()
    for kind, make in enumerate(_FIELDS.values()):
        for step in range(_ROUGHNESSES):
            for variant in range(variants):
                rng = np.random.default_rng((seed, kind, step, variant))
                terrain = make((step + 1) * ROUGHNESS_STEP, _FIELD_LENGTH, rng)
                made = _field_course(terrain, _FIELD_LENGTH, reach)
                courses.append(replace(made, index=len(courses)))
    return tuple(courses)


_PATH_LENGTH = 3.0
"""Extent of the path along x [m]."""
_FLAT = 1.0
"""Part of it before the slope's foot [m]."""


class Drive(Task):
    """Follow a winding path, random in each episode, on flat ground or up a slope."""

    name = "Drive"
    parameters = {
        "winding": Number(0.4, 0.0, 1.0, "m", "lateral excursion of the path to one side or the other"),
        "slope": Number(0.0, 0.0, 0.5, "rad", "slope of the ground behind the first metre"),
    }
    difficulty = "slope"
    levels = (0.2, 0.3, 0.4)
    curriculum = (0.0, 0.1, *levels)
    corridor = 0.3
    time_limit = 40.0
    weights = {"lateral": 2.0, "heading": 0.5}

    def course(self, values: Mapping[str, Any], reach: float, rng: np.random.Generator) -> EpisodeCourse:
        """Build a curve that starts along x, on flat ground or onto a ramp."""
        slope = values["slope"]
        terrain = Ramp(slope=slope, length=10.0, distance=_FLAT) if slope > 0 else Plane()
        side = values["winding"] * float(rng.choice((-1.0, 1.0)))
        waves = float(rng.uniform(0.5, 1.0))
        x = np.linspace(0.0, _PATH_LENGTH, 61)
        y = side * (1.0 - np.cos(math.tau * waves * x / _PATH_LENGTH)) / 2
        return EpisodeCourse(terrain, Path(np.stack((x, y), axis=1)))


class Traverse(Task):
    """Cross an obstacle from a library made in advance, starting at x = 0, or follow a winding path."""

    name = "Traverse"
    parameters = {
        "kind": WordChoice(KINDS, KINDS, "kind of obstacle"),
        "level": Number(2, 0, LEVELS - 1, "-", "level of the library, from the easiest on", whole=True),
    }
    difficulty = "level"
    levels = tuple(map(float, range(LEVELS)))
    time_limit = 40.0

    def __init__(self, seed: int = 0, variants: int = 4) -> None:
        """Choose a library by its seed and size.

        Args:
            seed: Seed of the obstacles.
            variants: Number of obstacles of each kind and level; an episode samples one.

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
        """Choose one of the variants of a kind and level."""
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
