"""Ground as kernels read it: convex solids as planes and edges, and grids of heights."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from segtrack.errors import InvalidValueError, Phrase
from segtrack.geometry import Box, Cylinder, Hull
from segtrack.ground.seams import Convex, find_seams
from segtrack.kernels import rounded, write_rotation
from segtrack.terrain import (
    HalfSpace,
    Heightfield,
    HeightGrid,
    Prism,
    Soil,
    SoilConstants,
    Solid,
    Terrain,
    TriangleMesh,
)

SIDES = 128
"""Flat pieces of which a cylinder's mantle consists; their corners lie on the true circle."""
_FLAT = 1e-3
"""Triangles of a mesh that meet at less than this angle are one face [rad]."""


class Polyhedron(NamedTuple):
    """A convex solid: planes (faces, 4), edges (e, 6) and bounds (6,) as in `Ground`."""

    planes: NDArray[np.float64]
    edges: NDArray[np.float64]
    bounds: NDArray[np.float64]

    @classmethod
    def of_each(
        cls, planes: NDArray[np.float64], edges: NDArray[np.float64], corners: NDArray[np.float64]
    ) -> Iterator[Polyhedron]:
        """Sort the planes of solids, those that look up first, and bound their corners.

        Planes are (n, faces, 4), edges (n, e, 6), and corners (n, c, 3).
        """
        order = np.argsort(-planes[:, :, 2], axis=1, kind="stable")
        bounds = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
        return map(cls, np.take_along_axis(planes, order[..., None], axis=1), edges, bounds)

    @classmethod
    def of(
        cls, planes: NDArray[np.float64], edges: NDArray[np.float64], corners: NDArray[np.float64]
    ) -> Polyhedron:
        """Sort and bound one solid, as `of_each`."""
        return next(cls.of_each(planes[None], edges[None], corners[None]))


def polyhedra(solids: Iterable[Solid]) -> Iterator[Polyhedron]:
    """Yield the convex solids that solids consist of, in their order; grids of heights are left out.

    Raises:
        InvalidValueError: A mesh with a piece that is not closed and convex.
    """
    for kind, group in groupby(solids, type):
        if kind is Box:
            yield from _boxes(list(group))  # type: ignore[arg-type]
        elif kind is not HeightGrid:
            for solid in group:
                yield from _pieces(solid)


def _pieces(solid: Solid) -> Iterable[Polyhedron]:
    """The convex solids that a solid consists of."""
    match solid:
        case Cylinder(radius, length):
            turns = 2 * np.pi * np.arange(SIDES) / SIDES
            cosines, sines = rounded(np.stack([np.cos(turns), np.sin(turns)]))
            ring = np.stack([radius * cosines, turns * 0 - length / 2, radius * sines], axis=1)
            return _drawn_out(*_placed([solid], ring[None], np.array([(0, length, 0)])))
        case Prism(outline, width):
            ring = np.array([(x, -width / 2, z) for x, z in outline])
            return _drawn_out(ring[None], np.array([(0, width, 0)]))
        case HalfSpace(point, normal):
            top = point[2] if normal == (0.0, 0.0, 1.0) else math.inf
            bounds = np.array([-math.inf] * 3 + [math.inf, math.inf, top])
            return (Polyhedron(np.array([[*normal, np.dot(normal, point)]]), np.zeros((0, 6)), bounds),)
        case Hull():
            return (_hull(solid.points),)
        case TriangleMesh() as mesh:
            return _mesh_pieces(mesh)
        case _:
            raise AssertionError(f"{solid} is no convex solid")


_LOWER = np.array([(-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1)])
"""Corners of the lower side of a box, in halves of its size."""


def _boxes(boxes: Sequence[Box]) -> Iterator[Polyhedron]:
    """Boxes, all at once: a field has hundreds."""
    halves = np.array([box.size for box in boxes]) / 2
    return _drawn_out(*_placed(boxes, _LOWER * halves[:, None], halves * (0.0, 0.0, 2.0)))


def _hull(points: NDArray[np.float64]) -> Polyhedron:
    """The convex hull of points (n, 3) in the world [m]."""
    hull = ConvexHull(points)
    faces = hull.equations
    planes = np.unique(np.round(np.column_stack([faces[:, :3], -faces[:, 3]]), 7), axis=0)
    edges = [
        points[np.delete(triangle, k)].ravel()
        for face, (triangle, neighbours) in enumerate(zip(hull.simplices, hull.neighbors, strict=True))
        for k, other in enumerate(neighbours)
        if face < other and np.linalg.norm(np.cross(faces[face, :3], faces[other, :3])) > _FLAT
    ]
    return Polyhedron.of(planes, np.array(edges), points)


def _mesh_pieces(mesh: TriangleMesh) -> Iterator[Polyhedron]:
    """The convex pieces of a mesh, each a part that no triangle joins to another one."""
    import trimesh

    try:
        whole = trimesh.load_mesh(mesh.file)
        labels = trimesh.graph.connected_component_labels(whole.face_adjacency, len(whole.faces))
        pieces: Any = whole.submesh([np.flatnonzero(labels == i) for i in np.unique(labels)], repair=False)
    except Exception:  # The readers of trimesh fail in ways of their own.
        pieces = []
    if not pieces:
        raise InvalidValueError("ground", "an OBJ or STL file of solids", str(mesh.file))
    rotation = np.empty((3, 3))
    write_rotation(rotation, np.array(mesh.quaternion_mesh_to_world, dtype=float))
    for i, piece in enumerate(pieces):
        if not (piece.is_watertight and piece.is_convex):
            expected = "of analytic solids, heightfields and meshes of closed convex pieces"
            got = Phrase(f"{mesh.file} whose piece {i + 1} of {len(pieces)} is not")
            raise InvalidValueError("ground", expected, got)
        corners = mesh.scale * piece.vertices @ rotation.T + mesh.position_in_world
        normals = piece.face_normals @ rotation.T
        offsets = np.sum(normals * corners[piece.faces[:, 0]], axis=1)
        planes = np.unique(np.round(np.column_stack([normals, offsets]), 7), axis=0)
        sharp = piece.face_adjacency_edges[piece.face_adjacency_angles > _FLAT]
        yield Polyhedron.of(planes, np.hstack([corners[sharp[:, 0]], corners[sharp[:, 1]]]), corners)


def _placed(
    solids: Sequence[Box | Cylinder], rings: NDArray[np.float64], along: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Polygons (n, p, 3) and vectors (n, 3) of solids, turned and moved from their frames into the world."""
    rotations = np.array([_rotation(solid.quaternion) for solid in solids])
    turned = np.sum(rings[:, :, None] * rotations[:, None], axis=-1)
    centers = np.array([solid.center for solid in solids])
    return turned + centers[:, None], np.sum(along[:, None] * rotations, axis=-1)


@lru_cache(maxsize=1024)
def _rotation(quaternion: tuple[float, ...]) -> NDArray[np.float64]:
    """Rotation (3, 3) of a quaternion (x, y, z, w), rounded; it is not to be changed."""
    rotation = np.empty((3, 3))
    write_rotation(rotation, np.array(quaternion, dtype=float))
    return rounded(rotation)


def _drawn_out(rings: NDArray[np.float64], along: NDArray[np.float64]) -> Iterator[Polyhedron]:
    """Convex polygons (n, p, 3) in the world, drawn out by vectors (n, 3) across them [m]."""
    along = along[:, None]
    far = rings + along
    corners = np.concatenate([rings, far], axis=1)
    following = _following(rings)
    normals = np.concatenate([_cross(following - rings, along), along, -along], axis=1)
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    on_face = np.concatenate([rings, far[:, :1], rings[:, :1]], axis=1)
    middles = corners.mean(axis=1, keepdims=True)
    normals *= np.sign(np.einsum("nfi,nfi->nf", normals, on_face - middles))[..., None]
    planes = np.concatenate([normals, np.einsum("nfi,nfi->nf", normals, on_face)[..., None]], axis=2)
    ends = (rings, following), (far, _following(far)), (rings, far)
    edges = np.concatenate([np.concatenate(pair, axis=2) for pair in ends], axis=1)
    return Polyhedron.of_each(planes, edges, corners)


def _cross(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Vector products (..., 3), to the bit those of `np.cross`, which takes seven times as long for a few."""
    (a, b), (c, d) = ([each.take(axes, axis=-1) for axes in ((1, 2, 0), (2, 0, 1))] for each in (one, other))
    return a * d - b * c


def _following(rings: NDArray[np.float64]) -> NDArray[np.float64]:
    """Next corner of each corner of polygons (n, p, 3)."""
    return np.concatenate([rings[:, 1:], rings[:, :1]], axis=1)


RIGID = -1
"""In place of the row of a soil: there is none."""


class Ground(NamedTuple):
    """All solids of all terrains, in the world. S of them are convex, G are grids of heights.

    Attributes:
        planes: Outward normal and offset of the convex solids' faces, and whether they are buried, 1, or not,
            0 (S, faces, 5): a point is inside where normal . point < offset for all of them, and leaves by
            those that are not buried. Those that look up come first.
        faces: Number of each one's faces (S,).
        bounds: Least x, y, z and greatest x, y, z of the convex solids, then of the grids (S + G, 6) [m].
        friction: Friction of the convex solids, then of the grids (S + G,) [-].
        solid_soils: The row of each convex solid's soil (S,), or `RIGID`.
        edges: Both ends of the exposed stretches of the convex solids' edges (E, 6) [m].
        edge_friction: Friction of the solids to which they belong (E,) [-].
        edge_starts: Indices at which the edges of each convex solid begin, and the last end (S + 1,).
        heights: Heights of all grids' points, the y index runs fastest (H,) [m].
        point_soils: The row of the soil at each of these points (H,), or `RIGID`.
        grid_starts: Index at which each grid's points begin (G,).
        grid_shapes: Points along x and along y (G, 2).
        grid_origins: x and y of each grid's first point (G, 2) [m].
        cells: Distance between neighbouring points of each grid; negative where they run backwards along x,
            see `HeightGrid.runs` (G,) [m].
        soils: `SoilConstants`, a row each (T, 12).
        surfaces: Number by which contacts remember each convex solid, then each grid (S + G,): its own
            index, and S + G or more for solids that are one floor (`seams`).
    """

    planes: NDArray[np.float64]
    faces: NDArray[np.intp]
    bounds: NDArray[np.float64]
    friction: NDArray[np.float64]
    solid_soils: NDArray[np.intp]
    edges: NDArray[np.float64]
    edge_friction: NDArray[np.float64]
    edge_starts: NDArray[np.intp]
    heights: NDArray[np.float64]
    point_soils: NDArray[np.intp]
    grid_starts: NDArray[np.intp]
    grid_shapes: NDArray[np.intp]
    grid_origins: NDArray[np.float64]
    cells: NDArray[np.float64]
    soils: NDArray[np.float64]
    surfaces: NDArray[np.intp]


def pack_ground(terrains: Sequence[Terrain]) -> Ground:
    """Lay out terrains for kernels.

    Raises:
        InvalidValueError: A mesh with a piece that is not closed and convex.
    """
    rows: dict[Soil, int] = {}

    def row_of(soil: Soil | None) -> int:
        return RIGID if soil is None else rows.setdefault(soil, len(rows))

    bodies, body_friction, body_soils = [], [], []
    grids, grid_friction, point_soils = [], [], []
    for terrain in terrains:
        parts = terrain.solids()
        for body in polyhedra(parts):
            bodies.append(body)
            body_friction.append(terrain.friction)
            body_soils.append(row_of(terrain.soil))
        for solid in parts:
            if isinstance(solid, HeightGrid):
                at_points = terrain.soils if isinstance(terrain, Heightfield) else None
                if at_points is None:
                    points = np.full(solid.heights.size, row_of(terrain.soil), dtype=np.intp)
                else:
                    ordered = at_points[::-1] if solid.rising else at_points
                    points = np.array([row_of(soil) for soil in ordered.ravel().tolist()], dtype=np.intp)
                grids.append(solid)
                grid_friction.append(terrain.friction)
                point_soils.append(points)

    width = max((len(body.planes) for body in bodies), default=0)
    planes = np.zeros((len(bodies), width, 5))
    for i, body in enumerate(bodies):
        planes[i, : len(body.planes), :4] = body.planes
    faces = np.array([len(body.planes) for body in bodies], dtype=np.intp)
    bounds = np.array([body.bounds for body in bodies], dtype=float).reshape(-1, 6)
    friction, soils = np.array(body_friction, dtype=float), np.array(body_soils, dtype=np.intp)
    edges = np.concatenate([np.zeros((0, 6)), *(body.edges for body in bodies)])
    owners = np.repeat(np.arange(len(bodies)), [len(body.edges) for body in bodies])
    rigid_grids = [grid for grid, at in zip(grids, point_soils, strict=True) if (at == RIGID).all()]
    seams = find_seams(Convex(planes[..., :4], faces, bounds, edges, owners, soils, friction), rigid_grids)
    planes[..., 4] = seams.buried
    solids = len(bodies) + len(grids)
    surfaces = np.arange(solids)
    surfaces[: len(bodies)][seams.floors >= 0] = solids + seams.floors[seams.floors >= 0]
    sizes = [grid.heights.size for grid in grids]
    shapes = np.array([grid.heights.shape for grid in grids], dtype=np.intp).reshape(-1, 2)
    runs = [grid.runs for grid in grids]
    cells = np.array([spacing for _, spacing in runs], dtype=float)
    centers = np.array([grid.center_in_world for grid in grids], dtype=float).reshape(-1, 2)
    origins = centers - np.abs(cells)[:, None] * (shapes - 1) / 2
    ends = origins + np.abs(cells)[:, None] * (shapes - 1)
    grid_bounds = [
        (*origin, -math.inf, *end, grid.heights.max())
        for grid, origin, end in zip(grids, origins, ends, strict=True)
    ]
    origins[:, 0] = np.where(cells < 0, ends[:, 0], origins[:, 0])
    return Ground(
        planes,
        faces,
        np.concatenate([bounds, np.array(grid_bounds, dtype=float).reshape(-1, 6)]),
        np.concatenate([friction, np.array(grid_friction, dtype=float)]),
        soils,
        seams.edges,
        friction[seams.owners],
        np.searchsorted(seams.owners, np.arange(len(bodies) + 1)).astype(np.intp),
        np.concatenate([np.zeros(0), *(heights.ravel() for heights, _ in runs)]),
        np.concatenate([np.zeros(0, dtype=np.intp), *point_soils]),
        np.cumsum([0, *sizes], dtype=np.intp)[:-1],
        shapes,
        origins,
        cells,
        np.array([soil.constants for soil in rows], dtype=float).reshape(-1, len(SoilConstants._fields)),
        surfaces,
    )
