"""Reading, telling and setting back a belt's joints: PyBullet's tuples become names here, once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import pybullet

from segtrack.bullet.frames import link_motion, place_base
from segtrack.bullet.model import BuiltTrack, JointedTrack
from segtrack.description.track import TrackPart
from segtrack.geometry.phase import wrap_travel

FREE = {"linearDamping": 0.0, "angularDamping": 0.0, "jointDamping": 0.0, "maxJointVelocity": 1e6}
"""Dynamics of a link that nothing slows down."""
MOST_JOINTS = 127
"""What PyBullet can report of one multibody."""


class BeltReading(NamedTuple):
    """A belt as its joints show it; the mean of its motors, where it has several.

    Attributes:
        phase: Travel since home, within half a period unless the belt is never set back [m].
        speed: [m/s]
        force: What the motors exert along the belt's travel [N].
    """

    phase: float
    speed: float
    force: float


class MotorReader:
    """Reads all the driven joints of a vehicle in one call."""

    def __init__(self, client: int, body: int, tracks: tuple[BuiltTrack, ...]) -> None:
        """Note which joints to read."""
        self._client, self._body = client, body
        self._ratios = [[track.jointed.ratios[m] for m in track.motors] for track in tracks]
        self._joints = [track.jointed.joints[m] for track in tracks for m in track.motors]

    def read(self) -> list[BeltReading]:
        """The belts, in the order of the tracks."""
        states = iter(pybullet.getJointStates(self._body, self._joints, physicsClientId=self._client))
        belts = []
        for ratios in self._ratios:
            position, speed, _, torque = next(states)
            k = ratios[0]
            phase, rate, force = position / k, speed / k, torque * k
            for k in ratios[1:]:
                position, speed, _, torque = next(states)
                phase, rate, force = phase + position / k, rate + speed / k, force + torque * k
            belts.append(BeltReading(phase / len(ratios), rate / len(ratios), force))
        return belts


def free_joints(client: int, body: int, joints: Iterable[int]) -> None:
    """Take away Bullet's default motors and damping."""
    for joint in joints:
        pybullet.setJointMotorControl2(
            body, joint, pybullet.VELOCITY_CONTROL, targetVelocity=0, force=0, physicsClientId=client
        )
        pybullet.changeDynamics(body, joint, physicsClientId=client, **FREE)


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


def set_contact(client: int, body: int, links: Iterable[int], part: TrackPart) -> None:
    """Give links the contact properties of a track."""
    contact = part.contact
    for link in links:
        set_friction(client, body, (link,), contact.friction)
        if contact.stiffness is not None:
            pybullet.changeDynamics(
                body,
                link,
                contactStiffness=contact.stiffness,
                contactDamping=contact.damping,
                physicsClientId=client,
            )


def mount_link(client: int, track: JointedTrack) -> int:
    """PyBullet's number of the link that carries a track; -1 is the root."""
    return int(pybullet.getJointInfo(track.body, track.joints[0], physicsClientId=client)[16])


def seat_bodies(client: int, track: BuiltTrack) -> None:
    """Put a belt's own bodies where its mount is, at rest; their joints stay as they are."""
    if not track.bodies:
        return
    carrier = link_motion(client, track.jointed.body, mount_link(client, track.jointed))
    mount = track.part.mount
    pose = pybullet.multiplyTransforms(
        carrier.position, carrier.orientation, mount.xyz, pybullet.getQuaternionFromEuler(mount.rpy)
    )
    for body in track.bodies:
        place_base(client, body, *pose)


def tell_motors(client: int, track: BuiltTrack, speed: float, limit: float) -> None:
    """Give a belt's motors a target speed [m/s] and a force limit [N], which they share."""
    jointed = track.jointed
    ratios = [jointed.ratios[m] for m in track.motors]
    pybullet.setJointMotorControlArray(
        jointed.body,
        [jointed.joints[m] for m in track.motors],
        pybullet.VELOCITY_CONTROL,
        targetVelocities=[speed * k for k in ratios],
        forces=[limit / len(ratios) / abs(k) for k in ratios],
        physicsClientId=client,
    )


def roll_back(client: int, track: BuiltTrack, phase: float) -> float:
    """Set a belt back into its period (Okada et al. 2020, section III-C).

    All segments are seated on exactly one phase, in one call, with their velocities
    kept; what contact solving let slip between them is gone.

    Args:
        client: PyBullet's client number.
        track: The belt.
        phase: Its phase now [m].

    Returns:
        Its phase after [m].
    """
    jointed = track.jointed
    assert track.period is not None
    folded = wrap_travel(phase, track.period)
    states = pybullet.getJointStates(jointed.body, jointed.joints, physicsClientId=client)
    pybullet.resetJointStatesMultiDof(
        jointed.body,
        jointed.joints,
        [[folded * k] for k in jointed.ratios],
        [[state[1]] for state in states],
        physicsClientId=client,
    )
    return folded


def segment_phases(client: int, track: BuiltTrack) -> list[float]:
    """The phase of each segment of a belt [m]; they differ by what the gears let slip."""
    jointed = track.jointed
    states = pybullet.getJointStates(jointed.body, jointed.joints, physicsClientId=client)
    return [state[0] / k for state, k in zip(states, jointed.ratios, strict=True)]
