"""Pose of a vehicle that stands on level ground, by its side view."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from segtrack.description import VehicleDescription, body_points, place_tracks, tip_outline, vehicle_links


@dataclass(frozen=True, eq=False)
class RestPose:
    """A vehicle at rest on level ground, rigid and alike on both sides, grousers everywhere on its belts.

    Attributes:
        height: Height of the body frame's origin above the ground [m].
        pitch: Nose up positive [rad].
    """

    height: float
    pitch: float

    def place(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
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


def _belts(vehicle: VehicleDescription, flippers: Mapping[str, float]) -> Iterator[NDArray[np.float64]]:
    """Points of each belt at the tips of its grousers, in the body frame (n, 3) [m]."""
    for track in place_tracks(vehicle, flippers):
        yield track.frame.plane_points(tip_outline(track.mounted.spec))
