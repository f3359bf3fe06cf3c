"""Where links are and how they move: PyBullet poses centres of mass, users think in link frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pybullet
from numpy.typing import NDArray

from segtrack.bullet.client import connection_required
from segtrack.engine import FrameMotion


def link_motion(client: int, body: int, link: int) -> FrameMotion:
    """Read a link; -1 is the root.

    Raises:
        DisconnectedError: The client is gone.
        RemovedError: The body is gone.
    """
    with connection_required(client, "read a link", body):
        if link == -1:
            center, inertial = pybullet.getBasePositionAndOrientation(body, physicsClientId=client)
            velocity, angular = pybullet.getBaseVelocity(body, physicsClientId=client)
            position, orientation = pybullet.multiplyTransforms(
                center, inertial, *_frame_in_inertial(client, body)
            )
        else:
            # Without forward kinematics the pose is that before the last step.
            state = pybullet.getLinkState(
                body, link, computeLinkVelocity=1, computeForwardKinematics=1, physicsClientId=client
            )
            center, (position, orientation), (velocity, angular) = state[0], state[4:6], state[6:8]
    rotation = np.array(pybullet.getMatrixFromQuaternion(orientation)).reshape(3, 3)
    return FrameMotion(
        np.array(position), orientation, rotation, np.array(center), np.array(velocity), np.array(angular)
    )


@dataclass(frozen=True)
class LinkMass:
    """A link as a rigid body.

    Attributes:
        mass: [kg]
        inertia: About the centre of mass, in the link's axes (3, 3) [kg m^2].
    """

    mass: float
    inertia: NDArray[np.float64]


def link_mass(client: int, body: int, link: int) -> LinkMass:
    """Read what a link weighs; -1 is the root."""
    info = pybullet.getDynamicsInfo(body, link, physicsClientId=client)
    turn = np.array(pybullet.getMatrixFromQuaternion(info[4])).reshape(3, 3)
    return LinkMass(float(info[0]), turn @ np.diag(info[2]) @ turn.T)


def place_base(client: int, body: int, position: Sequence[float], orientation: Sequence[float]) -> None:
    """Put the root link's frame at a pose in the world, at rest."""
    info = pybullet.getDynamicsInfo(body, -1, physicsClientId=client)
    center, inertial = pybullet.multiplyTransforms(position, orientation, info[3], info[4])
    pybullet.resetBasePositionAndOrientation(body, center, inertial, physicsClientId=client)
    pybullet.resetBaseVelocity(body, [0, 0, 0], [0, 0, 0], physicsClientId=client)


def vector(array: NDArray[np.float64]) -> tuple[float, float, float]:
    """Three numbers as a tuple of plain floats."""
    x, y, z = array.tolist()
    return x, y, z


def _frame_in_inertial(client: int, body: int) -> tuple[Sequence[float], Sequence[float]]:
    info = pybullet.getDynamicsInfo(body, -1, physicsClientId=client)
    return pybullet.invertTransform(info[3], info[4])
