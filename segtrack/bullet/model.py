"""A vehicle as PyBullet holds it: the fixed part, made once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from segtrack.description.track import TrackPart
from segtrack.description.vehicle import Flipper, MountedTrack, VehicleDescription
from segtrack.geometry.links import SegmentLink


@dataclass(frozen=True)
class JointedTrack:
    """A track's joints in a loaded vehicle.

    Attributes:
        mounted: The track as the vehicle file has it.
        body: PyBullet's number of the vehicle.
        joints: PyBullet's joint (and link) numbers, in the order of the track's links.
        ratios: Joint coordinate per belt travel of each.
    """

    mounted: MountedTrack
    body: int
    joints: tuple[int, ...]
    ratios: tuple[float, ...]

    @property
    def part(self) -> TrackPart:
        """The track's description."""
        return self.mounted.part


@dataclass(frozen=True)
class BuiltTrack:
    """A track that is ready to be driven.

    Attributes:
        jointed: Its joints.
        motors: Places in `jointed.joints` of the joints that the drive acts on, which share its force.
        period: Travel by which the belt is set back [m]; None: never.
        bodies: Further PyBullet bodies that belong to the track.
    """

    jointed: JointedTrack
    motors: tuple[int, ...]
    period: float | None
    bodies: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """Full name in the vehicle."""
        return self.jointed.mounted.name

    @property
    def part(self) -> TrackPart:
        """The track's description."""
        return self.jointed.part


@dataclass(frozen=True)
class TrackModel:
    """One way to build a track.

    Attributes:
        track_links: The links of a track that the vehicle's own multibody carries.
        assemble: Makes a belt of a loaded track's joints, given PyBullet's client number.
        belt_apart: Whether the belt's mass is in bodies of its own and not in the vehicle's.
    """

    track_links: Callable[[TrackPart], tuple[SegmentLink, ...]]
    assemble: Callable[[int, JointedTrack], BuiltTrack]
    belt_apart: bool = False


@dataclass(frozen=True)
class BuiltFlipper:
    """A flipper's joint in a loaded vehicle."""

    name: str
    part: Flipper
    joint: int


@dataclass(frozen=True)
class BuiltVehicle:
    """A loaded vehicle.

    Attributes:
        description: What it was made from.
        body: PyBullet's number.
        tracks: Its tracks, in the order of the description.
        flippers: Its flippers, in the order of the description.
        links: Link number by name; the root is -1.
    """

    description: VehicleDescription
    body: int
    tracks: tuple[BuiltTrack, ...]
    flippers: tuple[BuiltFlipper, ...]
    links: dict[str, int]
