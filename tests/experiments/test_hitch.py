"""Slip of shoes that pull a hitch."""

import math

import numpy as np
import pytest

from segtrack.experiments.traction import _shoe_slip  # Its own door is a chain that pulls for minutes.


def test_shoes_that_do_not_slip_backwards_lag_with_their_share_of_the_weight():
    load, slip = np.array([1.0, 2.0, 4.0, 1.0]), np.array([-0.1, 0.2, 0.1, 0.0])
    found = _shoe_slip(np.column_stack([load, slip]))
    assert found.mean == pytest.approx((-0.1 + 0.4 + 0.4) / 8)
    assert found.deviation == pytest.approx(math.sqrt(load @ (slip - found.mean) ** 2 / 8))
    assert found.lagging == pytest.approx(2 / 8)
