"""Triangles into pixels with a depth buffer: kernels.

Coordinates of the camera are right, up and forward. What is stored of a pixel is the nearness of its
face, which is linear on the screen: -forward [m] for parallel rays, 1 / forward [1/m] in perspective.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.ground.vectors import Vector, compiled, cross, dot, offset, row

EMPTY = np.iinfo(np.int32).max
"""Face of a pixel that shows none."""
_DARK_SQUARE = 0.93
_AMBIENT = 0.5
"""Brightness of what the sun does not shine on."""
_FADE = 3.0
"""Squares fade with the distance in perspective: half of them is left here [m]."""


class Projection(NamedTuple):
    """How a camera projects.

    Attributes:
        eye: Its position in the world (3,) [m].
        axes: Right, up and forward in the world, as rows (3, 3).
        scale: Parallel rays: pixels a metre; perspective: focal length [pixels].
        perspective: Whether rays meet in the eye.
        sun: Direction to the sun in the world, of length 1 (3,).
    """

    eye: NDArray[np.float64]
    axes: NDArray[np.float64]
    scale: float
    perspective: bool
    sun: NDArray[np.float64]


class Buffer(NamedTuple):
    """What each pixel shows.

    Attributes:
        nearness: See the module (height, width).
        faces: Index of the triangle, its complement if it is seen from behind, `EMPTY` if there is
            none (height, width).
        brightness: Of each triangle, 0 to 1 (m,).
    """

    nearness: NDArray[np.float32]
    faces: NDArray[np.int32]
    brightness: NDArray[np.float32]


class Look(NamedTuple):
    """Colours; red, green and blue are 0 to 255.

    Attributes:
        colours: Of each face in full light (m, 3).
        squares: World axis (0, 1, 2) that squares on each face are perpendicular to, -1 for no squares (m,).
        square: Their side [m].
        sky: Where there is nothing (3,).
        cut: Of ground that is cut off, which is faces with squares seen from behind (3,).
        cut_depth: Where it is cut off, forward [m].
    """

    colours: NDArray[np.float32]
    squares: NDArray[np.int8]
    square: float
    sky: NDArray[np.float32]
    cut: NDArray[np.float32]
    cut_depth: float


class Work(NamedTuple):
    """Work arrays.

    Attributes:
        points: In the camera's coordinates (n, 3) [m].
        clipped: A triangle of which a corner is cut off (4, 3).
    """

    points: NDArray[np.float64]
    clipped: NDArray[np.float64]


def allocate_buffer(width: int, height: int, triangles: int) -> Buffer:
    """Return a buffer of a size [pixels] for so many triangles."""
    return Buffer(
        np.empty((height, width), np.float32),
        np.empty((height, width), np.int32),
        np.empty(triangles, np.float32),
    )


def allocate_work(points: int) -> Work:
    """Return work arrays for so many points."""
    return Work(np.empty((points, 3)), np.empty((4, 3)))


@compiled
def clear(buffer: Buffer) -> None:
    """Show nothing."""
    buffer.nearness[:] = -np.inf
    buffer.faces[:] = EMPTY


@compiled
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
    """Draw triangles over what is farther away.

    Args:
        points: In the world (n, 3) [m].
        triangles: Indices of the corners, counterclockwise from outside (m, 3).
        first: Index of the first triangle in `buffer.faces`.
        near: What is nearer than this is cut off [m]; positive in perspective.
        backs: Whether triangles are seen from behind, too.
        projection: The camera's.
        buffer: Pixels, and how bright faces are.
        work: Room for `points` and for a clipped triangle.
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
        lit = max(dot(normal, sun), 0.0) / length if length > 0 else 0.0
        buffer.brightness[first + t] = _AMBIENT + (1 - _AMBIENT) * lit
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


@compiled
def paint_pixels(buffer: Buffer, look: Look, projection: Projection, picture: NDArray[np.uint8]) -> None:
    """Paint each pixel of a picture (height, width, 3) as the mean of 2 x 2 pixels of the buffer.

    Inside a face one of them stands for all four.
    """
    faces = buffer.faces
    for y in range(picture.shape[0]):
        for x in range(picture.shape[1]):
            j, i = 2 * y, 2 * x
            code = faces[j, i]
            if code == faces[j, i + 1] == faces[j + 1, i] == faces[j + 1, i + 1]:
                colour = _colour(j, i, buffer, look, projection)
            else:
                colour = (0.0, 0.0, 0.0)
                for sub in range(4):
                    one = _colour(j + sub // 2, i + sub % 2, buffer, look, projection)
                    colour = colour[0] + one[0] / 4, colour[1] + one[1] / 4, colour[2] + one[2] / 4
            for k in range(3):
                picture[y, x, k] = int(colour[k])


@compiled
def _colour(j: int, i: int, buffer: Buffer, look: Look, projection: Projection) -> Vector:
    """Colour of a pixel of the buffer."""
    height, width = buffer.faces.shape
    axes, eye = projection.axes, projection.eye
    code = buffer.faces[j, i]
    if code == EMPTY:
        return look.sky[0], look.sky[1], look.sky[2]
    face = code if code >= 0 else -1 - code
    colour, tint, axis = look.colours[face], float(buffer.brightness[face]), look.squares[face]
    if axis >= 0:
        forward = float(buffer.nearness[j, i])
        forward = 1 / forward if projection.perspective else -forward
        if code < 0:
            colour, tint, forward = look.cut, 1.0, look.cut_depth
            axis = 0 if abs(axes[2, 0]) > 0.5 else 1 if abs(axes[2, 1]) > 0.5 else 2
        scale = projection.scale / forward if projection.perspective else projection.scale
        x, y = (i + 0.5 - width / 2) / scale, (height / 2 - j - 0.5) / scale
        parity = 0
        for k in range(3):
            if k != axis:
                place = eye[k] + x * axes[0, k] + y * axes[1, k] + forward * axes[2, k]
                parity += math.floor(place / look.square)
        if parity % 2:
            fade = _FADE / (_FADE + forward) if projection.perspective else 1.0
            tint *= 1.0 - (1.0 - _DARK_SQUARE) * fade
    return tint * colour[0], tint * colour[1], tint * colour[2]
