"""Belt and flipper in PyBullet: drive and joint motors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import pybullet

from segtrack.bullet.client import connection_required
from segtrack.bullet.frames import LoopGuard, step_parts
from segtrack.bullet.model import Belt, BeltReading, LoadedFlipper, MotorAim
from segtrack.engine import DriveController, JointState

_REST_SPEED = 2e-3
"""A belt slower than this [m/s] that is told to stand has come to rest."""
_BACKLASH = 2e-5
"""A held belt that its drive's whole force leaves farther than this from its place [m] is driven back."""
_AT_LIMIT = 0.98
"""A drive that exerts this fraction of its force limit is overloaded; Bullet's solver leaves the rest
over."""


class BulletTrack:
    """A track of a loaded vehicle: its belt, and the drive that moves it.

    A motor that holds a speed of 0 forgets where its belt stood, and what Bullet's solver leaves over in
    each step adds up to a creep. A belt that is told to stand and has come to rest is therefore held at its
    phase, with the force that its drive has, until it is commanded otherwise or a load drives it back.

    Attributes:
        mounted: The track as the vehicle file has it.
        belt: Belt in PyBullet.
        drive: The belt's drive, with its travel and work.
        friction: Friction of the track against terrain of friction 1 [-].
        home_travel: Belt travel at which the segments are home [m].
        roll_backs: Number of times that the belt has been set back.
        held_phase: Phase at which the belt is held [m]; None where its motor holds a speed.
    """

    def __init__(self, belt: Belt) -> None:
        """Start with the belt at rest."""
        self.belt, self.mounted = belt, belt.track_joints.mounted
        self.drive = DriveController(self.mounted.spec.drive)
        self.friction = self.mounted.spec.contact.friction
        self.home_travel = 0.0
        self.roll_backs = 0
        self.held_phase: float | None = None
        self._set_motor_command()

    def set_friction(self, friction: float) -> None:
        """Set the track's friction against terrain of friction 1, >= 0."""
        self.belt.set_friction(friction)
        self.friction = friction

    def reset_to_mount(self) -> None:
        """Reset the belt's own bodies, if it has any, to their mount pose, at rest."""
        self.drive.reference = 0.0
        self.belt.reset_to_mount()

    def run_belt(self, speed: float) -> None:
        """Let the belt run at a speed [m/s], on a link that only translates."""
        self.drive.speed = self.drive.reference = speed
        self.held_phase = None
        self._set_motor_command()
        self.belt.set_speed(speed)

    def book(self, reading: BeltReading, taken: float) -> None:
        """Record travel and work of the latest step, which has taken that long [s]."""
        self.drive.record_step(self.home_travel + reading.phase, reading.speed, reading.force, taken)

    def record_step(self, reading: BeltReading, taken: float, step: float) -> None:
        """Record a step, roll the belt back if due, and send changed motor commands.

        Args:
            reading: The belt after the latest step.
            taken: Duration of that step [s].
            step: Duration of the next step [s].
        """
        self.belt.prepare_step(step)
        self.book(reading, taken)
        period = self.belt.period
        phase, held = reading.phase, self.held_phase
        if period is not None and abs(phase) > period / 2:
            phase = self.belt.roll_back(reading.phase)
            self.home_travel += reading.phase - phase
            self.roll_backs += 1
            if self.held_phase is not None:
                self.held_phase += phase - reading.phase
        changed = self.drive.update_command(step)
        if self.belt.can_hold:
            self.held_phase = self._phase_to_hold(phase)
        if changed or self.held_phase != held:
            self._set_motor_command()

    def _phase_to_hold(self, phase: float) -> float | None:
        """Phase at which the belt is held in the next step [m], or None, given its phase now [m]."""
        drive = self.drive
        if drive.target != 0.0 or drive.limit == 0.0:
            return None
        overloaded = abs(drive.force) >= _AT_LIMIT * drive.limit
        if self.held_phase is None:
            return phase if abs(drive.speed) < _REST_SPEED and not overloaded else None
        return None if overloaded and abs(phase - self.held_phase) > _BACKLASH else self.held_phase

    def snapshot(self) -> dict[str, Any]:
        """Return the state that PyBullet's own saved state lacks."""
        return {
            "home_travel": self.home_travel,
            "roll_backs": self.roll_backs,
            "drive": self.drive.snapshot(),
            "friction": self.friction,
            "held_phase": self.held_phase,
            "belt": self.belt.snapshot(),
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go back to a snapshot."""
        self.home_travel, self.roll_backs = snapshot["home_travel"], snapshot["roll_backs"]
        self.drive.restore(snapshot["drive"])
        self.held_phase = snapshot["held_phase"]
        if self.friction != snapshot["friction"]:  # Of many links, each of which must be told.
            self.set_friction(snapshot["friction"])
        self.belt.restore(snapshot["belt"])
        self._set_motor_command()

    def _set_motor_command(self) -> None:
        if self.held_phase is None:
            self.belt.set_motor_command(self.drive.target, self.drive.limit)
        else:
            self.belt.hold(self.held_phase, self.drive.limit)


_GAIN = 0.1
"""Fraction of its angle error that a flipper's motor aims to close in a step."""


class FlipperCommand(NamedTuple):
    """Command of a flipper's motor: an angle [rad] to go to, or a speed [rad/s] to turn at."""

    kind: Literal["angle", "speed"]
    value: float


class BulletFlipper:
    """A flipper of a loaded vehicle; its state is read when asked for.

    Attributes:
        name: Name in its vehicle.
        spec: Its description.
        joint: PyBullet's index of its joint.
        command: Command of its motor.
    """

    def __init__(
        self, client: int, body: int, loaded: LoadedFlipper, guard: LoopGuard, moved: Callable[[int], None]
    ) -> None:
        """Take a loaded joint; `moved` is called with its index when it has been placed."""
        self._guard = guard
        self._client, self._body, self.joint, self._moved = client, body, loaded.joint, moved
        self.name, self.spec = loaded.name, loaded.spec
        self.command = FlipperCommand("angle", 0.0)

    @property
    def state(self) -> JointState:
        """The flipper after the latest step, raising positive."""
        self._guard.require_present(f"read flipper {self.name}")
        with connection_required(self._client, f"read flipper {self.name}", self._body):
            angle, speed, _, torque = pybullet.getJointState(
                self._body, self.joint, physicsClientId=self._client
            )
            parts = step_parts(self._client)
        return JointState(angle, speed, parts * torque)

    def move(self, as_speed: bool, value: float) -> None:
        """Go to an angle [rad], or turn at a speed [rad/s], see `VehicleModel.command_joint`."""
        self.set_motor_command(FlipperCommand("speed" if as_speed else "angle", value))

    def place(self, angle: float) -> None:
        """Set the flipper to an angle [rad] within the limits at once, at rest, and hold it there."""
        self.set_motor_command(FlipperCommand("angle", angle))
        pybullet.resetJointState(self._body, self.joint, angle, physicsClientId=self._client)
        self._moved(self.joint)

    def motor(self, angle: float, step: float) -> MotorAim:
        """Aim of its motor in the next step [s], the flipper at an angle [rad]."""
        kind, value = self.command
        most = self.spec.max_speed
        speed = value if kind == "speed" else min(max(_GAIN * (value - angle) / step, -most), most)
        return MotorAim(speed, self.spec.max_torque, 0.0)

    def set_motor_command(self, command: FlipperCommand) -> None:
        """Command the joint motor."""
        self._guard.require_present(f"command flipper {self.name}")
        self.command = command
        common: dict[str, Any] = {"force": self.spec.max_torque, "physicsClientId": self._client}
        with connection_required(self._client, f"command flipper {self.name}", self._body):
            if command.kind == "speed":
                pybullet.setJointMotorControl2(
                    self._body, self.joint, pybullet.VELOCITY_CONTROL, targetVelocity=command.value, **common
                )
                return
            pybullet.setJointMotorControl2(
                self._body,
                self.joint,
                pybullet.POSITION_CONTROL,
                targetPosition=command.value,
                positionGain=_GAIN,
                velocityGain=1.0,
                maxVelocity=self.spec.max_speed,
                **common,
            )
