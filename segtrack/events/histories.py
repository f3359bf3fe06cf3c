"""Histories of an event: acceleration at the driver's place, limits, and link chains at some instants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import signal

from segtrack.chain import ChainReading
from segtrack.events.limits import LIMITS
from segtrack.experiments import ChainHistory
from segtrack.geometry import GRAVITY
from segtrack.robot import Robot

FOOT = 0.3048
"""[m]"""
NUMERATOR = 14.5 * np.array([1.0, 44.0, 0.0])
"""Coefficients of H's numerator, highest power first."""
DENOMINATOR = np.polymul([1.0, 63.0], [1.0, 24.0, 750.0])
"""Coefficients of H's denominator."""
ORDER = 4
"""Order of the low pass, a Butterworth filter that runs forward in time."""


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
        found: True where a limit of `limits.LIMITS` held the vehicle (n, 6).
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
