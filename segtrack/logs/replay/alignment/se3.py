"""A log put onto a simulated motion in all six degrees of freedom, over its whole length.

Umeyama (Least-squares estimation of transformation parameters between two point patterns, PAMI 13(4),
1991), without a scale: the rotation is scipy's `Rotation.align_vectors` (Kabsch 1976) of positions about
their means. It hides errors of pitch and height, which `align` leaves alone; the ATE of odometry takes it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from segtrack.errors import InvalidValueError, Phrase
from segtrack.logs.motion import Motion, Signal

_LINE = 1e-3
"""Positions that spread across their main direction by less than this fraction leave the rotation open."""

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SE3Alignment:
    """A rigid motion that brings a log onto a simulation.

    Attributes:
        motion: The log, moved: its positions and orientations. Logged angles are left out where it has
            orientations, of which they then are, and as they were where it has none.
        rotation: From the log's frame (3, 3).
        translation: After it (3,) [m].
        rmse: Root of the mean square of the distances that are left [m].
    """

    motion: Motion
    rotation: Array
    translation: Array
    rmse: float


def align_se3(logged: Motion, simulated: Motion) -> SE3Alignment:
    """Bring a log onto a simulation by all positions of the log that the simulation has a time for.

    Args:
        logged: With positions.
        simulated: With positions, on the same clock.

    Raises:
        InvalidValueError: A motion has no positions, there are fewer than three at common times, or they
            are on one line, about which any rotation is as good as another.
    """
    here, there = _positions(logged), _positions(simulated)
    inside = (here.times >= there.times[0]) & (here.times <= there.times[-1])
    points, goals = here.values[inside], there.at(here.times[inside])
    if len(points) < 3:
        raise InvalidValueError("positions at common times", "three or more", len(points))
    middle, goal = points.mean(axis=0), goals.mean(axis=0)
    for motion, spread in ((logged, points - middle), (simulated, goals - goal)):
        sizes = np.linalg.svd(spread, compute_uv=False)
        if sizes[1] <= _LINE * sizes[0]:
            raise InvalidValueError(f"positions of {motion.name}", "on more than one line", Phrase("a line"))
    rotation, _ = Rotation.align_vectors(goals - goal, points - middle)
    translation = goal - rotation.apply(middle)
    left = rotation.apply(points) + translation - goals
    signals = dict(logged.signals)
    signals["position"] = replace(here, values=rotation.apply(here.values.copy()) + translation)
    if (orientation := logged.signals.get("orientation")) is not None:
        turned = rotation * Rotation.from_quat(orientation.values)
        signals["orientation"] = replace(orientation, values=turned.as_quat())
        for angle in ("roll", "pitch", "yaw"):
            signals.pop(angle, None)
    rmse = float(np.sqrt(np.mean(np.sum(left**2, axis=1))))
    return SE3Alignment(Motion(logged.name, signals), rotation.as_matrix(), translation, rmse)


def _positions(motion: Motion) -> Signal:
    if "position" not in motion.signals:
        raise InvalidValueError(f"motion {motion.name}", "with positions", Phrase("one without"))
    return motion.signals["position"]
