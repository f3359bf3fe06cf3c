"""One track of a robot: its belt's state, its command, its account."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from segtrack.bullet.engine import needing
from segtrack.bullet.frames import link_motion
from segtrack.bullet.model import Belt, BeltReading
from segtrack.description.track import TrackPart
from segtrack.drive import DriveController
from segtrack.errors import InvalidValueError, finite
from segtrack.geometry.rotation import rotation_of

if TYPE_CHECKING:  # Numba takes half a second to import.
    from segtrack.chain.design import TrackDesign
    from segtrack.chain.readings import ChainReading


class Track:
    """One track of a robot. Its belt is as it was read last, before the latest step.

    Attributes:
        belt: What moves.
        drive: Its drive and account.
        origin: Belt travel at which the segments are home [m].
        roll_backs: How often it has been set back.
    """

    def __init__(self, client: int, belt: Belt) -> None:
        """Start with the belt at rest."""
        self._client, self.belt = client, belt
        self.drive = DriveController(belt.part.drive)
        self.origin = 0.0
        self.roll_backs = 0
        self._tell()

    @property
    def name(self) -> str:
        """Full name in the vehicle."""
        return self.belt.name

    @property
    def part(self) -> TrackPart:
        """Its description."""
        return self.belt.part

    @property
    def side(self) -> str:
        """`left`, `center` or `right`, by the mount's y."""
        return self.belt.jointed.mounted.side

    @property
    def travel(self) -> float:
        """Belt travel since the start [m]."""
        return self.drive.travel

    @property
    def speed(self) -> float:
        """Belt speed, positive when it drives the vehicle forward [m/s]."""
        return self.drive.speed

    @property
    def force(self) -> float:
        """What the drive exerts on the belt along its travel [N]."""
        return self.drive.force

    @property
    def power(self) -> float:
        """What the drive puts into the belt [W]."""
        return self.drive.power

    @property
    def energy(self) -> float:
        """Work that the drive has done on the belt [J]."""
        return self.drive.energy

    @property
    def ground_speed(self) -> float:
        """Speed of the track's frame in the world, along its own forward axis [m/s]."""
        jointed = self.belt.jointed
        carrier = link_motion(self._client, jointed.body, jointed.carrier)
        mount = self.part.mount
        forward = carrier.rotation @ rotation_of(mount.rpy)[:, 0]
        return float(carrier.velocity_at(mount.xyz) @ forward)

    @property
    def slip(self) -> float:
        """Longitudinal slip 1 - v_ground / v_belt [-]; 0 while the belt stands."""
        return 1.0 - self.ground_speed / self.speed if abs(self.speed) > 1e-6 else 0.0

    @property
    def segment_phases(self) -> list[float]:
        """Phase of each of the belt's segments since home [m]; equal but for what the gears let slip."""
        with needing(self._client, f"read track {self.name}"):
            return self.belt.segment_phases

    def read_chain(self) -> ChainReading:
        """Tension, ground pressure, slip and the rest of its link chain, after the latest step.

        Raises:
            NotReadyError: It is of another track model.
            DisconnectedError: The client is gone.
        """
        with needing(self._client, f"read the chain of {self.name}"):
            return self.belt.read_chain()

    @property
    def chain_design(self) -> TrackDesign:
        """What its link chain is made of.

        Raises:
            NotReadyError: It is of another track model.
        """
        return self.belt.chain_design

    def set_speed(self, speed: float) -> None:
        """Command the belt speed [m/s]; clipped to the drive's top speed.

        Raises:
            InvalidValueError: Not a finite number.
        """
        top = self.drive.spec.top_speed
        self.drive.command = min(max(finite(f"belt speed of {self.name} [m/s]", speed), -top), top)

    def set_friction(self, friction: float) -> None:
        """Let the track have another friction than its vehicle's description says.

        Raises:
            InvalidValueError: Negative or not finite.
        """
        what = f"friction of {self.name}"
        if finite(what, friction) < 0:
            raise InvalidValueError(what, "at least 0", friction)
        self.belt.set_friction(friction)

    def scale_drive(self, factor: float) -> None:
        """Let the drive be so many times as strong as its vehicle's description says.

        Raises:
            InvalidValueError: Not positive and finite.
        """
        what = f"drive force factor of {self.name}"
        if finite(what, factor) <= 0:
            raise InvalidValueError(what, "greater than 0", factor)
        self.drive.spec = self.part.drive.scaled(factor)

    def seat(self) -> None:
        """Let the belt's own bodies, if it has any, follow its mount after that was placed."""
        self.belt.seat()

    def account(self, reading: BeltReading) -> None:
        """Take in a step: book it, set the belt back if it is due, and tell the motors what changed."""
        self.drive.record_step(self.origin + reading.phase, reading.speed, reading.force)
        period = self.belt.period
        if period is not None and abs(reading.phase) > period / 2:
            self.origin += reading.phase - self.belt.roll_back(reading.phase)
            self.roll_backs += 1
        if self.drive.update_command():
            self._tell()

    def snapshot(self) -> dict[str, Any]:
        """What PyBullet's saved state does not hold."""
        return {
            "origin": self.origin,
            "roll_backs": self.roll_backs,
            "drive": self.drive.snapshot(),
            "belt": self.belt.snapshot(),
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go back to a snapshot."""
        self.origin, self.roll_backs = snapshot["origin"], snapshot["roll_backs"]
        self.drive.restore(snapshot["drive"])
        self.belt.restore(snapshot["belt"])
        self._tell()

    def _tell(self) -> None:
        self.belt.tell(self.drive.target, self.drive.limit)
