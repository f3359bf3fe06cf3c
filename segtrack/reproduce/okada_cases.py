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
    """Line of Table IV: setup, and outcomes of the robot and of the authors' simulation.

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
    """Return the outcome of an attempt in one word."""
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
    """Line of Table IV with this simulator's outcome."""

    published: PublishedClimb
    climb: ClimbResult

    @property
    def match(self) -> bool:
        """True if the outcome is that of the physical robot."""
        return self.climb.success == self.published.real


@dataclass(frozen=True)
class Table4:
    """Table IV with this simulator's outcomes."""

    engine: EngineName
    track_model: str
    cases: tuple[Table4Case, ...]

    @property
    def preset(self) -> str | None:
        """Preset of the engine; None without cases."""
        return self.cases[0].climb.preset if self.cases else None

    @property
    def matches(self) -> int:
        """Number of cases with the physical robot's outcome."""
        return sum(case.match for case in self.cases)

    def summary(self) -> dict[str, object]:
        """Return a JSON-serialisable dict."""
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
    """Setup of the climb in one line of Table IV; `rear_flippers` is an angle [rad]."""
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
    """Simulate the six cases in parallel processes.

    Args:
        preset: Preset of the engine; by default the engine's own.
        engine: Name of the engine; by default one that runs the track model.
        track_model: Name of the track model; by default the engine's own.
        published: Lines of Table IV to simulate.
        workers: Largest number of parallel processes; by default the number of cores.
        on_done: Function called after each case.

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
    """Return whether a simulated climb succeeds; a diverging simulation does not."""
    try:
        return run_climb(setup).success
    except DivergedError:
        return False
