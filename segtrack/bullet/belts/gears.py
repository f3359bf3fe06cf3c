"""Gears between the joints of one belt."""

from __future__ import annotations

import pybullet

from segtrack.bullet.model import TrackJoints

_UNLIMITED_FORCE = 1e6


def gear_to_first(client: int, track: TrackJoints) -> None:
    """Make a track's joints move as one belt, by gears from the first to each other.

    Bullet's gear keeps q'_first + ratio q'_other = 0, so ratio = -k_first / k_other with
    k the joint coordinate per belt travel. It holds velocities only (erp 0); positions are
    seated at each roll-back.
    """
    first, k_first = track.joints[0], track.ratios[0]
    for joint, k in zip(track.joints[1:], track.ratios[1:], strict=True):
        gear = pybullet.createConstraint(
            track.body,
            first,
            track.body,
            joint,
            pybullet.JOINT_GEAR,
            [0, 1, 0],
            [0, 0, 0],
            [0, 0, 0],
            physicsClientId=client,
        )
        pybullet.changeConstraint(
            gear, gearRatio=-k_first / k, maxForce=_UNLIMITED_FORCE, erp=0, physicsClientId=client
        )
