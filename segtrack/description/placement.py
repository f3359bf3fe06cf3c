"""Where the tracks of a vehicle are on its body, at given flipper angles. No simulator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.description.frames import Frame
from segtrack.description.vehicle import MountedTrack, VehicleDescription
from segtrack.geometry.path import normal_of
from segtrack.geometry.rotation import rotation_about_y


@dataclass(frozen=True)
class PlacedTrack:
    """A track of a vehicle and its track frame in the body frame."""

    mounted: MountedTrack
    frame: Frame


def place_tracks(vehicle: VehicleDescription, flipper_angles: Mapping[str, float]) -> tuple[PlacedTrack, ...]:
    """Place all tracks, in the order of the description.

    Args:
        vehicle: The vehicle; other joints of its URDF are taken to stand at 0.
        flipper_angles: By flipper [rad]; 0 if not given.
    """
    turns = {}
    for name, flipper in vehicle.flippers.items():
        turn = rotation_about_y(flipper.raise_axis * flipper_angles.get(name, 0.0))
        turns[name] = Frame(turn, np.zeros(3))
    placed = []
    for track in vehicle.mounted_tracks():
        frame = track.spec.mount.frame
        if track.flipper is not None:
            pivot = vehicle.body.mounted(vehicle.flippers[track.flipper].mount)
            frame = pivot @ turns[track.flipper] @ frame
        else:
            frame = vehicle.body.mounted(track.spec.mount)
        placed.append(PlacedTrack(track, frame))
    return tuple(placed)


def bounding_box(
    vehicle: VehicleDescription, flipper_angles: Mapping[str, float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Box around a vehicle, in the body frame.

    Args:
        vehicle: The vehicle; of a body that is a URDF only the tracks count.
        flipper_angles: By flipper [rad]; 0 if not given.

    Returns:
        Smallest and largest corner (3,), tips of the grousers included [m].
    """
    corners = []
    if vehicle.body.size is not None:
        half = np.asarray(vehicle.body.size) / 2
        corners += [-half[None], half[None]]
    for track in place_tracks(vehicle, flipper_angles):
        spec = track.mounted.spec
        shapes = spec.grousers.shapes if spec.grousers is not None else ()
        tip = max((shape.kind.height for shape in shapes), default=0.0)
        along = np.linspace(0, spec.belt_path.perimeter, 721)
        outline = spec.belt_path.point(along) + tip * normal_of(spec.belt_path.heading(along))
        corners += [track.frame.plane_points(outline, y) for y in (-spec.width / 2, spec.width / 2)]
    points = np.concatenate(corners)
    return points.min(axis=0), points.max(axis=0)
