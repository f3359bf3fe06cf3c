"""One track of a robot: its belt's state and its command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from segtrack.description.track import TrackSpec
from segtrack.engine import BeltState, TrackModel
from segtrack.errors import InvalidValueError, finite
from segtrack.geometry.rotation import rotation_of
from segtrack.robot.checks import clip
from segtrack.robot.slip import longitudinal_slip

if TYPE_CHECKING:  # Numba takes half a second to import.
    from segtrack.chain.design import TrackDesign
    from segtrack.chain.readings import ChainPose, ChainReading


class Track:
    """One track of a robot. PyBullet's belts are as they were read last, before the latest step.

    Attributes:
        model: The track in its engine.
    """

    def __init__(self, model: TrackModel) -> None:
        """Take a track of an engine's vehicle."""
        self.model = model

    @property
    def name(self) -> str:
        """Full name in the vehicle."""
        return self.model.mounted.name

    @property
    def spec(self) -> TrackSpec:
        """Its description."""
        return self.model.mounted.spec

    @property
    def side(self) -> str:
        """`left`, `center` or `right`, by the mount's y."""
        return self.model.mounted.side

    @property
    def state(self) -> BeltState:
        """Travel, speed, force and energy in one reading."""
        return self.model.state

    @property
    def command(self) -> float:
        """Commanded belt speed, within the drive's top speed [m/s]."""
        return self.model.command

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
        """What the drive exerts on the belt along its travel [N]."""
        return self.state.force

    @property
    def power(self) -> float:
        """What the drive puts into the belt [W]; negative when it brakes."""
        state = self.state
        return state.force * state.speed

    @property
    def energy(self) -> float:
        """Work that the drive has done on the belt [J]."""
        return self.state.energy

    @property
    def ground_speed(self) -> float:
        """Speed of the track's frame in the world, along its own forward axis [m/s]."""
        parent, mount = self.model.parent_motion(), self.spec.mount
        forward = parent.rotation @ rotation_of(mount.rpy)[:, 0]
        return float(parent.velocity_at(mount.xyz) @ forward)

    @property
    def slip(self) -> float:
        """Longitudinal slip in [-1, 1] [-], see `longitudinal_slip`: positive driving, negative braking.

        1: the belt turns and the vehicle stands; 0: no slip, or all at rest; -1: the vehicle slides
        over a belt that is locked.
        """
        return longitudinal_slip(self.speed, self.ground_speed)

    @property
    def has_chain(self) -> bool:
        """Whether its belt is a link chain."""
        return self.model.has_chain

    @property
    def chain_design(self) -> TrackDesign:
        """What its link chain is made of.

        Raises:
            NotReadyError: It is of another track model.
        """
        return self.model.chain_design

    def read_chain(self) -> ChainReading:
        """Per-shoe tension, contact and slip of its link chain, after the latest step.

        Raises:
            NotReadyError: It is of another track model.
            DisconnectedError: The client is gone.
        """
        return self.model.read_chain()

    def read_chain_pose(self) -> ChainPose:
        """Where shoes and wheels of its link chain are, after the latest step; much cheaper than loads.

        Raises:
            NotReadyError: It is of another track model.
            DisconnectedError: The client is gone.
        """
        return self.model.read_chain_pose()

    def read_grousers(self) -> Any:
        """Per-grouser load, slip and sinkage, after the latest step.

        Raises:
            NotReadyError: It is of another track model.
        """
        return self.model.read_grousers()

    def set_speed(self, speed: float) -> None:
        """Command the belt speed [m/s]; clipped to the drive's top speed.

        Raises:
            InvalidValueError: Not a finite number.
        """
        top = self.spec.drive.top_speed
        self.model.set_speed(clip(finite(f"belt speed of {self.name} [m/s]", speed), -top, top))

    def set_friction(self, friction: float) -> None:
        """Set the track's friction, instead of its description's.

        Raises:
            InvalidValueError: Negative or not finite.
        """
        what = f"friction of {self.name}"
        if finite(what, friction) < 0:
            raise InvalidValueError(what, "at least 0", friction)
        self.model.set_friction(friction)

    def scale_drive(self, factor: float) -> None:
        """Make the drive `factor` times as strong as its description says.

        Raises:
            InvalidValueError: Not positive and finite.
        """
        what = f"drive force factor of {self.name}"
        if finite(what, factor) <= 0:
            raise InvalidValueError(what, "greater than 0", factor)
        self.model.scale_drive(factor)
