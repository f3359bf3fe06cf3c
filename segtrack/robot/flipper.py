"""Flipper of a robot: state and commands, with the checks of users' arguments."""

from __future__ import annotations

from segtrack.description import FlipperSpec
from segtrack.engine import FlipperState, VehicleModel
from segtrack.robot.commands import Commands


class Flipper:
    """A flipper of a robot: its state, read when asked for."""

    __slots__ = ("_commands", "_joint", "_name", "_spec", "_vehicle")

    def __init__(
        self, vehicle: VehicleModel, joint: int, name: str, spec: FlipperSpec, commands: Commands
    ) -> None:
        """Be a flipper of an engine's vehicle, by the index of its joint."""
        self._vehicle, self._joint, self._commands = vehicle, joint, commands
        self._name, self._spec = name, spec

    @property
    def name(self) -> str:
        """Name in the vehicle."""
        return self._name

    @property
    def spec(self) -> FlipperSpec:
        """Its description."""
        return self._spec

    @property
    def state(self) -> FlipperState:
        """Angle, speed and torque in one reading."""
        return FlipperState(*self._vehicle.joint_state(self._joint))

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
        angle = float(self._commands.joint(self._joint, False, angle))
        self._vehicle.command_joint(self._joint, False, angle)

    def set_speed(self, speed: float) -> None:
        """Turn at a speed [rad/s], clipped to the flipper's, until told otherwise or at a limit.

        Raises:
            InvalidValueError: Not a finite number.
        """
        speed = float(self._commands.joint(self._joint, True, speed))
        self._vehicle.command_joint(self._joint, True, speed)

    def place(self, angle: float) -> None:
        """Set the flipper to an angle [rad], clipped to the limits, at once, at rest; to set up a scene.

        Raises:
            InvalidValueError: Not a finite number.
        """
        self._vehicle.place_joint(self._joint, float(self._commands.place(self._joint, angle)))
