"""A vehicle, its tracks, flippers and joints in an engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from segtrack.description import FlipperSpec, Frame, Mount, MountedTrack, VehicleDescription
from segtrack.description.joints import JointDesign
from segtrack.engine.state import (
    ActuatorState,
    BeltContacts,
    BeltState,
    Bodies,
    FlipperState,
    FrameMotion,
    JointState,
    Pedals,
)
from segtrack.errors import NotReadyError
from segtrack.geometry import quaternion_of
from segtrack.terrain import Terrain

if TYPE_CHECKING:  # Numba takes half a second to import.
    from segtrack.chain import ChainPose, ChainReading, TrackDesign

ABSURD_SPEED = 100.0
"""A vehicle has diverged once a part of it, or a belt, is faster than this [m/s]."""


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
        """Commanded belt speed [m/s], the last one while pedals rule."""

    @property
    @abstractmethod
    def pedals(self) -> Pedals | None:
        """Throttle and brake that rule the drive; None where a commanded speed does."""

    @abstractmethod
    def set_speed(self, speed: float) -> None:
        """Command a belt speed [m/s], which the drive can reach."""

    @abstractmethod
    def set_pedals(self, pedals: Pedals) -> None:
        """Let throttle and brake rule the drive, until a speed is commanded."""

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
        """True if the belt is a link chain."""
        return False

    @property
    def chain_design(self) -> TrackDesign:
        """Design of the link chain: shoes, bushings and wheels.

        Raises:
            NotReadyError: Not a link chain.
        """
        raise self._has_none("chain", "chain")

    def read_chain(self) -> ChainReading:
        """Return per-shoe tension, contact and slip, after the latest step.

        Raises:
            NotReadyError: Not a link chain.
        """
        raise self._has_none("chain", "chain")

    def read_chain_pose(self) -> ChainPose:
        """Return the poses of shoes and wheels of the link chain.

        Raises:
            NotReadyError: Not a link chain.
        """
        raise self._has_none("chain", "chain")

    def read_grousers(self) -> Any:
        """Return per-grouser load, slip and sinkage, after the latest step.

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
        name: Name in its vehicle.
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


class JointModel(ABC):
    """One moving joint of the body's URDF in an engine.

    Attributes:
        design: The joint.
    """

    design: JointDesign

    @property
    @abstractmethod
    def state(self) -> JointState:
        """The joint after the latest step."""

    @abstractmethod
    def set_position(self, position: float) -> None:
        """Let its servo move it to a position [rad] or [m] within the limits."""

    @abstractmethod
    def set_speed(self, speed: float) -> None:
        """Let its servo move it at a speed [rad/s] or [m/s] that it can reach, until told otherwise."""

    @abstractmethod
    def place(self, position: float) -> None:
        """Set the joint to a position [rad] or [m] within the limits at once, at rest; a servo holds it."""


class VehicleModel(ABC):
    """One vehicle in an engine.

    Attributes:
        description: Description that it was built from.
        tracks: Tracks in the order of the description.
        flippers: Flippers in the order of the description.
        joints: Joints of the body's URDF that move, each after those that carry it.
    """

    description: VehicleDescription
    tracks: tuple[TrackModel, ...]
    flippers: tuple[FlipperModel, ...]
    joints: Sequence[JointModel] = ()

    @property
    @abstractmethod
    def mass(self) -> float:
        """Mass of all its bodies [kg]."""

    @abstractmethod
    def body_motion(self) -> FrameMotion:
        """Pose and velocity of the body frame."""

    def link_frame(self, name: str) -> Frame:
        """Frame of a link of the body's URDF in the world."""
        motion = self.body_motion()
        own = Frame(motion.rotation, motion.position)
        if not self.joints:
            return own @ self.description.body.mounted(Mount(parent=name))
        positions = {joint.design.name: joint.state.position for joint in self.joints}
        return own @ self.description.joint_tree.frames(positions)[name]

    @property
    def link_names(self) -> tuple[str, ...]:
        """Links that something may be mounted on: the body's, then the flippers."""
        return (*self.description.body.link_names, *self.description.flippers)

    def link_poses(self) -> NDArray[np.float64]:
        """Frames of the links of `link_names` in the world: origin [m], quaternion (x, y, z, w), (n, 7)."""
        body = self.body_motion()
        frames = [Frame(body.rotation, body.position)]
        frames += [self.link_frame(name) for name in self.description.body.link_names[1:]]
        on_flippers = {track.mounted.flipper: track for track in self.tracks}
        for flipper in self.flippers:
            motion = on_flippers[flipper.name].parent_motion()
            frames.append(Frame(motion.rotation, motion.position))
        return _poses(frames)

    def read_actuators(self) -> ActuatorState:
        """Return the state of all belts, flippers and joints in one reading."""
        belts = np.array([track.state for track in self.tracks]).reshape(-1, 4)
        flippers = np.array([flipper.state for flipper in self.flippers]).reshape(-1, 3)
        joints = np.array([joint.state for joint in self.joints]).reshape(-1, 3)
        return ActuatorState(*belts.T, *flippers.T, *joints.T)

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
    def set_velocity(self, forward: float) -> None:
        """Let all its parts move forward along the body's x axis [m/s], belts running so that none slips.

        Poses stay as they are, and flippers and other joints stand still.
        """

    @abstractmethod
    def apply_force(self, force: Sequence[float], point: Sequence[float]) -> None:
        """Apply a force to the body in each step from now on, until it is set again.

        Args:
            force: Force in the world (3,) [N]; zero ends it.
            point: Point of action, fixed in the world (3,) [m].
        """

    def read_belt_contacts(self) -> list[BeltContacts]:
        """Read contacts of belts that PyBullet collides; see `Robot.read_belt_contacts`."""
        raise self._not_in_pybullet("read contacts of the links")

    @property
    def pybullet_body(self) -> tuple[int, Mapping[str, int]]:
        """PyBullet's unique id of the vehicle's own body, and its link index by link name."""
        raise self._not_in_pybullet("give PyBullet's id")

    def update_terrain(self, terrains: Sequence[Terrain]) -> None:
        """Let belts that find their contacts themselves stand on these terrains."""
        raise self._not_in_pybullet("update the terrain")

    def before_step(self) -> None:
        """Prepare for the next step, in a loop that belongs to somebody else.

        Raises:
            NotReadyError: The engine has no loop but its own.
        """
        raise NotReadyError(f"prepare {self.description.name} for a step", "its engine steps by itself")

    def snapshot(self) -> dict[str, Any]:
        """Return the state that PyBullet's own saved state lacks; see `Robot.save`."""
        raise self._not_in_pybullet("save the belts")

    @abstractmethod
    def restore(self, saved: Any) -> None:
        """Go back to what the engine, or the vehicle by itself, has saved; its engine's part is restored."""

    def _not_in_pybullet(self, what: str) -> NotReadyError:
        return NotReadyError(f"{what} of {self.description.name}", "its engine is not PyBullet")


def _poses(frames: Sequence[Frame]) -> NDArray[np.float64]:
    """Origins [m] and quaternions (x, y, z, w) of frames (n, 7)."""
    return np.array([[*frame.origin.tolist(), *quaternion_of(frame.rotation)] for frame in frames])
