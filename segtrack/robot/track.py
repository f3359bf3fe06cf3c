"""One track of a robot: its belt's state, its command, its account."""

from __future__ import annotations

from typing import Any

from segtrack.bullet.engine import needing
from segtrack.bullet.frames import link_motion
from segtrack.bullet.joints import (
    BeltReading,
    mount_link,
    roll_back,
    seat_bodies,
    segment_phases,
    set_friction,
    tell_motors,
)
from segtrack.bullet.model import BuiltTrack
from segtrack.drive import BeltDrive
from segtrack.errors import InvalidValueError, finite
from segtrack.geometry.rotation import rotation_of


class Track:
    """One track of a robot. Its belt is as it was read last, before the latest step.

    Attributes:
        built: Its joints.
        drive: Its drive and account.
        origin: Belt travel at which the segments are home [m].
        roll_backs: How often it has been set back.
    """

    def __init__(self, client: int, built: BuiltTrack) -> None:
        """Start with the belt at rest."""
        self._client, self.built = client, built
        self._mount_link = mount_link(client, built.jointed)
        self.drive = BeltDrive(built.part.drive)
        self.origin = 0.0
        self.roll_backs = 0
        self._tell()

    @property
    def name(self) -> str:
        """Full name in the vehicle."""
        return self.built.name

    @property
    def side(self) -> str:
        """`left`, `center` or `right`, by the mount's y."""
        return self.built.jointed.mounted.side

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
        carrier = link_motion(self._client, self.built.jointed.body, self._mount_link)
        mount = self.built.part.mount
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
            return segment_phases(self._client, self.built)

    def set_speed(self, speed: float) -> None:
        """Command the belt speed [m/s]; clipped to the drive's top speed.

        Raises:
            InvalidValueError: Not a finite number.
        """
        top = self.drive.part.top_speed
        self.drive.command = min(max(finite(f"belt speed of {self.name} [m/s]", speed), -top), top)

    def set_friction(self, friction: float) -> None:
        """Let the track have another friction than its vehicle's description says.

        Raises:
            InvalidValueError: Negative or not finite.
        """
        what = f"friction of {self.name}"
        if finite(what, friction) < 0:
            raise InvalidValueError(what, "at least 0", friction)
        jointed = self.built.jointed
        with needing(self._client, f"set the {what}"):
            set_friction(self._client, jointed.body, jointed.joints, friction)

    def scale_drive(self, factor: float) -> None:
        """Let the drive be so many times as strong as its vehicle's description says.

        Raises:
            InvalidValueError: Not positive and finite.
        """
        what = f"drive force factor of {self.name}"
        if finite(what, factor) <= 0:
            raise InvalidValueError(what, "greater than 0", factor)
        self.drive.part = self.built.part.drive.scaled(factor)

    def seat(self) -> None:
        """Let the belt's own bodies, if it has any, follow its mount after that was placed."""
        seat_bodies(self._client, self.built)

    def account(self, reading: BeltReading) -> None:
        """Take in a step: book it, set the belt back if it is due, and tell the motors what changed."""
        self.drive.account(self.origin + reading.phase, reading.speed, reading.force)
        period = self.built.period
        if period is not None and abs(reading.phase) > period / 2:
            self.origin += reading.phase - roll_back(self._client, self.built, reading.phase)
            self.roll_backs += 1
        if self.drive.decide():
            self._tell()

    def snapshot(self) -> dict[str, Any]:
        """What PyBullet's saved state does not hold."""
        return {"origin": self.origin, "roll_backs": self.roll_backs, "drive": self.drive.snapshot()}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go back to a snapshot."""
        self.origin, self.roll_backs = snapshot["origin"], snapshot["roll_backs"]
        self.drive.restore(snapshot["drive"])
        self._tell()

    def _tell(self) -> None:
        tell_motors(self._client, self.built, self.drive.target, self.drive.limit)
