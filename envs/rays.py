"""Rays: distances from a sensor on the body to the ground, as of a lidar or depth camera."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segtrack.envs.observation import ObservationPart, ObservationSetup
from segtrack.envs.view import TaskView
from segtrack.errors import InvalidValueError, finite, finite_vector
from segtrack.terrain import array_of_numbers


@dataclass(frozen=True, eq=False)
class RayReader:
    """Function that casts rays from the bodies of robots.

    Attributes:
        directions: Unit vectors of the rays in the body frame (n, 3).
        origin: Origin of the rays in the body frame (3,) [m].
        reach: Distance to which they are followed [m].
        spacing: Distance between samples of the ground along a ray [m].
    """

    directions: NDArray[np.float64]
    origin: NDArray[np.float64]
    reach: float
    spacing: float

    def __call__(self, view: TaskView, setup: ObservationSetup) -> NDArray[np.float64]:
        """Return distances from the origin to the ground along the rays (N, n) [m]; `reach` without any."""
        robots, rays = len(view.yaw), len(self.directions)
        along = np.linspace(0.0, self.reach, math.ceil(self.reach / self.spacing) + 1)
        offsets = self.origin + along[:, None] * self.directions[:, None, :]  # (rays, samples, 3)
        turned = np.einsum("rij,ksj->rksi", view.motion.rotation, offsets)
        points = (view.motion.position[:, None, None, :] + turned).reshape(robots, -1, 3)
        heights = view.height(points[..., 0], points[..., 1])
        above = (points[..., 2] - heights).reshape(robots, rays, -1)
        hits = above <= 0.0
        after = hits.argmax(axis=2)[..., None]
        before = np.maximum(after - 1, 0)
        high, low = (np.take_along_axis(above, k, axis=2)[..., 0] for k in (before, after))
        # Between two samples the ground is taken as straight; beside an edge without ground it begins there.
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(np.isfinite(high) & (high > low), high / (high - low), 1.0).clip(0.0, 1.0)
        start, end = along[before[..., 0]], along[after[..., 0]]
        return np.where(hits.any(axis=2), start + share * (end - start), self.reach)


def ray_part(
    azimuths: ArrayLike,
    elevations: ArrayLike = 0.0,
    *,
    origin: Sequence[float] = (0.0, 0.0, 0.0),
    reach: float = 3.0,
    spacing: float = 0.02,
) -> ObservationPart:
    """Make a part of distances to the ground along rays that are fixed to the body.

    The ground is known by its heights: what is below an overhang is not seen. A face between two samples is
    placed by at most `spacing` amiss.

    Args:
        azimuths: Directions about the body's z axis, left positive (n,) or () [rad].
        elevations: Directions up from the body's xy plane (n,) or () [rad].
        origin: Origin of the rays in the body frame (3,) [m].
        reach: Distance to which they are followed, and that is told where nothing is nearer [m].
        spacing: Distance between samples of the ground along a ray [m].

    Raises:
        InvalidValueError: Not finite numbers of shapes that broadcast to (n,), or not positive.
    """
    numbers = [array_of_numbers(each) for each in (azimuths, elevations)]
    given = [np.zeros((0, 0)) if each is None else each for each in numbers]
    shapes = {each.shape for each in given if each.ndim}
    if len(shapes) > 1 or any(each.ndim > 1 or not np.isfinite(each).all() for each in given):
        raise InvalidValueError("azimuths and elevations [rad]", "numbers (n,)", (azimuths, elevations))
    for what, value in (("reach of rays [m]", reach), ("spacing of rays [m]", spacing)):
        if finite(what, value) <= 0:
            raise InvalidValueError(what, "greater than 0", value)
    azimuth, elevation = (each.ravel() for each in np.broadcast_arrays(*given))
    level = np.cos(elevation)
    directions = np.stack([level * np.cos(azimuth), level * np.sin(azimuth), np.sin(elevation)], axis=1)
    place = np.array(finite_vector("origin of rays [m]", origin, 3), dtype=float)
    reader = RayReader(directions, place, float(reach), float(spacing))
    labels = [f"ray{k}" for k in range(len(directions))]
    return ObservationPart("m", "body", labels, [(0.0, float(reach))] * len(labels), reader)
