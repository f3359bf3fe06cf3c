"""Depth of a point in the ground, and the soil that lies there."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from segtrack.ground.kernels import compiled, inlined
from segtrack.ground.pack import Ground
from segtrack.ground.vectors import Vector
from segtrack.terrain.soil import SoilConstants

Corners = tuple[tuple[int, int, int], Vector]
"""Three points of a grid by their place in `Ground.heights`, and their shares of a place between them."""


@inlined
def penetration_depth_solid(
    planes: NDArray[np.float64], faces: int, solid: int, point: Vector
) -> tuple[float, Vector]:
    """Depth of a point in a convex solid under its nearest face [m], and that face's normal.

    The planes are `Ground.planes`, of which the solid has so many faces. The depth of a point
    outside is negative, and says no more than this.
    """
    nearest, face = -math.inf, 0
    for f in range(faces):
        above = (
            planes[solid, f, 0] * point[0]
            + planes[solid, f, 1] * point[1]
            + planes[solid, f, 2] * point[2]
            - planes[solid, f, 3]
        )
        if above > nearest:
            nearest, face = above, f
            if above >= 0:
                break
    normal = planes[solid, face, 0], planes[solid, face, 1], planes[solid, face, 2]
    return -nearest, normal


@compiled
def penetration_depth_grid(ground: Ground, grid: int, point: Vector) -> tuple[float, Vector, Corners]:
    """Depth of a point under the triangle that lies over or under it, its normal and its corners.

    Triangles are those of `HeightGrid`. Beside the grid the depth is negative.
    """
    cell = ground.cells[grid]
    u = (point[0] - ground.grid_origins[grid, 0]) / cell
    v = (point[1] - ground.grid_origins[grid, 1]) / cell
    along, across = ground.grid_shapes[grid, 0], ground.grid_shapes[grid, 1]
    if not (0 <= u <= along - 1 and 0 <= v <= across - 1):
        return -1.0, (0.0, 0.0, 1.0), ((0, 0, 0), (1.0, 0.0, 0.0))
    i, j = min(int(u), along - 2), min(int(v), across - 2)
    u, v = u - i, v - j
    first = ground.grid_starts[grid] + i * across + j
    if u + v <= 1:
        sign, corner, by_x, by_y = 1.0, first, first + across, first + 1
    else:
        sign, corner, by_x, by_y = -1.0, first + across + 1, first + 1, first + across
        u, v = 1 - u, 1 - v
    height = ground.heights[corner]
    rise_x, rise_y = ground.heights[by_x] - height, ground.heights[by_y] - height
    slope_x, slope_y = sign * rise_x / cell, sign * rise_y / cell
    share = 1 / math.sqrt(1 + slope_x * slope_x + slope_y * slope_y)
    depth = (height + u * rise_x + v * rise_y - point[2]) * share
    return depth, (-slope_x * share, -slope_y * share, share), ((corner, by_x, by_y), (1 - u - v, u, v))


@compiled
def soil_row(soils: NDArray[np.float64], i: int) -> SoilConstants:
    """The soil of a row of `Ground.soils`."""
    return SoilConstants(
        soils[i, 0],
        soils[i, 1],
        soils[i, 2],
        soils[i, 3],
        soils[i, 4],
        soils[i, 5],
        soils[i, 6],
        soils[i, 7],
        soils[i, 8],
        soils[i, 9],
        soils[i, 10],
    )


@compiled
def soil_between(ground: Ground, corners: Corners) -> SoilConstants:
    """The soil inside a triangle of a grid, each of its constants interpolated (Omar 2014, equation 47).

    The friction angle's tangent is, not the angle.
    """
    a = soil_row(ground.soils, ground.point_soils[corners[0][0]])
    b = soil_row(ground.soils, ground.point_soils[corners[0][1]])
    c = soil_row(ground.soils, ground.point_soils[corners[0][2]])
    p, q, r = corners[1]
    return SoilConstants(
        p * a.sinkage_exponent + q * b.sinkage_exponent + r * c.sinkage_exponent,
        p * a.cohesive_modulus + q * b.cohesive_modulus + r * c.cohesive_modulus,
        p * a.frictional_modulus + q * b.frictional_modulus + r * c.frictional_modulus,
        p * a.cohesion + q * b.cohesion + r * c.cohesion,
        p * a.friction + q * b.friction + r * c.friction,
        p * a.shear_deformation_modulus + q * b.shear_deformation_modulus + r * c.shear_deformation_modulus,
        p * a.unloading_stiffness + q * b.unloading_stiffness + r * c.unloading_stiffness,
        p * a.unloading_growth + q * b.unloading_growth + r * c.unloading_growth,
        p * a.slip_damping + q * b.slip_damping + r * c.slip_damping,
        p * a.slip_speed + q * b.slip_speed + r * c.slip_speed,
        a.tanh,
    )
