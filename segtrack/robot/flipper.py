"""One flipper of a robot: its state and its command."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pybullet

from segtrack.bullet.engine import needing
from segtrack.bullet.model import BuiltFlipper
from segtrack.errors import finite
from segtrack.robot.track import Track

_GAIN = 0.1
"""Share of its angle error that a flipper's motor aims to close in a step."""


class FlipperJoint:
    """A flipper of a robot: its state, read when asked for."""

    def __init__(self, client: int, body: int, built: BuiltFlipper, carried: Sequence[Track] = ()) -> None:
        """Hold where it stands."""
        self._client, self._body, self.built, self._carried = client, body, built, carried
        self._command: tuple[str, float] = ("angle", 0.0)

    @property
    def angle(self) -> float:
        """Tip raised above its line at angle 0 [rad]."""
        return self._state()[0]

    @property
    def speed(self) -> float:
        """Turning speed, raising positive [rad/s]."""
        return self._state()[1]

    @property
    def torque(self) -> float:
        """What its motor exerted in the raising direction in the last step [N m]."""
        return self._state()[3]

    def motion(self) -> tuple[float, float]:
        """Angle [rad] and turning speed [rad/s], raising positive, in one reading."""
        angle, speed, *_ = self._state()
        return angle, speed

    def set_angle(self, angle: float) -> None:
        """Move to an angle [rad], clipped to the limits, at no more than the flipper's speed and torque."""
        low, high = self.built.spec.limits
        self._command = (
            "angle",
            min(max(finite(f"angle of flipper {self.built.name} [rad]", angle), low), high),
        )
        self.apply()

    def set_speed(self, speed: float) -> None:
        """Turn at a speed [rad/s], clipped to the flipper's, until told otherwise or at a limit."""
        top = self.built.spec.max_speed
        self._command = (
            "speed",
            min(max(finite(f"speed of flipper {self.built.name} [rad/s]", speed), -top), top),
        )
        self.apply()

    def place(self, angle: float) -> None:
        """Put the flipper at an angle [rad] at once, at rest; for setting up a scene."""
        self.set_angle(angle)
        pybullet.resetJointState(self._body, self.built.joint, self._command[1], physicsClientId=self._client)
        for track in self._carried:
            track.seat()

    def apply(self) -> None:
        """Tell the joint motor the command."""
        with needing(self._client, f"command flipper {self.built.name}"):
            self._apply()

    def _apply(self) -> None:
        kind, value = self._command
        part = self.built.spec
        common: dict[str, Any] = {"force": part.max_torque, "physicsClientId": self._client}
        if kind == "speed":
            pybullet.setJointMotorControl2(
                self._body, self.built.joint, pybullet.VELOCITY_CONTROL, targetVelocity=value, **common
            )
            return
        pybullet.setJointMotorControl2(
            self._body,
            self.built.joint,
            pybullet.POSITION_CONTROL,
            targetPosition=value,
            positionGain=_GAIN,
            velocityGain=1.0,
            maxVelocity=part.max_speed,
            **common,
        )

    def snapshot(self) -> tuple[str, float]:
        """The command, which PyBullet's saved state does not hold."""
        return self._command

    def restore(self, command: tuple[str, float]) -> None:
        """Go back to a snapshot."""
        self._command = command
        self.apply()

    def _state(self) -> tuple[Any, ...]:
        with needing(self._client, f"read flipper {self.built.name}"):
            return pybullet.getJointState(self._body, self.built.joint, physicsClientId=self._client)
