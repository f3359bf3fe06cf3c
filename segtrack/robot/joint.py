"""Joint of a robot: state and commands, with the checks of users' arguments."""

from __future__ import annotations

from segtrack.description.joints import JointDesign
from segtrack.engine import JointState, VehicleModel
from segtrack.robot.commands import Commands


class Joint:
    """A joint of the body's URDF that the vehicle file lets move: its state, read when asked for."""

    __slots__ = ("_commands", "_design", "_joint", "_vehicle")

    def __init__(self, vehicle: VehicleModel, joint: int, design: JointDesign, commands: Commands) -> None:
        """Be a joint of an engine's vehicle, by its index after the flippers'."""
        self._vehicle, self._joint, self._design, self._commands = vehicle, joint, design, commands

    @property
    def name(self) -> str:
        """Name in the URDF."""
        return self._design.name

    @property
    def design(self) -> JointDesign:
        """Kind, axis, limits, servo, spring and damper."""
        return self._design

    @property
    def state(self) -> JointState:
        """Position, speed and the servo's force in one reading."""
        return self._vehicle.joint_state(self._joint)

    @property
    def position(self) -> float:
        """Position [rad] or [m]."""
        return self.state.position

    @property
    def speed(self) -> float:
        """Speed [rad/s] or [m/s]."""
        return self.state.speed

    @property
    def force(self) -> float:
        """Torque [N m] or force [N] of its servo in the last step; 0 without one."""
        return self.state.force

    @property
    def passive_force(self) -> float:
        """Torque [N m] or force [N] of spring, damper and buffers now; dry friction is not counted."""
        state = self.state
        return self.design.passive_force(state.position, state.speed)

    def set_position(self, position: float) -> None:
        """Let its servo move it to a position [rad] or [m], clipped to the limits.

        Raises:
            InvalidValueError: Not a finite number.
            NotReadyError: It has no servo, or follows another joint.
        """
        position = float(self._commands.joint(self._joint, False, position))
        self._vehicle.command_joint(self._joint, False, position)

    def set_speed(self, speed: float) -> None:
        """Let its servo move it at a speed [rad/s] or [m/s], clipped to its fastest, until told otherwise.

        Raises:
            InvalidValueError: Not a finite number.
            NotReadyError: It has no servo, or follows another joint.
        """
        speed = float(self._commands.joint(self._joint, True, speed))
        self._vehicle.command_joint(self._joint, True, speed)

    def place(self, position: float) -> None:
        """Set it to a position [rad] or [m], clipped to the limits, at once, at rest; to set up a scene.

        Raises:
            InvalidValueError: Not a finite number.
            NotReadyError: It follows another joint.
        """
        self._vehicle.place_joint(self._joint, float(self._commands.place(self._joint, position)))
