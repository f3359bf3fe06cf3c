"""Course, ground and contact loads as the page takes them."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from segtrack.courses import Course
from segtrack.errors import NotReadyError
from segtrack.recording.session import DriveSession
from segtrack.rendering.look import OnLink, VehicleLook, VisiblePart
from segtrack.rendering.mesh import ground_mesh
from segtrack.robot import Track


def course_json(course: Course) -> dict[str, Any]:
    """Return a course's gates, walls and words; infinite numbers are null."""
    setting = course.setting
    return {
        "name": course.name,
        "title": course.title,
        "description": course.description,
        "kind": course.kind,
        "start": asdict(course.start),
        "gates": [_finite(asdict(gate)) for gate in course.gates],
        "walls": [asdict(wall) for wall in course.walls],
        "bounds": _finite(asdict(course.bounds)),
        "setting": None if setting is None else asdict(setting),
        "lane_width": course.lane_width,
    }


def ground_json(course: Course) -> dict[str, str]:
    """Return the course's ground, in the form of a look's meshes."""
    part = VisiblePart(ground_mesh(course.terrains), OnLink(0))
    ground: dict[str, str] = VehicleLook("ground", ("ground",), (), 0, (part,)).as_json()["parts"][0]["mesh"]
    return ground


def _finite(values: dict[str, float]) -> dict[str, float | None]:
    return {name: value if math.isfinite(value) else None for name, value in values.items()}


_REACH = 0.005
"""Distance over which the ground's slope is taken [m]."""


def read_contact_forces(session: DriveSession) -> NDArray[np.float64]:
    """Return contact points and forces on the tracks, in the world (c, 6) [m, N]; models may have none.

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
    """Return normals of the ground's surface at points (n, 3)."""
    x, y = points[:, 0], points[:, 1]
    height = session.world.height
    along = (height(x + _REACH, y) - height(x - _REACH, y)) / (2 * _REACH)
    across = (height(x, y + _REACH) - height(x, y - _REACH)) / (2 * _REACH)
    normals = np.stack([-along, -across, np.ones(len(points))], axis=1)
    upright = np.isfinite(normals).all(axis=1, keepdims=True)
    normals = np.where(upright, normals, (0.0, 0.0, 1.0))
    return normals / np.linalg.norm(normals, axis=1, keepdims=True)
