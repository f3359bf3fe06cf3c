"""Series of runs in the study, with the full or a reduced grid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from segtrack.experiments import (
    TRAPEZOID_HEIGHT,
    GapObstacle,
    HalfRoundObstacle,
    StepObstacle,
    TrapezoidObstacle,
)
from segtrack.reproduce.korner.paper import (
    FRICTION,
    GAP_INCREMENT,
    HALF_ROUNDS,
    SOFTENED_FRICTION,
    STEP_INCREMENT,
)
from segtrack.reproduce.korner.series import CREEP, TIME_STEP, Driving, Series
from segtrack.reproduce.korner.vehicle import AS_PAPER, ModelChange, SprocketPlace, grid_places


@dataclass(frozen=True)
class KornerPlan:
    """Series of runs in the study.

    Attributes:
        steps: Series of the base model at steps.
        gaps: Series of the base model at gaps.
        trapezoids: Series of the base model at trapezoids, one run each.
        half_rounds: Series of the base model at half-rounds, with rising speed.
        places: Series of the evaluation model at steps and the highest half-round, for each sprocket place.
    """

    steps: tuple[Series, ...]
    gaps: tuple[Series, ...]
    trapezoids: tuple[Series, ...]
    half_rounds: tuple[Series, ...]
    places: tuple[Series, ...]

    @property
    def series(self) -> tuple[Series, ...]:
        """All series of the plan."""
        return self.places + self.steps + self.gaps + self.trapezoids + self.half_rounds


def rising(first: float, last: float, increment: float) -> tuple[float, ...]:
    """Return values from the first to the last, at most `increment` apart."""
    return tuple(np.round(np.arange(first, last + increment / 2, increment), 9).tolist())


STIFF = 10.0
"""Factor on the stiffness of shoes on the ground with which sprockets do not sink into steps [-]."""
_CONTACTS = (AS_PAPER, ModelChange(hull=False), ModelChange(pads=STIFF))
"""Hull and pads that steps and gaps are tried with."""
_NUMERICS = (ModelChange(bushings=0.3), ModelChange(bushings=3.0), ModelChange(sub_steps=4))
"""What should not matter, tried at steps."""
_POWER = (ModelChange(power=True), ModelChange(pads=STIFF, power=True))
_FINE_STEP = 0.00025
"""Step with which ripple of teeth is looked for in peaks [s]."""


def step_series(
    driving: Driving,
    friction: float,
    heights: tuple[float, ...],
    place: SprocketPlace | None = None,
    change: ModelChange = AS_PAPER,
) -> Series:
    """Return a series of steps of rising height."""
    how = "full throttle" if driving == "throttle" else f"{CREEP:g} m/s"
    name = f"step, {how}, friction {friction:g}{change.words}"
    speed = CREEP if driving == "creep" else None
    return Series(name, StepObstacle(heights[0]), heights, driving, speed, friction, place, change)


def trapezoid_series(number: int, ditch: bool) -> Series:
    """Return the single run at a trapezoid."""
    name = f"{'ditch' if ditch else 'barrier'} {number}"
    return Series(name, TrapezoidObstacle(number, ditch), (TRAPEZOID_HEIGHT,), "creep")


def gap_series(lengths: tuple[float, ...], change: ModelChange) -> Series:
    """Return a series of gaps of rising length."""
    return Series(f"gap{change.words}", GapObstacle(lengths[0]), lengths, "creep", change=change)


def half_round_series(
    height: float,
    speeds: tuple[float, ...],
    time_step: float = TIME_STEP,
    change: ModelChange = AS_PAPER,
    place: SprocketPlace | None = None,
) -> Series:
    """Return a series of rising speeds over a half-round."""
    step = "" if time_step == TIME_STEP else f", steps of {1000 * time_step:g} ms"
    name = f"half-round of {1000 * height:.0f} mm{change.words}{step}"
    return Series(
        name, HalfRoundObstacle(height), speeds, "launch", place=place, change=change, time_step=time_step
    )


def make_plan(full: bool) -> KornerPlan:
    """Return the study's plan with the paper's grid and increments, or a coarser one."""
    speeds = rising(0.5, 13.0, 0.5) if full else rising(1.0, 13.0, 1.0)
    drivings: tuple[Driving, ...] = ("creep", "throttle") if full else ("throttle",)
    tried: list[tuple[Driving, float, ModelChange]] = [
        (driving, friction, change)
        for driving in ("throttle", "creep")
        for friction in (FRICTION, SOFTENED_FRICTION)
        for change in _CONTACTS
    ]
    tried += [("throttle", FRICTION, change) for change in (*_NUMERICS, *_POWER)]
    lowest = {FRICTION: 0.7, SOFTENED_FRICTION: 0.3}
    places = grid_places(9 if full else 5)
    return KornerPlan(
        steps=tuple(
            step_series(driving, friction, rising(lowest[friction], 1.4, STEP_INCREMENT), None, change)
            for driving, friction, change in tried
        ),
        gaps=tuple(gap_series(rising(1.84, 2.6, GAP_INCREMENT), change) for change in _CONTACTS),
        trapezoids=tuple(trapezoid_series(n, ditch) for ditch in (False, True) for n in range(1, 13)),
        half_rounds=(
            *(half_round_series(height, speeds) for height in HALF_ROUNDS),
            half_round_series(HALF_ROUNDS[-1], speeds, _FINE_STEP),
            half_round_series(HALF_ROUNDS[-1], speeds, TIME_STEP, ModelChange(power=True)),
        ),
        places=(
            *(
                step_series(
                    driving,
                    FRICTION,
                    rising(0.5, 1.6, STEP_INCREMENT if full else 0.04),
                    place,
                    ModelChange(hull=False, pads=pads),
                )
                for driving in drivings
                for pads in (1.0, STIFF)
                for place in places
            ),
            *(
                half_round_series(HALF_ROUNDS[-1], speeds, TIME_STEP, ModelChange(hull=False), place)
                for place in places
            ),
        ),
    )
