"""Zones of courses that stand askew."""

import math

import numpy as np
import pytest

from segtrack.courses import Zone


@pytest.mark.parametrize("turn", np.radians([0.0, 30.0, 90.0, 135.0]))
@pytest.mark.parametrize("seed", range(3))
def test_zones_overlap_just_where_some_point_is_in_both(turn, seed):
    one = Zone(0.3, -0.2, 0.4, 2.0, 0.6, z_min=0.0, z_max=1.0)
    grid = np.linspace(-0.5, 0.5, 41)
    found = []
    for x, y in np.random.default_rng(seed).uniform(-1.5, 1.5, (40, 2)).tolist():
        other = Zone(x, y, one.yaw + turn, 1.6, 0.2, z_min=0.0, z_max=1.0)
        cos, sin = math.cos(other.yaw), math.sin(other.yaw)
        places = [(a * other.length, b * other.width) for a in grid.tolist() for b in grid.tolist()]
        shared = sum(one.contains(x + cos * a - sin * b, y + sin * a + cos * b, 0.5) for a, b in places)
        assert one.overlaps(other) == other.overlaps(one)
        if shared or not one.overlaps(other):  # A corner may be in the other between the grid's points.
            assert one.overlaps(other) == bool(shared)
        found.append(bool(shared))
    assert 0.1 < np.mean(found) < 0.9
