"""Rasterisation kernels: triangles into pixels, with a depth buffer.

Coordinates of the camera are right, up and forward. What is stored of a pixel is the nearness of its
face, which is linear on the screen: -forward [m] for parallel rays, 1 / forward [1/m] in perspective.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.kernels import compiled, cross, dot, entry, offset, row

EMPTY = np.iinfo(np.int32).max
"""Face of a pixel that shows none."""
_AMBIENT, _SKY, _SUN = 0.44, 0.2, 0.46
"""Brightness from all sides, from the sky on what looks up, and from the sun on what looks at it [-]."""


class Projection(NamedTuple):
    """Projection of a camera: parallel or perspective.

    Attributes:
        eye: Camera position in the world (3,) [m].
        axes: Right, up and forward direction in the world, as rows (3, 3).
        scale: Pixels per metre for parallel rays; focal length [pixels] in perspective.
        perspective: True for rays that meet in the eye, False for parallel rays.
        sun: Unit vector to the sun in the world (3,).
    """

    eye: NDArray[np.float64]
    axes: NDArray[np.float64]
    scale: float
    perspective: bool
    sun: NDArray[np.float64]


class Buffer(NamedTuple):
    """Buffers of a picture: the triangle in each pixel, and the triangles' light.

    Attributes:
        nearness: Depth measure of each pixel, see the module (height, width).
        faces: Index of the triangle, its complement if seen from behind, `EMPTY` for none
            (height, width).
        lights: Brightness of each triangle in shadow, and the sun's addition to it (m, 2).
        normals: Unit normal of each triangle in the world (m, 3).
        slopes: Tangent of the angle at which each triangle falls away from the eye, at most 100 (m,).
        lines: True where an edge line is drawn (height, width).
    """

    nearness: NDArray[np.float32]
    faces: NDArray[np.int32]
    lights: NDArray[np.float32]
    normals: NDArray[np.float32]
    slopes: NDArray[np.float32]
    lines: NDArray[np.bool_]


class Work(NamedTuple):
    """Work arrays of the rasteriser.

    Attributes:
        points: Points in camera coordinates (n, 3) [m].
        clipped: Triangle with a corner cut off by the near plane (4, 3).
    """

    points: NDArray[np.float64]
    clipped: NDArray[np.float64]


def allocate_buffer(width: int, height: int, triangles: int) -> Buffer:
    """Allocate a buffer of a size [pixels] for `triangles` triangles."""
    return Buffer(
        np.empty((height, width), np.float32),
        np.empty((height, width), np.int32),
        np.empty((triangles, 2), np.float32),
        np.empty((triangles, 3), np.float32),
        np.empty(triangles, np.float32),
        np.empty((height, width), np.bool_),
    )


def allocate_work(points: int) -> Work:
    """Allocate work arrays for `points` points."""
    return Work(np.empty((points, 3)), np.empty((4, 3)))


@entry
def clear(buffer: Buffer) -> None:
    """Clear the buffer."""
    buffer.nearness[:] = -np.inf
    buffer.faces[:] = EMPTY


@entry
def draw_triangles(
    points: NDArray[np.float64],
    triangles: NDArray[np.int32],
    first: int,
    near: float,
    backs: bool,
    projection: Projection,
    buffer: Buffer,
    work: Work,
) -> None:
    """Draw triangles where they are nearer than the buffer's content.

    Args:
        points: Points in the world (n, 3) [m].
        triangles: Indices of the corners, counterclockwise from outside (m, 3).
        first: Index of the first triangle in `buffer.faces`.
        near: Distance below which surfaces are cut off [m]; positive in perspective.
        backs: True if triangles are also drawn when seen from behind.
        projection: Projection of the camera.
        buffer: Buffers to draw into.
        work: Work arrays for at least `points`.
    """
    height, width = buffer.faces.shape
    axes, eye, seen, clipped = projection.axes, projection.eye, work.points, work.clipped
    sun = (projection.sun[0], projection.sun[1], projection.sun[2])
    for i in range(len(points)):
        x, y, z = points[i, 0] - eye[0], points[i, 1] - eye[1], points[i, 2] - eye[2]
        for k in range(3):
            seen[i, k] = axes[k, 0] * x + axes[k, 1] * y + axes[k, 2] * z
    for t in range(len(triangles)):
        a, b, c = triangles[t]
        normal = cross(offset(points, b, points[a]), offset(points, c, points[a]))
        towards = offset(points, a, eye) if projection.perspective else row(axes, 2)
        if dot(normal, towards) >= 0 and not backs:
            continue
        length = math.sqrt(dot(normal, normal))
        one = 1 / length if length > 0 else 0.0
        buffer.lights[first + t, 0] = _AMBIENT + _SKY * (0.5 + 0.5 * normal[2] * one)
        buffer.lights[first + t, 1] = _SUN * max(dot(normal, sun), 0.0) * one
        for k in range(3):
            buffer.normals[first + t, k] = normal[k] * one
        facing = abs(dot(normal, row(axes, 2))) * one
        buffer.slopes[first + t] = math.sqrt(max(1 - facing * facing, 0.0)) / max(facing, 0.01)
        count = 0
        for side in range(3):
            a, b = triangles[t, side], triangles[t, (side + 1) % 3]
            depth_a, depth_b = seen[a, 2] - near, seen[b, 2] - near
            if depth_a >= 0:
                for k in range(3):
                    clipped[count, k] = seen[a, k]
                count += 1
            if (depth_a < 0) != (depth_b < 0):
                along = depth_a / (depth_a - depth_b)
                for k in range(3):
                    clipped[count, k] = seen[a, k] + along * (seen[b, k] - seen[a, k])
                count += 1
        for i in range(count):
            forward = clipped[i, 2]
            scale = projection.scale / forward if projection.perspective else projection.scale
            clipped[i, 0] = width / 2 + clipped[i, 0] * scale
            clipped[i, 1] = height / 2 - clipped[i, 1] * scale
            clipped[i, 2] = 1 / forward if projection.perspective else -forward
        for i in range(1, count - 1):
            _fill(clipped[0], clipped[i], clipped[i + 1], first + t, buffer)


@compiled
def _fill(
    a: NDArray[np.float64], b: NDArray[np.float64], c: NDArray[np.float64], face: int, buffer: Buffer
) -> None:
    """Fill the triangle a, b, c on the screen [pixels, pixels, nearness], row by row."""
    height, width = buffer.faces.shape
    area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
    if area == 0 or not math.isfinite(area):
        return
    slope_x = ((b[2] - a[2]) * (c[1] - a[1]) - (c[2] - a[2]) * (b[1] - a[1])) / area
    slope_y = ((c[2] - a[2]) * (b[0] - a[0]) - (b[2] - a[2]) * (c[0] - a[0])) / area
    code = face if area < 0 else -1 - face  # The screen's y points down.
    top = math.ceil(max(min(a[1], b[1], c[1]), 0.0) - 0.5)
    bottom = math.ceil(min(max(a[1], b[1], c[1]), height) - 0.5)
    for j in range(top, bottom):
        y = j + 0.5
        left, right = float(width), 0.0
        for one, two in ((a, b), (b, c), (c, a)):
            if (one[1] <= y) != (two[1] <= y):
                x = one[0] + (y - one[1]) * (two[0] - one[0]) / (two[1] - one[1])
                left, right = min(left, x), max(right, x)
        start, end = math.ceil(max(left, 0.0) - 0.5), math.ceil(min(right, width) - 0.5)
        nearness = a[2] + (start + 0.5 - a[0]) * slope_x + (y - a[1]) * slope_y
        for i in range(start, end):
            if nearness > buffer.nearness[j, i]:
                buffer.nearness[j, i] = nearness
                buffer.faces[j, i] = code
            nearness += slope_x
