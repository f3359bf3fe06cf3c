"""A vehicle as PyBullet holds it: what is made once, and what each track model makes of a belt."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.description import FlipperSpec, MountedTrack, TrackSpec, VehicleDescription
from segtrack.description.joints import JointDesign
from segtrack.engine import Bodies
from segtrack.geometry import SegmentLink
from segtrack.terrain import Terrain

if TYPE_CHECKING:  # Numba takes half a second to import.
    from segtrack.chain import ChainPose, ChainReading, TrackChain
    from segtrack.compliant import GrouserReading


@dataclass(frozen=True)
class TrackJoints:
    """A track's joints in a loaded vehicle.

    Attributes:
        vehicle: Description of the vehicle.
        mounted: The track as the vehicle file has it.
        body: PyBullet's unique id of the vehicle.
        parent_link: Index of the link that the track is mounted on; -1 is the root.
        links: Index of every link of the vehicle by name.
        joints: Indices of the track's joints (and links), in the order of its links.
        ratios: Joint coordinate per belt travel, of each of `joints` [rad/m or m/m].
        lateral_joints: Indices of the sliders across the track that carry its links; empty without sliders.
    """

    vehicle: VehicleDescription
    mounted: MountedTrack
    body: int
    parent_link: int
    links: Mapping[str, int]
    joints: tuple[int, ...]
    ratios: tuple[float, ...]
    lateral_joints: tuple[int, ...] = ()

    @property
    def spec(self) -> TrackSpec:
        """The track's description."""
        return self.mounted.spec


class Push(NamedTuple):
    """A user's force on a vehicle.

    Attributes:
        force: Force in the world (3,) [N].
        point: Point at which it acts, in the world (3,) [m].
    """

    force: tuple[float, float, float]
    point: tuple[float, float, float]


class MotorAim(NamedTuple):
    """Load along a joint in PyBullet's next step, but for weight and contacts.

    Attributes:
        speed: Speed that its motor aims at [rad/s or m/s].
        largest_force: Largest torque or force of the motor [N m or N].
        load: Torque or force of springs and dampers [N m or N].
    """

    speed: float
    largest_force: float
    load: float


Motor = Callable[[float, float], MotorAim]
"""Aim of a joint's motor, given the joint's position [rad or m] and the duration of the next step [s]."""


class BeltReading(NamedTuple):
    """A belt as it was left by the last step; the mean of its motors, where it has several.

    Attributes:
        phase: Travel since home, within half a period unless the belt is never set back [m].
        speed: [m/s]
        force: Force of the drive along the belt's travel [N].
    """

    phase: float
    speed: float
    force: float


NO_BODIES = Bodies(np.zeros(0), np.zeros((0, 3)), np.zeros((0, 3)), 0.0)


class Belt(ABC):
    """One track's belt in a running simulation, whatever it is made of.

    Attributes:
        track_joints: Joints and place of the track in the vehicle.
        period: Travel by which the belt is set back [m]; None: never.
        bodies: Further PyBullet bodies that belong to the track.
        chain: Its link chain, if it is one.
        can_hold: True if its motor can hold it at a phase.
    """

    track_joints: TrackJoints
    can_hold: bool = False
    period: float | None = None
    bodies: tuple[int, ...] = ()
    chain: TrackChain | None = None

    @property
    def name(self) -> str:
        """Full name in the vehicle."""
        return self.track_joints.mounted.name

    @property
    def spec(self) -> TrackSpec:
        """The track's description."""
        return self.track_joints.spec

    @property
    def parent_links(self) -> tuple[int, ...]:
        """Indices of the links that carry it; the drive is on the first."""
        return (self.track_joints.parent_link,)

    @property
    def shoes(self) -> Bodies:
        """Bodies of the belt that are not PyBullet links."""
        return NO_BODIES

    @property
    def points(self) -> NDArray[np.float64]:
        """Corners in the world of parts that are not PyBullet links (n, 3) [m]."""
        return NO_BODIES.positions

    @property
    @abstractmethod
    def segment_phases(self) -> list[float]:
        """Phase of each segment since home [m]; equal but for what the drive's gears let slip."""

    def read_chain(self) -> ChainReading | None:
        """Return per-shoe tension, contact and slip; None if it is not a link chain."""
        return None

    def read_chain_pose(self) -> ChainPose | None:
        """Return the poses of shoes and wheels of its link chain; None if it is not one."""
        return None

    def read_grousers(self) -> GrouserReading | None:
        """Return per-grouser load, slip and sinkage; None if PyBullet finds the contacts."""
        return None

    def prepare_step(self, step: float) -> None:
        """Prepare what depends on the duration of the next step [s]."""
        return None

    def set_rigid(self, rigid: bool) -> None:
        """Make soft contacts of the belt rigid, or soft again if `rigid` is False."""
        return None

    @abstractmethod
    def set_motor_command(self, speed: float, limit: float) -> None:
        """Command the motors: a target speed of the belt [m/s] and a force limit [N], which they share."""

    def hold(self, phase: float, limit: float) -> None:
        """Hold a belt that `can_hold` at a phase [m], with a force limit [N]."""
        raise NotImplementedError

    @abstractmethod
    def roll_back(self, phase: float) -> float:
        """Set the belt back into its period, given its phase [m]; returns its phase after [m]."""

    @abstractmethod
    def set_speed(self, speed: float) -> None:
        """Let the belt run at a speed [m/s], on a link that only translates."""

    @abstractmethod
    def reset_to_mount(self) -> None:
        """Reset the belt's own bodies, if it has any, to their mount pose, at rest; their joints stay."""

    @abstractmethod
    def set_friction(self, friction: float) -> None:
        """Set the track's friction against terrain of friction 1."""

    def snapshot(self) -> Any:
        """Return the state that PyBullet's own saved state lacks; that has joints."""
        return None

    def restore(self, snapshot: Any) -> None:
        """Go back to a snapshot."""
        return None


class BeltGroup(ABC):
    """All the belts of a vehicle, read and advanced together."""

    @abstractmethod
    def read(self) -> list[BeltReading]:
        """Read the state of all belts, in track order."""

    def advance(self, damping_rate: float, push: Push | None) -> None:
        """Move belts that PyBullet does not move, right before it steps.

        Args:
            damping_rate: Rate at which their velocities decay besides [1/s].
            push: A user's force on the vehicle in that step.
        """
        return None

    def connect(self, motors: Mapping[int, Motor]) -> None:
        """Tell belts that PyBullet does not move what the motors of the vehicle's joints do.

        Args:
            motors: Motors by PyBullet's index of their joints.
        """
        return None

    def snapshot(self) -> Any:
        """Return what the belts remember together."""
        return None

    def restore(self, snapshot: Any) -> None:
        """Go back to a snapshot."""
        return None

    def update_terrain(self, terrains: Sequence[Terrain]) -> None:
        """Tell belts that PyBullet does not move what ground there is."""
        return None


def no_links(spec: TrackSpec) -> tuple[SegmentLink, ...]:
    """Return no links: the belts are not PyBullet's."""
    return ()


@dataclass(frozen=True)
class TrackBuilder:
    """Functions that build the tracks of a vehicle in PyBullet as one track model.

    Attributes:
        track_links: The links of a track that the vehicle's own multibody carries.
        create_belt: Makes the belt of a loaded track, given the physics client's id.
        create_belt_group: Puts the belts of a vehicle together, given the ids of client and body.
        has_own_bodies: True if the belt's mass is in bodies of its own and not in the vehicle's.
        lateral: True if sliders across the track carry its links.
        preset: Solver settings of a world that was given none, once it has such tracks.
    """

    track_links: Callable[[TrackSpec], tuple[SegmentLink, ...]]
    create_belt: Callable[[int, TrackJoints], Belt]
    create_belt_group: Callable[[int, int, tuple[Any, ...]], BeltGroup]
    has_own_bodies: bool = False
    lateral: bool = False
    preset: str = "exact"


@dataclass(frozen=True)
class LoadedFlipper:
    """A flipper's joint in a loaded vehicle.

    Attributes:
        name: Name of the flipper.
        spec: Flipper as the vehicle file has it.
        joint: PyBullet's index of its joint.
    """

    name: str
    spec: FlipperSpec
    joint: int


@dataclass(frozen=True)
class LoadedJoint:
    """A joint of the body's URDF that moves, in a loaded vehicle.

    Attributes:
        design: Joint as the description has it.
        joint: PyBullet's index of it.
    """

    design: JointDesign
    joint: int


@dataclass(frozen=True)
class LoadedVehicle:
    """A loaded vehicle.

    Attributes:
        description: Description that it was built from.
        body: PyBullet's unique id.
        belts: Belts of its tracks, in the order of the description.
        belt_group: All the belts together.
        flippers: Flippers in the order of the description.
        joints: Joints of the body's URDF that move.
        links: Link index by name; the root is -1.
    """

    description: VehicleDescription
    body: int
    belts: tuple[Belt, ...]
    belt_group: BeltGroup
    flippers: tuple[LoadedFlipper, ...]
    joints: tuple[LoadedJoint, ...]
    links: dict[str, int]
