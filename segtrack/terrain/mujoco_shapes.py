"""Terrain descriptions of the static geoms of a user's own MuJoCo model."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from segtrack.errors import InvalidValueError, Phrase
from segtrack.geometry import quaternion_of, rotations_of
from segtrack.terrain.base import Terrain
from segtrack.terrain.solids import Box, Cylinder, HalfSpace, Hull
from segtrack.terrain.surfaces import Heightfield, StaticBody

_PLANE, _HFIELD, _SPHERE, _CAPSULE, _ELLIPSOID, _CYLINDER, _BOX, _MESH = range(8)
"""MuJoCo's kinds of geoms (`mjtGeom`)."""
_Y_TO_Z = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""Quarter turn about x that turns y, the axis of our cylinders, to z, that of MuJoCo's."""
_ERROR = 1e-3
"""Distance of a polyhedron from the sphere, capsule or ellipsoid that it stands for, at most [m]."""
_LEVEL = 1e-9
"""Largest rotation of a heightfield's axes [-], and difference of its spacings [m]."""


def from_mujoco(model: Any, data: Any, exclude: Collection[int] = ()) -> tuple[Terrain, ...]:
    """Describe the static geoms of a MuJoCo model where they are now, with their sliding friction.

    Static are geoms of the world, and of bodies that no joint moves and that are no `mocap` bodies. What
    collides with nothing (`contype` and `conaffinity` 0) is left out. Planes, boxes, meshes (as in MuJoCo
    their convex hulls) and heightfields, whose cells are cut as in MuJoCo, are exact; cylinders have 128
    sides; spheres, capsules and ellipsoids are polyhedra within 1 mm, whose corners lie on them.

    MuJoCo takes the friction of two geoms that is the larger, or that of the higher `priority`; segtrack
    multiplies that of ground and track.

    Args:
        model: The `mujoco.MjModel`.
        data: Its `mujoco.MjData`, with poses (`mj_forward` or `mj_kinematics`).
        exclude: Ids of bodies to leave out.

    Raises:
        InvalidValueError: A static geom cannot be described; the message names all of them. Or ids that are
            no whole numbers, or data without poses.
    """
    if not (isinstance(exclude, Collection) and all(isinstance(body, Integral) for body in exclude)):
        raise InvalidValueError("exclude", "a list of body ids", exclude)
    moved_by_user = _mocap_bodies(model)
    terrains: list[Terrain] = []
    problems = []
    for geom in range(model.ngeom):
        body = int(model.geom_bodyid[geom])
        collides = model.geom_contype[geom] != 0 or model.geom_conaffinity[geom] != 0
        if model.body_weldid[body] != 0 or body in moved_by_user or body in exclude or not collides:
            continue
        rotation = np.array(data.geom_xmat[geom]).reshape(3, 3)
        if not rotation.any():
            raise InvalidValueError("data", "one with poses, by mj_forward or mj_kinematics", Phrase("none"))
        name = model.geom(geom).name or f"geom {geom} of MuJoCo"
        try:
            terrains.append(_describe(model, geom, np.array(data.geom_xpos[geom]), rotation, name))
        except _UnreadableError as problem:
            problems.append(f"{name}: {problem}")
    if problems:
        expected = "of shapes that can be described, or of bodies left out: exclude=[...]"
        raise InvalidValueError("static geoms in MuJoCo", expected, Phrase("; ".join(problems)))
    return tuple(terrains)


def from_moving_body(model: Any, body: int) -> tuple[Terrain, ...]:
    """Describe the geoms of a body of a MuJoCo model, and of what is welded to it, in the frame of the body.

    Args:
        model: The `mujoco.MjModel`.
        body: Id of the body.

    Raises:
        InvalidValueError: A geom cannot be described, or there is none that collides.
    """
    terrains: list[Terrain] = []
    name = model.body(body).name or f"body {body}"
    for geom in range(model.ngeom):
        collides = model.geom_contype[geom] != 0 or model.geom_conaffinity[geom] != 0
        if not collides or model.body_weldid[model.geom_bodyid[geom]] != model.body_weldid[body]:
            continue
        try:
            place, rotation = _in_body(model, geom, body)
            terrains.append(_describe(model, geom, place, rotation, model.geom(geom).name or f"geom {geom}"))
        except _UnreadableError as problem:
            raise InvalidValueError(
                f"body {name!r} in MuJoCo", "of shapes that can be described", Phrase(str(problem))
            ) from None
    if not terrains:
        raise InvalidValueError(f"body {name!r} in MuJoCo", "with a geom that collides", Phrase("none"))
    return tuple(terrains)


def _in_body(model: Any, geom: int, body: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Place and rotation of a geom in the frame of a body to which its own is welded."""
    place, rotation = _pose(model.geom_pos[geom], model.geom_quat[geom])
    own = int(model.geom_bodyid[geom])
    while own != body:
        if model.body_weldid[own] == own:
            raise _UnreadableError("welded to a body that carries it")
        shift, turn = _pose(model.body_pos[own], model.body_quat[own])
        place, rotation, own = shift + turn @ place, turn @ rotation, int(model.body_parentid[own])
    return place, rotation


def _pose(
    position: NDArray[np.float64], quaternion: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Position and rotation matrix of a pose of MuJoCo, its quaternion (w, x, y, z)."""
    w, x, y, z = quaternion.tolist()
    return np.array(position), rotations_of(np.array([[x, y, z, w]]))[0]


class _UnreadableError(Exception):
    """Raised with the reason why a geom cannot be turned into terrain."""


def _mocap_bodies(model: Any) -> set[int]:
    """Bodies that the user moves, and those on them."""
    found: set[int] = set()
    for body in range(1, model.nbody):
        if model.body_mocapid[body] >= 0 or int(model.body_parentid[body]) in found:
            found.add(body)
    return found


def _describe(
    model: Any, geom: int, center: NDArray[np.float64], rotation: NDArray[np.float64], name: str
) -> Terrain:
    """Terrain for one geom at a place in the world."""
    kind, friction = int(model.geom_type[geom]), float(model.geom_friction[geom, 0])
    if kind == _HFIELD:
        return _heightfield(model, int(model.geom_dataid[geom]), center, rotation, friction)
    size, (x, y, z) = model.geom_size[geom].tolist(), center.tolist()
    solid: Box | Cylinder | HalfSpace | Hull
    if kind == _PLANE:
        u, v, w = rotation[:, 2].tolist()
        solid = HalfSpace((x, y, z), (u, v, w))
    elif kind == _BOX:
        a, b, c = (2 * half for half in size)
        solid = Box((a, b, c), (x, y, z), quaternion_of(rotation))
    elif kind == _CYLINDER:
        solid = Cylinder(size[0], 2 * size[1], (x, y, z), quaternion_of(rotation @ _Y_TO_Z))
    elif kind == _MESH:
        mesh = int(model.geom_dataid[geom])
        first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
        corners = model.mesh_vert[first : first + count].astype(float)
        if np.linalg.matrix_rank(corners - corners.mean(axis=0), tol=1e-6) < 3:
            raise _UnreadableError("a flat mesh")
        solid = Hull.of(corners @ rotation.T + center)
    elif kind in (_SPHERE, _CAPSULE, _ELLIPSOID):
        radii = np.array(size) if kind == _ELLIPSOID else np.full(3, size[0])
        points = _rounded_hull(radii, size[1] if kind == _CAPSULE else 0.0)
        solid = Hull.of(points @ rotation.T + center)
    else:
        raise _UnreadableError(f"a geom of a kind, {kind}, that is not known")
    return StaticBody(parts=(solid,), name=name, friction=friction)


def _rounded_hull(radii: NDArray[np.float64], half: float) -> NDArray[np.float64]:
    """Points (n, 3) on an ellipsoid, or on a capsule, whose hull is within `_ERROR` of it [m].

    The surface touches the plane of the normal n at the point p(n) = D^2 n / |D n|, D the radii, which a
    capsule has at both ends. Where it is too far from a face of the hull, the point of the face's normal is
    added.

    Args:
        radii: Along x, y and z [m].
        half: Half the length of the cylinder along z [m].
    """
    steps = np.stack(np.meshgrid(*[[-1.0, 0.0, 1.0]] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    normals, points = steps[np.any(steps != 0.0, axis=1)], np.zeros((0, 3))
    while len(normals):
        normals = normals / np.linalg.norm(normals, axis=1, keepdims=True)
        own = radii**2 * normals / np.linalg.norm(radii * normals, axis=1, keepdims=True)
        ends = np.where(np.abs(normals[:, 2:]) < _LEVEL, [[-half, half]], half * np.sign(normals[:, 2:]))
        shifted = [own + np.outer(end, (0.0, 0.0, 1.0)) for end in ends.T]
        points = np.unique(np.round(np.concatenate([points, *shifted]), 9), axis=0)
        faces = np.unique(np.round(ConvexHull(points).equations, 9), axis=0)
        reach = np.linalg.norm(radii * faces[:, :3], axis=1) + half * np.abs(faces[:, 2])
        normals = faces[reach + faces[:, 3] > _ERROR, :3]
    return points


def _heightfield(
    model: Any, field: int, center: NDArray[np.float64], rotation: NDArray[np.float64], friction: float
) -> Heightfield:
    """A heightfield, of square cells along the world's axes."""
    rows, columns = int(model.hfield_nrow[field]), int(model.hfield_ncol[field])
    reach_x, reach_y, top, _ = model.hfield_size[field].tolist()
    first = int(model.hfield_adr[field])
    heights = model.hfield_data[first : first + rows * columns].astype(float).reshape(rows, columns) * top
    if np.abs(rotation - np.eye(3)).max() > _LEVEL:
        raise _UnreadableError("a heightfield that is turned; one along the world's axes can be described")
    along_x, along_y = 2 * reach_x / (columns - 1), 2 * reach_y / (rows - 1)
    if abs(along_x - along_y) > _LEVEL:
        raise _UnreadableError(
            f"a heightfield with cells of {along_x:.4g} m x {along_y:.4g} m; square ones can be described"
        )
    return Heightfield(
        heights=heights.T + center[2],
        spacing=along_x,
        center=(float(center[0]), float(center[1])),
        friction=friction,
        rising=True,
    )
