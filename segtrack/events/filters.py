"""Filters of the driver's acceleration: absorbed power, and the low pass of filtered peaks.

Absorbed power is the mean square [W] of the vertical acceleration [ft/s^2] behind

    H(s) = 14.5 s (s + 44) / ((s + 63) (s^2 + 24 s + 750)),

recovered from public code (Project Chrono's ChAbsorbedPowerVertical), which names no origin; that it is a
fit of Lee and Pradko 1968 is an inference. It is realised exactly for an acceleration that is constant within
each step (zero-order hold), as that of a simulation with a velocity per step is. A sine sampled every 1 ms
has the power that H gives it within 0.02 % up to 8 Hz and 0.3 % up to 30 Hz; every 4 ms, within 0.3 % up to
8 Hz and 1.3 % up to 16 Hz (`tests/events/test_event_filters.py`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import signal

FOOT = 0.3048
"""[m]"""
NUMERATOR = 14.5 * np.array([1.0, 44.0, 0.0])
"""Coefficients of H's numerator, highest power first."""
DENOMINATOR = np.polymul([1.0, 63.0], [1.0, 24.0, 750.0])
"""Coefficients of H's denominator."""
ORDER = 4
"""Order of the low pass, a Butterworth filter that runs forward in time."""


def weighted_acceleration(acceleration: NDArray[np.float64], time_step: float) -> NDArray[np.float64]:
    """Filter a vertical acceleration by H, from rest.

    Args:
        acceleration: Mean over each step (n,) [m/s^2].
        time_step: Duration of a step [s].

    Returns:
        Square root of the momentary power at the end of each step (n,) [W^(1/2)].
    """
    numerator, denominator, _ = signal.cont2discrete((NUMERATOR, DENOMINATOR), time_step, method="zoh")
    return np.asarray(signal.lfilter(numerator.ravel(), denominator, acceleration / FOOT))


def absorbed_power(acceleration: NDArray[np.float64], time_step: float) -> float:
    """Mean absorbed power [W] of a vertical acceleration (n,) [m/s^2], from rest, sampled every step [s]."""
    return float(np.mean(weighted_acceleration(acceleration, time_step) ** 2))


def low_passed(acceleration: NDArray[np.float64], time_step: float, frequency: float) -> NDArray[np.float64]:
    """Acceleration (n,) behind a low pass: Butterworth of order `ORDER`, from rest, forward in time.

    Args:
        acceleration: Mean over each step (n,), in any unit.
        time_step: Duration of a step [s].
        frequency: Cut-off frequency, below half of one over the step [Hz].
    """
    if not len(acceleration):
        return acceleration
    sections = signal.butter(ORDER, frequency, fs=1.0 / time_step, output="sos")
    return np.asarray(signal.sosfilt(sections, acceleration))
