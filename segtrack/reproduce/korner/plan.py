"""Series of the study, reduced or full."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from segtrack.events import GapObstacle, HalfRoundObstacle, StepObstacle, TrapezoidObstacle
from segtrack.events.obstacles import TRAPEZOID_HEIGHT
from segtrack.reproduce.korner.paper import (
    FRICTION,
    GAP_INCREMENT,
    HALF_ROUNDS,
    SOFTENED_FRICTION,
    STEP_INCREMENT,
)
from segtrack.reproduce.korner.series import CREEP, Driving, Series
from segtrack.reproduce.korner.vehicle import SprocketPlace, grid_places


@dataclass(frozen=True)
class KornerPlan:
    """Series of the study.

    Attributes:
        steps: Base model at steps.
        gaps: Base model at gaps.
        trapezoids: Base model at trapezoids, a run each.
        half_rounds: Base model at half-rounds, its speed raised.
        places: Evaluation model at steps, for each place of the sprocket.
    """

    steps: tuple[Series, ...]
    gaps: tuple[Series, ...]
    trapezoids: tuple[Series, ...]
    half_rounds: tuple[Series, ...]
    places: tuple[Series, ...]

    @property
    def series(self) -> tuple[Series, ...]:
        """All of them."""
        return self.places + self.steps + self.gaps + self.trapezoids + self.half_rounds


def rising(first: float, last: float, increment: float) -> tuple[float, ...]:
    """Return values from the first to the last one."""
    return tuple(np.round(np.arange(first, last + increment / 2, increment), 9).tolist())


STIFF = 10.0
"""Factor on the stiffness of shoes on the ground with which sprockets do not sink into steps [-]."""
_VARIANTS = ((True, 1.0), (False, 1.0), (True, STIFF))
"""Hull that touches or does not, and factor on the shoes' stiffness [-]."""
_DRIVINGS: tuple[tuple[Driving, bool], ...] = (("throttle", True), ("throttle", False), ("creep", False))
"""Way of driving at steps, and if torques are as the paper prints them."""


def _pads(factor: float) -> str:
    return "" if factor == 1.0 else f", pads {factor:g} times as stiff"


def step_series(
    driving: Driving,
    friction: float,
    heights: tuple[float, ...],
    place: SprocketPlace | None = None,
    hull: bool = True,
    pads: float = 1.0,
    printed: bool = False,
) -> Series:
    """Return a series of steps."""
    how = "full throttle" if driving == "throttle" else f"{CREEP:g} m/s"
    name = f"step, {how}, friction {friction:g}{'' if hull else ', hull free'}{_pads(pads)}"
    name += ", torques as printed" if printed else ""
    speed = CREEP if driving == "creep" else None
    obstacle = StepObstacle(heights[0])
    return Series(name, obstacle, heights, driving, speed, friction, place, hull, pads, printed)


def trapezoid_series(number: int, ditch: bool) -> Series:
    """Return the one run at a trapezoid."""
    name = f"{'ditch' if ditch else 'barrier'} {number}"
    return Series(name, TrapezoidObstacle(number, ditch), (TRAPEZOID_HEIGHT,), "creep")


def gap_series(lengths: tuple[float, ...], hull: bool = True, pads: float = 1.0) -> Series:
    """Return a series of gaps."""
    name = f"gap{'' if hull else ', hull free'}{_pads(pads)}"
    return Series(name, GapObstacle(lengths[0]), lengths, "creep", hull=hull, pads=pads)


def half_round_series(height: float, speeds: tuple[float, ...]) -> Series:
    """Return a series of speeds over a half-round."""
    return Series(f"half-round of {1000 * height:.0f} mm", HalfRoundObstacle(height), speeds, "launch")


def make_plan(full: bool) -> KornerPlan:
    """Return the study with the paper's grid and increments, or a coarser one."""
    speeds = rising(0.5, 13.0, 0.5) if full else rising(1.0, 13.0, 1.0)
    drivings: tuple[Driving, ...] = ("creep", "throttle") if full else ("throttle",)
    return KornerPlan(
        steps=tuple(
            step_series(driving, friction, rising(lowest, 1.4, STEP_INCREMENT), None, hull, pads, printed)
            for driving, printed in _DRIVINGS
            for friction, lowest in ((FRICTION, 0.7), (SOFTENED_FRICTION, 0.3))
            for hull, pads in _VARIANTS
        ),
        gaps=tuple(gap_series(rising(1.84, 2.6, GAP_INCREMENT), *variant) for variant in _VARIANTS),
        trapezoids=tuple(trapezoid_series(n, ditch) for ditch in (False, True) for n in range(1, 13)),
        half_rounds=tuple(half_round_series(height, speeds) for height in HALF_ROUNDS),
        places=tuple(
            step_series(
                driving, FRICTION, rising(0.6, 1.6, STEP_INCREMENT if full else 0.04), place, False, pads
            )
            for driving in drivings
            for pads in (1.0, STIFF)
            for place in grid_places(9 if full else 5)
        ),
    )
