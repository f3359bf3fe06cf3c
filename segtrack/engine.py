"""The protocol between what users hold (world, robot, track, flipper) and a physics engine.

`segtrack.bullet` and `segtrack.native` implement it; nothing above this layer knows which one runs.
What reaches an engine is checked: numbers are finite, names exist, angles and speeds are
within their limits. All vectors are in the world, z upwards, unless said otherwise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.description.vehicle import FlipperSpec, MountedTrack, VehicleDescription
from segtrack.errors import NotReadyError
from segtrack.settling import Bodies
from segtrack.terrain import Terrain

if TYPE_CHECKING:  # Numba takes half a second to import.
    from segtrack.chain.design import TrackDesign
    from segtrack.chain.readings import ChainReading

EngineName = Literal["pybullet", "native"]


@dataclass(frozen=True)
class FrameMotion:
    """Pose and velocity of a link frame in the world.

    Attributes:
        position: Origin of the frame (3,) [m].
        orientation: Quaternion (x, y, z, w).
        rotation: The orientation as a matrix (3, 3).
        center: Centre of mass of the link (3,) [m].
        velocity: Of the centre of mass (3,) [m/s].
        angular_velocity: (3,) [rad/s].
    """

    position: NDArray[np.float64]
    orientation: tuple[float, float, float, float]
    rotation: NDArray[np.float64]
    center: NDArray[np.float64]
    velocity: NDArray[np.float64]
    angular_velocity: NDArray[np.float64]

    def velocity_at(self, point: Sequence[float]) -> NDArray[np.float64]:
        """Velocity in the world (3,) [m/s] of a point (3,) of the link's frame [m]."""
        arm = self.position + self.rotation @ np.asarray(point) - self.center
        return self.velocity + np.cross(self.angular_velocity, arm)


class BeltState(NamedTuple):
    """A belt in motion.

    Attributes:
        travel: Since the start [m].
        speed: Positive when it drives the vehicle forward [m/s].
        force: What the drive exerts on the belt along its travel [N].
        energy: Work of the drive on the belt since the start [J].
    """

    travel: float
    speed: float
    force: float
    energy: float


class FlipperState(NamedTuple):
    """A flipper in motion.

    Attributes:
        angle: Tip raised above its line at angle 0 [rad].
        speed: Raising positive [rad/s].
        torque: What its motor exerts in the raising direction [N m].
    """

    angle: float
    speed: float
    torque: float


class TrackModel(ABC):
    """One track in an engine.

    Attributes:
        mounted: The track as the vehicle file has it.
    """

    mounted: MountedTrack

    @property
    @abstractmethod
    def state(self) -> BeltState:
        """The belt, as the engine read it last."""

    @property
    @abstractmethod
    def command(self) -> float:
        """Commanded belt speed [m/s]."""

    @abstractmethod
    def set_speed(self, speed: float) -> None:
        """Command a belt speed [m/s], which the drive can reach."""

    @abstractmethod
    def set_friction(self, friction: float) -> None:
        """Set the track's friction against terrain of friction 1, >= 0."""

    @abstractmethod
    def scale_drive(self, factor: float) -> None:
        """Make the drive `factor` times as strong as described, > 0."""

    @abstractmethod
    def parent_motion(self) -> FrameMotion:
        """Pose and velocity of the link that the track is mounted on."""

    @property
    def has_chain(self) -> bool:
        """Whether the belt is a link chain."""
        return False

    @property
    def chain_design(self) -> TrackDesign:
        """What the link chain is made of.

        Raises:
            NotReadyError: Not a link chain.
        """
        raise self._has_none("chain", "chain")

    def read_chain(self) -> ChainReading:
        """Per-shoe tension, contact and slip, after the latest step.

        Raises:
            NotReadyError: Not a link chain.
        """
        raise self._has_none("chain", "chain")

    def read_grousers(self) -> Any:
        """Per-grouser load, slip and sinkage, after the latest step.

        Raises:
            NotReadyError: The track model finds its contacts by other means.
        """
        raise self._has_none("grousers", "compliant")

    def _has_none(self, what: str, track_model: str) -> NotReadyError:
        reason = (
            f"only the track model {track_model!r} has {'one' if what == 'chain' else 'readings of them'}"
        )
        return NotReadyError(f"read the {what} of {self.mounted.name}", reason)


class FlipperModel(ABC):
    """One flipper in an engine.

    Attributes:
        name: In its vehicle.
        spec: Its description.
    """

    name: str
    spec: FlipperSpec

    @property
    @abstractmethod
    def state(self) -> FlipperState:
        """The flipper after the latest step."""

    @abstractmethod
    def set_angle(self, angle: float) -> None:
        """Move to an angle [rad] within the limits, at no more than the flipper's speed and torque."""

    @abstractmethod
    def set_speed(self, speed: float) -> None:
        """Turn at a speed [rad/s] that the flipper can reach, until told otherwise or at a limit."""

    @abstractmethod
    def place(self, angle: float) -> None:
        """Set the flipper to an angle [rad] within the limits at once, at rest, and hold it there."""


class VehicleModel(ABC):
    """One vehicle in an engine.

    Attributes:
        description: What it was built from.
        tracks: In the order of the description.
        flippers: In the order of the description.
    """

    description: VehicleDescription
    tracks: tuple[TrackModel, ...]
    flippers: tuple[FlipperModel, ...]

    @property
    @abstractmethod
    def mass(self) -> float:
        """Mass of all its bodies [kg]."""

    @abstractmethod
    def body_motion(self) -> FrameMotion:
        """Pose and velocity of the body frame."""

    @abstractmethod
    def bodies(self) -> Bodies:
        """All its rigid bodies."""

    @abstractmethod
    def bounds(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Smallest and largest corner (3,) of the box around all its bodies, in the world [m]."""

    @abstractmethod
    def place(self, position: Sequence[float], orientation: Sequence[float]) -> None:
        """Set the body frame's pose in the world, at rest; joints stay as they are.

        Args:
            position: (3,) [m].
            orientation: Unit quaternion (x, y, z, w).
        """

    @abstractmethod
    def apply_force(self, force: Sequence[float], point: Sequence[float]) -> None:
        """Apply a force to the body in each step from now on, until it is set again.

        Args:
            force: In the world (3,) [N]; zero ends it.
            point: Where it acts, fixed in the world (3,) [m].
        """

    def take_picture(self, width: int, height: int) -> NDArray[np.uint8]:
        """The vehicle as a camera to its right sees it, red, green and blue (height, width, 3).

        Args:
            width: Of the picture [pixels].
            height: Of the picture [pixels].

        Raises:
            NotReadyError: The engine draws nothing.
        """
        raise NotReadyError(f"take a picture of {self.description.name}", "its engine draws nothing")

    def before_step(self) -> None:
        """Prepare for the next step, in a loop that belongs to somebody else.

        Raises:
            NotReadyError: The engine has no loop but its own.
        """
        raise NotReadyError(f"prepare {self.description.name} for a step", "its engine steps by itself")


class Engine(ABC):
    """One world of one engine.

    Attributes:
        name: By which users choose it.
        default_track_model: Of vehicles that name none.
        preset: Name of its solver settings.
        time_step: [s]
    """

    name: ClassVar[EngineName]
    default_track_model: ClassVar[str]
    preset: str
    time_step: float

    @property
    @abstractmethod
    def time(self) -> float:
        """Simulated time [s]; it is part of a saved state, and damped steps do not count."""

    @abstractmethod
    def add_terrain(self, terrain: Terrain) -> Any:
        """Build a terrain; returns what the engine calls it by.

        Raises:
            InvalidValueError: The engine, or a vehicle in it, cannot hold it; nothing is built.
        """

    @abstractmethod
    def clear_terrain(self) -> None:
        """Remove all terrain."""

    @abstractmethod
    def add_vehicle(
        self,
        description: VehicleDescription,
        track_model: str,
        position: Sequence[float],
        orientation: Sequence[float],
        flippers: Mapping[str, float],
    ) -> VehicleModel:
        """Build a vehicle.

        Args:
            description: What to build.
            track_model: How tracks are built.
            position: Body frame in the world (3,) [m].
            orientation: Body frame in the world, unit quaternion (x, y, z, w).
            flippers: Angle of every flipper, within its limits [rad].

        Raises:
            UnknownNameError: No such track model.
            InvalidValueError: The vehicle cannot be built so.
        """

    @abstractmethod
    def set_gravity(self, gravity: Sequence[float]) -> None:
        """Set the gravity in the world (3,) [m/s^2]."""

    @abstractmethod
    def advance(self, steps: int, damping_rate: float = 0.0) -> None:
        """Take a number of steps with all vehicles.

        Args:
            steps: >= 0.
            damping_rate: Rate at which all velocities decay besides, for dynamic relaxation [1/s]; time
                stands still unless it is 0.

        Raises:
            DivergedError: A vehicle left what is physically possible.
        """

    @abstractmethod
    def save(self) -> Any:
        """Everything that changes, commands included; held until `forget`."""

    @abstractmethod
    def restore(self, state: Any) -> None:
        """Go back to a saved state, to the bit.

        Raises:
            InvalidValueError: Vehicles or other bodies came or went since.
        """

    @abstractmethod
    def forget(self, state: Any) -> None:
        """Free what a saved state holds."""

    @abstractmethod
    def close(self) -> None:
        """Free what the engine holds; may be called again."""
