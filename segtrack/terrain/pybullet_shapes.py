"""Terrain descriptions of the static bodies in a user's own PyBullet program.

PyBullet tells of a body its primitives (plane, box, sphere, cylinder, capsule) and the corners of convex
meshes, but not of all that come from a URDF. Of heightfields and other meshes it tells no triangle, but where
rays hit them: these are sampled from above on a grid along the world's axes. Of a body made with
`useMaximalCoordinates` it tells no shape.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import DisconnectedError, InvalidValueError, Phrase, finite
from segtrack.quiet import without_greetings
from segtrack.terrain.base import Terrain
from segtrack.terrain.solids import Box, Cylinder, HalfSpace, Hull
from segtrack.terrain.surfaces import Heightfield, StaticBody

_Convex = Box | Cylinder | HalfSpace | Hull
_SPACING, _POINTS = 0.02, 500
"""Default samples: least distance between them [m], and largest number along a side."""
_BATCH = 4096
"""Rays in a call; PyBullet takes 16,384."""
_SAME = 1e-3
"""Hits of one ray that are nearer than this are one: rays meet neighbouring triangles at their edge [m]."""
_NOTHING = 2.1e-3
"""Sides of PyBullet's bounds of a link without a collision shape [m]."""
_MOST_HITS = 1000
"""Bodies and triangles above one another that are looked through."""
_ASIDE = (1e-4, 7e-5)
"""Shift of a column that met more than top and bottom, to cast it again beside a silhouette [m]."""
_CLEARANCE = 0.1
"""Air under a mesh that is filled: a lower gap than vehicles drive into [m]."""
_DEEP = 1000.0
"""Distance below a mesh within which rays look for other ground [m]."""
_Y_TO_Z = (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))
"""Quarter turn about x: PyBullet's cylinders lie along z, ours along y."""
_THINNEST, _LYING = 0.01, math.sqrt(0.5)
"""Thickness that carries belts which land on it [m]; cosine of the steepest slope that a floor has [-]."""
_ROUND, _TILTS = 16, 8
"""Corners around a sphere, and steps from pole to pole."""


class _Link(NamedTuple):
    """A static link: its PyBullet ids, and its centre of mass in the world."""

    body: int
    link: int
    position: tuple[float, ...]
    orientation: tuple[float, ...]


class _Column(NamedTuple):
    """Heights at which a vertical ray hits a link, and other static bodies [m]."""

    own: list[float]
    others: list[float]


class _Unreadable(Exception):  # noqa: N818
    """Raised with the reason why a link cannot be turned into terrain."""


def from_pybullet(
    client: Any, exclude: Collection[int] = (), spacing: float | None = None
) -> tuple[Terrain, ...]:
    """Describe the static bodies of a PyBullet program in their present poses, with their lateral friction.

    Static are the base of a body without mass or with `useFixedBase`, and links that fixed joints hold on
    to it. Bodies that can move, and links behind joints that can, are no terrain; nor is what has no
    collision shape, or does not collide with PyBullet's default collision group (rays do not meet it).

    Boxes, cylinders, planes and convex meshes whose corners PyBullet tells are exact (PyBullet adds a margin
    of 1 mm to the latter). But a box thinner than 10 mm that lies flatter than 45 deg reaches 10 mm below
    its upper face: what lands on a sheet, as on the 1 mm of `plane100.urdf`, would go through it. Spheres and
    capsules become polyhedra whose corners lie on them. Heightfields and other meshes become a `Heightfield`
    of samples: solid from there on downwards, upright faces
    slope over one spacing, and their upper edge is within one. Where no ray meets them, their height
    is one spacing below the lowest other static body there. A roof is therefore no terrain.

    Args:
        client: A `BulletClient`, or the module `pybullet` (which has no client id).
        exclude: PyBullet's ids of bodies to leave out.
        spacing: Distance between samples of heightfields and meshes [m]; 0.02 m if not given, or
            such that there are 500 along the longer side.

    Raises:
        InvalidValueError: A static body cannot be described; the message names all of them. Or something else
            than a client, ids that are no whole numbers, or a spacing that is not positive.
        DisconnectedError: The client is not connected.
    """
    if not hasattr(client, "isConnected"):
        raise InvalidValueError("client", "a BulletClient or the module pybullet", client)
    if not client.isConnected():
        raise DisconnectedError("describe static bodies")
    if not (isinstance(exclude, Collection) and all(isinstance(body, Integral) for body in exclude)):
        raise InvalidValueError("exclude", "a list of body ids", exclude)
    if spacing is not None and finite("spacing [m]", spacing) <= 0:
        raise InvalidValueError("spacing [m]", "positive", spacing)
    bodies = [client.getBodyUniqueId(number) for number in range(client.getNumBodies())]
    links = [link for body in bodies if body not in exclude for link in _static_links(client, body)]
    ground = frozenset(link[:2] for link in links)
    terrains: list[Terrain] = []
    problems = []
    with without_greetings():  # PyBullet's remark that it lists no heightfield.
        for link in links:
            try:
                terrains += _describe(client, link, ground, spacing)
            except _Unreadable as problem:
                name = client.getBodyInfo(link.body)[1].decode() or "unnamed"
                problems.append(f"body {link.body} ({name}) link {link.link}: {problem}")
    if problems:
        expected = (
            "of shapes that can be described, or left out: terrain.from_pybullet(client, exclude=[...])"
        )
        raise InvalidValueError("static bodies in PyBullet", expected, Phrase("; ".join(problems)))
    return tuple(terrains)


def _static_links(client: Any, body: int) -> Iterator[_Link]:
    """Yield the links whose joints to the static base are all fixed."""
    if client.getDynamicsInfo(body, -1)[0] != 0:
        return
    yield _Link(body, -1, *client.getBasePositionAndOrientation(body))
    fixed = {-1}
    for joint in range(client.getNumJoints(body)):
        info = client.getJointInfo(body, joint)
        if info[2] == client.JOINT_FIXED and info[16] in fixed:
            fixed.add(joint)
            yield _Link(body, joint, *client.getLinkState(body, joint)[:2])


def _describe(
    client: Any, link: _Link, ground: Collection[tuple[int, int]], spacing: float | None
) -> list[Terrain]:
    """Terrains for one link, beside other static links; empty if it collides with nothing."""
    low, high = (np.array(corner) for corner in client.getAABB(link.body, link.link))
    if (high - low <= _NOTHING).all():
        return []
    try:
        shapes = client.getCollisionShapeData(link.body, link.link)
    except client.error:
        raise _Unreadable("PyBullet tells no shape of bodies made with useMaximalCoordinates") from None
    friction = client.getDynamicsInfo(link.body, link.link)[1]
    name = f"body {link.body} of PyBullet"
    parts = [_solid(client, link, i, shape) for i, shape in enumerate(shapes)]
    solids = tuple(part for part in parts if part is not None)
    if solids and not _is_met(client, link, solids[0]):
        return []
    terrains: list[Terrain] = [StaticBody(parts=solids, name=name, friction=friction)] if solids else []
    if len(solids) < max(len(shapes), 1):  # PyBullet lists no heightfield at all.
        terrains += _sampled(client, link, (low, high), ground, not shapes, spacing, friction)
    return terrains


def _is_met(client: Any, link: _Link, solid: _Convex) -> bool:
    """Return whether a ray through a solid's middle hits its link; not if collisions are off."""
    if isinstance(solid, HalfSpace):
        middle, reach = np.array(solid.point_in_world), np.array(solid.normal)
    else:
        middle = solid.points.mean(axis=0) if isinstance(solid, Hull) else np.array(solid.center)
        reach = np.array([0.0, 0.0, 1.0 + np.ptp(client.getAABB(link.body, link.link), axis=0)[2]])
    for number in range(_MOST_HITS):
        (hit,) = client.rayTestBatch([middle + reach], [middle - reach], reportHitNumber=number)
        if hit[0] < 0 or hit[:2] == link[:2]:
            break
    return bool(hit[:2] == link[:2])


def _thick_enough(
    size: tuple[float, float, float], center: NDArray[np.float64], rotation: NDArray[np.float64]
) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """Sides [m] and centre of a box in the world; a thin one reaches `_THINNEST` below its top."""
    sides, thin = list(size), int(np.argmin(size))
    normal = rotation[:, thin] * np.sign(rotation[2, thin])
    if normal[2] > _LYING and sides[thin] < _THINNEST:
        center = center - (_THINNEST - sides[thin]) / 2 * normal
        sides[thin] = _THINNEST
    (a, b, c), (x, y, z) = sides, center.tolist()
    return (a, b, c), (x, y, z)


def _solid(client: Any, link: _Link, index: int, shape: tuple[Any, ...]) -> _Convex | None:
    """A link's collision shape as a convex solid; None for a mesh that is not one."""
    _, _, kind, (a, b, c), _, *local = shape
    center, orientation = client.multiplyTransforms(link.position, link.orientation, *local)
    rotation = np.array(client.getMatrixFromQuaternion(orientation)).reshape(3, 3)
    if kind == client.GEOM_BOX:
        size, middle = _thick_enough((a, b, c), np.array(center), rotation)
        return Box(size, middle, orientation)
    if kind == client.GEOM_CYLINDER:
        upright = client.multiplyTransforms((0, 0, 0), orientation, (0, 0, 0), _Y_TO_Z)[1]
        return Cylinder(b, a, center, upright)
    if kind == client.GEOM_PLANE:
        x, y, z = (rotation @ (a, b, c)).tolist()
        return HalfSpace(center, (x, y, z))
    if kind == client.GEOM_SPHERE:
        return Hull.of(_ball(a, 0.0) @ rotation.T + center)
    if kind == client.GEOM_CAPSULE:
        return Hull.of(_ball(b, a) @ rotation.T + center)
    if kind == client.GEOM_MESH:
        # Corners of a convex mesh are in the axes of the link's inertia, whatever its own pose is.
        corners = np.array(client.getMeshData(link.body, link.link, collisionShapeIndex=index)[1])
        if not len(corners):
            return None
        turn = np.array(client.getMatrixFromQuaternion(link.orientation)).reshape(3, 3)
        if np.linalg.matrix_rank(corners - corners.mean(axis=0), tol=1e-6) < 3:
            raise _Unreadable(f"shape {index} is a flat mesh")
        return Hull.of(corners @ turn.T + link.position)
    raise _Unreadable(f"shape {index} is of a kind, {kind}, that is not known")


def _ball(radius: float, length: float) -> NDArray[np.float64]:
    """Points (n, 3) of a sphere, or of a capsule with a cylinder of `length` along z [m]."""
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
    ground: Collection[tuple[int, int]],
    once: bool,
    spacing: float | None,
    friction: float,
) -> list[Terrain]:
    """Heightfields and meshes of a link's surface, by vertical rays; see `_cast` for `once`."""
    low, high = bounds
    size = high - low
    if spacing is None:
        spacing = max(_SPACING, float(size[:2].max()) / _POINTS)
    if size[:2].min() < spacing:
        raise _Unreadable(
            f"a mesh {size[0]:.3g} m x {size[1]:.3g} m, smaller than the spacing {spacing:.3g} m"
        )
    counts = [max(2, 1 + math.floor(float(side) / spacing * (1 - 1e-6))) for side in size[:2]]
    middle = (low + high) / 2
    axes = [middle[i] + spacing * (np.arange(n) - (n - 1) / 2) for i, n in enumerate(counts)]
    places = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    ends = float(high[2]) + 1.0, float(low[2]) - _DEEP
    columns = _cast(client, link, places, ends, ground, once)
    crowded = [i for i, column in enumerate(columns) if len(column.own) > 2]
    again = _cast(client, link, places[crowded] + _ASIDE, ends, ground, once)
    for i, column in zip(crowded, again, strict=True):
        columns[i] = column
        if len(column.own) > 2:
            raise _Unreadable("a mesh that overhangs")
    for own, others in columns:
        gap = min(own) - max((z for z in others if z < min(own)), default=math.inf) if own[1:] else 0.0
        if gap > _CLEARANCE:
            raise _Unreadable(f"a mesh with {gap:.2g} m of air between it and the static body below")
    if not any(column.own for column in columns):
        return []
    beside = [min(others, default=ends[1]) for own, others in columns if not own]
    nothing = min(beside, default=0.0) - spacing
    heights = np.array([max(own, default=nothing) for own, _ in columns]).reshape(counts)
    center = float(middle[0]), float(middle[1])
    return [Heightfield(heights=heights, spacing=spacing, center=center, friction=friction)]


def _cast(
    client: Any,
    link: _Link,
    places: NDArray[np.float64],
    ends: tuple[float, float],
    ground: Collection[tuple[int, int]],
    once: bool,
) -> list[_Column]:
    """Cast vertical rays between two heights at places (n, 2) [m], and return the hits.

    A heightfield is met `once`, and nothing below it is of interest; a closed mesh is met twice, one that
    overhangs more often.
    """
    columns = [_Column([], []) for _ in places]
    for first in range(0, len(places), _BATCH):
        waiting = list(range(first, min(first + _BATCH, len(places))))
        for number in range(_MOST_HITS):
            starts, stops = ([[*places[i], end] for i in waiting] for end in ends)
            hits = client.rayTestBatch(starts, stops, reportHitNumber=number)
            for i, (body, index, _, position, _) in zip(waiting, hits, strict=True):
                own = (body, index) == link[:2]
                met = columns[i].own if own else columns[i].others
                if (own or (body, index) in ground) and all(abs(position[2] - z) > _SAME for z in met):
                    met.append(position[2])
            found = zip(waiting, hits, strict=True)
            waiting = [i for i, hit in found if hit[0] >= 0 and not (once and columns[i].own)]
            if not waiting:
                break
    return columns
