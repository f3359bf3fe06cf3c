"""Belts whose joints PyBullet moves: dynamics, contact properties, motors and readings."""

from __future__ import annotations

from collections.abc import Iterable

import pybullet

from segtrack.bullet.client import connection_required
from segtrack.bullet.frames import link_motion, place_base, step_parts
from segtrack.bullet.model import Belt, BeltGroup, BeltReading, TrackJoints
from segtrack.description import TrackSpec
from segtrack.geometry import wrap_travel

_FREE = ({"maxJointVelocity": 1e6}, {"linearDamping": 0.0, "angularDamping": 0.0, "jointDamping": 0.0})
"""Dynamics of a link that nothing slows down; PyBullet ignores a joint's damping beside its largest speed."""
UNLIMITED_FORCE = 1e6
_RIGID_DAMPING = 1e9
"""Damping of a contact point that stops whatever lands on it within a step [N s/m]."""
_HOLD_GAIN = 0.2
"""Fraction of its offset that the motor of a held belt aims to close in a step."""
_LOCK_RATE = 40.0
"""Rate at which a locked joint's motor aims to close its offset [1/s].

A tuned value, between 20 and 100. Friction holds two belts at places on the ground to which their locks do
not agree, and a solver that has to make such locks move by more than its residual in a step never ends. With
a lower rate what it leaves over takes belts farther from home: by the residual's root over the rate.
"""
MAX_JOINTS = 127
"""Largest number of joints of one multibody that PyBullet can report."""


def free_joints(client: int, body: int, joints: Iterable[int]) -> None:
    """Take away Bullet's default motors and damping."""
    for joint in joints:
        pybullet.setJointMotorControl2(
            body, joint, pybullet.VELOCITY_CONTROL, targetVelocity=0, force=0, physicsClientId=client
        )
        free_link(client, body, joint)


def free_link(client: int, body: int, link: int) -> None:
    """Take away what slows a link and its joint down."""
    for settings in _FREE:
        pybullet.changeDynamics(body, link, physicsClientId=client, **settings)


def set_friction(client: int, body: int, links: Iterable[int], friction: float) -> None:
    """Give links a lateral friction, and none against rolling and spinning."""
    for link in links:
        pybullet.changeDynamics(
            body,
            link,
            lateralFriction=friction,
            rollingFriction=0,
            spinningFriction=0,
            physicsClientId=client,
        )


def lock_joints(client: int, body: int, joints: Iterable[int], step: float) -> None:
    """Hold joints at 0 in steps of a duration [s], with whatever force that takes."""
    for joint in joints:
        pybullet.setJointMotorControl2(
            body,
            joint,
            pybullet.POSITION_CONTROL,
            targetPosition=0,
            positionGain=_LOCK_RATE * step,
            velocityGain=1,
            force=UNLIMITED_FORCE,
            physicsClientId=client,
        )


def set_contact(client: int, body: int, links: Iterable[int], spec: TrackSpec) -> None:
    """Give links the contact properties of a track."""
    contact = spec.contact
    for link in links:
        set_friction(client, body, (link,), contact.friction)
        if contact.stiffness is not None and contact.damping is not None:
            set_stiffness(client, body, (link,), contact.stiffness, contact.damping)


def set_stiffness(client: int, body: int, links: Iterable[int], stiffness: float, damping: float) -> None:
    """Give links a stiffness [N/m] and a damping [N s/m] of each contact point."""
    for link in links:
        pybullet.changeDynamics(
            body, link, contactStiffness=stiffness, contactDamping=damping, physicsClientId=client
        )


class JointBelt(Belt):
    """A belt of a vehicle's own links.

    Attributes:
        motors: Places in `track_joints.joints` of the joints that the drive acts on, which share its force.
        give: Stiffness [N/m] and damping [N s/m] of each contact point; None for rigid ones.
    """

    def __init__(
        self,
        client: int,
        track_joints: TrackJoints,
        motors: tuple[int, ...],
        period: float | None,
        bodies: tuple[int, ...] = (),
        give: tuple[float, float] | None = None,
    ) -> None:
        """Take loaded joints; see `Belt` for what they are."""
        self._client, self.give = client, give
        self.track_joints, self.motors, self.period, self.bodies = track_joints, motors, period, bodies
        self.can_hold = len(motors) == 1  # Wheels that share a drive have no phase in common.
        self._locked_for = 0.0

    @property
    def segment_phases(self) -> list[float]:
        """Phase of each segment since home [m]; equal but for what the gears let slip."""
        joints = self.track_joints
        states = pybullet.getJointStates(joints.body, joints.joints, physicsClientId=self._client)
        return [state[0] / k for state, k in zip(states, joints.ratios, strict=True)]

    def prepare_step(self, step: float) -> None:
        """Lock the sliders across the track for a step [s]."""
        if step != self._locked_for:
            joints = self.track_joints
            lock_joints(self._client, joints.body, joints.lateral_joints, step)
            self._locked_for = step

    def set_rigid(self, rigid: bool) -> None:
        """Make soft contacts of the belt rigid, or soft again if `rigid` is False."""
        if self.give is not None:
            stiffness, damping = self.give
            joints, damping = self.track_joints, _RIGID_DAMPING if rigid else damping
            set_stiffness(self._client, joints.body, joints.joints, stiffness, damping)

    def set_motor_command(self, speed: float, limit: float) -> None:
        """Command the motors: a target speed of the belt [m/s] and a force limit [N], which they share."""
        joints = self.track_joints
        ratios = [joints.ratios[m] for m in self.motors]
        pybullet.setJointMotorControlArray(
            joints.body,
            [joints.joints[m] for m in self.motors],
            pybullet.VELOCITY_CONTROL,
            targetVelocities=[speed * k for k in ratios],
            forces=[limit / len(ratios) / abs(k) for k in ratios],
            physicsClientId=self._client,
        )

    def hold(self, phase: float, limit: float) -> None:
        """Hold a belt of one motor at a phase [m], with a force limit [N]."""
        joints, (motor,) = self.track_joints, self.motors
        k = joints.ratios[motor]
        pybullet.setJointMotorControl2(
            joints.body,
            joints.joints[motor],
            pybullet.POSITION_CONTROL,
            targetPosition=phase * k,
            positionGain=_HOLD_GAIN,
            velocityGain=1.0,
            force=limit / abs(k),
            physicsClientId=self._client,
        )

    def roll_back(self, phase: float) -> float:
        """Set the belt back into its period (Okada et al. 2020, section III-C).

        All segments are seated on exactly one phase, and their sliders at home, in one call, with their
        velocities kept; what contact solving let slip between them is gone.

        Args:
            phase: Its phase now [m].

        Returns:
            Its phase after [m].
        """
        joints = self.track_joints
        assert self.period is not None
        folded = wrap_travel(phase, self.period)
        moved = (*joints.joints, *joints.lateral_joints)
        states = pybullet.getJointStates(joints.body, moved, physicsClientId=self._client)
        pybullet.resetJointStatesMultiDof(
            joints.body,
            moved,
            [*([folded * k] for k in joints.ratios), *([0.0] for _ in joints.lateral_joints)],
            [[state[1]] for state in states],
            physicsClientId=self._client,
        )
        return folded

    def set_speed(self, speed: float) -> None:
        """Let all segments run at a speed [m/s], where they are."""
        joints = self.track_joints
        states = pybullet.getJointStates(joints.body, joints.joints, physicsClientId=self._client)
        pybullet.resetJointStatesMultiDof(
            joints.body,
            joints.joints,
            [[state[0]] for state in states],
            [[speed * k] for k in joints.ratios],
            physicsClientId=self._client,
        )

    def reset_to_mount(self) -> None:
        """Reset the belt's own bodies, if it has any, to their mount pose, at rest; their joints stay."""
        if not self.bodies:
            return
        parent = link_motion(self._client, self.track_joints.body, self.track_joints.parent_link)
        mount = self.spec.mount
        pose = pybullet.multiplyTransforms(
            parent.position, parent.orientation, mount.xyz, pybullet.getQuaternionFromEuler(mount.rpy)
        )
        for body in self.bodies:
            place_base(self._client, body, *pose)

    def set_friction(self, friction: float) -> None:
        """Set the track's friction against terrain of friction 1."""
        joints, client = self.track_joints, self._client
        with connection_required(client, f"set the friction of {self.name}", joints.body):
            if not self.bodies:
                set_friction(client, joints.body, joints.joints, friction)
            for body in self.bodies:
                count = pybullet.getNumJoints(body, physicsClientId=client)
                set_friction(client, body, range(count), friction)


class JointBeltGroup(BeltGroup):
    """All the driven joints of a vehicle, read in one call."""

    def __init__(self, client: int, body: int, belts: tuple[JointBelt, ...]) -> None:
        """Note which joints to read."""
        self._client, self._body = client, body
        self._ratios = [[belt.track_joints.ratios[m] for m in belt.motors] for belt in belts]
        self._joints = [belt.track_joints.joints[m] for belt in belts for m in belt.motors]

    def read(self) -> list[BeltReading]:
        """Read the state of all belts, in track order."""
        states = iter(pybullet.getJointStates(self._body, self._joints, physicsClientId=self._client))
        parts, readings = step_parts(self._client), []
        for ratios in self._ratios:
            position, speed, _, torque = next(states)
            k = ratios[0]
            phase, rate, force = position / k, speed / k, torque * k
            for k in ratios[1:]:
                position, speed, _, torque = next(states)
                phase, rate, force = phase + position / k, rate + speed / k, force + torque * k
            readings.append(BeltReading(phase / len(ratios), rate / len(ratios), parts * force))
        return readings
