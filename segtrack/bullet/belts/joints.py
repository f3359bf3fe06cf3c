"""What joints and links of a track are given before they move."""

from __future__ import annotations

from collections.abc import Iterable

import pybullet

from segtrack.description.track import TrackSpec

FREE = {"linearDamping": 0.0, "angularDamping": 0.0, "jointDamping": 0.0, "maxJointVelocity": 1e6}
"""Dynamics of a link that nothing slows down."""
MAX_JOINTS = 127
"""What PyBullet can report of one multibody."""


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


def set_contact(client: int, body: int, links: Iterable[int], spec: TrackSpec) -> None:
    """Give links the contact properties of a track."""
    contact = spec.contact
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
