"""Depth of a point in the solids and grids of the ground."""

from __future__ import annotations

import math

from segtrack.ground.broadphase import ALL_FACES
from segtrack.ground.pack import Ground
from segtrack.kernels import Vector, compiled, inlined

Corners = tuple[tuple[int, int, int], Vector]
"""Three points of a grid by their place in `Ground.heights`, and their shares of a place between them."""


@inlined
def penetration_depth_solid(
    ground: Ground, solid: int, chosen: int, point: Vector, ahead: float, beyond_edges: bool
) -> tuple[float, Vector]:
    """Depth of a point in a convex solid under its nearest face [m], and that face's normal.

    With the faces n.x = c, normals n outwards, of which a point leaves by no buried one:

        d = min over exposed faces of (c - n.x)

    Outside, where the depth is negative, it is the distance from the face that the point is furthest from.
    It is minus infinity over a buried face, where the point is in another solid; from `ahead` on; and over
    several faces unless `beyond_edges`.

    Args:
        ground: The ground.
        solid: Index of the solid.
        chosen: Faces that may count where the point is (`broadphase.faces_near`), or `ALL_FACES`.
        point: Point in the world [m].
        ahead: Distance outside a face from which the point is of no interest [m].
        beyond_edges: True to measure points outside that are over several faces, too.
    """
    planes = ground.planes
    nearest, face, over = -math.inf, 0, 0
    for f in range(ground.faces[solid]):
        if chosen != ALL_FACES:
            if chosen >> f == 0:
                break
            if chosen >> f & 1 == 0:
                continue
        above = (
            planes[solid, f, 0] * point[0]
            + planes[solid, f, 1] * point[1]
            + planes[solid, f, 2] * point[2]
            - planes[solid, f, 3]
        )
        buried = planes[solid, f, 4] != 0.0
        over += 1 if above > 0.0 else 0
        if above > nearest and not buried:
            nearest, face = above, f
        if (above > 0.0 if buried else above >= ahead) or (over > 1 and not beyond_edges):
            nearest = math.inf
            break
    return -nearest, (planes[solid, face, 0], planes[solid, face, 1], planes[solid, face, 2])


@compiled
def height_in_cell(
    near: float, along_x: float, along_y: float, far: float, u: float, v: float
) -> tuple[float, float, float]:
    """Height of a grid's surface in a cell of its, and its rise over the cell along x and along y [m].

    The diagonal from `along_x` to `along_y` divides a cell into two triangles:

        z = near + u (along_x - near) + v (along_y - near)              u + v <= 1
        z = far - (1 - u) (far - along_y) - (1 - v) (far - along_x)     beyond

    Args:
        near: Height at the corner of least x and y [m].
        along_x: Height at the next corner along x [m].
        along_y: Height at the next corner along y [m].
        far: Height at the opposite corner [m].
        u: Place in the cell along x, from 0 to 1.
        v: Place along y.
    """
    if u + v <= 1:
        rise_x, rise_y = along_x - near, along_y - near
        return near + u * rise_x + v * rise_y, rise_x, rise_y
    rise_x, rise_y = far - along_y, far - along_x
    return far - (1 - u) * rise_x - (1 - v) * rise_y, rise_x, rise_y


@compiled
def penetration_depth_grid(ground: Ground, grid: int, point: Vector) -> tuple[float, Vector, Corners]:
    """Depth of a point under the triangle of a grid that lies over or under it.

    Triangles are those of `HeightGrid`, with slopes s:

        d = (z - point_z) / sqrt(1 + s_x^2 + s_y^2),    n = (-s_x, -s_y, 1) / sqrt(1 + s_x^2 + s_y^2)

    Args:
        ground: The ground.
        grid: Index of the grid.
        point: Point in the world [m].

    Returns:
        Depth d [m], negative over the triangle, and -1 beside the grid; unit normal n, upwards, in the world;
        and the triangle's corners with their shares of the place over or under the point.
    """
    along_cell, cell = ground.cells[grid], abs(ground.cells[grid])
    u = (point[0] - ground.grid_origins[grid, 0]) / along_cell
    v = (point[1] - ground.grid_origins[grid, 1]) / cell
    along, across = ground.grid_shapes[grid, 0], ground.grid_shapes[grid, 1]
    if not (0 <= u <= along - 1 and 0 <= v <= across - 1):
        return -1.0, (0.0, 0.0, 1.0), ((0, 0, 0), (1.0, 0.0, 0.0))
    i, j = min(int(u), along - 2), min(int(v), across - 2)
    u, v = u - i, v - j
    near = ground.grid_starts[grid] + i * across + j
    by_x, by_y, far, heights = near + across, near + 1, near + across + 1, ground.heights
    z, rise_x, rise_y = height_in_cell(heights[near], heights[by_x], heights[by_y], heights[far], u, v)
    slope_x, slope_y = rise_x / along_cell, rise_y / cell
    share = 1 / math.sqrt(1 + slope_x * slope_x + slope_y * slope_y)
    normal = -slope_x * share, -slope_y * share, share
    if u + v <= 1:
        return (z - point[2]) * share, normal, ((near, by_x, by_y), (1 - u - v, u, v))
    u, v = 1 - u, 1 - v
    return (z - point[2]) * share, normal, ((far, by_y, by_x), (1 - u - v, u, v))
