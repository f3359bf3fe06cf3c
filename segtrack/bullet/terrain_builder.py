"""Terrain in Bullet: static bodies with the terrain's friction."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pybullet
from numpy.typing import NDArray
from pybullet_utils.bullet_client import BulletClient

from segtrack.bullet.frames import vector
from segtrack.errors import FileAccessError, InvalidValueError
from segtrack.geometry import UPRIGHT, Box, Cylinder, Hull, Quaternion, Vector
from segtrack.terrain import FLOOR_DEPTH, HalfSpace, HeightGrid, Prism, Solid, Terrain, TriangleMesh

COLORS = ((0.68, 0.68, 0.66, 1.0), (0.78, 0.70, 0.56, 1.0))
"""Neutral, in turn, so that a step stands out from its floor (red, green, blue, opacity)."""

HULL_MARGIN = 0.001
"""Margin that PyBullet adds to a convex hull all around [m]; boxes and cylinders contain theirs."""

_Z_TO_Y = (-math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))
"""Quarter turn about x: PyBullet's cylinders lie along z, ours along y."""


_SHOWN = 1e3
"""Distance from a half-space's point to the edges of the box that shows it [m]."""


class _Shape(NamedTuple):
    """A collision shape and what its body needs.

    Attributes:
        collision: Id of the collision shape.
        position: World position of the body [m].
        quaternion: Orientation of the body, (x, y, z, w).
        visual: Id of the visual shape; -1 shows the collision shape itself.
        is_surface: True if it consists of triangles.
    """

    collision: int
    position: Vector
    quaternion: Quaternion = UPRIGHT
    visual: int = -1
    is_surface: bool = False


def build_terrain(client: BulletClient, terrain: Terrain) -> dict[int, bool]:
    """Add a terrain to a physics client.

    Solid bodies are static rigid bodies (`useMaximalCoordinates`) instead of
    PyBullet's default, multibodies without joints: contacts are the same, and
    a step costs a quarter less. Only multibodies get the corrected contacts at
    the inner edges of a surface, without which flat triangles catch what
    slides over them.

    Args:
        client: Client to build in.
        terrain: Terrain to build.

    Returns:
        By the ids of the new bodies, in the order of the terrain's solids: True for one of triangles.

    Raises:
        FileAccessError: PyBullet cannot load a mesh.
    """
    bodies = {}
    for i, solid in enumerate(terrain.solids()):
        shape = _create_shape(client, solid)
        body = client.createMultiBody(
            baseMass=0.0,
            baseCollisionShapeIndex=shape.collision,
            baseVisualShapeIndex=shape.visual,
            basePosition=shape.position,
            baseOrientation=shape.quaternion,
            useMaximalCoordinates=not shape.is_surface,
        )
        client.changeDynamics(
            body,
            -1,
            lateralFriction=terrain.friction,
            rollingFriction=0.0,
            spinningFriction=0.0,
            restitution=0.0,
        )
        client.changeVisualShape(body, -1, rgbaColor=COLORS[i % len(COLORS)])
        bodies[int(body)] = shape.is_surface
    return bodies


def _create_shape(client: BulletClient, solid: Solid) -> _Shape:
    match solid:
        case Box((x, y, z), center, quaternion):
            box = client.createCollisionShape(pybullet.GEOM_BOX, halfExtents=(x / 2, y / 2, z / 2))
            return _Shape(box, center, quaternion)
        case HalfSpace(point, normal):
            # In place of a box of 1 km, on which Bullet's search for normals fails by up to 24 deg.
            plane = client.createCollisionShape(pybullet.GEOM_PLANE, planeNormal=normal)
            turn = solid.turn
            visual = client.createVisualShape(
                pybullet.GEOM_BOX,
                halfExtents=(_SHOWN, _SHOWN, FLOOR_DEPTH / 2),
                visualFramePosition=turn.apply((0.0, 0.0, -FLOOR_DEPTH / 2)).tolist(),
                visualFrameOrientation=turn.as_quat().tolist(),
            )
            return _Shape(plane, point, visual=visual)
        case Hull():
            points = solid.points
            middle = points.mean(axis=0)
            hull = client.createCollisionShape(pybullet.GEOM_MESH, vertices=(points - middle).tolist())
            return _Shape(hull, vector(middle))
        case Cylinder(radius, length, center, quaternion):
            cylinder = client.createCollisionShape(pybullet.GEOM_CYLINDER, radius=radius, height=length)
            turned = client.multiplyTransforms((0, 0, 0), quaternion, (0, 0, 0), _Z_TO_Y)[1]
            return _Shape(cylinder, center, turned)
        case Prism():
            return _create_prism(client, solid)
        case HeightGrid():
            return _create_heightfield(client, solid)
        case TriangleMesh():
            return _create_mesh(client, solid)


def _create_prism(client: BulletClient, prism: Prism) -> _Shape:
    """Create a convex hull about the middle of its outline, shrunk by what PyBullet adds to it."""
    corners = np.array(prism.outline)
    middle = (corners.min(axis=0) + corners.max(axis=0)) / 2
    shrunk = shrink_polygon(corners - middle, HULL_MARGIN)
    hull = client.createCollisionShape(
        pybullet.GEOM_MESH, vertices=_draw_out(shrunk, prism.width - 2 * HULL_MARGIN).reshape(-1, 3).tolist()
    )
    # A hull is not shown by itself. Two rings of corners, then the triangles of both ends and of the sides.
    count = len(corners)
    ends = [(ring, ring + k, ring + k + 1) for ring in (0, count) for k in range(1, count - 1)]
    sides = [(k, (k + 1) % count, k + count) for k in range(count)]
    sides += [((k + 1) % count, (k + 1) % count + count, k + count) for k in range(count)]
    visual = client.createVisualShape(
        pybullet.GEOM_MESH,
        vertices=_draw_out(corners - middle, prism.width).reshape(-1, 3).tolist(),
        indices=np.array(ends + sides).ravel().tolist(),
    )
    return _Shape(hull, (float(middle[0]), 0.0, float(middle[1])), visual=visual)


def _draw_out(outline: NDArray[np.float64], width: float) -> NDArray[np.float64]:
    """Return an outline's corners (n, 2) at y = -width/2 and at y = width/2, shape (2, n, 3) [m]."""
    return np.array([np.insert(outline, 1, y, axis=1) for y in (-width / 2, width / 2)])


def shrink_polygon(corners: NDArray[np.float64], margin: float) -> NDArray[np.float64]:
    """Move every edge of a convex polygon inwards.

    Args:
        corners: Corners counterclockwise [m], shape (n, 2).
        margin: Distance that each edge moves, perpendicular to itself [m].

    Returns:
        Corners of the smaller polygon [m], shape (n, 2).
    """
    edges = np.roll(corners, -1, axis=0) - corners
    inwards = np.stack((-edges[:, 1], edges[:, 0]), axis=1) / np.linalg.norm(edges, axis=1)[:, None]
    normals = np.stack(
        (np.roll(inwards, 1, axis=0), inwards), axis=1
    )  # of the edges before and after a corner
    offsets = np.einsum("nij,nj->ni", normals, corners) + margin
    return np.linalg.solve(normals, offsets[:, :, None])[:, :, 0]


def _create_heightfield(client: BulletClient, grid: HeightGrid) -> _Shape:
    """Create a heightfield, whose origin Bullet puts halfway between its lowest and its highest point."""
    if grid.rising:
        raise InvalidValueError("Heightfield.rising in PyBullet", "False, as PyBullet cuts cells", True)
    points_x, points_y = grid.heights.shape
    heightfield = client.createCollisionShape(
        pybullet.GEOM_HEIGHTFIELD,
        meshScale=(grid.spacing, grid.spacing, 1.0),
        heightfieldData=grid.heights.T.ravel().tolist(),  # x runs fastest
        numHeightfieldRows=points_x,
        numHeightfieldColumns=points_y,
        flags=pybullet.GEOM_CONCAVE_INTERNAL_EDGE,
    )
    stored = grid.heights.astype(np.float32)
    middle = (float(stored.min()) + float(stored.max())) / 2
    return _Shape(heightfield, (*grid.center_in_world, middle), is_surface=True)


def _create_mesh(client: BulletClient, mesh: TriangleMesh) -> _Shape:
    """Load a mesh; PyBullet keeps files by name, so one that changes within a process is not read again."""
    try:
        surface = client.createCollisionShape(
            pybullet.GEOM_MESH,
            fileName=str(mesh.file),
            meshScale=(mesh.scale,) * 3,
            flags=pybullet.GEOM_FORCE_CONCAVE_TRIMESH | pybullet.GEOM_CONCAVE_INTERNAL_EDGE,
        )
    except pybullet.error:
        reason = "PyBullet takes OBJ files and binary STL files"
        raise FileAccessError("load mesh", mesh.file, reason) from None
    return _Shape(surface, mesh.position_in_world, mesh.quaternion_mesh_to_world, is_surface=True)
