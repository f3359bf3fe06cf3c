"""Ride courses: two random profiles of a given height, one under each track."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import InvalidValueError, finite
from segtrack.terrain import Heightfield

_POINTS = 6
"""Grid points on the shortest wave."""


@dataclass(frozen=True)
class RideCourse:
    """Rough ground whose left and right profile have the same spectrum.

    The power spectral density of the heights falls with the square of the wave number n from 1 / `longest`
    to 1 / `shortest` and is nothing outside; waves beyond `longest` are what detrending takes away. Phases
    are random. What is left of a line (least squares) is subtracted and the heights scaled, so that mean and
    slope are 0 and the root of the mean square is `rms` to rounding, of either profile. The right profile is
    `correlation` of the left one and uncorrelated for the rest, the same for all waves. A lead at either end
    takes the heights from and to flat ground.

    Attributes:
        rms: Root mean square height of each profile [m].
        length: Length of the rough section [m].
        gauge: Distance between the two profiles, between which heights are interpolated [m].
        seed: Seed of the phases.
        correlation: Correlation of left and right, 0 to 1 [-].
        longest: Longest wave [m]; 60 feet.
        shortest: Shortest wave [m].
    """

    rms: float
    length: float = 60.0
    gauge: float = 2.0
    seed: int = 0
    correlation: float = 1.0
    longest: float = 18.288
    shortest: float = 0.6

    def __post_init__(self) -> None:
        """Refuse numbers that make no course.

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
        """Length at either end over which the heights fade in [m]."""
        return 2.0 * self.shortest

    @cached_property
    def profiles(self) -> NDArray[np.float64]:
        """Heights of the left and the right profile at multiples of `spacing` from 0 on (2, n) [m]."""
        generator = np.random.default_rng(self.seed)
        left, other = (self._shape(generator) for _ in range(2))
        other = self._scaled(other - left * (left @ other) / (left @ left))
        return np.stack([left, self.correlation * left + np.sqrt(1.0 - self.correlation**2) * other])

    def _shape(self, generator: np.random.Generator) -> NDArray[np.float64]:
        """One profile (n,) [m]."""
        count = round(self.length / self.spacing) + 1
        waves = np.fft.rfftfreq(count, self.spacing)
        within = (waves >= 1.0 / self.longest) & (waves <= 1.0 / self.shortest)
        phases = generator.uniform(0.0, 2.0 * np.pi, len(waves))
        amplitudes = np.zeros(len(waves))
        amplitudes[within] = 1.0 / waves[within]
        return self._scaled(np.fft.irfft(amplitudes * np.exp(1j * phases), count))

    def _scaled(self, heights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Heights without their line, with the given root mean square (n,) [m]."""
        x = np.arange(len(heights)) * self.spacing
        level = heights - np.polyval(np.polyfit(x, heights, 1), x)
        return np.asarray(level * self.rms / np.sqrt(np.mean(level**2)))

    def terrain(self, before: float, behind: float, half_width: float) -> Heightfield:
        """Return the course as ground that begins at x = 0.

        Args:
            before: Length of flat ground before it [m].
            behind: Length of flat ground behind it [m].
            half_width: Distance from the middle to either edge [m].
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
