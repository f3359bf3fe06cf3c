"""Flipper of a robot: state and commands, with the checks of users' arguments."""

from __future__ import annotations

from segtrack.description import FlipperSpec
from segtrack.engine import FlipperModel, FlipperState
from segtrack.errors import finite
from segtrack.robot.limits import CommandClipper
from segtrack.robot.track import angle_of


class Flipper:
    """A flipper of a robot: its state, read when asked for.

    Attributes:
        model: The flipper in its engine.
    """

    __slots__ = ("_clipper", "model")

    def __init__(self, model: FlipperModel, clipper: CommandClipper) -> None:
        """Take a flipper of an engine's vehicle, and the clipper of its robot's commands."""
        self.model, self._clipper = model, clipper

    @property
    def name(self) -> str:
        """Name in the vehicle."""
        return self.model.name

    @property
    def spec(self) -> FlipperSpec:
        """Its description."""
        return self.model.spec

    @property
    def state(self) -> FlipperState:
        """Angle, speed and torque in one reading."""
        return self.model.state

    @property
    def angle(self) -> float:
        """Tip raised above its line at angle 0 [rad]."""
        return self.state.angle

    @property
    def speed(self) -> float:
        """Turning speed, raising positive [rad/s]."""
        return self.state.speed

    @property
    def torque(self) -> float:
        """Torque of its motor in the raising direction in the last step [N m]."""
        return self.state.torque

    def set_angle(self, angle: float) -> None:
        """Move to an angle [rad], clipped to the limits, at no more than the flipper's speed and torque.

        Raises:
            InvalidValueError: Not a finite number.
        """
        self.model.set_angle(angle_of(self._clipper, self.name, angle, self.spec.limits))

    def set_speed(self, speed: float) -> None:
        """Turn at a speed [rad/s], clipped to the flipper's, until told otherwise or at a limit.

        Raises:
            InvalidValueError: Not a finite number.
        """
        model = self.model
        what, top = f"speed of flipper {model.name} [rad/s]", model.spec.max_speed
        model.set_speed(self._clipper.clip(what, finite(what, speed), -top, top))

    def place(self, angle: float) -> None:
        """Set the flipper to an angle [rad], clipped to the limits, at once, at rest; to set up a scene.

        Raises:
            InvalidValueError: Not a finite number.
        """
        self.model.place(angle_of(self._clipper, self.name, angle, self.spec.limits))
