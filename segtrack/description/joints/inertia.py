"""Effective inertias at the joints of a vehicle."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from segtrack.description.placement import Links


def joint_inertias(links: Links, fixed: bool) -> NDArray[np.float64]:
    """Effective inertia at each joint (J,) [kg m^2 or kg], with all other joints free and at 0.

    Args:
        links: Links and joints of a vehicle.
        fixed: True if the root is bolted to the world.
    """
    count, frames = len(links.pivots), links.frames
    motions = np.zeros((len(frames), 6, 6 + count))
    for link, frame in enumerate(frames):
        center = frame.points(links.masses[link].center)
        motions[link, :3, :3] = motions[link, 3:, 3:6] = np.eye(3)
        motions[link, :3, 3:6] = -np.cross(np.eye(3), -center)
        j = link - 1
        while j >= 0:
            axis = frames[j + 1].rotation @ links.axes[j]
            if links.kinds[j] == "revolute":
                motions[link, :3, 6 + j] = np.cross(axis, center - frames[j + 1].origin)
                motions[link, 3:, 6 + j] = axis
            else:
                motions[link, :3, 6 + j] = axis
            j = links.parents[j] - 1
    matrix = np.zeros((6 + count, 6 + count))
    for mass, frame, motion in zip(links.masses, frames, motions, strict=True):
        turned = frame.rotation @ mass.inertia @ frame.rotation.T
        matrix += mass.mass * motion[:3].T @ motion[:3] + motion[3:].T @ turned @ motion[3:]
    free = matrix[6:, 6:] if fixed else matrix
    return 1 / np.diag(np.linalg.inv(free))[len(free) - count :]
