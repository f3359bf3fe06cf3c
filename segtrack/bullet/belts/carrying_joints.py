"""Joints of a vehicle in PyBullet that carry belts, as the belts' sub-steps read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pybullet
from numpy.typing import NDArray

from segtrack.bullet.model import Motor
from segtrack.compliant import NONE, CarryingJoints, allocate_joints, place_joints
from segtrack.ground import LinkMasses

_MOVING = pybullet.JOINT_REVOLUTE, pybullet.JOINT_PRISMATIC


class BeltCarriers:
    """Joints between the root of a vehicle and the links that carry its belts.

    Attributes:
        joints: The joints as kernels read them.
    """

    joints: CarryingJoints

    def __init__(self, client: int, body: int, parent_links: Sequence[int]) -> None:
        """Find the joints before the links (indices of PyBullet's, -1 is the root) that carry belts."""
        self._client, self._body = client, body
        count = pybullet.getNumJoints(body, physicsClientId=client)
        info = [pybullet.getJointInfo(body, j, physicsClientId=client) for j in range(count)]
        self._indices = sorted({j for link in parent_links for j in _before(info, link)})
        self._motors: list[Motor | None] = [None] * len(self._indices)
        joints = allocate_joints(len(self._indices), len(parent_links), 1 + count)
        places = {link: j for j, link in enumerate(self._indices)}
        for j, link in enumerate(self._indices):
            dynamics = pybullet.getDynamicsInfo(body, link, physicsClientId=client)
            joints.links[j] = 1 + link
            joints.slides[j] = info[link][2] == pybullet.JOINT_PRISMATIC
            joints.own_origins[j], _ = pybullet.invertTransform(dynamics[3], dynamics[4])
            joints.own_axes[j] = info[link][13]
            joints.parents[j] = places.get(next(iter(_before(info, info[link][16])), NONE), NONE)
            low, high = info[link][8:10]
            joints.limits[j] = (low, high) if low <= high else (-np.inf, np.inf)
            joints.carried[j] = [link in _before(info, other) for other in range(-1, count)]
        for t, link in enumerate(parent_links):
            joints.belt_joints[t] = places.get(next(iter(_before(info, link)), NONE), NONE)
        self.joints = joints

    def connect(self, motors: Mapping[int, Motor]) -> None:
        """Take the motors of the vehicle's joints, by PyBullet's index; a joint without one is locked."""
        self._motors = [motors.get(joint) for joint in self._indices]

    def read(self, motions: NDArray[np.float64], masses: LinkMasses, step: float) -> None:
        """Take over the joints as they are now, and what their motors will do in the next step [s].

        Args:
            motions: Motions of the vehicle's links (L, `LINK_STATE`).
            masses: Their masses.
            step: Duration of the step [s].
        """
        if not self._indices:
            return
        joints = self.joints
        place_joints(motions, masses, joints)
        states = pybullet.getJointStates(self._body, self._indices, physicsClientId=self._client)
        for j, (motor, (position, speed, *_)) in enumerate(zip(self._motors, states, strict=True)):
            joints.positions[j], joints.speeds[j] = position, speed
            aim, force, load = (speed, np.inf, 0.0) if motor is None else motor(position, step)
            joints.aims[j], joints.largest_forces[j], joints.loads[j] = aim, force, load


def _before(info: Sequence[tuple], link: int) -> list[int]:
    """Indices of the joints that move between a link and the root, the nearest to the link first."""
    found = []
    while link >= 0:
        if info[link][2] in _MOVING:
            found.append(link)
        link = info[link][16]
    return found
