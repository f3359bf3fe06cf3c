"""What is found out about a vehicle's traction."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.chain.design import TrackDesign

GRAVITY = 9.81
"""[m/s^2]"""
SLIDING = 0.005
"""A braked vehicle that is faster than this down the slope slides [m/s]."""


@dataclass(frozen=True)
class SteadyDrive:
    """A vehicle whose belts run at constant speed.

    Attributes:
        time: Since the first sample (n,) [s].
        speed: Of the body along its way (n,) [m/s].
        force: Of all drives together (n,) [N].
        slip: 1 - way / belt travel over all samples [-].
        slope: That is driven up [rad].
        weight: Of the vehicle [N].
        real_time_factor: Simulated over elapsed time.
        design: Of its first track, if that is a link chain.
    """

    time: NDArray[np.float64]
    speed: NDArray[np.float64]
    force: NDArray[np.float64]
    slip: float
    slope: float
    weight: float
    real_time_factor: float
    design: TrackDesign | None

    @property
    def mean_speed(self) -> float:
        """Of the speed [m/s]."""
        return float(self.speed.mean())

    @property
    def speed_deviation(self) -> float:
        """Standard deviation of the speed [m/s]."""
        return float(self.speed.std())

    @property
    def mean_force(self) -> float:
        """Of the force [N]."""
        return float(self.force.mean())

    @property
    def traction(self) -> NDArray[np.float64]:
        """What the ground gives, if all of the vehicle moves as its body does (n - 4,) [N]."""
        smooth = np.convolve(self.speed, np.full(5, 0.2), "valid")
        acceleration = np.gradient(smooth, self.time[1] - self.time[0])
        return self.weight * (acceleration / GRAVITY + math.sin(self.slope))

    @property
    def shoe_rate(self) -> float:
        """How many shoes of a link chain pass in a second [1/s]; 0 without one."""
        return self.mean_speed / self.design.chain.shoe.pitch if self.design is not None else 0.0

    @property
    def ripple_of_shoes(self) -> float:
        """Fraction of the speed's variance at multiples of the shoes' rate [-]; 0 without a link chain."""
        power = np.abs(np.fft.rfft(self.speed - self.mean_speed)) ** 2
        if self.design is None or not power.any():
            return 0.0
        width = 1.0 / (len(self.speed) * (self.time[1] - self.time[0]))
        order = np.arange(len(power)) * width / self.shoe_rate
        near = (np.abs(order - np.round(order)) * self.shoe_rate <= width) & (np.round(order) > 0)
        return float(power[near].sum() / power.sum())


@dataclass(frozen=True)
class Slide:
    """A braked vehicle on ground that grows steeper until it slides.

    Attributes:
        slope: (n,) [rad]
        speed: Down the slope (n,) [m/s].
        moved: Down the slope (n,) [m].
    """

    slope: NDArray[np.float64]
    speed: NDArray[np.float64]
    moved: NDArray[np.float64]

    @property
    def onset(self) -> int:
        """Number of the sample at which it begins to slide; the last one if it holds."""
        still = np.flatnonzero(self.speed < SLIDING)
        return min(int(still[-1]) + 1, len(self.slope) - 1) if len(still) else 0

    @property
    def angle(self) -> float:
        """Slope at which it begins to slide [rad]; the last one if it holds."""
        return float(self.slope[self.onset])

    @property
    def crept(self) -> float:
        """How far it moved until then [m]."""
        return float(self.moved[max(self.onset - 1, 0)])


@dataclass(frozen=True)
class ShoeSlip:
    """How shoes of link chains slip over the ground that they stand on: means over the weight and time.

    Attributes:
        mean: Slip velocity, backwards positive [m/s].
        deviation: Its standard deviation [m/s].
        lagging: Fraction of the weight on shoes that do not slip backwards [-].
    """

    mean: float
    deviation: float
    lagging: float


@dataclass(frozen=True)
class Pull:
    """A vehicle that drags a hitch along at constant speed.

    Attributes:
        slip: 1 - way / belt travel [-].
        pull: Mean force on the hitch [N].
        drive: Mean force of all drives together [N].
        shoes: How those of link chains slip; None for other tracks.
    """

    slip: float
    pull: float
    drive: float
    shoes: ShoeSlip | None
