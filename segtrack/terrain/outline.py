"""The outline of a terrain in side view, for drawings."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import InvalidValueError
from segtrack.terrain.base import Terrain

_ASIDE = 1e-9
"""How far before and behind a break heights are sampled: it is known but for rounding [m]."""


class Outline(NamedTuple):
    """A line in the plane y = 0.

    Attributes:
        x: World x [m], shape (n,), not decreasing.
        z: World z [m], shape (n,).
    """

    x: NDArray[np.float64]
    z: NDArray[np.float64]


def profile(terrain: Terrain, x_min: float, x_max: float, samples: int = 200) -> Outline:
    """Trace a terrain along y = 0, with sharp corners and upright faces.

    Args:
        terrain: What to trace.
        x_min: Where the outline begins, world x [m].
        x_max: Where it ends, world x [m].
        samples: Number of evenly spaced points, at least 2; corners are added.

    Returns:
        The outline; at an upright face two of its points have equal x.

    Raises:
        InvalidValueError: The range is empty, or the terrain has no sampler.
    """
    if not x_min < x_max:
        raise InvalidValueError("x_max of a profile", f"above x_min of {x_min} [m]", x_max)
    if samples < 2:
        raise InvalidValueError("samples of a profile", "at least 2", samples)
    breaks = np.array([b for b in terrain.x_breaks() if x_min < b < x_max])
    even = np.linspace(x_min, x_max, samples)
    # Just before and just behind a face the heights differ; both are drawn at the face.
    sampled = np.concatenate((even, breaks - _ASIDE, breaks + _ASIDE))
    drawn = np.concatenate((even, breaks, breaks))
    order = np.argsort(sampled, kind="stable")
    return Outline(drawn[order], terrain.height_at(sampled[order]))
