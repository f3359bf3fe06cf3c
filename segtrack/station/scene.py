"""Course, ground and contact loads in the page's form."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from segtrack.courses import Course
from segtrack.errors import NotReadyError
from segtrack.recording import DriveSession
from segtrack.rendering import OnLink, VehicleLook, VisiblePart, ground_mesh
from segtrack.robot import Track

WALL_COLOUR = (158.0, 174.0, 205.0)
"""Colour of what must not be touched, apart from floor and obstacles: red, green and blue, 0 to 255."""


def course_json(course: Course) -> dict[str, Any]:
    """Return a course's gates, walls and texts; infinite numbers become null."""
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
    """Return the course's ground as a mesh in JSON form; its walls, the last terrain, have another colour."""
    mesh = ground_mesh(course.terrains)
    if course.walls:
        mesh.colours[-len(ground_mesh(course.terrains[-1:]).colours) :] = WALL_COLOUR
    part = VisiblePart(mesh, OnLink(0))
    ground: dict[str, str] = VehicleLook("ground", ("ground",), (), 0, (part,)).as_json()["parts"][0]["mesh"]
    return ground


def _finite(values: dict[str, float]) -> dict[str, float | None]:
    return {name: value if math.isfinite(value) else None for name, value in values.items()}


def read_contact_forces(session: DriveSession) -> NDArray[np.float64]:
    """Return contact points [m] and forces on the tracks [N] in the world (c, 6); some models have none.

    A chain's forces are normal to its shoes.
    """
    loads = [_of_track(track) for track in session.robot.tracks.values()]
    return np.concatenate([np.empty((0, 6)), *loads])


def _of_track(track: Track) -> NDArray[np.float64]:
    """Contact points [m] and forces on one track [N] in the world (c, 6)."""
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
    return np.hstack([belt.points, belt.force])
