"""Result of an event: acceleration at the driver, limits and chains over time, and what follows from them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import signal

from segtrack.chain import ChainReading
from segtrack.description import VehicleDescription
from segtrack.engine import EngineName
from segtrack.experiments.climb import trajectory_columns
from segtrack.experiments.event_limits import LIMITS
from segtrack.experiments.event_setup import EventSetup
from segtrack.experiments.track_histories import ChainHistory
from segtrack.geometry import GRAVITY
from segtrack.robot import Motion, Robot
from segtrack.terrain import Terrain

FOOT = 0.3048
"""[m]"""
NUMERATOR = 14.5 * np.array([1.0, 44.0, 0.0])
"""Coefficients of H's numerator, highest power first."""
DENOMINATOR = np.polymul([1.0, 63.0], [1.0, 24.0, 750.0])
"""Coefficients of H's denominator."""
ORDER = 4
"""Order of the low pass, a Butterworth filter that runs forward in time."""
_APPROACH = 0.2
"""Time before a passage over which its speed is taken [s]."""


def weighted_acceleration(acceleration: NDArray[np.float64], time_step: float) -> NDArray[np.float64]:
    """Filter a vertical acceleration by the absorbed-power filter H, starting at rest.

    Args:
        acceleration: Mean acceleration over each step (n,) [m/s^2].
        time_step: Duration of a step [s].

    Returns:
        Square root of the momentary power at the end of each step (n,) [W^(1/2)].
    """
    numerator, denominator, _ = signal.cont2discrete((NUMERATOR, DENOMINATOR), time_step, method="zoh")
    return np.asarray(signal.lfilter(numerator.ravel(), denominator, acceleration / FOOT))


def absorbed_power(acceleration: NDArray[np.float64], time_step: float) -> float:
    """Mean absorbed power [W] of a vertical acceleration (n,) [m/s^2] sampled every step [s], from rest."""
    return float(np.mean(weighted_acceleration(acceleration, time_step) ** 2))


def low_passed(acceleration: NDArray[np.float64], time_step: float, frequency: float) -> NDArray[np.float64]:
    """Low-pass an acceleration (n,) by a causal Butterworth filter of order `ORDER`, starting at rest.

    Args:
        acceleration: Mean over each step (n,), in any unit.
        time_step: Duration of a step [s].
        frequency: Cut-off frequency [Hz], below half the sampling frequency.
    """
    if not len(acceleration):
        return acceleration
    sections = signal.butter(ORDER, frequency, fs=1.0 / time_step, output="sos")
    return np.asarray(signal.sosfilt(sections, acceleration))


@dataclass(frozen=True, eq=False)
class Ridden:
    """Vertical acceleration at the driver's place in every step of the drive.

    Attributes:
        times: Ends of the steps (n,) [s].
        acceleration: Vertical acceleration in the world, mean over each step: the difference of the
            velocity at its ends; 0 at rest (n,) [m/s^2].
        time_step: Duration of a step [s].
        window: First and last time of the passage, from the vehicle's front at the obstacle's beginning to
            `Assumptions.past` after its rear has passed the end [s].
        low_pass: Cut-off frequency of the filtered peak [Hz].
    """

    times: NDArray[np.float64]
    acceleration: NDArray[np.float64]
    time_step: float
    window: tuple[float, float]
    low_pass: float

    @cached_property
    def filtered(self) -> NDArray[np.float64]:
        """Low-passed acceleration (n,) [m/s^2]."""
        return low_passed(self.acceleration, self.time_step, self.low_pass)

    @cached_property
    def weighted(self) -> NDArray[np.float64]:
        """Acceleration filtered for absorbed power (n,) [W^(1/2)]."""
        return weighted_acceleration(self.acceleration, self.time_step)

    @property
    def duration(self) -> float:
        """Duration of the drive [s]."""
        return self.time_step * len(self.times)

    @property
    def inside(self) -> NDArray[np.bool_]:
        """True for each step of the passage (n,)."""
        margin = self.time_step / 2
        return (self.times > self.window[0] + margin) & (self.times < self.window[1] + margin)

    @property
    def peak(self) -> float:
        """Largest vertical acceleration, up or down, over gravity [-]; 0 before the obstacle."""
        return self._largest(self.acceleration)

    @property
    def peak_time(self) -> float:
        """Time of the largest vertical acceleration [s]; the passage's beginning without any."""
        inside = np.flatnonzero(self.inside)
        if not len(inside):
            return self.window[0]
        return float(self.times[inside[np.argmax(np.abs(self.acceleration[inside]))]])

    @property
    def filtered_peak(self) -> float:
        """Largest low-passed vertical acceleration over gravity [-]."""
        return self._largest(self.filtered)

    @property
    def absorbed_power(self) -> float:
        """Mean absorbed power of the passage [W]; the filter starts at rest with the drive."""
        inside = self.inside
        return float(np.mean(self.weighted[inside] ** 2)) if inside.any() else 0.0

    def _largest(self, acceleration: NDArray[np.float64]) -> float:
        return float(np.max(np.abs(acceleration[self.inside]), initial=0.0)) / GRAVITY


@dataclass(frozen=True, eq=False)
class LimitHistory:
    """Limits of a vehicle over time.

    Attributes:
        times: Instants (n,) [s].
        found: True where a limit of `LIMITS` held the vehicle (n, 6).
        slips: Largest slip ratio of the driven belts (n,) [-].
        drives: Largest ratio of a drive's force to its limit (n,) [-].
        clearances: Smallest distance of the hull from the ground (n,) [m].
    """

    times: NDArray[np.float64]
    found: NDArray[np.bool_]
    slips: NDArray[np.float64]
    drives: NDArray[np.float64]
    clearances: NDArray[np.float64]

    def shares(self, first: float, last: float) -> dict[str, float]:
        """Fraction of the samples between two times [s] in which each limit held the vehicle [-]."""
        inside = (self.times >= first) & (self.times <= last)
        means = self.found[inside].mean(axis=0) if inside.any() else np.zeros(len(LIMITS))
        return dict(zip(LIMITS, means.tolist(), strict=True))


PITCHED, SHAKEN, END = INSTANTS = ("largest pitch", "largest acceleration", "end")
"""Instants of an event at which its link chains are kept.

The first two are those of the passage, pitch up or down, and the sample after the step of the acceleration.
"""


class ChainInstants:
    """Keeps the readings of a robot's link chains at the `INSTANTS` of an event."""

    def __init__(self, robot: Robot) -> None:
        """Start without readings."""
        self._robot = robot
        self._greatest: dict[str, float] = {}
        self._kept: dict[str, tuple[float, Mapping[str, ChainReading]]] = {}

    def sample(
        self, time: float, readings: Mapping[str, ChainReading], measures: Mapping[str, float]
    ) -> None:
        """Keep readings by track at a time [s] for each instant whose measure is the largest so far."""
        for name, measure in measures.items():
            if readings and measure >= self._greatest.get(name, measure):
                self._greatest[name], self._kept[name] = measure, (time, readings)

    def histories(self) -> Mapping[str, ChainHistory]:
        """Return a history of one sample for each instant that occurred, in the order of `INSTANTS`."""
        return {name: chains_at(self._robot, *self._kept[name]) for name in INSTANTS if name in self._kept}


def chains_at(robot: Robot, time: float, readings: Mapping[str, ChainReading]) -> ChainHistory:
    """History of one sample at a time [s], from readings of a robot's link chains by track."""
    designs = {name: robot.tracks[name].chain_design for name in readings}
    return ChainHistory(np.array([time]), designs, {name: (reading,) for name, reading in readings.items()})


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
        chains: Link chains at the instants of `INSTANTS` that occurred, histories of one sample;
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
