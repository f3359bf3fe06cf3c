"""Contact loads, as arrows to be drawn: where the ground pushes, and how much."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from segtrack.errors import NotReadyError
from segtrack.recording.session import DriveSession
from segtrack.robot import Track

_REACH = 0.005
"""Distance over which the ground's slope is taken [m]."""


def contact_loads(session: DriveSession) -> NDArray[np.float64]:
    """Points and forces on the vehicle's tracks, in the world (c, 6) [m, N]; none where nothing is known.

    A chain's forces are normal to its shoes. A belt's are friction, and the normal force along the normal
    of the ground's surface below, which is taken from its heights: beside a wall that is an approximation.
    """
    loads = [_of_track(session, track) for track in session.robot.tracks.values()]
    return np.concatenate([np.empty((0, 6)), *loads])


def _of_track(session: DriveSession, track: Track) -> NDArray[np.float64]:
    if track.has_chain:
        chain = track.read_chain()
        outwards = Rotation.from_quat(chain.orientations).as_matrix()[:, :, 2]
        touching = chain.ground_force > 0
        forces = -chain.ground_force[:, None] * outwards
        return np.hstack([chain.positions, forces])[touching]
    try:
        belt = track.read_grousers()
    except NotReadyError:
        return np.empty((0, 6))
    forces = belt.tangential_force + belt.normal_force[:, None] * _normals(session, belt.points)
    return np.hstack([belt.points, forces])


def _normals(session: DriveSession, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Normals of the ground's surface at points (n, 3)."""
    x, y = points[:, 0], points[:, 1]
    height = session.world.height
    along = (height(x + _REACH, y) - height(x - _REACH, y)) / (2 * _REACH)
    across = (height(x, y + _REACH) - height(x, y - _REACH)) / (2 * _REACH)
    normals = np.stack([-along, -across, np.ones(len(points))], axis=1)
    upright = np.isfinite(normals).all(axis=1, keepdims=True)
    normals = np.where(upright, normals, (0.0, 0.0, 1.0))
    return normals / np.linalg.norm(normals, axis=1, keepdims=True)
