"""A vehicle as rigid links: what its body and its flippers weigh, with their belts at rest on them.

A drive's reflected mass belongs to what carries the track, and moves with the belt; the carrier keeps the
shape of the inertia that is left, and the vehicle its mass and its centre of mass.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass

import numpy as np

from segtrack.description.frames import Frame
from segtrack.description.placement import place_tracks
from segtrack.description.urdf.reading import link_frames, read_inertial
from segtrack.description.vehicle import VehicleDescription
from segtrack.geometry.mass import MassProperties, uniform_belt


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
