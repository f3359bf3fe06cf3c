"""Where the tracks of a vehicle are on its body, at given flipper angles. No simulator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.description.frames import Frame
from segtrack.description.vehicle import MountedTrack, VehicleDescription
from segtrack.errors import InvalidValueError, Phrase
from segtrack.geometry.mass import MassProperties, uniform_belt
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
    flippers = place_flippers(vehicle, flipper_angles)
    placed = []
    for track in vehicle.mounted_tracks():
        if track.flipper is not None:
            frame = flippers[track.flipper] @ track.part.mount.frame
        else:
            frame = vehicle.body.mounted(track.part.mount)
        placed.append(PlacedTrack(track, frame))
    return tuple(placed)


def place_flippers(vehicle: VehicleDescription, flipper_angles: Mapping[str, float]) -> dict[str, Frame]:
    """Each flipper's frame in the body frame, turned by its angle [rad]; 0 if not given."""
    frames = {}
    for name, flipper in vehicle.flippers.items():
        turn = rotation_about_y(flipper.raise_axis * flipper_angles.get(name, 0.0))
        frames[name] = vehicle.body.mounted(flipper.mount) @ Frame(turn, np.zeros(3))
    return frames


def mass_properties(vehicle: VehicleDescription, flipper_angles: Mapping[str, float]) -> MassProperties:
    """Mass of a whole vehicle and its moments about the body frame's origin.

    Args:
        vehicle: One whose body is given as numbers.
        flipper_angles: By flipper [rad]; 0 if not given.

    Raises:
        InvalidValueError: The body is given as a URDF.
    """
    body = vehicle.body
    if body.mass is None or body.size is None:
        raise InvalidValueError(f"body of {vehicle.name}", "given by mass and size", Phrase("a URDF"))
    total = MassProperties.of_box(body.mass, body.center_of_mass, body.size)
    for name, frame in place_flippers(vehicle, flipper_angles).items():
        flipper = vehicle.flippers[name]
        arm = MassProperties.of_box(flipper.mass, flipper.center_of_mass, flipper.size)
        total = total + arm.moved(frame.rotation, frame.origin)
    for track in place_tracks(vehicle, flipper_angles):
        part = track.mounted.part
        belt = uniform_belt(part.belt_path, part.width, part.belt.mass)
        total = total + belt.moved(track.frame.rotation, track.frame.origin)
    return total


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
        part = track.mounted.part
        shapes = part.grousers.shapes if part.grousers is not None else ()
        tip = max((shape.kind.height for shape in shapes), default=0.0)
        along = np.linspace(0, part.belt_path.perimeter, 721)
        outline = part.belt_path.point(along) + tip * normal_of(part.belt_path.heading(along))
        corners += [track.frame.plane_points(outline, y) for y in (-part.width / 2, part.width / 2)]
    points = np.concatenate(corners)
    return points.min(axis=0), points.max(axis=0)
