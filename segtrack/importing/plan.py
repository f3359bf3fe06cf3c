"""Plan of a vehicle: numbers of its file, with where they are from, and edits of its URDF."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.geometry import Pulley
from segtrack.importing.carriers import FoundFlipper
from segtrack.importing.finding import FoundTrack
from segtrack.importing.robot import RobotJoint


@dataclass(frozen=True, eq=False)
class TrackPlan:
    """Track of the vehicle file.

    Attributes:
        name: Name in the file.
        found: Track that it is from.
        parent: Parent link of its mount; None on a flipper.
        xyz: Origin of its mount (3,) [m].
        rpy: Roll, pitch, yaw of its mount [rad].
        pulleys: Pulleys of the belt's outer face in the track frame.
        belt_mass: Mass of the belt [kg].
        thickness: Thickness of the belt [m].
        grouser_count: Number of grousers.
        grouser_height: Height of the grousers [m].
        grouser_length: Length of the grousers along the belt [m].
        max_force: Largest force of the drive [N].
        max_speed: Largest speed of the belt [m/s].
        friction: Coulomb coefficient [-].
        lateral_friction: Coulomb coefficient across the track [-]; None if as along it.
        notes: Sources of its numbers, by key.
    """

    name: str
    found: FoundTrack
    parent: str | None
    xyz: tuple[float, float, float]
    rpy: tuple[float, float, float]
    pulleys: tuple[Pulley, ...]
    belt_mass: float
    thickness: float
    grouser_count: int
    grouser_height: float
    grouser_length: float
    max_force: float
    max_speed: float
    friction: float
    lateral_friction: float | None
    notes: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class FlipperPlan:
    """Flipper of the vehicle file.

    Attributes:
        name: Name in the file.
        found: Flipper that it is from.
        parent: Parent link of its mount.
        xyz: Pivot (3,) [m].
        mass: Mass without belts [kg].
        size: Box that gives its inertia (3,) [m].
        center: Centre of mass in the flipper frame (3,) [m].
        max_torque: Largest torque [N m].
        max_speed: Largest speed [rad/s].
        tracks: Its tracks.
        notes: Sources of its numbers, by key.
    """

    name: str
    found: FoundFlipper
    parent: str
    xyz: tuple[float, float, float]
    mass: float
    size: tuple[float, float, float]
    center: tuple[float, float, float]
    max_torque: float
    max_speed: float
    tracks: tuple[TrackPlan, ...]
    notes: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class JointPlan:
    """Joint of the vehicle file.

    Attributes:
        joint: Joint of the URDF.
        max_force: Largest torque or force of its servo [N m, N]; None for a joint that nothing drives.
        max_speed: Largest speed of its servo [rad/s, m/s].
    """

    joint: RobotJoint
    max_force: float | None
    max_speed: float


@dataclass(frozen=True, eq=False)
class VehiclePlan:
    """Vehicle file and edits of its URDF.

    Attributes:
        tracks: Tracks that are not on flippers.
        flippers: Flippers; their links leave the URDF.
        joints: Joints that move.
        differential: Joints that a differential couples, the second to the first.
        without_contact: Links whose shapes touch nothing.
        taken: Belts' mass that leaves each link [kg], by name.
        taken_at: Centre of it in the root frame, times it (3,) [kg m], by name.
    """

    tracks: tuple[TrackPlan, ...]
    flippers: tuple[FlipperPlan, ...]
    joints: tuple[JointPlan, ...]
    differential: tuple[RobotJoint, RobotJoint] | None
    without_contact: tuple[str, ...]
    taken: Mapping[str, float]
    taken_at: Mapping[str, NDArray[np.float64]]
