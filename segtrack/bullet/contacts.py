"""Where a vehicle touches something: PyBullet's tuples become names here, once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pybullet
from numpy.typing import NDArray

from segtrack.bullet.client import connection_required


@dataclass(frozen=True, eq=False)
class BodyContacts:
    """Contact points of a body with others, as the last step left them.

    Attributes:
        links: The body's link at each point; -1 is the root (n,).
        points: On the body, in the world (n, 3) [m].
        normal_forces: That push the body away (n,) [N].
    """

    links: NDArray[np.intp]
    points: NDArray[np.float64]
    normal_forces: NDArray[np.float64]


def read_contacts(client: int, body: int) -> BodyContacts:
    """Read the contact points of a body that press.

    Args:
        client: PyBullet's number of the client.
        body: PyBullet's number of the body.

    Raises:
        DisconnectedError: The client is gone.
    """
    with connection_required(client, "read contacts", body):
        found = pybullet.getContactPoints(bodyA=body, physicsClientId=client)
    read = [(contact[3], contact[5], contact[9]) for contact in found if contact[9] > 0]
    return BodyContacts(
        np.array([link for link, _, _ in read], dtype=np.intp),
        np.array([point for _, point, _ in read]).reshape(-1, 3),
        np.array([force for _, _, force in read]),
    )
