"""Pose of a vehicle as it stands on level ground and first touches an obstacle, by its file alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from segtrack.description import (
    BoxShape,
    CylinderShape,
    GrouserShape,
    MeshShape,
    PlacedTrack,
    TrackSpec,
    TrapezoidShape,
    VehicleDescription,
    body_points,
    place_tracks,
    tip_outline,
    vehicle_links,
)
from segtrack.geometry import normal_of, tangent_of
from segtrack.logs.replay.terrain import Rise

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RestPose:
    """A vehicle at rest on level ground, rigid and alike on both sides, grousers everywhere on its belts.

    Attributes:
        height: Height of the body frame's origin above the ground [m].
        pitch: Nose up positive [rad].
    """

    height: float
    pitch: float

    def place(self, points: Array) -> Array:
        """Distance ahead and height above ground (n, 2) [m] of points of the body frame (n, 3)."""
        x, z = points[:, 0], points[:, 2]
        cosine, sine = np.cos(self.pitch), np.sin(self.pitch)
        return np.stack([cosine * x - sine * z, sine * x + cosine * z + self.height], axis=1)


def stand(vehicle: VehicleDescription, flippers: Mapping[str, float]) -> RestPose:
    """Put a vehicle on level ground.

    It stands on the side of its outline's convex hull that is below its centre of mass.

    Args:
        vehicle: Vehicle that stands; joints of its URDF are at 0.
        flippers: Angles by name [rad]; 0 if not given.
    """
    outline = np.concatenate([body_points(vehicle), *_belts(vehicle, flippers)])[:, [0, 2]]
    corners = outline[ConvexHull(outline).vertices]
    angles = [flippers.get(name, 0.0) for name in vehicle.flippers]
    middle = vehicle_links(vehicle).center_of_mass(angles)[0]
    sides = zip(corners, np.roll(corners, -1, axis=0), strict=True)
    # Corners go round counterclockwise: sides below lead forwards.
    below = [(rear, front) for rear, front in sides if front[0] > rear[0]]
    rear, front = max(below, key=lambda side: min(middle - side[0][0], side[1][0] - middle))
    along = (front - rear) / np.linalg.norm(front - rear)
    return RestPose(float(along[1] * rear[0] - along[0] * rear[1]), float(-np.arctan2(along[1], along[0])))


def _belts(vehicle: VehicleDescription, flippers: Mapping[str, float]) -> Iterator[Array]:
    """Points of each belt at the tips of its grousers, in the body frame (n, 3) [m]."""
    for track in place_tracks(vehicle, flippers):
        yield track.frame.plane_points(tip_outline(track.mounted.spec))


_SPACING = 0.0005
"""Distance of the points by which a belt is drawn [m]."""
_ON_GROUSERS = 0.002
"""Largest distance of the points by which a grouser is drawn [m]."""
_PHASES = 48
"""Number of equally likely phases of the grousers."""


class Touch(NamedTuple):
    """A vehicle at its first touch.

    Attributes:
        x: Place of the body frame's origin in the world, as a mean over all phases of the grousers [m].
        std: Standard deviation of that for an unknown phase [m].
    """

    x: float
    std: float


def first_touch(vehicle: VehicleDescription, flippers: Mapping[str, float], obstacle: Rise) -> Touch | None:
    """Roll a vehicle up to an obstacle, without slip, on level ground, at each phase of its grousers.

    Args:
        vehicle: Vehicle that rolls.
        flippers: Angles by name [rad]; 0 if not given.
        obstacle: Obstacle ahead.

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
    """A track that comes to an obstacle, `least` [m] away if there were grousers everywhere."""

    def __init__(self, track: PlacedTrack, stance: RestPose, obstacle: Rise) -> None:
        self._track, self._stance, self._obstacle = track, stance, obstacle
        self._spec = track.mounted.spec
        path, grousers = self._spec.belt_path, self._spec.grousers
        along = np.linspace(0.0, path.perimeter, 2 + int(path.perimeter / _SPACING))
        faces, outwards = path.point(along), normal_of(path.heading(along))
        self._face = self._bound(faces)
        self.least = self._bound(faces + (grousers.height if grousers is not None else 0.0) * outwards)

    def _bound(self, points: Array) -> float:
        """Way of the body to the obstacle [m] for points of the track's plane (n, 2)."""
        return self._obstacle.distance(self._stance.place(self._track.frame.plane_points(points)))

    def touch(self) -> Touch:
        """Return the place of the body as the track touches."""
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
