"""A vehicle in an engine, as robots ask it: tracks and joints are counted in its description's order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from segtrack.description import Frame, VehicleDescription
from segtrack.description.joints import JointDesign
from segtrack.engine.state import (
    ActuatorState,
    BeltContacts,
    BeltState,
    Bodies,
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


class VehicleModel(ABC):
    """One vehicle in an engine.

    A track is meant by its index in the description, a joint by its index among the flippers and, after them,
    the joints of the body's URDF that move.

    Attributes:
        description: Description that it was built from.
        joint_designs: Joints of the body's URDF that move, each after those that carry it.
    """

    description: VehicleDescription
    joint_designs: Sequence[JointDesign]

    @property
    @abstractmethod
    def mass(self) -> float:
        """Mass of all its bodies [kg]."""

    @abstractmethod
    def body_motion(self) -> FrameMotion:
        """Pose and velocity of the body frame."""

    @abstractmethod
    def track_motion(self, track: int) -> FrameMotion:
        """Pose and velocity of the link that a track is mounted on."""

    @abstractmethod
    def link_frame(self, name: str) -> Frame:
        """Frame of one of `link_names` in the world."""

    @property
    def link_names(self) -> tuple[str, ...]:
        """Links that something may be mounted on: the body's, then the flippers."""
        return (*self.description.body.link_names, *self.description.flippers)

    def link_poses(self) -> NDArray[np.float64]:
        """Frames of the links of `link_names` in the world: origin [m], quaternion (x, y, z, w), (n, 7)."""
        frames = [self.link_frame(name) for name in self.link_names]
        return np.array([[*frame.origin.tolist(), *quaternion_of(frame.rotation)] for frame in frames])

    @abstractmethod
    def bodies(self) -> Bodies:
        """All its rigid bodies."""

    @abstractmethod
    def bounds(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Smallest and largest corner (3,) of the box around all its bodies, in the world [m]."""

    @abstractmethod
    def belt_state(self, track: int) -> BeltState:
        """A belt, as the engine read it last."""

    @abstractmethod
    def belt_command(self, track: int) -> float:
        """Commanded belt speed [m/s], the last one while pedals rule."""

    @abstractmethod
    def belt_pedals(self, track: int) -> Pedals | None:
        """Throttle and brake that rule a belt's drive; None where a commanded speed does."""

    @abstractmethod
    def joint_state(self, joint: int) -> JointState:
        """A joint after the latest step; of a flipper the angle is its position, and raising positive."""

    @abstractmethod
    def read_actuators(self) -> ActuatorState:
        """Return the state of all belts, flippers and joints in one reading."""

    @abstractmethod
    def command_belts(self, tracks: slice, speeds: NDArray[np.float64] | Sequence[Any]) -> None:
        """Command speeds that the drives reach of some tracks, one for each [m/s]."""

    @abstractmethod
    def command_pedals(self, tracks: slice, pedals: NDArray[np.float64] | Sequence[Any]) -> None:
        """Let throttle and brake rule some tracks' drives, a pair for each, until speeds are commanded."""

    @abstractmethod
    def command_joint(self, joint: int, as_speed: bool, value: float) -> None:
        """Let a flipper's motor, or a servo, move a joint within its limits.

        Args:
            joint: Index of the joint.
            as_speed: True to move at a speed, until told otherwise or at a limit; False to go to a position.
            value: Speed [rad/s or m/s], or position [rad or m].
        """

    @abstractmethod
    def place_joint(self, joint: int, position: float) -> None:
        """Set a joint to a position [rad] or [m] within the limits at once, at rest, and hold it there."""

    @abstractmethod
    def set_friction(self, track: int, friction: float) -> None:
        """Set a track's friction against terrain of friction 1, >= 0."""

    @abstractmethod
    def scale_drive(self, track: int, factor: float) -> None:
        """Make a track's drive `factor` times as strong as described, > 0."""

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

    @property
    def has_chains(self) -> bool:
        """True if its belts are link chains."""
        return False

    def chain_design(self, track: int) -> TrackDesign:
        """Design of a link chain; see `Track.chain_design`."""
        raise self._has_none("chain", track, "chain")

    def read_chain(self, track: int) -> ChainReading:
        """Return per-shoe tension, contact and slip of a link chain; see `Track.read_chain`."""
        raise self._has_none("chain", track, "chain")

    def read_chain_pose(self, track: int) -> ChainPose:
        """Return the poses of shoes and wheels of a link chain; see `Track.read_chain_pose`."""
        raise self._has_none("chain", track, "chain")

    def read_grousers(self, track: int) -> Any:
        """Return per-grouser load, slip and sinkage; see `Track.read_grousers`."""
        raise self._has_none("grousers", track, "compliant")

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

    def _has_none(self, what: str, track: int, track_model: str) -> NotReadyError:
        name = list(self.description.mounted_tracks())[track].name
        has = "one" if what == "chain" else "readings of them"
        return NotReadyError(f"read the {what} of {name}", f"only the track model {track_model!r} has {has}")

    def _not_in_pybullet(self, what: str) -> NotReadyError:
        return NotReadyError(f"{what} of {self.description.name}", "its engine is not PyBullet")
