"""Triangle meshes of the solids that vehicles and terrain consist of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import ConvexHull

from segtrack.geometry.solids import Box, Cylinder, Hull, Solid
from segtrack.rendering.materials import Colour

_SIDES, _SECTORS = 24, 6
"""Facets of a cylinder, and coloured sectors of a wheel's disc."""


class ColouredMesh(NamedTuple):
    """A surface.

    Attributes:
        points: Corners (n, 3) [m].
        triangles: Their indices, counterclockwise from outside (m, 3).
        colours: Colours of the triangles (m, 3), 0 to 255.
    """

    points: NDArray[np.float64]
    triangles: NDArray[np.int32]
    colours: NDArray[np.float32]

    def moved(self, rotation: NDArray[np.float64], origin: ArrayLike) -> ColouredMesh:
        """Return the mesh from outside a frame, in which it is given."""
        return self._replace(points=self.points @ rotation.T + np.asarray(origin))

    def times(self, count: int) -> ColouredMesh:
        """Return `count` of the mesh in one place; `repeat_points` tells where they are."""
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
    """Return a mesh of one colour."""
    indices = np.asarray(triangles, dtype=np.int32).reshape(-1, 3)
    colours = np.broadcast_to(np.array(colour, dtype=np.float32), (len(indices), 3)).copy()
    return ColouredMesh(np.asarray(points, dtype=float).reshape(-1, 3), indices, colours)


def join(meshes: Iterable[ColouredMesh]) -> ColouredMesh:
    """Return several meshes as one."""
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
    """Return points (v, 3) at each of n poses (n v, 3) [m]: rotations (n, 3, 3), origins (n, 3) [m]."""
    return (points @ rotations.transpose(0, 2, 1) + origins[:, None]).reshape(-1, 3)


def convex(points: ArrayLike, colour: Colour) -> ColouredMesh:
    """Return the convex hull of points (n, 3) [m]."""
    corners = np.asarray(points, dtype=float)
    hull = ConvexHull(corners)
    triangles = hull.simplices
    a, b, c = (corners[triangles[:, i]] for i in range(3))
    inwards = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0
    return coloured(corners, np.where(inwards[:, None], triangles[:, ::-1], triangles), colour)


def box(half_extents: ArrayLike, colour: Colour) -> ColouredMesh:
    """Return a box about its frame's origin; half of each edge (3,) [m]."""
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    return convex(signs * np.asarray(half_extents), colour)


def prism(outline: ArrayLike, y_min: float, y_max: float, colour: Colour) -> ColouredMesh:
    """Return a convex outline (n, 2) in (x, z), drawn out along y [m]."""
    plane = np.asarray(outline, dtype=float)
    return convex(np.concatenate([np.insert(plane, 1, y, axis=1) for y in (y_min, y_max)]), colour)


def wheel(radius: float, length: float, colour: Colour, mark: Colour | None = None) -> ColouredMesh:
    """Return a round about its frame's y axis [m], in sectors of two colours to see it turn."""
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
    """Return a ball about its frame's origin."""
    rings = np.linspace(0, math.pi, 9)
    turn = np.linspace(0, 2 * math.pi, 16, endpoint=False)
    points = [
        (math.sin(a) * math.cos(b), math.sin(a) * math.sin(b), math.cos(a)) for a in rings for b in turn
    ]
    return convex(radius * np.unique(np.round(points, 9), axis=0), colour)


def ring(
    outer: NDArray[np.float64], inner: NDArray[np.float64], width: float, colour: Colour
) -> ColouredMesh:
    """Return a closed band between two outlines (n, 2) in (x, z), station by station, drawn out along y."""
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


def of_solid(solid: Solid, colour: Colour, mark: Colour | None = None) -> ColouredMesh:
    """Return a solid of a track; a cylinder in sectors of two colours if there is a mark."""
    match solid:
        case Box(size):
            return box(np.array(size) / 2, colour)
        case Cylinder(radius, length):
            return wheel(radius, length, colour, mark)
        case Hull(vertices):
            return convex(vertices, colour)


def from_file(file: str, scale: Sequence[float], colour: Colour) -> ColouredMesh:
    """Return the surface in an OBJ or STL file, scaled along its axes."""
    import trimesh  # Here, for it takes half a second.

    surface = trimesh.load_mesh(file)
    return coloured(np.asarray(surface.vertices) * np.asarray(scale), surface.faces, colour)
