"""How a vehicle stands on level ground, from its file alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from segtrack.description import VehicleDescription
from segtrack.description.frames import Frame
from segtrack.description.links import vehicle_links
from segtrack.description.placement import place_tracks
from segtrack.description.urdf.shapes import body_shapes
from segtrack.geometry.outline import inner_outline
from segtrack.geometry.rotation import rotation_about_y

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Stance:
    """A vehicle at rest on level ground, rigid and alike on both sides, grousers everywhere on its belts.

    Attributes:
        height: Of the body frame's origin above the ground [m].
        pitch: Nose up positive [rad].
    """

    height: float
    pitch: float

    def place(self, points: Array) -> Array:
        """How far points of the body frame (n, 3) are before its origin, and above the ground (n, 2) [m]."""
        x, z = points[:, 0], points[:, 2]
        cosine, sine = np.cos(self.pitch), np.sin(self.pitch)
        return np.stack([cosine * x - sine * z, sine * x + cosine * z + self.height], axis=1)


def stand(vehicle: VehicleDescription, flippers: Mapping[str, float]) -> Stance:
    """Put a vehicle on level ground.

    It stands on the side of its outline's convex hull that is below its centre of mass.

    Args:
        vehicle: What stands; joints of its URDF are at 0.
        flippers: Angles by name [rad]; 0 if not given.
    """
    outline = np.concatenate([body_points(vehicle), *_belts(vehicle, flippers)])[:, [0, 2]]
    corners = outline[ConvexHull(outline).vertices]
    middle = _center_of_mass(vehicle, flippers)[0]
    sides = zip(corners, np.roll(corners, -1, axis=0), strict=True)
    # Corners go round counterclockwise: sides below lead forwards.
    below = [(rear, front) for rear, front in sides if front[0] > rear[0]]
    rear, front = max(below, key=lambda side: min(middle - side[0][0], side[1][0] - middle))
    along = (front - rear) / np.linalg.norm(front - rear)
    return Stance(float(along[1] * rear[0] - along[0] * rear[1]), float(-np.arctan2(along[1], along[0])))


def body_points(vehicle: VehicleDescription) -> Array:
    """Corners of what of a body collides, in its frame (n, 3) [m]."""
    if vehicle.body.size is not None:
        signs = np.stack(np.meshgrid(*[[-0.5, 0.5]] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
        return np.asarray(signs * vehicle.body.size)
    assert vehicle.body.urdf is not None
    shapes = [shape for _, shape in body_shapes(vehicle.body.urdf, "collision")]
    return np.concatenate([np.zeros((0, 3)), *(shape.frame.points(shape.corners()) for shape in shapes)])


def _belts(vehicle: VehicleDescription, flippers: Mapping[str, float]) -> Iterator[Array]:
    """Points of each belt at the tips of its grousers, in the body frame (n, 3) [m]."""
    for track in place_tracks(vehicle, flippers):
        spec = track.mounted.spec
        tip = spec.grousers.height if spec.grousers is not None else 0.0
        yield track.frame.plane_points(inner_outline(spec.belt_path, -tip))


def _center_of_mass(vehicle: VehicleDescription, flippers: Mapping[str, float]) -> Array:
    """In the body frame (3,) [m]."""
    links = vehicle_links(vehicle)
    frames = [Frame.at((0, 0, 0), (0, 0, 0))]
    for pivot, (name, spec) in zip(links.pivots, vehicle.flippers.items(), strict=True):
        turn = rotation_about_y(spec.raise_axis * flippers.get(name, 0.0))
        frames.append(pivot @ Frame(turn, np.zeros(3)))
    masses = np.array([mass.mass for mass in links.masses])
    centers = [frame.points(mass.center) for frame, mass in zip(frames, links.masses, strict=True)]
    return np.asarray(masses @ np.array(centers)) / masses.sum()
