"""Static bodies of somebody's own PyBullet program, as described terrain.

PyBullet tells of a body its primitives (plane, box, sphere, cylinder, capsule) and the corners of convex
meshes, but not of all that come from a URDF. Of heightfields and other meshes it tells no triangle, but where
rays hit them: these are sampled from above on a grid along the world's axes. Of a body made with
`useMaximalCoordinates` it tells no shape.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import InvalidValueError, Phrase
from segtrack.terrain.base import Terrain
from segtrack.terrain.heightfield import Heightfield
from segtrack.terrain.solids import Box, Cylinder, HalfSpace, Hull, Solid
from segtrack.terrain.static_body import StaticBody

_SPACING, _POINTS = 0.02, 500
"""Of samples, if not given: at least so far apart [m], but no more than so many along a side."""
_BATCH = 4096
"""Rays in a call; PyBullet takes 16,384."""
_SAME = 1e-3
"""Hits of one ray that are nearer than this are one: rays meet neighbouring triangles at their edge [m]."""
_MOST_HITS = 1000
"""Bodies and triangles above one another that are looked through."""
_ROUND, _TILTS = 16, 8
"""Corners around a sphere, and steps from pole to pole."""


class _Link(NamedTuple):
    """A static link: its PyBullet ids, and its centre of mass in the world."""

    body: int
    link: int
    position: tuple[float, ...]
    orientation: tuple[float, ...]


class _Unreadable(Exception):  # noqa: N818
    """Why a link cannot be turned into terrain."""


def from_pybullet(
    client: Any, exclude: Collection[int] = (), spacing: float | None = None
) -> tuple[Terrain, ...]:
    """Describe the static bodies of a PyBullet program, as they are now, with their lateral friction.

    Static are the base of a body without mass or with `useFixedBase`, and links that fixed joints hold on
    to it. Bodies that can move, and links behind joints that can, are no terrain.

    Boxes, cylinders, planes and convex meshes whose corners PyBullet tells are exact (PyBullet adds a margin
    of 1 mm to the latter); spheres and capsules become polyhedra whose corners lie on them. Heightfields
    and other meshes become a `Heightfield` of samples: solid from there on downwards, upright faces
    slope over one spacing, and their upper edge is within one.

    Args:
        client: A `BulletClient`, or the module `pybullet`.
        exclude: PyBullet's ids of bodies to leave out.
        spacing: Distance between samples of heightfields and meshes [m]; 0.02 m if not given, or
            such that there are 500 along the longer side.

    Raises:
        InvalidValueError: A static body cannot be described; the message names all of them.
    """
    terrains: list[Terrain] = []
    problems = []
    for number in range(client.getNumBodies()):
        body = client.getBodyUniqueId(number)
        if body in exclude:
            continue
        for link in _static_links(client, body):
            try:
                terrains += _describe(client, link, spacing)
            except _Unreadable as problem:
                name = client.getBodyInfo(body)[1].decode() or "unnamed"
                problems.append(f"body {body} ({name}) link {link.link}: {problem}")
    if problems:
        expected = (
            "of shapes that can be described, or left out: terrain.from_pybullet(client, exclude=[...])"
        )
        raise InvalidValueError("static bodies in PyBullet", expected, Phrase("; ".join(problems)))
    return tuple(terrains)


def _static_links(client: Any, body: int) -> Iterator[_Link]:
    if client.getDynamicsInfo(body, -1)[0] != 0:
        return
    yield _Link(body, -1, *client.getBasePositionAndOrientation(body))
    fixed = {-1}
    for joint in range(client.getNumJoints(body)):
        info = client.getJointInfo(body, joint)
        if info[2] == client.JOINT_FIXED and info[16] in fixed:
            fixed.add(joint)
            yield _Link(body, joint, *client.getLinkState(body, joint)[:2])


def _describe(client: Any, link: _Link, spacing: float | None) -> list[Terrain]:
    """The terrains that a link is; none if it collides with nothing."""
    low, high = (np.array(corner) for corner in client.getAABB(link.body, link.link))
    if (low == high).all():
        return []
    try:
        shapes = client.getCollisionShapeData(link.body, link.link)
    except client.error:
        raise _Unreadable("PyBullet tells no shape of bodies made with useMaximalCoordinates") from None
    friction = client.getDynamicsInfo(link.body, link.link)[1]
    name = f"body {link.body} of PyBullet"
    parts = [_solid(client, link, i, shape) for i, shape in enumerate(shapes)]
    solids = tuple(part for part in parts if part is not None)
    terrains: list[Terrain] = [StaticBody(parts=solids, name=name, friction=friction)] if solids else []
    if len(solids) < max(len(shapes), 1):  # PyBullet lists no heightfield at all.
        terrains.append(_sampled(client, link, (low, high), not shapes, spacing, friction))
    return terrains


def _solid(client: Any, link: _Link, index: int, shape: tuple[Any, ...]) -> Solid | None:
    """A link's collision shape as a convex solid; None for a mesh that is not one."""
    _, _, kind, (a, b, c), _, *local = shape
    center, orientation = client.multiplyTransforms(link.position, link.orientation, *local)
    rotation = np.array(client.getMatrixFromQuaternion(orientation)).reshape(3, 3)
    if kind == client.GEOM_BOX:
        return Box(center, (a / 2, b / 2, c / 2), orientation)
    if kind == client.GEOM_CYLINDER:
        return Cylinder(center, b, a, orientation)
    if kind == client.GEOM_PLANE:
        x, y, z = (rotation @ (a, b, c)).tolist()
        return HalfSpace(center, (x, y, z))
    if kind == client.GEOM_SPHERE:
        return Hull(_ball(a, 0.0) @ rotation.T + center)
    if kind == client.GEOM_CAPSULE:
        return Hull(_ball(b, a) @ rotation.T + center)
    if kind == client.GEOM_MESH:
        # Corners of a convex mesh are in the axes of the link's inertia, whatever its own pose is.
        corners = np.array(client.getMeshData(link.body, link.link, collisionShapeIndex=index)[1])
        if not len(corners):
            return None
        turn = np.array(client.getMatrixFromQuaternion(link.orientation)).reshape(3, 3)
        if np.linalg.matrix_rank(corners - corners.mean(axis=0), tol=1e-6) < 3:
            raise _Unreadable(f"shape {index} is a flat mesh")
        return Hull(corners @ turn.T + link.position)
    raise _Unreadable(f"shape {index} is of a kind, {kind}, that is not known")


def _ball(radius: float, length: float) -> NDArray[np.float64]:
    """Points of a sphere, or of a capsule of so long a cylinder along z (n, 3) [m]."""
    turns = 2 * np.pi * np.arange(_ROUND) / _ROUND
    tilts = np.pi * np.arange(_TILTS + 1) / _TILTS
    turn, tilt = (grid.ravel() for grid in np.meshgrid(turns, tilts))
    ball = radius * np.stack([np.sin(tilt) * np.cos(turn), np.sin(tilt) * np.sin(turn), np.cos(tilt)], axis=1)
    half = np.array([0.0, 0.0, length / 2])
    return np.unique(np.round(np.concatenate([ball - half, ball + half]), 12), axis=0)


def _sampled(
    client: Any,
    link: _Link,
    bounds: tuple[NDArray[np.float64], NDArray[np.float64]],
    once: bool,
    spacing: float | None,
    friction: float,
) -> Heightfield:
    """A link's surface from above, within its bounds; see `_cast` for `once`."""
    low, high = bounds
    size = high - low
    cell = max(_SPACING, float(size[:2].max()) / _POINTS) if spacing is None else spacing
    counts = [max(2, 1 + math.floor(float(side) / cell * (1 - 1e-6))) for side in size[:2]]
    middle = (low + high) / 2
    axes = [middle[i] + cell * (np.arange(n) - (n - 1) / 2) for i, n in enumerate(counts)]
    x, y = (grid.ravel() for grid in np.meshgrid(*axes, indexing="ij"))
    columns = np.stack([x, y], axis=1).tolist()
    top, bottom = float(high[2]) + 1.0, float(low[2]) - 1.0
    heights: list[float] = []
    for first in range(0, len(columns), _BATCH):
        heights += _cast(client, link, columns[first : first + _BATCH], top, bottom, once)
    return Heightfield(
        heights=np.array(heights).reshape(counts),
        cell=cell,
        center=(float(middle[0]), float(middle[1])),
        friction=friction,
    )


def _cast(
    client: Any, link: _Link, columns: list[list[float]], top: float, bottom: float, once: bool
) -> list[float]:
    """Greatest height of a link at each of some places; `bottom` where it is not.

    A heightfield is met `once`; a closed mesh is met twice, one that overhangs more often.
    """
    found: list[list[float]] = [[] for _ in columns]
    waiting = list(range(len(columns)))
    for number in range(_MOST_HITS):
        starts, ends = [[*columns[i], top] for i in waiting], [[*columns[i], bottom] for i in waiting]
        hits = client.rayTestBatch(starts, ends, reportHitNumber=number)
        for i, (body, index, _, position, _) in zip(waiting, hits, strict=True):
            if (body, index) == link[:2] and all(abs(position[2] - z) > _SAME for z in found[i]):
                found[i].append(position[2])
        waiting = [i for i, hit in zip(waiting, hits, strict=True) if hit[0] >= 0 and not (once and found[i])]
        if not waiting:
            break
    if max(map(len, found)) > 2:
        raise _Unreadable("a mesh that overhangs")
    return [max(own, default=bottom) for own in found]
