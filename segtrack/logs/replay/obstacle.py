"""What a vehicle that drives along +x meets first: where the ground begins to rise, and by how much."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_SPACING = 0.005
"""Distance of the places at which ground is looked for; faces between them are found by bisection [m]."""
_LEVEL = 1e-6
"""Ground that rises by less is level: rounding [m]."""
_HALVINGS = 40
"""After which a face is known to rounding."""

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Obstacle:
    """The first rise of the ground along +x.

    Attributes:
        x: Where it begins, in the world: a step's face, a ramp's foot [m].
        height: By how much the ground rises until it no longer does: a step's, or a ramp's to its top [m].
        outline_x: World x of the ground from there on, ascending (n,) [m].
        outline_z: How high it has risen until there, above the ground before it (n,) [m].
    """

    x: float
    height: float
    outline_x: Array
    outline_z: Array

    def __post_init__(self) -> None:
        """Keep the arrays as they are."""
        for array in (self.outline_x, self.outline_z):
            array.setflags(write=False)

    def distance(self, points: Array) -> float:
        """How far points can go along +x until one of them meets the ground; negative if one is past it [m].

        Args:
            points: x in the world and height above the ground before the rise (n, 2) [m]; those on that
                ground and those above all of the rise meet nothing.

        Returns:
            Infinity if none meets it.
        """
        x, z = points[(points[:, 1] > _LEVEL) & (points[:, 1] <= self.outline_z[-1])].T
        there = np.searchsorted(self.outline_z, z)
        before = np.maximum(there - 1, 0)
        low, high = self.outline_z[before], self.outline_z[there]
        share = np.where(high > low, (z - low) / np.where(high > low, high - low, 1.0), 1.0)
        faces = self.outline_x[before] + share * (self.outline_x[there] - self.outline_x[before])
        return float(np.min(faces - x, initial=np.inf))


def first_rise(height_at: Callable[[Array], Array], begin: float, end: float) -> Obstacle | None:
    """Look along +x for the first rise of the ground.

    Args:
        height_at: Height of the ground at world x (n,) [m].
        begin: World x from which to look [m].
        end: World x up to which to look [m].

    Returns:
        None where the ground only falls or stays level.
    """
    even = np.linspace(begin, end, 2 + int((end - begin) / _SPACING))
    x = np.unique(np.concatenate([even, _faces(height_at, even)]))
    z = height_at(x)
    z = z - z[0]
    rising = np.flatnonzero(z > _LEVEL)
    if not len(rising):
        return None
    foot = int(rising[0]) - 1
    x[foot] = _bisect(height_at, x[foot : foot + 1], x[foot + 1 : foot + 2], height_at(x[:1]) + _LEVEL)[0][0]
    falls = np.flatnonzero(np.diff(z[foot:]) <= 0.0)
    top = foot + int(falls[falls > 0][0]) if (falls > 0).any() else len(z) - 1
    return Obstacle(float(x[foot]), float(z[top]), x[foot:], np.maximum.accumulate(z[foot:]))


def _faces(height_at: Callable[[Array], Array], x: Array) -> Array:
    """World x just before and just behind each face between places x (n,) [m]."""
    z = height_at(x)
    steep = np.flatnonzero(np.abs(np.diff(z)) > _SPACING / 2)
    return np.concatenate(_bisect(height_at, x[steep], x[steep + 1], (z[steep] + z[steep + 1]) / 2))


def _bisect(
    height_at: Callable[[Array], Array], low: Array, high: Array, level: Array
) -> tuple[Array, Array]:
    """World x just before and just behind where the ground passes levels (n,), between places (n,) [m]."""
    upwards = height_at(high) >= level
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        behind = (height_at(middle) >= level) == upwards
        low, high = np.where(behind, low, middle), np.where(behind, middle, high)
    return low, high
