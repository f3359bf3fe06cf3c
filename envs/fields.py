"""Random obstacle fields across the path, `FIELD_LENGTH` long from x = 0, with flat ground around."""

from __future__ import annotations

import math

import numpy as np
from scipy.ndimage import gaussian_filter
from scipy.spatial.transform import Rotation

from segtrack.geometry import Box
from segtrack.terrain import Boxes, GroundBox, Heightfield, StaticBody, StepField, Terrain, Waves, floor

FIELD_LENGTH = 2.0
"""Extent of a field along x, from x = 0 on [m]."""
_WIDTH = 2.0
"""Extent across, about y = 0 [m]."""
_BOXES = 25
_CELL = 0.2
"""Edge of a step field's posts [m]."""
_RAIL = 0.06
"""Length of a rail along x [m]."""
_CRESTS = 5
_SLABS, _STEEPEST = 30, 0.35
"""Number of rubble's slabs, and the angle from the horizontal up to which they lean [rad]."""
_SPACING, _AROUND, _BLUR, _RISE = 0.1, 2.0, 1.5, 0.3
"""Spacing of rough ground's points [m], flat ground before and behind it [m], its smoothness in points, and
the length over which it rises from flat ground [m]."""


def boxes(roughness: float, rng: np.random.Generator) -> Terrain:
    """Return boxes of random size, place and heading, up to `roughness` high [m]."""
    return Boxes(
        boxes=tuple(
            GroundBox(
                x=rng.uniform(0.3, FIELD_LENGTH - 0.3),
                y=rng.uniform(-_WIDTH / 2, _WIDTH / 2),
                length=rng.uniform(0.15, 0.5),
                width=rng.uniform(0.15, 0.5),
                height=rng.uniform(0.1, 1.0) * roughness,
                yaw=rng.uniform(0.0, math.pi),
            )
            for _ in range(_BOXES)
        )
    )


def step_field(roughness: float, rng: np.random.Generator) -> Terrain:
    """Return adjacent posts of random height, up to `roughness` [m]."""
    return StepField(
        max_height=roughness,
        cell=_CELL,
        rows=round(FIELD_LENGTH / _CELL),
        columns=round(_WIDTH / _CELL),
        distance=0.0,
        seed=int(rng.integers(2**31)),
    )


def waves(roughness: float, rng: np.random.Generator) -> Terrain:
    """Return waves across the path, of random height up to `roughness` [m] and random length."""
    ends = np.sort(rng.uniform(0.0, FIELD_LENGTH, _CRESTS - 1))
    # Between evenly spaced ends and random ones, so that no crest is a wall.
    even = np.linspace(0.0, FIELD_LENGTH, _CRESTS + 1)
    lengths = np.diff((0.0, *(0.7 * even[1:-1] + 0.3 * ends), FIELD_LENGTH))
    heights = rng.uniform(0.3, 1.0, _CRESTS) * roughness
    return Waves(heights=tuple(heights), lengths=tuple(lengths), distance=0.0, width=2 * _WIDTH)


def rails(roughness: float, rng: np.random.Generator) -> Terrain:
    """Return bars nearly square to the path, of random height up to `roughness` [m]."""
    edges = np.linspace(0.2, FIELD_LENGTH - 0.2, 6)
    return Boxes(
        boxes=tuple(
            GroundBox(
                x=float(x + rng.uniform(-0.1, 0.1)),
                y=0.0,
                length=_RAIL,
                width=2 * _WIDTH,
                height=rng.uniform(0.3, 1.0) * roughness,
                yaw=rng.uniform(-0.3, 0.3),
            )
            for x in edges
        )
    )


def rubble(roughness: float, rng: np.random.Generator) -> Terrain:
    """Return overlapping slabs tilted in random directions, up to `roughness` high [m]."""
    slabs = []
    for _ in range(_SLABS):
        length, width = rng.uniform(0.15, 0.5, 2)
        top = rng.uniform(0.2, 1.0) * roughness
        size = np.array([length, width, max(0.1, top)])
        toward, lean, yaw = rng.uniform((0.0, 0.0, 0.0), (math.tau, _STEEPEST, math.tau))
        turn = Rotation.from_rotvec(lean * np.array([math.cos(toward), math.sin(toward), 0.0]))
        turn *= Rotation.from_rotvec((0.0, 0.0, yaw))
        reach = float(np.abs(turn.as_matrix()[2]) @ size) / 2
        x, y = rng.uniform((0.3, -_WIDTH / 2), (FIELD_LENGTH - 0.3, _WIDTH / 2)).tolist()
        sizes, quaternion = tuple(size.tolist()), tuple(turn.as_quat().tolist())
        slabs.append(Box(sizes, (x, y, top - reach), quaternion))
    return StaticBody(parts=(*floor(), *slabs), name="rubble")  # type: ignore[arg-type]


def rough_ground(roughness: float, rng: np.random.Generator) -> Terrain:
    """Return a heightfield of smooth hills up to `roughness` [m], between flat ends."""
    rows, columns = round((FIELD_LENGTH + 2 * _AROUND) / _SPACING) + 1, round(2 * _WIDTH / _SPACING) + 1
    hillocks = gaussian_filter(rng.normal(size=(rows, columns)), _BLUR)
    hillocks = (hillocks - hillocks.min()) / np.ptp(hillocks)
    x = _SPACING * np.arange(rows) - _AROUND
    rise = (np.minimum(x, FIELD_LENGTH - x) / _RISE).clip(0.0, 1.0)
    heights = roughness * hillocks * (rise**2 * (3 - 2 * rise))[:, None]
    return Heightfield(heights=heights, spacing=_SPACING, center=(FIELD_LENGTH / 2, 0.0))


FIELDS = {"boxes": boxes, "step_field": step_field, "waves": waves, "rails": rails}
"""Fields of `RoughTerrain`, by kind: functions of the height of the highest obstacle [m] and a source of
random numbers."""
