"""Coloured triangle meshes of solids and of terrain."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from segtrack.description import mesh_triangles
from segtrack.geometry import UPRIGHT, Box, Cylinder, Hull
from segtrack.terrain import FLOOR_DEPTH, FLOOR_REACH, HalfSpace, HeightGrid, Prism, Solid, Terrain

Colour = tuple[float, float, float]
"""Red, green and blue, 0 to 255."""
Material = Literal[
    "body",
    "belt",
    "flipper belt",
    "grouser",
    "stripe",
    "plate",
    "flipper plate",
    "wheel",
    "spoke",
    "floor",
    "obstacle",
    "soil",
    "sky",
    "horizon",
]
COLOURS: Mapping[Material, Colour] = MappingProxyType(
    {
        "body": (240, 150, 46),
        "belt": (92, 97, 104),
        "flipper belt": (44, 102, 160),
        "grouser": (48, 51, 56),
        "stripe": (150, 158, 166),
        "plate": (184, 190, 196),
        "flipper plate": (112, 170, 214),
        "wheel": (206, 210, 214),
        "spoke": (134, 140, 148),
        "floor": (226, 225, 221),
        "obstacle": (186, 199, 188),
        "soil": (206, 174, 126),
        "sky": (196, 216, 236),
        "horizon": (244, 247, 250),
    }
)
"""Colour of each material in full light; a body's URDF may give others."""


_SIDES, _SECTORS = 24, 6
"""Facets of a cylinder, and coloured sectors of a wheel's disc."""


class ColouredMesh(NamedTuple):
    """Triangle mesh with one colour per triangle.

    Attributes:
        points: Corners (n, 3) [m].
        triangles: Corner indices, counterclockwise from outside (m, 3).
        colours: Colours of the triangles, 0 to 255 (m, 3).
    """

    points: NDArray[np.float64]
    triangles: NDArray[np.int32]
    colours: NDArray[np.float32]

    def moved(self, rotation: NDArray[np.float64], origin: ArrayLike) -> ColouredMesh:
        """Mesh in an outer frame, in which its own frame has a `rotation` (3, 3) and an `origin` (3,) [m]."""
        return self._replace(points=self.points @ rotation.T + np.asarray(origin))

    def times(self, count: int) -> ColouredMesh:
        """Mesh of `count` copies in one place; `repeat_points` places them."""
        starts = len(self.points) * np.arange(count, dtype=np.int32)
        triangles = self.triangles[None] + starts[:, None, None]
        return ColouredMesh(
            np.tile(self.points, (count, 1)), triangles.reshape(-1, 3), np.tile(self.colours, (count, 1))
        )

    def normals(self) -> NDArray[np.float64]:
        """Outward unit normals of the triangles (m, 3)."""
        a, b, c = (self.points[self.triangles[:, i]] for i in range(3))
        normals = np.cross(b - a, c - a)
        lengths = np.sqrt(np.einsum("ij,ij->i", normals, normals))
        return normals / np.maximum(lengths, 1e-300)[:, None]


def coloured(points: ArrayLike, triangles: ArrayLike, colour: Colour) -> ColouredMesh:
    """Return a mesh of one colour from points (n, 3) [m] and triangles (m, 3)."""
    indices = np.asarray(triangles, dtype=np.int32).reshape(-1, 3)
    colours = np.broadcast_to(np.array(colour, dtype=np.float32), (len(indices), 3)).copy()
    return ColouredMesh(np.asarray(points, dtype=float).reshape(-1, 3), indices, colours)


def join(meshes: Iterable[ColouredMesh]) -> ColouredMesh:
    """Join several meshes to one."""
    parts = [coloured([], [], (0, 0, 0)), *meshes]
    starts = np.cumsum([0, *(len(part.points) for part in parts)])
    return ColouredMesh(
        np.concatenate([part.points for part in parts]),
        np.concatenate([part.triangles + int(start) for part, start in zip(parts, starts, strict=False)]),
        np.concatenate([part.colours for part in parts]),
    )


def repeat_points(
    points: NDArray[np.float64], rotations: NDArray[np.float64], origins: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Place points (v, 3) at n poses, rotations (n, 3, 3) and origins (n, 3) [m]; returns (n v, 3) [m]."""
    return (points @ rotations.transpose(0, 2, 1) + origins[:, None]).reshape(-1, 3)


def convex(points: ArrayLike, colour: Colour) -> ColouredMesh:
    """Return the mesh of the convex hull of points (n, 3) [m]."""
    corners = np.asarray(points, dtype=float)
    hull = ConvexHull(corners)
    triangles = hull.simplices
    a, b, c = (corners[triangles[:, i]] for i in range(3))
    inwards = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0
    return coloured(corners, np.where(inwards[:, None], triangles[:, ::-1], triangles), colour)


def box(half_extents: ArrayLike, colour: Colour) -> ColouredMesh:
    """Return a box about the frame's origin; `half_extents` (3,) are half of each edge [m]."""
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    return convex(signs * np.asarray(half_extents), colour)


def prism(outline: ArrayLike, y_min: float, y_max: float, colour: Colour) -> ColouredMesh:
    """Return a convex outline (n, 2) in (x, z), extruded along y [m]."""
    plane = np.asarray(outline, dtype=float)
    return convex(np.concatenate([np.insert(plane, 1, y, axis=1) for y in (y_min, y_max)]), colour)


def wheel(radius: float, length: float, colour: Colour, mark: Colour | None = None) -> ColouredMesh:
    """Return a cylinder about the frame's y axis [m], in sectors of two colours that show its rotation."""
    turn = np.linspace(0, 2 * math.pi, _SIDES, endpoint=False)
    rim = radius * np.stack([np.sin(turn), np.cos(turn)], axis=1)
    ends = [np.insert(np.concatenate([rim, [[0, 0]]]), 1, y, axis=1) for y in (-length / 2, length / 2)]
    here, there = np.arange(_SIDES), (np.arange(_SIDES) + 1) % _SIDES
    middle, other = np.full(_SIDES, _SIDES), _SIDES + 1
    faces = [
        (here, middle, there),
        (here + other, there + other, middle + other),
        (here, there, here + other),
        (there, there + other, here + other),
    ]
    disc = coloured(np.concatenate(ends), np.concatenate([np.stack(f, axis=1) for f in faces]), colour)
    if mark is not None:
        disc.colours[np.tile(here // (_SIDES // _SECTORS) % 2 == 0, len(faces))] = mark
    return disc


def ball(radius: float, colour: Colour) -> ColouredMesh:
    """Return a sphere about the frame's origin, of a radius [m]."""
    rings = np.linspace(0, math.pi, 9)
    turn = np.linspace(0, 2 * math.pi, 16, endpoint=False)
    points = [
        (math.sin(a) * math.cos(b), math.sin(a) * math.sin(b), math.cos(a)) for a in rings for b in turn
    ]
    return convex(radius * np.unique(np.round(points, 9), axis=0), colour)


def ring(
    outer: NDArray[np.float64], inner: NDArray[np.float64], width: float, colour: Colour
) -> ColouredMesh:
    """Return a closed band between two outlines of equal length (n, 2) in (x, z), extruded along y [m]."""
    n = len(outer)
    points = np.concatenate(
        [np.insert(line, 1, side * width / 2, axis=1) for side in (-1, 1) for line in (outer, inner)]
    )
    here, there = np.arange(n), (np.arange(n) + 1) % n
    strips = [(0, 2 * n), (2 * n, 3 * n), (3 * n, n), (n, 0)]
    quads = [(first + here, first + there, second + there, second + here) for first, second in strips]
    triangles = [np.stack([a, b, c], axis=1) for a, b, c, d in quads]
    triangles += [np.stack([a, c, d], axis=1) for a, b, c, d in quads]
    return coloured(points, np.concatenate(triangles), colour)


def of_solid(solid: Box | Cylinder | Hull, colour: Colour, mark: Colour | None = None) -> ColouredMesh:
    """Return the mesh of a solid; with `mark`, a cylinder is drawn in sectors of two colours."""
    match solid:
        case Box(size):
            return box(np.array(size) / 2, colour)
        case Cylinder(radius, length):
            return wheel(radius, length, colour, mark)
        case Hull(vertices):
            return convex(vertices, colour)


def from_file(file: str, scale: Sequence[float], colour: Colour) -> ColouredMesh:
    """Return the surface of a mesh file, scaled along its axes."""
    vertices, triangles = mesh_triangles(file)
    return coloured(vertices * np.asarray(scale), triangles, colour)


_RISE, _FULL_RISE = 1e-4, 0.04
"""Heights above the floor at which an obstacle begins, and has its full colour [m]."""
_SIDE = 1e-4
"""Faces are sides, or level, if their normal's vertical part differs so little from 0, or 1."""
_DEEP = 100.0
"""Depth by which floors are drawn lower than they are [m], so that a cut shows ground to the edge."""


def ground_mesh(terrains: Iterable[Terrain]) -> ColouredMesh:
    """Return all terrain surfaces in the world as one mesh; floors reach far down."""
    meshes = []
    for terrain in terrains:
        soft = terrain.soil is not None or getattr(terrain, "soils", None) is not None
        for solid in terrain.solids():
            meshes.append(mesh := _mesh(solid, COLOURS["soil" if soft else "floor"]))
            if not soft:
                _paint_obstacle(mesh)
            lowest = mesh.points[:, 2].min()
            is_upright = isinstance(solid, Prism) or (isinstance(solid, Box) and solid.quaternion == UPRIGHT)
            if is_upright and lowest <= -FLOOR_DEPTH / 2:
                mesh.points[mesh.points[:, 2] <= lowest + 1e-6, 2] -= _DEEP
    return join(meshes)


def _paint_obstacle(mesh: ColouredMesh) -> None:
    """Recolour the faces above the floor's level, slopes below it, and level faces below it.

    The first centimetres have a mixed colour, by their height, so that smooth ground has no seams.
    """
    heights, upright = mesh.points[:, 2][mesh.triangles], np.abs(mesh.normals()[:, 2])
    if mesh.points[:, 2].max() > _RISE:
        off = heights.max(axis=1)
    else:
        is_floor = (upright < _SIDE) | (upright > 1 - _SIDE) & (heights.max(axis=1) > -_RISE)
        off = np.where(is_floor, 0.0, -heights.min(axis=1))
    share = np.clip(off / _FULL_RISE, 0.0, 1.0)[:, None]
    floor, obstacle = np.array(COLOURS["floor"]), np.array(COLOURS["obstacle"])
    mesh.colours[:] = floor + (obstacle - floor) * share


def _mesh(solid: Solid, colour: Colour) -> ColouredMesh:
    """Mesh of one solid of a terrain."""
    match solid:
        case Box(_, center, quaternion) | Cylinder(_, _, center, quaternion):
            return of_solid(solid, colour).moved(Rotation.from_quat(quaternion).as_matrix(), center)
        case HalfSpace(point):
            half = (FLOOR_REACH, FLOOR_REACH, FLOOR_DEPTH / 2)
            turn = solid.turn.as_matrix()
            return box(half, colour).moved(turn, point - turn @ (0.0, 0.0, FLOOR_DEPTH / 2))
        case Hull():
            return convex(solid.points, colour)
        case Prism(outline, width):
            return prism(outline, -width / 2, width / 2, colour)
        case HeightGrid():
            return _grid(solid, colour)
        case _:
            surface = from_file(str(solid.file), (solid.scale,) * 3, colour)
            turn = Rotation.from_quat(solid.quaternion_mesh_to_world).as_matrix()
            return surface.moved(turn, solid.position_in_world)


def _grid(grid: HeightGrid, colour: Colour) -> ColouredMesh:
    """Mesh of a height grid, closed below so that it can be cut by the near plane."""
    nx, ny = grid.heights.shape
    x = grid.center_in_world[0] + grid.spacing * (np.arange(nx) - (nx - 1) / 2)
    y = grid.center_in_world[1] + grid.spacing * (np.arange(ny) - (ny - 1) / 2)
    top = np.stack([*np.meshgrid(x, y, indexing="ij"), grid.heights], axis=-1).reshape(-1, 3)
    bottom = top.copy()
    bottom[:, 2] = grid.heights.min() - _DEEP
    index = np.arange(nx * ny).reshape(nx, ny)
    a, b, c, d = index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]
    upper = [(a, b, c), (a, c, d)] if grid.rising else [(a, b, d), (b, c, d)]
    rim = np.concatenate([index[:-1, 0], index[-1, :-1], index[:0:-1, -1], index[0, :0:-1]])
    after, below = np.roll(rim, -1), nx * ny
    faces = [np.stack([corner.ravel() for corner in three], axis=1) for three in upper]
    faces.append(np.stack([rim, rim + below, after + below], axis=1))
    faces.append(np.stack([rim, after + below, after], axis=1))
    low = index[[0, 0, -1, -1], [0, -1, -1, 0]] + below
    faces.append(np.array([low[[0, 1, 2]], low[[0, 2, 3]]]))
    return coloured(np.concatenate([top, bottom]), np.concatenate(faces), colour)
