"""Setup and result of one event."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from segtrack.description import VehicleDescription
from segtrack.engine import EngineName
from segtrack.events.assumptions import Assumptions
from segtrack.events.driver import Driver
from segtrack.events.histories import LimitHistory, Ridden
from segtrack.events.limits import LIMITS
from segtrack.events.obstacles import EventObstacle
from segtrack.experiments import ChainHistory, RunSetup, trajectory_columns
from segtrack.robot import Motion
from segtrack.terrain import Terrain

_APPROACH = 0.2
"""Time before a passage over which its speed is taken [s]."""


@dataclass(frozen=True)
class EventSetup(RunSetup):
    """Vehicle, obstacle and simulation of an event.

    Attributes:
        vehicle: Bundled name, path of a vehicle file, or a description.
        obstacle: Obstacle.
        speed: Belt speed, clipped to what the drives can do [m/s]; the event's own if not given.
        friction: Friction coefficient of every track in place of the file's [-]; the terrain's factor is 1.
        flippers: Angle of all front flippers [rad]; `experiments.FRONT_FLIPPERS_DEG` if not given.
        rear_flippers: Angle of all rear flippers [rad]; `experiments.REAR_FLIPPERS_DEG` if not given.
        driver_position: Driver's place in the body frame (3,) [m]; the vehicle file's if not given.
        track_model: Name of the track model; the engine's default if not given.
        engine: Name of the engine; by default one that runs the track model.
        preset: Name of the engine's preset; by default its own.
        time_step: Time step in place of the preset's [s].
        assumptions: Settings that the paper leaves open.
        driver: Function from a belt speed [m/s] to a driver; by default `BeltSpeedDriver`.

    Raises:
        UnknownNameError: No such engine or track model.
        InvalidValueError: The engine does not run the track model.
    """

    vehicle: str | Path | VehicleDescription
    obstacle: EventObstacle
    speed: float | None = None
    friction: float | None = None
    flippers: float | None = None
    rear_flippers: float | None = None
    driver_position: tuple[float, float, float] | None = None
    track_model: str | None = None
    engine: EngineName | None = None
    preset: str | None = None
    time_step: float | None = None
    assumptions: Assumptions = field(default_factory=Assumptions)
    driver: Callable[[float], Driver] | None = None


EventOutcome = Literal["passed", "stuck", "tipped over", "interrupted", "diverged"]
UNDECIDED: tuple[EventOutcome, ...] = ("interrupted", "diverged")
"""Outcomes that say nothing of the vehicle."""


@dataclass(frozen=True)
class DriverPlace:
    """Point of the body at which vertical acceleration is measured.

    Attributes:
        position: Point in the body frame (3,) [m].
        source: Source of the point: `given`, `vehicle file` or `centre of mass of the body`.
    """

    position: tuple[float, float, float]
    source: Literal["given", "vehicle file", "centre of mass of the body"]


STUCK_WINDOW = 1.0
"""Time at the end of an event over which limits are taken [s]."""
HELD = 0.5
"""Fraction of the samples from which a limit counts [-]."""
AROUND_PEAK = 0.03
"""Time around a peak in which what touches is named [s]."""


@dataclass(frozen=True)
class EventResult:
    """Result of an event.

    Attributes:
        setup: Setup of the event.
        engine: Name of the engine.
        track_model: Name of the track model.
        preset: Name of the engine's preset.
        vehicle: Vehicle with the setup's changes.
        driver: Driver's place.
        speed: Commanded belt speed, clipped to the drives' [m/s].
        outcome: Outcome of the event.
        duration: Simulated time, rest included [s].
        time_limit: Simulated time in which the obstacle has to be passed [s].
        real_time_factor: Simulated over elapsed time [-].
        ridden: Vertical acceleration at the driver's place.
        limits: Limits of the vehicle over time.
        motion: Motion, sampled at 50 Hz.
        chains: Link chains at the instants of `histories.INSTANTS` that occurred, histories of one sample;
            empty for other track models.
        terrain: Ground with the obstacle.
        reason: Reason why the simulation diverged; else empty.
    """

    setup: EventSetup
    engine: EngineName
    track_model: str
    preset: str
    vehicle: VehicleDescription
    driver: DriverPlace
    speed: float
    outcome: EventOutcome
    duration: float
    time_limit: float
    real_time_factor: float
    ridden: Ridden
    limits: LimitHistory
    motion: Motion
    chains: Mapping[str, ChainHistory]
    terrain: Terrain
    reason: str = ""

    @property
    def passed(self) -> bool:
        """True if the whole vehicle got past the obstacle in time."""
        return self.outcome == "passed"

    @property
    def shares(self) -> dict[str, float]:
        """Fraction of the last `STUCK_WINDOW` in which each limit held the vehicle [-]."""
        end = float(self.limits.times[-1])
        return self.limits.shares(end - STUCK_WINDOW, end)

    @property
    def limited_by(self) -> tuple[str, ...]:
        """Limits of a vehicle that did not pass, in the order of `LIMITS`; () if it is undecided."""
        if self.passed or self.outcome in UNDECIDED:
            return ()
        return tuple(name for name, share in self.shares.items() if share >= HELD)

    @property
    def peak_with(self) -> tuple[str, ...]:
        """Limits that held the vehicle around the time of the largest acceleration."""
        time = self.ridden.peak_time
        shares = self.limits.shares(time - AROUND_PEAK, time + AROUND_PEAK)
        return tuple(name for name, share in shares.items() if share > 0)

    @property
    def max_pitch(self) -> float:
        """Largest pitch, nose up [rad]."""
        return float(self.motion["pitch"].max())

    @property
    def min_pitch(self) -> float:
        """Smallest pitch, nose down negative [rad]."""
        return float(self.motion["pitch"].min())

    @property
    def pitched_time(self) -> float:
        """Time of the passage's largest pitch, up or down [s]; the end if the obstacle was not reached."""
        times = self.motion.times
        inside = np.flatnonzero(times > self.ridden.window[0])
        if not len(inside):
            return float(times[-1])
        return float(times[inside[np.argmax(np.abs(self.motion["pitch"][inside]))]])

    @property
    def passage_speed(self) -> float:
        """Mean speed over the passage along x [m/s]; 0 if the obstacle was not reached."""
        first, last = self.ridden.window
        x = np.interp([first, last], self.motion.times, self.motion["position"][:, 0])
        return float((x[1] - x[0]) / (last - first)) if last > first else 0.0

    @property
    def approach_speed(self) -> float | None:
        """Mean speed along x over the 0.2 s before the passage [m/s]; None if it starts from rest."""
        if self.setup.obstacle.from_rest:
            return None
        last = self.ridden.window[0]
        x = np.interp([last - _APPROACH, last], self.motion.times, self.motion["position"][:, 0])
        return float((x[1] - x[0]) / _APPROACH)

    def summary(self) -> dict[str, object]:
        """Return a JSON-serialisable dict without the samples."""
        x, y, z = self.motion["position"][-1].tolist()
        return {
            "vehicle": self.vehicle.name,
            "event": self.setup.obstacle.name,
            "obstacle": self.setup.obstacle.title,
            "size": self.setup.obstacle.size,
            "speed": self.speed,
            "friction": self.setup.friction,
            "engine": self.engine,
            "track_model": self.track_model,
            "preset": self.preset,
            "time_step": self.ridden.time_step,
            "outcome": self.outcome,
            "passed": self.passed,
            "limited_by": list(self.limited_by),
            "shares": self.shares,
            "duration": round(self.duration, 6),
            "time_limit": self.time_limit,
            "driver_position": list(self.driver.position),
            "driver_position_from": self.driver.source,
            "peak_g": self.ridden.peak,
            "filtered_peak_g": self.ridden.filtered_peak,
            "peak_with": list(self.peak_with),
            "absorbed_power": self.ridden.absorbed_power,
            "approach_speed": self.approach_speed,
            "passage_speed": self.passage_speed,
            "max_pitch_deg": math.degrees(self.max_pitch),
            "min_pitch_deg": math.degrees(self.min_pitch),
            "final_position": [x, y, z],
            "real_time_factor": self.real_time_factor,
            "reason": self.reason,
        }

    def columns(self) -> dict[str, dict[str, NDArray[Any]]]:
        """Return the samples as columns of tables, by file name; column names include units."""
        ridden, limits = self.ridden, self.limits
        acceleration = {
            "time_s": ridden.times,
            "acceleration_m_s2": ridden.acceleration,
            "filtered_m_s2": ridden.filtered,
        }
        state = {"slip": limits.slips, "drive": limits.drives, "hull_clearance_m": limits.clearances}
        found = {name.replace(" ", "_"): limits.found[:, i].astype(int) for i, name in enumerate(LIMITS)}
        return {
            "acceleration.csv": acceleration,
            "trajectory.csv": trajectory_columns(self.motion) | state | found,
        }
