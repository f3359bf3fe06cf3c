"""Where the tracks of a vehicle are on its body, at given flipper angles. No simulator."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.description.track import Mount
from segtrack.description.urdf_links import parent_link
from segtrack.description.vehicle import MountedTrack, VehicleDescription
from segtrack.geometry.path import normal_of
from segtrack.geometry.rotation import rotation_about_y, rotation_of


@dataclass(frozen=True)
class Frame:
    """A frame in another one.

    Attributes:
        rotation: Its axes as columns (3, 3).
        origin: Its origin (3,) [m].
    """

    rotation: NDArray[np.float64]
    origin: NDArray[np.float64]

    def __matmul__(self, inner: Frame) -> Frame:
        """The frame `inner`, given in this frame, seen from outside of this one."""
        return Frame(self.rotation @ inner.rotation, self.points(inner.origin))

    def points(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Points (..., 3) [m] given in this frame, seen from outside."""
        return points @ self.rotation.T + self.origin

    def plane_points(self, points: NDArray[np.float64], y: float = 0.0) -> NDArray[np.float64]:
        """Points (n, 3) [m] seen from outside, of (x, z) pairs (n, 2) at `y` in this frame [m]."""
        return self.points(np.insert(points, 1, y, axis=1))


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
    carriers = {}
    for name, flipper in vehicle.flippers.items():
        turn = rotation_about_y(flipper.raise_axis * flipper_angles.get(name, 0.0))
        carriers[name] = _mounted(vehicle, flipper.mount) @ Frame(turn, np.zeros(3))
    placed = []
    for track in vehicle.mounted_tracks():
        mount = track.part.mount
        frame = (
            carriers[track.flipper] @ _frame(mount) if track.flipper is not None else _mounted(vehicle, mount)
        )
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
        part = track.mounted.part
        shapes = part.grousers.shapes if part.grousers is not None else ()
        tip = max((shape.kind.height for shape in shapes), default=0.0)
        along = np.linspace(0, part.belt_path.perimeter, 721)
        outline = part.belt_path.point(along) + tip * normal_of(part.belt_path.heading(along))
        corners += [track.frame.plane_points(outline, y) for y in (-part.width / 2, part.width / 2)]
    points = np.concatenate(corners)
    return points.min(axis=0), points.max(axis=0)


def _mounted(vehicle: VehicleDescription, mount: Mount) -> Frame:
    """A mount's frame in the body frame."""
    if vehicle.body.urdf is None:
        return _frame(mount)
    robot = ElementTree.parse(vehicle.body.urdf).getroot()
    frame, link = _frame(mount), parent_link(robot, mount.parent)
    joints = {
        str(child.get("link")): joint
        for joint in robot.iterfind("joint")
        for child in joint.iterfind("child")
    }
    while (joint := joints.get(link)) is not None:
        origin, parent = joint.find("origin"), joint.find("parent")
        xyz, rpy = (
            [float(word) for word in (origin.get(key, "0 0 0") if origin is not None else "0 0 0").split()]
            for key in ("xyz", "rpy")
        )
        frame = Frame(rotation_of(rpy), np.asarray(xyz)) @ frame
        link = str(parent.get("link")) if parent is not None else ""
    return frame


def _frame(mount: Mount) -> Frame:
    return Frame(rotation_of(mount.rpy), np.asarray(mount.xyz, dtype=float))
