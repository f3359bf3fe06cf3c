"""Joints of a body's URDF that move in PyBullet: servos, springs, dampers, buffers, and joints that follow.

PyBullet's motors are the servos and the dry friction; springs, dampers and buffers are torques of the instant
before each step. A servo's friction is taken off its largest force, since a joint has one motor.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import pybullet

from segtrack.bullet.frames import LoopGuard, step_parts
from segtrack.bullet.model import LoadedJoint, LoadedVehicle, MotorAim
from segtrack.description import vehicle_links
from segtrack.description.joints import JointDesign, joint_inertias
from segtrack.engine import JointState
from segtrack.errors import InvalidValueError

_LARGEST_GAIN = 0.5
"""Largest fraction of its position error that a servo aims to close in a step."""
_MARGIN = 0.5
"""Allowed fraction of the longest step at which a spring and a damper are stable."""
_GEAR = {"maxForce": 1e9, "erp": 0.2}
"""Settings of the constraint by which a joint follows another one."""


class JointCommand(NamedTuple):
    """Command of a servo.

    Attributes:
        kind: Position to go to, or speed to move at.
        value: [rad] or [m]; [rad/s] or [m/s]
        reference: Position that a servo with gains aims at now [rad] or [m].
    """

    kind: Literal["position", "speed"]
    value: float
    reference: float


class BulletJoint:
    """A moving joint of a loaded vehicle; its state is read when asked for.

    Attributes:
        design: The joint.
        joint: PyBullet's index of it.
        command: Command of its servo.
        torque: Torque [N m] or force [N] of a servo with gains in the last step.
    """

    def __init__(
        self, client: int, body: int, loaded: LoadedJoint, guard: LoopGuard, moved: Callable[[int], None]
    ) -> None:
        """Take a loaded joint; `moved` is called with its index when it has been placed."""
        self._guard = guard
        self._client, self._body, self.design, self.joint = client, body, loaded.design, loaded.joint
        self._moved = moved
        self.followers: list[BulletJoint] = []
        self.command, self.torque = JointCommand("position", 0.0, 0.0), 0.0
        self._aim = MotorAim(0.0, 0.0, 0.0)

    @property
    def state(self) -> JointState:
        """The joint after the latest step."""
        self._guard.require_present(f"read joint {self.design.name}")
        position, speed, _, force = pybullet.getJointState(
            self._body, self.joint, physicsClientId=self._client
        )
        force *= step_parts(self._client)
        servo = self.design.servo
        if servo is None:
            force = 0.0
        return JointState(position, speed, self.torque if servo and servo.stiffness > 0 else force)

    def move(self, as_speed: bool, value: float) -> None:
        """Let its servo move it, see `VehicleModel.command_joint`."""
        self._guard.require_present(f"command joint {self.design.name}")
        self.command = JointCommand("speed" if as_speed else "position", value, self.command.reference)

    def place(self, position: float) -> None:
        """Set the joint to a position [rad] or [m] within the limits at once, at rest; a servo holds it."""
        self._guard.require_present(f"place joint {self.design.name}")
        self.command, self.torque = JointCommand("position", position, position), 0.0
        pybullet.resetJointState(self._body, self.joint, position, physicsClientId=self._client)
        for follower in self.followers:
            rule = follower.design.mimicry
            assert rule is not None
            follower.place(rule.offset + rule.multiplier * position)
        self._moved(self.joint)

    def apply(self, step: float) -> None:
        """Command its motor and load it with its springs for the next step [s]."""
        design, client = self.design, self._client
        position, speed, *_ = pybullet.getJointState(self._body, self.joint, physicsClientId=client)
        force, servo = design.passive_force(position, speed), design.servo
        aim = MotorAim(0.0, design.friction, 0.0)
        if servo is None or servo.stiffness > 0:
            friction = {"targetVelocity": 0.0, "force": design.friction}
            pybullet.setJointMotorControl2(
                self._body, self.joint, pybullet.VELOCITY_CONTROL, physicsClientId=client, **friction
            )
        if servo is not None and servo.stiffness > 0:
            most = servo.max_speed * step
            kind, value, before = self.command
            gained = value * step if kind == "speed" else min(max(value - before, -most), most)
            # No farther ahead than its largest force reaches.
            lead = servo.max_force / servo.stiffness
            after = min(max(before + gained, position - lead), position + lead)
            after = min(max(after, design.limits[0]), design.limits[1])
            pace = min(max((after - before) / step, -servo.max_speed), servo.max_speed)
            self.command = JointCommand(kind, value, after)
            aimed = servo.stiffness * (after - position) + servo.damping * (pace - speed)
            self.torque = min(max(aimed, -servo.max_force), servo.max_force)
            force += self.torque
        elif servo is not None:
            # Friction helps to brake.
            kind, value, _ = self.command
            ahead = value - (speed if kind == "speed" else position)
            helps = design.friction if ahead * speed < 0.0 else -design.friction
            strength = max(servo.max_force + helps, 0.0)
            gain, most = min(servo.rate * step, _LARGEST_GAIN), servo.max_speed
            self._drive(strength, most, gain)
            pace = value if kind == "speed" else min(max(gain * ahead / step, -most), most)
            aim = MotorAim(pace, strength, 0.0)
        self._aim = aim._replace(load=force)
        if force != 0.0:
            pybullet.setJointMotorControl2(
                self._body, self.joint, pybullet.TORQUE_CONTROL, force=force, physicsClientId=client
            )

    def motor(self, position: float, step: float) -> MotorAim:
        """Aim of its motor, and load of its springs, in the next step, as `apply` has told PyBullet."""
        rule = self.design.mimicry
        return self._aim if rule is None else MotorAim(0.0, math.inf, 0.0)

    def _drive(self, strength: float, max_speed: float, gain: float) -> None:
        """Command the motor of a stiff servo."""
        kind, value, _ = self.command
        if kind == "speed":
            mode, aim = pybullet.VELOCITY_CONTROL, {"targetVelocity": value}
        else:
            mode, aim = pybullet.POSITION_CONTROL, {"targetPosition": value, "positionGain": gain}
            aim |= {"velocityGain": 1.0, "maxVelocity": max_speed}
        pybullet.setJointMotorControl2(
            self._body, self.joint, mode, **aim, force=strength, physicsClientId=self._client
        )


class Mechanism:
    """All moving joints of a loaded vehicle.

    Attributes:
        joints: The joints, each after those that carry it.
    """

    def __init__(
        self, client: int, loaded: LoadedVehicle, guard: LoopGuard, moved: Callable[[int], None]
    ) -> None:
        """Put the joints where they start; `moved` is called with the index of each that is placed."""
        self._vehicle, self._checked = loaded.description, math.nan
        self.joints = tuple(BulletJoint(client, loaded.body, joint, guard, moved) for joint in loaded.joints)
        named = {joint.design.name: joint for joint in self.joints}
        for joint in self.joints:
            rule = joint.design.mimicry
            if rule is not None:
                leader = named[rule.leader]
                leader.followers.append(joint)
                gear = pybullet.createConstraint(
                    loaded.body,
                    leader.joint,
                    loaded.body,
                    joint.joint,
                    pybullet.JOINT_GEAR,
                    [0, 1, 0],
                    [0, 0, 0],
                    [0, 0, 0],
                    physicsClientId=client,
                )
                pybullet.changeConstraint(
                    gear,
                    gearRatio=-1 / rule.multiplier,
                    relativePositionTarget=-rule.offset / rule.multiplier,
                    physicsClientId=client,
                    **_GEAR,
                )
        for joint in self.joints:
            if joint.design.mimicry is None:
                joint.place(joint.design.initial_position)

    def apply(self, step: float) -> None:
        """Command the joints for the next step.

        Args:
            step: Duration of the step [s].

        Raises:
            InvalidValueError: The step is too long for a spring or damper.
        """
        if self.joints and step != self._checked:
            self._check_step(step)
            self._checked = step
        for joint in self.joints:
            joint.apply(step)

    def snapshot(self) -> list[tuple[JointCommand, float]]:
        """Return the commands, which PyBullet's own saved state lacks."""
        return [(joint.command, joint.torque) for joint in self.joints]

    def restore(self, snapshot: Sequence[tuple[JointCommand, float]]) -> None:
        """Go back to a snapshot."""
        for joint, (command, torque) in zip(self.joints, snapshot, strict=True):
            joint.command, joint.torque = command, torque

    def _check_step(self, step: float) -> None:
        """Refuse a step at which a spring or damper would feed its oscillation."""
        inertias = joint_inertias(vehicle_links(self._vehicle), self._vehicle.body.fixed)
        for joint, inertia in zip(self.joints, inertias[-len(self.joints) :].tolist(), strict=True):
            stiffness, damping = steepest(joint.design)
            # Semi-implicit Euler is stable while 4 I - 2 h c - h^2 k is positive.
            longest = 4 * inertia / (damping + math.sqrt(damping**2 + 4 * inertia * stiffness) or math.inf)
            if longest > 0 and step > _MARGIN * longest:
                expected = (
                    f"at most {_MARGIN * longest:.3g} in PyBullet for the springs and dampers of joint "
                    f"{joint.design.name}"
                )
                raise InvalidValueError("time_step [s]", expected, step)


def steepest(design: JointDesign) -> tuple[float, float]:
    """Largest stiffness and damping that can act on a joint at a time, without a motor's."""
    stops = [stop for stop in design.stops if stop is not None]
    stiffness = max((stop.stiffness for stop in stops), default=0.0)
    damping = max((stop.damping for stop in stops), default=0.0)
    if design.spring is not None:
        stiffness += max(-design.spring.slope(x) for x in design.spring.points[:, 0].tolist())
    if design.damper is not None:
        damping += max(design.damper.slope(x) for x in design.damper.points[:, 0].tolist())
    if design.servo is not None:
        stiffness, damping = stiffness + design.servo.stiffness, damping + design.servo.damping
    return stiffness, damping
