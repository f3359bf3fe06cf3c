"""`Waves`: crests against the sine, and Bullet's against ours."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pybullet
import pytest
from pybullet_utils.bullet_client import BulletClient

from segtrack.bullet.terrain_builder import build_terrain
from segtrack.errors import InvalidValueError
from segtrack.terrain import Waves

WAVES = Waves(heights=(0.1, 0.2), lengths=(0.5, 0.8), distance=1.0, width=2.0)


def test_crests_are_half_waves_of_a_sine() -> None:
    """A chord of a tenth of half a wave lies below its arc by at most (pi/10)^2 / 8 of the height."""
    x = np.linspace(1.0, 2.3, 500)
    first = x <= 1.5
    exact = np.where(first, 0.1 * np.sin(math.pi * (x - 1.0) / 0.5), 0.2 * np.sin(math.pi * (x - 1.5) / 0.8))
    below = exact - WAVES.height_at(x, 0.0)
    assert below.min() > -1e-12
    assert below.max() < 0.2 * (math.pi / 10) ** 2 / 8 * 1.01
    assert WAVES.height_at([0.99, 1.5, 2.31], 0.0).tolist() == pytest.approx([0.0, 0.0, 0.0])
    assert WAVES.height_at(1.25, [0.99, 1.01]).tolist() == pytest.approx([0.1, 0.0])


def test_built_waves_are_where_the_sampler_says() -> None:
    """Rays meet Bullet's hulls within a millimetre, which is the margin of a hull."""
    client: Any = BulletClient(pybullet.DIRECT)
    try:
        build_terrain(client, WAVES)
        x = np.setdiff1d(np.round(np.linspace(0.5, 2.8, 200), 3), np.round(WAVES.x_breaks(), 3))
        starts, ends = [(float(v), 0.3, 2.0) for v in x], [(float(v), 0.3, -2.0) for v in x]
        hits = np.array([hit[3][2] for hit in client.rayTestBatch(starts, ends)])
        np.testing.assert_allclose(hits, WAVES.height_at(x, 0.3), atol=2e-3)
    finally:
        client.disconnect()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"heights": ()}, "Waves.heights [m] must be some numbers above 0, got ()"),
        ({"heights": (0.1, -0.2)}, "Waves.heights [m] must be some numbers above 0, got (0.1, -0.2)"),
        ({"lengths": 0.5}, "Waves.lengths [m] must be some numbers above 0, got 0.5"),
        ({"lengths": (0.5, math.nan)}, "Waves.lengths [m] must be a finite number, got nan"),
        ({"lengths": (0.5,)}, "Waves.lengths must be as many as the 2 heights, got 1"),
        ({"width": 0}, "Waves.width must be a positive finite number [m], got 0"),
    ],
)
def test_waves_that_cannot_be_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValueError) as error:
        Waves(**{"heights": (0.1, 0.2), "lengths": (0.5, 0.8), "distance": 0.0, **given})
    assert str(error.value) == message
