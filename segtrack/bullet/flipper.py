"""One flipper in PyBullet: a hinge and its motor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import pybullet

from segtrack.bullet.client import connection_required
from segtrack.bullet.model import LoadedFlipper
from segtrack.bullet.track import BulletTrack
from segtrack.engine import FlipperModel, FlipperState

_GAIN = 0.1
"""Fraction of its angle error that a flipper's motor aims to close in a step."""


class FlipperCommand(NamedTuple):
    """Command of a flipper's motor: an angle [rad] to go to, or a speed [rad/s] to turn at."""

    kind: Literal["angle", "speed"]
    value: float


class BulletFlipper(FlipperModel):
    """A flipper of a loaded vehicle; its state is read when asked for.

    Attributes:
        command: Of its motor.
    """

    def __init__(self, client: int, body: int, loaded: LoadedFlipper, tracks: Sequence[BulletTrack]) -> None:
        """Take a loaded joint and the tracks that sit on the flipper."""
        self._client, self._body, self._joint, self._tracks = client, body, loaded.joint, tracks
        self.name, self.spec = loaded.name, loaded.spec
        self.command = FlipperCommand("angle", 0.0)

    @property
    def state(self) -> FlipperState:
        """The flipper after the latest step."""
        with connection_required(self._client, f"read flipper {self.name}", self._body):
            angle, speed, _, torque = pybullet.getJointState(
                self._body, self._joint, physicsClientId=self._client
            )
        return FlipperState(angle, speed, torque)

    def set_angle(self, angle: float) -> None:
        """Move to an angle [rad] within the limits, at no more than the flipper's speed and torque."""
        self.set_motor_command(FlipperCommand("angle", angle))

    def set_speed(self, speed: float) -> None:
        """Turn at a speed [rad/s] that the flipper can reach, until told otherwise or at a limit."""
        self.set_motor_command(FlipperCommand("speed", speed))

    def place(self, angle: float) -> None:
        """Set the flipper to an angle [rad] within the limits at once, at rest, and hold it there."""
        self.set_angle(angle)
        pybullet.resetJointState(self._body, self._joint, angle, physicsClientId=self._client)
        for track in self._tracks:
            track.reset_to_mount()

    def set_motor_command(self, command: FlipperCommand) -> None:
        """Command the joint motor."""
        self.command = command
        common: dict[str, Any] = {"force": self.spec.max_torque, "physicsClientId": self._client}
        with connection_required(self._client, f"command flipper {self.name}", self._body):
            if command.kind == "speed":
                pybullet.setJointMotorControl2(
                    self._body, self._joint, pybullet.VELOCITY_CONTROL, targetVelocity=command.value, **common
                )
                return
            pybullet.setJointMotorControl2(
                self._body,
                self._joint,
                pybullet.POSITION_CONTROL,
                targetPosition=command.value,
                positionGain=_GAIN,
                velocityGain=1.0,
                maxVelocity=self.spec.max_speed,
                **common,
            )
