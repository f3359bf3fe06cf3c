"""Functions of kernels against Python's, which are right to the last digit or nearly so."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from segtrack.kernels import arctangent, cosine_sine, entry, exponential, power
from segtrack.kernels.functions import logarithm


@entry
def turned(angles: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    """Cosines and sines of angles (n,) in rows (n, 2)."""
    for i in range(len(angles)):
        out[i, 0], out[i, 1] = cosine_sine(angles[i])


def test_cosine_and_sine_have_all_their_digits_for_angles_of_thousands_of_turns():
    angles = np.concatenate([np.linspace(-7, 7, 4001), np.linspace(-3e4, 3e4, 4001)])
    found = np.zeros((len(angles), 2))
    turned(angles, found)
    expected = np.array([(math.cos(a), math.sin(a)) for a in angles.tolist()])
    np.testing.assert_allclose(found[:4001], expected[:4001], rtol=0, atol=2**-52)
    np.testing.assert_allclose(found[4001:], expected[4001:], rtol=0, atol=3e-16)
    assert cosine_sine(0.0) == (1.0, 0.0)
    assert cosine_sine(math.pi) == (-1.0, pytest.approx(math.sin(math.pi), rel=1e-9))


@pytest.mark.parametrize(
    ("function", "pythons", "low", "high", "units"),
    [
        (exponential, math.exp, -700.0, 700.0, 2),
        (exponential, math.exp, -1.0, 1.0, 2),
        (logarithm, math.log, 1e-12, 1e3, 2),
        (logarithm, math.log, 0.9, 1.1, 2),
        (lambda x: power(x, 0.7), lambda x: x**0.7, 1e-9, 10.0, 20),
    ],
    ids=["exponential", "exponential of a small number", "logarithm", "logarithm near 1", "power"],
)
def test_functions_of_one_number_err_by_units_of_the_last_digit(
    function: Callable[[float], float],
    pythons: Callable[[float], float],
    low: float,
    high: float,
    units: int,
) -> None:
    for x in np.linspace(low, high, 2001).tolist():
        assert function(x) == pytest.approx(pythons(x), rel=units * 2**-52, abs=2**-80), x


def test_special_values_are_exact():
    assert exponential(0.0) == 1.0
    assert exponential(-800.0) == 0.0
    assert logarithm(1.0) == 0.0
    assert power(0.3, 0.0) == 1.0
    assert power(2.0, 3.0) == pytest.approx(8.0, rel=2**-51)


def test_arc_tangent_is_that_of_the_quadrant():
    for turn in np.linspace(-math.pi, math.pi, 2001).tolist()[1:]:
        y, x = 0.3 * math.sin(turn), 0.3 * math.cos(turn)
        assert arctangent(y, x) == pytest.approx(math.atan2(y, x), abs=2**-51)
    assert arctangent(0.0, 0.0) == 0.0
    assert arctangent(0.0, -1.0) == math.pi
    assert arctangent(1.0, 0.0) == math.pi / 2
