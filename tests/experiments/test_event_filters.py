"""Absorbed power and low pass against the analytic responses to a sine."""

import numpy as np
import pytest

from segtrack.experiments import absorbed_power, low_passed
from segtrack.experiments.event_result import DENOMINATOR, FOOT, NUMERATOR, weighted_acceleration

SECONDS = 40.0


def sine(frequency, step):
    return np.sin(2 * np.pi * frequency * step * np.arange(round(SECONDS / step)))


def watts(frequency):
    """Power of a sine of 1 m/s^2 by H itself."""
    s = 2j * np.pi * frequency
    return abs(np.polyval(NUMERATOR, s) / np.polyval(DENOMINATOR, s)) ** 2 / 2 / FOOT**2


def power_of(frequency, step):
    return np.mean(weighted_acceleration(sine(frequency, step), step)[round(5.0 / step) :] ** 2)


@pytest.mark.parametrize("frequency", [0.5, 2.0, 4.46, 8.0, 16.0, 30.0])
@pytest.mark.parametrize("step", [0.001, 0.004])
def test_power_of_a_sampled_sine_is_that_of_its_staircase(frequency, step):
    """The response to a staircase at the ends of its steps: the hold's spectrum through H, images folded."""
    s = 2j * np.pi * (frequency + np.arange(-20000, 20001) / step)
    held = (1 - np.exp(-2j * np.pi * frequency * step)) / s / step
    gain = abs(np.sum(np.polyval(NUMERATOR, s) / np.polyval(DENOMINATOR, s) * held))
    assert power_of(frequency, step) == pytest.approx(gain**2 / 2 / FOOT**2, rel=3e-4)


@pytest.mark.parametrize(
    ("step", "bounds"), [(0.001, {4.46: 2e-4, 16.0: 2e-3, 30.0: 5e-3}), (0.004, {4.46: 2e-3, 16.0: 0.025})]
)
def test_power_of_a_sine_is_that_of_the_transfer_function(step, bounds):
    for frequency, bound in bounds.items():
        assert power_of(frequency, step) == pytest.approx(watts(frequency), rel=bound)


def test_power_peaks_where_the_published_fit_does():
    """At 4.46 Hz with 2.24 W per mean square of 1 m^2/s^4."""
    frequencies = np.linspace(2.0, 8.0, 6001)
    found = np.array([watts(f) for f in frequencies]) * 2  # The mean square of a sine is a half.
    assert frequencies[found.argmax()] == pytest.approx(4.46, abs=0.01)
    assert found.max() == pytest.approx(2.24, abs=0.005)


def test_power_is_quadratic_and_of_rest_nothing():
    shaken = sine(4.0, 0.002)
    assert absorbed_power(3.0 * shaken, 0.002) == pytest.approx(9.0 * absorbed_power(shaken, 0.002))
    assert absorbed_power(np.zeros(100), 0.002) == 0.0


@pytest.mark.parametrize("frequency", [5.0, 30.0, 60.0])
def test_low_pass_has_the_gain_of_a_butterworth_filter_of_order_4(frequency):
    step = 0.001
    warped = np.tan(np.pi * frequency * step) / np.tan(np.pi * 30.0 * step)
    filtered = low_passed(sine(frequency, step), step, 30.0)[5000:]
    assert np.sqrt(2 * np.mean(filtered**2)) == pytest.approx(1 / np.sqrt(1 + warped**8), rel=2e-3)
