"""Signals of one source on another clock."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from segtrack.robot import Motion, Signal


@pytest.mark.parametrize("offset, skew", [(0.5, 0.0), (-2.0, 0.01)])
def test_what_a_source_measured_together_stays_together_on_another_clock(offset, skew):
    early, late = np.array([1.0, 2.0, 3.0, 4.0]), np.array([3.0, 4.0, 6.0])
    sources = {"pitch": (early, "imu"), "yaw_rate": (late, "imu"), "roll": (late, "other")}
    signals = {
        key: Signal(times, np.zeros(len(times)), source=source) for key, (times, source) in sources.items()
    }
    moved = Motion("log", signals).on_clock("imu", offset, skew)
    assert_allclose(moved.signals["pitch"].times, early + offset + skew * (early - 1.0))
    assert_allclose(moved.signals["yaw_rate"].times, late + offset + skew * (late - 1.0))
    assert_allclose(moved.signals["roll"].times, late)
