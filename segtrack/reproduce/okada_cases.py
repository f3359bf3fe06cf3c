"""Published numbers of Okada et al. 2020, and the six climbs of its Table IV."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from segtrack.description import VehicleDescription
from segtrack.engine import EngineName, resolve
from segtrack.errors import DivergedError
from segtrack.experiments import ClimbResult, ClimbSetup, run_climb, run_parallel
from segtrack.world import World

TABLE_2_REAL_TIME_FACTOR = {
    "segments": 2.79,
    "smooth": 3.96,
    "wheels_4": 4.86,
    "wheels_13": 1.79,
    "surface": 5.93,
}
"""Real-time factor by track model; `surface` is the constraint to the ground, which the authors estimated.
The multiple-plate method was not measured."""

TABLE_2_RATIOS = {
    "segments_over_wheels_13": 1.56,
    "segments_over_wheels_4": 0.57,
    "smooth_over_wheels_4": 0.81,
}
"""The same table as ratios, which travel between machines."""

TABLE_2_SPEED = 0.3
"""[m/s]"""
TABLE_4_SPEED = 0.1
"""[m/s]"""
TABLE_4_FRICTION = 0.6


@dataclass(frozen=True)
class PublishedClimb:
    """A line of Table IV.

    Attributes:
        front_sub_track_deg: Angle of the front sub-tracks [deg].
        step: Height of the step [m].
        real: True if the physical robot climbed it.
        simulation: True if the authors' simulation did.
    """

    front_sub_track_deg: float
    step: float
    real: bool
    simulation: bool

    def __str__(self) -> str:
        """Return angle and height in words."""
        return f"{self.front_sub_track_deg:.0f} deg, {self.step * 1000:.0f} mm"


def ending(success: bool) -> str:
    """Return the end of an attempt in a word."""
    return "climbed" if success else "failed"


TABLE_4 = (
    PublishedClimb(0.0, 0.040, real=True, simulation=True),
    PublishedClimb(0.0, 0.120, real=True, simulation=True),
    PublishedClimb(0.0, 0.190, real=False, simulation=False),
    PublishedClimb(45.0, 0.120, real=True, simulation=True),
    PublishedClimb(45.0, 0.240, real=True, simulation=True),
    PublishedClimb(45.0, 0.380, real=False, simulation=False),
)


VEHICLE = "quince"


@dataclass(frozen=True)
class Table4Case:
    """One line of the table and how it went here."""

    published: PublishedClimb
    climb: ClimbResult

    @property
    def match(self) -> bool:
        """True if it ended as the physical robot's attempt did."""
        return self.climb.success == self.published.real


@dataclass(frozen=True)
class Table4:
    """The table as this simulator has it."""

    engine: EngineName
    track_model: str
    cases: tuple[Table4Case, ...]

    @property
    def preset(self) -> str | None:
        """The engine's solver settings; None if there are no cases."""
        return self.cases[0].climb.preset if self.cases else None

    @property
    def matches(self) -> int:
        """Number of cases that ended as the physical robot's did."""
        return sum(case.match for case in self.cases)

    def summary(self) -> dict[str, object]:
        """Return a dict of plain values, as JSON has it."""
        return {
            "vehicle": VEHICLE,
            "engine": self.engine,
            "preset": self.preset,
            "track_model": self.track_model,
            "friction": TABLE_4_FRICTION,
            "cases": [
                {
                    "front_sub_track_deg": case.published.front_sub_track_deg,
                    "step": case.published.step,
                    "success": case.climb.success,
                    "real": case.published.real,
                    "match": case.match,
                    "outcome": case.climb.outcome,
                    "duration": round(case.climb.duration, 6),
                    "max_pitch_deg": math.degrees(case.climb.max_pitch),
                    "paper_simulation": case.published.simulation,
                }
                for case in self.cases
            ],
            "matches": self.matches,
        }


def case_setup(
    published: PublishedClimb,
    *,
    vehicle: str | VehicleDescription = VEHICLE,
    rear_flippers: float | None = None,
    preset: str | None = None,
    engine: EngineName | None = None,
    track_model: str | None = None,
) -> ClimbSetup:
    """The climb of one line of the table; rear flippers [rad]."""
    return ClimbSetup(
        vehicle=vehicle,
        step=published.step,
        flippers=math.radians(published.front_sub_track_deg),
        rear_flippers=rear_flippers,
        speed=TABLE_4_SPEED,
        engine=engine,
        track_model=track_model,
        preset=preset,
        friction=TABLE_4_FRICTION,
    )


def run_table_4(
    *,
    preset: str | None = None,
    engine: EngineName | None = None,
    track_model: str | None = None,
    published: Sequence[PublishedClimb] = TABLE_4,
    workers: int | None = None,
    on_done: Callable[[], object] | None = None,
) -> Table4:
    """Drive the six cases, each in a process of its own.

    Args:
        preset: The engine's solver settings; its default if not given.
        engine: Engine; one that runs the track model if not given.
        track_model: Track model; the engine's default if not given.
        published: Other lines than all six.
        workers: Largest number of processes at a time; as many as there are cores if not given.
        on_done: Called after each case.

    Returns:
        The cases with their results.

    Raises:
        UnknownNameError: No such engine, track model or preset.
        InvalidValueError: The engine does not run the track model.
    """
    engine, track_model = resolve(engine, track_model)
    chosen: dict[str, Any] = {"preset": preset, "engine": engine, "track_model": track_model}
    World(preset, engine=engine).close()  # Refuses a preset before there are processes.
    setups = [case_setup(line, **chosen) for line in published]
    climbs = run_parallel(run_climb, setups, workers=workers, on_done=on_done)
    return Table4(engine, track_model, tuple(map(Table4Case, published, climbs)))


def climbs(setup: ClimbSetup) -> bool:
    """Return True if a setup climbs; a simulation that breaks down does not."""
    try:
        return run_climb(setup).success
    except DivergedError:
        return False
