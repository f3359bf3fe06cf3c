"""Places of a vehicle's tracks on its body, and mass properties of its links, at given flipper angles."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.description.frames import Frame, link_frames, read_inertial
from segtrack.description.vehicle import MountedTrack, VehicleDescription
from segtrack.geometry.mass import MassProperties, rotation_about_y, uniform_belt
from segtrack.geometry.path import normal_of


@dataclass(frozen=True)
class PlacedTrack:
    """A track of a vehicle and its track frame in the body frame."""

    mounted: MountedTrack
    frame: Frame


def place_tracks(vehicle: VehicleDescription, flipper_angles: Mapping[str, float]) -> tuple[PlacedTrack, ...]:
    """Place all tracks, in the order of the description.

    Args:
        vehicle: The vehicle; other joints of its URDF are taken to stand at 0.
        flipper_angles: Angles by flipper [rad]; 0 if not given.
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
        flipper_angles: Angles by flipper [rad]; 0 if not given.

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


@dataclass(frozen=True, eq=False)
class Links:
    """The links of a vehicle and where its tracks are on them.

    Attributes:
        masses: Mass properties of the body, then of each flipper, in their frames.
        pivots: Frame of each flipper at angle 0, in the body frame.
        track_links: Index of the link that carries each track.
        track_frames: Frame of each track on that link.
    """

    masses: tuple[MassProperties, ...]
    pivots: tuple[Frame, ...]
    track_links: tuple[int, ...]
    track_frames: tuple[Frame, ...]

    @property
    def mass(self) -> float:
        """Total mass [kg]."""
        return sum(link.mass for link in self.masses)

    @property
    def whole(self) -> MassProperties:
        """Mass properties of the vehicle with its joints at 0, in its body frame."""
        whole = self.masses[0]
        for mass, pivot in zip(self.masses[1:], self.pivots, strict=True):
            whole = whole + mass.transformed(pivot.rotation, pivot.origin)
        return whole


def vehicle_links(vehicle: VehicleDescription) -> Links:
    """Weigh the links of a vehicle; joints of a body's URDF are held at 0."""
    flippers = list(vehicle.flippers)
    masses = [body_mass(vehicle)]
    masses += [MassProperties.of_box(f.mass, f.center_of_mass, f.size) for f in vehicle.flippers.values()]
    pivots = tuple(vehicle.body.mounted(flipper.mount) for flipper in vehicle.flippers.values())
    links, frames = [], []
    for placed in place_tracks(vehicle, {}):
        track = placed.mounted
        link = 0 if track.flipper is None else 1 + flippers.index(track.flipper)
        links.append(link)
        frames.append(placed.frame if track.flipper is None else track.spec.mount.frame)
        belt = uniform_belt(track.spec.belt_path, track.spec.width, track.spec.belt.mass)
        masses[link] = masses[link] + belt.transformed(frames[-1].rotation, frames[-1].origin)
    return Links(tuple(masses), pivots, tuple(links), tuple(frames))


def body_mass(vehicle: VehicleDescription) -> MassProperties:
    """Weigh the body, in its frame; the links of its URDF together."""
    body = vehicle.body
    if body.urdf is None:
        assert body.mass is not None and body.size is not None
        return MassProperties.of_box(body.mass, body.center_of_mass, body.size)
    robot = ElementTree.parse(body.urdf).getroot()
    frames = link_frames(robot)
    total = MassProperties(0.0, np.zeros(3), np.zeros((3, 3)))
    for link in robot.iterfind("link"):
        frame = frames[str(link.get("name"))]
        total = total + read_inertial(link).transformed(frame.rotation, frame.origin)
    return total
