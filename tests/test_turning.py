"""Turning on the spot: the closed form against quadrature, the simulation against the closed form."""

from __future__ import annotations

import math

import pytest
from scipy.integrate import quad

from segtrack.errors import InvalidValueError
from segtrack.experiments.turning import measure_turning, uniform_pressure_turning_rate


@pytest.mark.parametrize(("gauge", "length"), [(0.3, 0.51), (0.445, 0.51), (1.0, 0.2), (0.2, 2.0)])
def test_closed_form_balances_the_moments_of_friction(gauge: float, length: float) -> None:
    speed = 0.2
    rate = uniform_pressure_turning_rate(speed, gauge, length)
    slip = speed - rate * gauge / 2

    def moment(x: float) -> float:
        return (gauge / 2 * slip - rate * x * x) / math.hypot(slip, rate * x)

    assert quad(moment, -length / 2, length / 2)[0] == pytest.approx(0.0, abs=1e-8)


def test_a_point_sized_track_turns_without_slip() -> None:
    assert uniform_pressure_turning_rate(0.2, 0.4, 1e-6) == pytest.approx(0.2 / 0.2, rel=1e-3)


def test_closed_form_refuses_a_gauge_of_nothing() -> None:
    with pytest.raises(InvalidValueError) as caught:
        uniform_pressure_turning_rate(0.2, 0.0, 0.5)
    assert str(caught.value) == "gauge [m] must be positive, got 0.0"


def test_turning_is_slower_than_the_closed_form_but_symmetric() -> None:
    """Bullet biases friction towards the heavier direction, across the belt; wide tracks feel it least."""
    cases = measure_turning(gauges=(0.445, 0.7))
    assert cases[0].ratio < cases[1].ratio
    for case in cases:
        assert 0.8 < case.ratio < 1.05
        assert case.left == pytest.approx(case.right, rel=0.02)
