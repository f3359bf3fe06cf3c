"""Library of obstacles made in advance: of each kind so many levels, and so many variants a level.

An episode on one of them is an index: nothing is built or laid out at a reset. A curriculum is a range of
levels, whose indices follow each other for each kind.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.envs import fields
from segtrack.envs.task import APPROACH, BEYOND, EpisodeCourse, Path
from segtrack.terrain import Gap, Hurdle, Obstacle, Obstacles, Plane, Ramp, Stairs, Step, Terrain, Waves

LEVELS = 10
"""Number of levels, a tenth of the difficulty each."""
_LANDING, _WINDING, _POINTS = 4.0, 3.0, 21
"""Length of landings, length along x of winding ways [m], and number of their points."""


class _Site(NamedTuple):
    """An obstacle from x = 0 on, and the points that the way leads through, behind its start (n, 2) [m]."""

    terrain: Terrain
    way: NDArray[np.float64]


def _before(terrain: Terrain, length: float) -> _Site:
    """An obstacle so long that is driven over straight on."""
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
    make: Callable[[float, np.random.Generator], Terrain], lowest: float, highest: float
) -> Callable[[float, np.random.Generator], _Site]:
    """Maker of a field whose highest obstacle is between two heights [m]."""

    def site(difficulty: float, rng: np.random.Generator) -> _Site:
        return _before(make(lowest + difficulty * (highest - lowest), rng), fields.FIELD_LENGTH)

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
    "boxes": _field(fields.boxes, 0.04, 0.3),
    "rubble": _field(fields.rubble, 0.04, 0.3),
    "step_field": _field(fields.step_field, 0.04, 0.35),
    "rough": _field(fields.rough_ground, 0.06, 0.45),
    "winding": _winding,
    "mix": _mix,
}
"""Makers by kind: functions of a difficulty from 0 to 1 and of a source of random numbers."""
KINDS = tuple(_KINDS)
"""Kinds of obstacles, in the order of a library's indices."""


def library_index(kind: str, level: int, variant: int, variants: int) -> int:
    """Return the index of an obstacle in a library with so many variants of each level."""
    return (KINDS.index(kind) * LEVELS + level) * variants + variant


@cache
def draw_library(seed: int, variants: int, reach: float) -> tuple[EpisodeCourse, ...]:
    """Draw a library; equal arguments give the same one.

    Variants are spread over their level, from a tenth of the difficulty to the next one. An obstacle does not
    depend on how many variants there are.

    Args:
        seed: Seed of everything random.
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
