"""Obstacles and ride courses of events: terrain, end, and event speed."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import InvalidValueError, finite
from segtrack.experiments.event_setup import Assumptions, EventObstacle
from segtrack.terrain import (
    BANK_REACH,
    FLOOR_REACH,
    Gap,
    HalfRound,
    Heightfield,
    Step,
    Terrain,
    TrapezoidBarrier,
    TrapezoidDitch,
)

_POINTS = 6
"""Grid points on the shortest wave."""


@dataclass(frozen=True)
class RideCourse:
    """Rough ground with random left and right profiles of one spectrum.

    The power spectral density of the heights falls with the square of the wave number n from 1 / `longest`
    to 1 / `shortest` and is nothing outside; detrending would remove longer waves. Phases
    are random. What is left of a line (least squares) is subtracted and the heights scaled, so that mean and
    slope are 0 and the root of the mean square is `rms` to rounding, of either profile. The right profile is
    `correlation` of the left one and uncorrelated for the rest, the same for all waves. A lead at either end
    takes the heights from and to flat ground.

    Attributes:
        rms: Root mean square height of each profile [m].
        length: Length of the rough section [m].
        gauge: Distance between the two profiles; heights are interpolated between them [m].
        seed: Seed of the random phases.
        correlation: Correlation of the left and right profile, 0 to 1 [-].
        longest: Longest wavelength [m]; 60 feet.
        shortest: Shortest wavelength [m].
    """

    rms: float
    length: float = 60.0
    gauge: float = 2.0
    seed: int = 0
    correlation: float = 1.0
    longest: float = 18.288
    shortest: float = 0.6

    def __post_init__(self) -> None:
        """Refuse numbers outside of their range.

        Raises:
            InvalidValueError: A length that is not positive, waves that do not fit, or a correlation
                outside of 0 to 1.
        """
        for name in ("rms", "length", "gauge", "longest", "shortest"):
            if finite(f"{name} of a ride course [m]", getattr(self, name)) <= 0:
                raise InvalidValueError(f"{name} of a ride course [m]", "above 0", getattr(self, name))
        if not 0.0 <= finite("correlation of a ride course", self.correlation) <= 1.0:
            raise InvalidValueError("correlation of a ride course", "from 0 to 1", self.correlation)
        if self.shortest >= min(self.longest, self.length):
            expected = f"below the longest wave and the length of {min(self.longest, self.length):g}"
            raise InvalidValueError("shortest of a ride course [m]", expected, self.shortest)

    @property
    def spacing(self) -> float:
        """Distance between neighbouring heights [m]."""
        return self.shortest / _POINTS

    @property
    def lead(self) -> float:
        """Length at either end over which the heights fade in or out [m]."""
        return 2.0 * self.shortest

    @cached_property
    def profiles(self) -> NDArray[np.float64]:
        """Heights of the left and the right profile at multiples of `spacing` (2, n) [m]."""
        generator = np.random.default_rng(self.seed)
        left, other = (self._shape(generator) for _ in range(2))
        other = self._scaled(other - left * (left @ other) / (left @ left))
        return np.stack([left, self.correlation * left + np.sqrt(1.0 - self.correlation**2) * other])

    def _shape(self, generator: np.random.Generator) -> NDArray[np.float64]:
        """Random heights of one profile (n,) [m]."""
        count = round(self.length / self.spacing) + 1
        waves = np.fft.rfftfreq(count, self.spacing)
        within = (waves >= 1.0 / self.longest) & (waves <= 1.0 / self.shortest)
        phases = generator.uniform(0.0, 2.0 * np.pi, len(waves))
        amplitudes = np.zeros(len(waves))
        amplitudes[within] = 1.0 / waves[within]
        return self._scaled(np.fft.irfft(amplitudes * np.exp(1j * phases), count))

    def _scaled(self, heights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Detrend heights, and scale them to the course's root mean square (n,) [m]."""
        x = np.arange(len(heights)) * self.spacing
        level = heights - np.polyval(np.polyfit(x, heights, 1), x)
        return np.asarray(level * self.rms / np.sqrt(np.mean(level**2)))

    def terrain(self, before: float, behind: float, half_width: float) -> Heightfield:
        """Return the course as a heightfield that begins at x = 0.

        Args:
            before: Length of flat ground before the course [m].
            behind: Length of flat ground behind the course [m].
            half_width: Half of the ground's width [m].
        """
        step = self.spacing
        flat = [round(max(length, self.lead) / step) for length in (before, behind)]
        heights = np.pad(self.profiles, ((0, 0), (flat[0], flat[1])), mode="edge")
        fade = (1.0 - np.cos(np.pi * np.arange(round(self.lead / step)) / round(self.lead / step))) / 2.0
        ramp = np.concatenate([np.zeros(flat[0] - len(fade)), fade])
        end = np.concatenate([fade[::-1], np.zeros(flat[1] - len(fade))])
        heights[:, : flat[0]] *= ramp
        heights[:, heights.shape[1] - flat[1] :] *= end
        across = round(2.0 * half_width / step) + 1
        y = step * (np.arange(across) - (across - 1) / 2)
        left = np.clip(0.5 + y / self.gauge, 0.0, 1.0)
        grid = heights[1][:, None] * (1.0 - left) + heights[0][:, None] * left
        middle = step * ((len(grid) - 1) / 2 - flat[0])
        return Heightfield(heights=grid, spacing=step, center=(middle, 0.0))


GAP_DEPTH = 1.0
"""Depth of a gap that is not given; the paper has none [m]."""
TRAPEZOID_HEIGHT = 0.762
"""Height of barriers and depth of ditches (4.2.4) [m]."""
TRAPEZOID_LENGTHS = (0.1524, 0.762, 3.556)
"""Lengths of a barrier's top and a ditch's bottom [m]."""
TRAPEZOID_SLOPES_DEG = (16.0, 26.0, 38.0, 68.0)
"""Slopes [deg], which run faster than lengths in the numbers: the paper's own order is an inference."""
_STEP_LENGTH = 40.0
"""Length of a step's top: nobody drives off its end [m]."""
_WIDTH = 20.0
"""Extent of obstacles across the path [m]."""


@dataclass(frozen=True)
class StepObstacle(EventObstacle):
    """Vertical step up (4.2.2), climbed from rest at full speed.

    Attributes:
        height: Height of the step [m].
    """

    height: float
    name: ClassVar[str] = "step"
    size_name: ClassVar[str] = "height"

    def __post_init__(self) -> None:
        """Refuse a height that is not above zero."""
        self._above_zero("height")

    def terrain(self, before: float, behind: float) -> Terrain:
        """Return the step."""
        return Step(height=self.height, distance=0.0, length=_STEP_LENGTH, width=_WIDTH)

    @property
    def end(self) -> float:
        """World x of the edge [m]."""
        return 0.0

    @property
    def title(self) -> str:
        """Name with its height."""
        return f"step of {self.height * 1000:.0f} mm"

    @property
    def from_rest(self) -> bool:
        """Always True."""
        return True


@dataclass(frozen=True)
class GapObstacle(EventObstacle):
    """Gap with vertical walls (4.2.3).

    Attributes:
        length: Distance between the walls [m].
        depth: Depth of its bottom [m].
    """

    length: float
    depth: float = GAP_DEPTH
    name: ClassVar[str] = "gap"
    size_name: ClassVar[str] = "length"

    def __post_init__(self) -> None:
        """Refuse lengths that are not above zero."""
        self._above_zero("length", "depth")

    def terrain(self, before: float, behind: float) -> Terrain:
        """Return the ground with the gap."""
        return Gap(length=self.length, distance=0.0, depth=self.depth)

    @property
    def end(self) -> float:
        """World x of the far wall [m]."""
        return self.length

    @property
    def title(self) -> str:
        """Name with its length and depth."""
        return f"gap of {self.length:.3g} m, {self.depth:.3g} m deep"

    def speed(self, assumptions: Assumptions) -> float:
        """Default belt speed at a gap [m/s]."""
        return assumptions.gap_speed


@dataclass(frozen=True)
class HalfRoundObstacle(EventObstacle):
    """Half of a lying cylinder (4.2.1); its radius is its height.

    Attributes:
        height: Height, which is also the radius [m].
    """

    height: float
    name: ClassVar[str] = "half-round"
    size_name: ClassVar[str] = "height"

    def __post_init__(self) -> None:
        """Refuse a height that is not above zero."""
        self._above_zero("height")

    def terrain(self, before: float, behind: float) -> Terrain:
        """Return the half-round; kernels see the cylinder as a prism with `ground.pack.SIDES` sides."""
        return HalfRound(radius=self.height, distance=0.0, width=_WIDTH)

    @property
    def end(self) -> float:
        """World x of its far foot [m]."""
        return 2.0 * self.height

    @property
    def title(self) -> str:
        """Name with its height."""
        return f"half-round of {self.height * 1000:.0f} mm"


@dataclass(frozen=True)
class TrapezoidObstacle(EventObstacle):
    """Trapezoid barrier or ditch (4.2.4), with number = 4 * (length index) + slope index.

    Attributes:
        number: Number, 1 to 12, of `TRAPEZOID_LENGTHS` and `TRAPEZOID_SLOPES_DEG`.
        ditch: True for a ditch.
        height: Height of the barrier or depth of the ditch [m]; lengths scale with it.
    """

    number: int
    ditch: bool = False
    height: float = TRAPEZOID_HEIGHT
    name: ClassVar[str] = "trapezoid"
    size_name: ClassVar[str] = "height"

    def __post_init__(self) -> None:
        """Refuse an unknown number, or a height that is not above zero."""
        last = len(TRAPEZOID_LENGTHS) * len(TRAPEZOID_SLOPES_DEG)
        if not 1 <= self.number <= last:
            raise InvalidValueError("number of a trapezoid", f"from 1 to {last}", self.number)
        self._above_zero("height")

    @property
    def flat(self) -> float:
        """Length of the barrier's top or the ditch's bottom [m]."""
        index = (self.number - 1) // len(TRAPEZOID_SLOPES_DEG)
        return TRAPEZOID_LENGTHS[index] * self.height / TRAPEZOID_HEIGHT

    @property
    def slope(self) -> float:
        """Slope of both sides [rad]."""
        return math.radians(TRAPEZOID_SLOPES_DEG[(self.number - 1) % len(TRAPEZOID_SLOPES_DEG)])

    @property
    def end(self) -> float:
        """Length of the barrier's base or the ditch's opening [m]."""
        return self.flat + 2.0 * self.height / math.tan(self.slope)

    @property
    def room(self) -> float:
        """Length of flat ground needed before and behind the trapezoid [m]."""
        return BANK_REACH if self.ditch else FLOOR_REACH

    def terrain(self, before: float, behind: float) -> Terrain:
        """Return the barrier or the ditch."""
        if self.ditch:
            return TrapezoidDitch(
                depth=self.height, top_length=self.end, bottom_length=self.flat, distance=0.0
            )
        return TrapezoidBarrier(
            height=self.height, top_length=self.flat, bottom_length=self.end, distance=0.0, width=_WIDTH
        )

    @property
    def title(self) -> str:
        """Name with number, slope and height."""
        kind, across = ("ditch", "deep") if self.ditch else ("barrier", "high")
        slope, size = math.degrees(self.slope), self.height * 1000
        return (
            f"trapezoid {kind} {self.number}: {slope:.0f} deg, {self.flat:.3g} m flat, {size:.0f} mm {across}"
        )

    def speed(self, assumptions: Assumptions) -> float:
        """Default belt speed at a trapezoid [m/s]."""
        return assumptions.trapezoid_speed


@dataclass(frozen=True)
class RideObstacle(EventObstacle):
    """Ride course of random roughness.

    Attributes:
        course: Ride course.
    """

    course: RideCourse = field(default_factory=lambda: RideCourse(rms=0.025))
    name: ClassVar[str] = "ride"
    size_name: ClassVar[str] = "rms"

    def terrain(self, before: float, behind: float) -> Terrain:
        """Return the course with flat ground around it."""
        return self.course.terrain(before, behind, max(2.0 * self.course.gauge, 2.0))

    @property
    def end(self) -> float:
        """Length of the rough section [m]."""
        return self.course.length

    @property
    def title(self) -> str:
        """Name with roughness, length and seed."""
        course = self.course
        return f"ride course of {course.rms * 1000:.3g} mm RMS, {course.length:.3g} m, seed {course.seed}"

    @property
    def size(self) -> float:
        """Root mean square roughness [m], which a search raises."""
        return self.course.rms

    def of_size(self, size: float) -> EventObstacle:
        """Return the course with another roughness [m]."""
        return RideObstacle(replace(self.course, rms=size))
