"""Track of a robot: state and commands, with the checks of users' arguments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segtrack.description import MountedTrack, TrackSpec
from segtrack.engine import BeltState, FrameMotion, Pedals, VehicleModel
from segtrack.errors import InvalidValueError, finite, finite_vector
from segtrack.geometry import rotation_of
from segtrack.robot.commands import Commands

if TYPE_CHECKING:
    from segtrack.chain import ChainPose, ChainReading, TrackDesign


def check_pose(
    position: Sequence[float], orientation: Sequence[float]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Position (3,) [m] and unit quaternion (x, y, z, w).

    Raises:
        InvalidValueError: Not so many finite numbers, or a quaternion of zeros.
    """
    quaternion = finite_vector("orientation", orientation, 4)
    norm = math.hypot(*quaternion)
    if norm == 0:
        raise InvalidValueError("orientation", "a quaternion (x, y, z, w) of some length", orientation)
    return finite_vector("position [m]", position, 3), tuple(value / norm for value in quaternion)


REST_SPEED = 0.01
"""Slip fades to 0 as belt and ground become slower than this [m/s]: of two small numbers no ratio is left."""


def longitudinal_slip(belt_speed: ArrayLike, ground_speed: ArrayLike) -> NDArray[np.float64]:
    """Slip of driving belts, positive, or skid of braking ones, negative.

    Wong (Theory of Ground Vehicles, section 1.3) has two ratios, each bounded where it applies: slip
    1 - v_ground / v_belt while the belt is the faster, skid 1 - v_belt / v_ground while the vehicle is.
    Here the skid is given a minus sign, so that one number says which:

        slip = (v_belt - v_ground) / max(|v_belt|, |v_ground|, REST_SPEED), in the direction of the faster,

    cut at -1 and 1. Above `REST_SPEED` it is exactly Wong's. A reversing belt has the slip of its mirror
    image; a belt at rest under a vehicle that slides is -1, a locked belt; a belt that turns against the
    motion of its vehicle is 1 or -1, whichever of the two is faster.

    Args:
        belt_speed: Speeds of belts relative to their vehicles, forward positive, of any shape [m/s].
        ground_speed: Speeds of the vehicles over the ground, along the tracks, of the same shape [m/s].

    Returns:
        Slip in [-1, 1], of the same shape [-].
    """
    belt, ground = np.asarray(belt_speed, dtype=float), np.asarray(ground_speed, dtype=float)
    faster = np.where(abs(belt) >= abs(ground), belt, ground)
    apart = np.where(faster >= 0, belt - ground, ground - belt)
    return np.asarray((apart / np.maximum(abs(faster), REST_SPEED)).clip(-1.0, 1.0))


class Track:
    """One track of a robot. PyBullet's belts are as they were read last, before the latest step."""

    __slots__ = ("_alone", "_commands", "_index", "_mounted", "_vehicle")

    def __init__(self, vehicle: VehicleModel, index: int, mounted: MountedTrack, commands: Commands) -> None:
        """Be a track of an engine's vehicle.

        Args:
            vehicle: The vehicle.
            index: Index of the track in it.
            mounted: The track as the vehicle file has it.
            commands: Commands to the robot.
        """
        self._vehicle, self._index, self._mounted, self._commands = vehicle, index, mounted, commands
        self._alone = slice(index, index + 1)

    @property
    def name(self) -> str:
        """Full name in the vehicle."""
        return self._mounted.name

    @property
    def spec(self) -> TrackSpec:
        """Its description."""
        return self._mounted.spec

    @property
    def side(self) -> str:
        """`left`, `center` or `right`, by the mount's y."""
        return self._mounted.side

    @property
    def flipper(self) -> str | None:
        """Name of the flipper that it is mounted on; None on the body."""
        return self._mounted.flipper

    @property
    def state(self) -> BeltState:
        """Travel, speed, force and energy in one reading."""
        return self._vehicle.belt_state(self._index)

    @property
    def command(self) -> float:
        """Commanded belt speed, within the drive's top speed [m/s]; the last one while pedals rule."""
        return self._vehicle.belt_command(self._index)

    @property
    def pedals(self) -> Pedals | None:
        """Throttle and brake, see `set_throttle`; None where a commanded speed rules."""
        return self._vehicle.belt_pedals(self._index)

    @property
    def travel(self) -> float:
        """Belt travel since the start [m]."""
        return self.state.travel

    @property
    def speed(self) -> float:
        """Belt speed, positive when it drives the vehicle forward [m/s]."""
        return self.state.speed

    @property
    def force(self) -> float:
        """Force of the drive on the belt along its travel [N]."""
        return self.state.force

    @property
    def power(self) -> float:
        """Power of the drive into the belt [W]; negative when it brakes."""
        state = self.state
        return state.force * state.speed

    @property
    def energy(self) -> float:
        """Work that the drive has done on the belt [J]."""
        return self.state.energy

    def parent_motion(self) -> FrameMotion:
        """Return pose and velocity of the link that the track is mounted on."""
        return self._vehicle.track_motion(self._index)

    @property
    def ground_speed(self) -> float:
        """Speed of the track's frame in the world, along its own forward axis [m/s]."""
        parent, mount = self.parent_motion(), self.spec.mount
        forward = parent.rotation @ rotation_of(mount.rpy)[:, 0]
        return float(parent.velocity_at(mount.xyz) @ forward)

    @property
    def slip(self) -> float:
        """Longitudinal slip in [-1, 1] [-], positive driving, negative braking; see `longitudinal_slip`."""
        return float(longitudinal_slip(self.speed, self.ground_speed))

    @property
    def has_chain(self) -> bool:
        """True if its belt is a link chain."""
        return self._vehicle.has_chains

    @property
    def chain_design(self) -> TrackDesign:
        """Design of its link chain: shoes, bushings and wheels.

        Raises:
            NotReadyError: It is of another track model.
        """
        return self._vehicle.chain_design(self._index)

    def read_chain(self) -> ChainReading:
        """Return per-shoe tension, contact and slip of its link chain, after the latest step.

        Raises:
            NotReadyError: It is of another track model.
            DisconnectedError: The client is gone.
        """
        return self._vehicle.read_chain(self._index)

    def read_chain_pose(self) -> ChainPose:
        """Return the poses of its shoes and wheels after the latest step; much cheaper than loads.

        Raises:
            NotReadyError: It is of another track model.
            DisconnectedError: The client is gone.
        """
        return self._vehicle.read_chain_pose(self._index)

    def read_grousers(self) -> Any:
        """Return per-grouser load, slip and sinkage, after the latest step.

        Raises:
            NotReadyError: It is of another track model.
        """
        return self._vehicle.read_grousers(self._index)

    def set_speed(self, speed: float) -> None:
        """Command the belt speed [m/s]; clipped to the drive's top speed.

        Raises:
            InvalidValueError: Not a finite number.
        """
        self._vehicle.command_belts(self._alone, [self._commands.belt_speed(self._index, speed)])

    def set_throttle(self, throttle: float, brake: float = 0.0) -> None:
        """Let throttle and brake rule the drive, until a speed is commanded.

        The motor exerts the throttle's fraction of the largest force that it has at its speed, up to its
        top speed; with a throttle of 0 the belt runs free, but a self-locking drive holds it.

        Args:
            throttle: Fraction of the motor's force in [-1, 1], clipped; a negative one drives backwards.
            brake: Fraction of the brake's largest force, in [0, 1], clipped. Self-locking drives have none.

        Raises:
            InvalidValueError: Not a finite number, or a negative brake.
        """
        pedals = self._commands.pedals_of(self.name, throttle, brake)
        self._vehicle.command_pedals(self._alone, [pedals])

    def set_friction(self, friction: float) -> None:
        """Set the track's friction, instead of its description's.

        Raises:
            InvalidValueError: Negative or not finite.
        """
        self._vehicle.set_friction(self._index, finite(f"friction of {self.name}", friction, least=0.0))

    def scale_drive(self, factor: float) -> None:
        """Make the drive `factor` times as strong as its description says.

        Raises:
            InvalidValueError: Not positive and finite.
        """
        what = f"drive force factor of {self.name}"
        if finite(what, factor) <= 0:
            raise InvalidValueError(what, "greater than 0", factor)
        self._vehicle.scale_drive(self._index, factor)
