"""Where a vehicle's body is when it first touches what is ahead of it, whatever the phase of its grousers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from segtrack.description import VehicleDescription
from segtrack.description.grousers import BoxShape, CylinderShape, GrouserShape, MeshShape, TrapezoidShape
from segtrack.description.placement import PlacedTrack, place_tracks
from segtrack.description.track import TrackSpec
from segtrack.geometry.path import normal_of, tangent_of
from segtrack.logs.replay.alignment.stance import Stance, body_points, stand
from segtrack.logs.replay.obstacle import Obstacle

_SPACING = 0.0005
"""Distance of the points by which a belt is drawn [m]."""
_ON_GROUSERS = 0.002
"""Largest distance of the points by which a grouser is drawn [m]."""
_PHASES = 48
"""Of the grousers, of which each is as likely as any other."""

Array = NDArray[np.float64]


class Touch(NamedTuple):
    """A vehicle at its first touch.

    Attributes:
        x: Of the body frame's origin in the world, as a mean over all phases of the grousers [m].
        std: Standard deviation of that for an unknown phase [m].
    """

    x: float
    std: float


def first_touch(
    vehicle: VehicleDescription, flippers: Mapping[str, float], obstacle: Obstacle
) -> Touch | None:
    """Roll a vehicle up to an obstacle, without slip, on level ground, at each phase of its grousers.

    Args:
        vehicle: What rolls.
        flippers: Angles by name [rad]; 0 if not given.
        obstacle: What is ahead.

    Returns:
        None if nothing of the vehicle is low enough to touch it.
    """
    stance = stand(vehicle, flippers)
    first = Touch(obstacle.distance(stance.place(body_points(vehicle))), 0.0)
    tracks = [_TrackAhead(track, stance, obstacle) for track in place_tracks(vehicle, flippers)]
    for track in sorted(tracks, key=lambda track: track.least):
        if track.least < first.x:
            first = min(first, track.touch())
    return first if math.isfinite(first.x) else None


class _TrackAhead:
    """A track that comes to an obstacle.

    Attributes:
        least: How far the body could go if there were grousers everywhere [m].
    """

    def __init__(self, track: PlacedTrack, stance: Stance, obstacle: Obstacle) -> None:
        self._track, self._stance, self._obstacle = track, stance, obstacle
        self._spec = track.mounted.spec
        path, grousers = self._spec.belt_path, self._spec.grousers
        along = np.linspace(0.0, path.perimeter, 2 + int(path.perimeter / _SPACING))
        faces, outwards = path.point(along), normal_of(path.heading(along))
        self._face = self._bound(faces)
        self.least = self._bound(faces + (grousers.height if grousers is not None else 0.0) * outwards)

    def _bound(self, points: Array) -> float:
        """How far the body can go [m] with points of the track's plane (n, 2)."""
        return self._obstacle.distance(self._stance.place(self._track.frame.plane_points(points)))

    def touch(self) -> Touch:
        """Where the body is when the track touches."""
        if self._spec.grousers is None:
            return Touch(self._face, 0.0)
        step = self._spec.period / _PHASES
        grousers = _grousers(self._spec, step * np.arange(_PHASES))
        bounds = np.array([min(self._face, self._bound(points)) for points in grousers])
        # From just out of reach the body goes as far as the belt, until it is at the bound of that travel.
        ways = np.arange(_PHASES + 1)
        reached, touches = bounds.min() + step * ways, []
        for phase in range(_PHASES):
            ahead = bounds[(phase + ways) % _PHASES]
            at = int(np.argmax(reached >= ahead))
            touches.append(np.clip(ahead[at], reached[at] - step, reached[at]))
        return Touch(float(np.mean(touches)), float(np.std(touches)))


def _grousers(spec: TrackSpec, travels: NDArray[np.floating]) -> Array:
    """Points of all grousers in the track's plane at belt travels (m,) [m]: (m, n, 2) [m]."""
    assert spec.grousers is not None
    path, shapes = spec.belt_path, [_profile(shape) for shape in spec.grousers.shapes]
    at = np.array([footprint.coordinate for footprint in spec.footprints()]) + travels[:, None]
    places = path.point(at.ravel()).reshape(*at.shape, 1, 2)
    headings, points = path.heading(at.ravel()).reshape(at.shape), []
    for first, shape in enumerate(shapes):
        mine = np.s_[:, first :: len(shapes)]
        along, outwards = (axis(headings[mine])[:, :, None] for axis in (tangent_of, normal_of))
        own = places[mine] + shape[:, :1] * along + shape[:, 1:] * outwards
        points.append(own.reshape(len(travels), -1, 2))
    return np.concatenate(points, axis=1)


def _profile(shape: GrouserShape) -> Array:
    """Points along and above the belt on a grouser's outline (n, 2) [m]."""
    match shape.kind:
        case BoxShape(length=length, height=height):
            corners = np.array(
                [(-length / 2, 0), (-length / 2, height), (length / 2, height), (length / 2, 0)]
            )
        case TrapezoidShape(base=base, top=top, height=height):
            corners = np.array([(-base / 2, 0), (-top / 2, height), (top / 2, height), (base / 2, 0)])
        case CylinderShape(radius=radius):
            angles = np.linspace(-np.pi / 2, np.pi / 2, 13)
            corners = radius * np.stack([np.sin(angles), np.cos(angles)], axis=1)
        case MeshShape() as mesh:
            points = np.array(mesh.hull.vertices)[:, [0, 2]]
            corners = points[ConvexHull(points).vertices]
    sides = np.diff(corners, axis=0)
    counts = 1 + (np.linalg.norm(sides, axis=1) / _ON_GROUSERS).astype(int)
    return np.concatenate(
        [
            start + np.linspace(0.0, 1.0, count + 1)[:, None] * side
            for start, side, count in zip(corners, sides, counts, strict=False)
        ]
    )
