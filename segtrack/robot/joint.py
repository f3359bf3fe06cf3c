"""Joint of a robot: state and commands, with the checks of users' arguments."""

from __future__ import annotations

from segtrack.description.joints import JointDesign
from segtrack.engine import JointModel, JointState
from segtrack.errors import NotReadyError, finite
from segtrack.robot.limits import CommandClipper


def check_own(design: JointDesign) -> None:
    """Refuse to move a joint that follows another one.

    Raises:
        NotReadyError: It does.
    """
    if design.mimicry is not None:
        raise NotReadyError(f"move joint {design.name}", f"it follows joint {design.mimicry.leader}")


def check_commanded(design: JointDesign) -> None:
    """Refuse to command a joint that has no servo of its own.

    Raises:
        NotReadyError: It has none, or follows another joint.
    """
    check_own(design)
    if design.servo is None:
        reason = f"it has no servo; joints.{design.name}.servo of the vehicle file gives it one"
        raise NotReadyError(f"command joint {design.name}", reason)


class Joint:
    """A joint of the body's URDF that the vehicle file lets move: its state, read when asked for.

    Attributes:
        model: The joint in its engine.
    """

    __slots__ = ("_clipper", "model")

    def __init__(self, model: JointModel, clipper: CommandClipper) -> None:
        """Take a joint of an engine's vehicle, and the clipper of its robot's commands."""
        self.model, self._clipper = model, clipper

    @property
    def name(self) -> str:
        """Name in the URDF."""
        return self.model.design.name

    @property
    def design(self) -> JointDesign:
        """Kind, axis, limits, servo, spring and damper."""
        return self.model.design

    @property
    def state(self) -> JointState:
        """Position, speed and the servo's force in one reading."""
        return self.model.state

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
        self.model.set_position(self.position_of(position))

    def set_speed(self, speed: float) -> None:
        """Let its servo move it at a speed [rad/s] or [m/s], clipped to its fastest, until told otherwise.

        Raises:
            InvalidValueError: Not a finite number.
            NotReadyError: It has no servo, or follows another joint.
        """
        self.model.set_speed(self.speed_of(speed))

    def place(self, position: float) -> None:
        """Set it to a position [rad] or [m], clipped to the limits, at once, at rest; to set up a scene.

        Raises:
            InvalidValueError: Not a finite number.
            NotReadyError: It follows another joint.
        """
        check_own(self.design)
        self.model.place(self._clipped("position", position, *self.design.limits))

    def position_of(self, position: float) -> float:
        """A commanded position within its limits [rad] or [m], see `set_position`."""
        check_commanded(self.design)
        return self._clipped("position", position, *self.design.limits)

    def speed_of(self, speed: float) -> float:
        """A commanded speed within its servo's [rad/s] or [m/s], see `set_speed`."""
        check_commanded(self.design)
        servo = self.design.servo
        assert servo is not None
        return self._clipped("speed", speed, -servo.max_speed, servo.max_speed)

    def _clipped(self, what: str, value: float, low: float, high: float) -> float:
        unit = "m" if self.design.kind == "prismatic" else "rad"
        words = f"{what} of joint {self.name} [{unit}{'/s' if what == 'speed' else ''}]"
        return self._clipper.clip(words, finite(words, value), low, high)
