"""A vehicle as rigid links: what its body and its flippers weigh, with their belts at rest on them.

A drive's reflected mass belongs to what carries the track, and moves with the belt; the carrier keeps the
shape of the inertia that is left, and the vehicle its mass and its centre of mass.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.description.frames import Frame, link_frames, read_vector
from segtrack.description.placement import place_tracks
from segtrack.description.vehicle import VehicleDescription
from segtrack.geometry.mass import MassProperties, uniform_belt
from segtrack.geometry.rotation import rotation_of


@dataclass(frozen=True, eq=False)
class Links:
    """The links of a vehicle and where its tracks are on them.

    Attributes:
        masses: Of the body, then of each flipper, in their frames.
        pivots: Frame of each flipper at angle 0, in the body frame.
        track_links: Index of the link that carries each track.
        track_frames: Frame of each track on that link.
    """

    masses: tuple[MassProperties, ...]
    pivots: tuple[Frame, ...]
    track_links: tuple[int, ...]
    track_frames: tuple[Frame, ...]


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
        spec, frame = track.spec, frames[-1]
        reflected = uniform_belt(spec.belt_path, spec.width, spec.drive.reflected_mass)
        own = masses[link]
        left = own - reflected.transformed(frame.rotation, frame.origin)
        inertia = own.inertia * left.mass / own.mass
        masses[link] = MassProperties.of(left.mass, left.first_moment / left.mass, inertia)
    for link, frame, placed in zip(links, frames, place_tracks(vehicle, {}), strict=True):
        spec = placed.mounted.spec
        belt = uniform_belt(spec.belt_path, spec.width, spec.moving_mass)
        masses[link] = masses[link] + belt.transformed(frame.rotation, frame.origin)
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


def read_inertial(link: ElementTree.Element) -> MassProperties:
    """Weigh a link of a URDF, in its frame; zero if the file gives none."""
    element = link.find("inertial")
    if element is None:
        return MassProperties(0.0, np.zeros(3), np.zeros((3, 3)))
    origin, mass = element.find("origin"), element.find("mass")
    rotation = rotation_of(read_vector(origin, "rpy"))
    value = float(mass.get("value", 0)) if mass is not None else 0.0
    return MassProperties.of(value, read_vector(origin, "xyz"), rotation @ read_tensor(element) @ rotation.T)


def read_tensor(inertial: ElementTree.Element | None) -> NDArray[np.float64]:
    """Inertia tensor (3, 3) about the centre of mass, in the inertial's axes [kg m^2]; 0 if not given."""
    tensor = inertial.find("inertia") if inertial is not None else None
    xx, xy, xz, yy, yz, zz = (
        float(tensor.get(key, 0)) if tensor is not None else 0.0
        for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    )
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
