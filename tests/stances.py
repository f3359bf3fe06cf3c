"""Grousers as segment links carry them, beside the exact belt, and the seam error between the two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.geometry import BeltPath, Footprint, normal_of

_PHASES = 33


@dataclass(frozen=True)
class SeamError:
    """The worst of a belt's grousers over all of its phases.

    Attributes:
        overrun: Farthest that a footprint gets past its segment's end [m].
        footprint: Farthest of a footprint from where the exact belt has it [m].
        tip: Farthest of a tip from where the exact belt has it [m].
    """

    overrun: float
    footprint: float
    tip: float


@dataclass(frozen=True)
class Stance:
    """Poses of grousers in the track frame.

    Attributes:
        points: Footprints (n, 2) in (x, z) [m].
        headings: Directions of the belt there (n,), about +y [rad].
    """

    points: NDArray[np.float64]
    headings: NDArray[np.float64]

    def tips(self, height: float) -> NDArray[np.float64]:
        """Points (n, 2) in (x, z) [m] at `height` [m] above the belt."""
        return self.points + height * normal_of(self.headings)


def stance_on_segments(path: BeltPath, footprints: Sequence[Footprint], phase: float) -> Stance:
    """Poses of grousers when the belt has moved by `phase` [m] from home, as segment links carry them."""
    segments = np.array([footprint.segment for footprint in footprints])
    along = np.array([footprint.along for footprint in footprints]) + phase
    return Stance(path.point_on(segments, along), path.heading_on(segments, along))


def stance_on_belt(path: BeltPath, footprints: Sequence[Footprint], travel: float) -> Stance:
    """The grousers where the exact belt has them after `travel` [m]."""
    coordinates = np.array([footprint.coordinate for footprint in footprints]) + travel
    return Stance(path.point(coordinates), path.heading(coordinates))


def seam_error(path: BeltPath, footprints: Sequence[Footprint], period: float, height: float) -> SeamError:
    """Measure the seam error of a belt over its phases in [-period/2, period/2].

    Args:
        path: The belt.
        footprints: Its grousers.
        period: Travel after which the belt is set back [m].
        height: Height of the grousers above the belt [m].
    """
    footprint = tip = 0.0
    for phase in np.linspace(-period / 2, period / 2, _PHASES):
        built, exact = (
            stance(path, footprints, float(phase)) for stance in (stance_on_segments, stance_on_belt)
        )
        footprint = max(footprint, _farthest(built.points, exact.points))
        tip = max(tip, _farthest(built.tips(height), exact.tips(height)))
    if len(path.segments) == 1:
        return SeamError(0.0, footprint, tip)
    along = np.array([f.along for f in footprints])
    lengths = np.array([path.segments[f.segment].length for f in footprints])
    beyond = float(np.max(np.abs(along - lengths / 2) - lengths / 2))
    return SeamError(max(beyond + period / 2, 0.0), footprint, tip)


def _farthest(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    return float(np.max(np.linalg.norm(a - b, axis=1)))
