"""Shading kernels: colours of pixels by sun, shadow, edge lines and squares on the ground."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.kernels import compiled, dot, entry, row
from segtrack.rendering.raster import EMPTY, Buffer, Projection, Work, allocate_buffer, clear, draw_triangles

_DARK_SQUARE = 0.94
_FADE = 2.0
"""Squares fade with the distance in perspective: half is left here, over the distance of `Look` [-]."""
_LINE, _GROUND_LINE = 0.35, 0.6
"""Brightness of lines at edges of bodies and of the ground [-]."""
_GROUND_GAP = 4.0
"""Gap between two faces of the ground from which a line is drawn, over that of bodies [-]."""
_CREASE = 0.8
"""Cosine of the angle between two faces from which a line is drawn between them."""
_GRAZING = 0.15
"""Sine of the angle of the sun over a face from which on its slope counts in shadows."""
_CUT = 0.86
"""Brightness of ground that is cut off [-]."""


class Look(NamedTuple):
    """Colours and parameters of the shading; red, green and blue are 0 to 255.

    Attributes:
        colours: Colour of each face in full light (m, 3).
        squares: World axis (0, 1, 2) normal to the squares drawn on each face, -1 for none,
            as on bodies (m,).
        square: Edge length of the squares [m].
        sky: Background colour of each row of the buffer (height, 3).
        cut_depth: Forward distance of the plane that cuts the ground [m]; its back faces show.
        gap: Distance between two adjacent faces above which an edge line is drawn [m].
        reach: Half the width of edge lines [pixels of the buffer].
        distance: Forward distance of the robot, up to which ground lines keep their strength [m].
    """

    colours: NDArray[np.float32]
    squares: NDArray[np.int8]
    square: float
    sky: NDArray[np.float32]
    cut_depth: float
    gap: float
    reach: int
    distance: float


class Shadow(NamedTuple):
    """Depth map from the sun: pixels that the sun does not see are in shadow.

    Attributes:
        projection: Projection along the sun's rays.
        nearness: Nearness of the lit surfaces (n, n), as in `Buffer`.
        blur: Half the width of a shadow's soft edge, in addition to one pixel [pixels].
        lift: Distance by which tested points are moved towards the sun, against self-shadowing [m].
        on_bodies: True if shadows also fall on bodies, not only on the ground.
    """

    projection: Projection
    nearness: NDArray[np.float32]
    blur: int
    lift: float
    on_bodies: bool


@entry
def paint_pixels(
    buffer: Buffer, look: Look, shadow: Shadow, projection: Projection, picture: NDArray[np.uint8]
) -> None:
    """Paint each pixel of a picture (height, width, 3) as the mean of 2 x 2 pixels of the buffer.

    Lines are drawn where a face ends before what lies farther away, and where two meet at an angle. Inside a
    face one pixel stands for all four. All is written in one loop: to hand these tuples to a
    function for each pixel would take three times as long.
    """
    faces, nearness, lines = buffer.faces, buffer.nearness, buffer.lines
    lights, normals, slopes, reach = buffer.lights, buffer.normals, buffer.slopes, look.reach
    lines[:] = False
    height, width = faces.shape
    # As tuples: their elements stay in registers, for nothing that is written can be theirs.
    eye, perspective = (projection.eye[0], projection.eye[1], projection.eye[2]), projection.perspective
    right, up, ahead = row(projection.axes, 0), row(projection.axes, 1), row(projection.axes, 2)
    sun = shadow.projection
    sun_x, sun_y, sun_z = row(sun.axes, 0), row(sun.axes, 1), row(sun.axes, 2)
    sun_eye, sun_scale, half = (sun.eye[0], sun.eye[1], sun.eye[2]), sun.scale, shadow.nearness.shape[0] / 2
    middle_near = shadow.lift + dot(sun_z, sun_eye)
    middle_s = half - 0.5 - sun_scale * dot(sun_x, sun_eye)
    middle_t = half - 0.5 + sun_scale * dot(sun_y, sun_eye)
    first = shadow.blur + 1.0
    last = 2 * half - first - 1.0
    cut_axis = 0 if abs(ahead[0]) > 0.5 else 1 if abs(ahead[1]) > 0.5 else 2
    per_square, per_pixel, contrast = 1 / look.square, 1 / projection.scale, 1.0 - _DARK_SQUARE
    fading = _FADE * look.distance
    for y in range(picture.shape[0]):
        j = 2 * y
        for x in range(picture.shape[1]):
            i = 2 * x
            code, beside, below = faces[j, i], i + reach, j + reach
            plain = code == faces[j, i + 1] == faces[j + 1, i] == faces[j + 1, i + 1]
            if beside + 1 < width:
                plain = plain and code == faces[j, beside + 1] == faces[j + 1, beside + 1]
            if below + 1 < height:
                plain = plain and code == faces[below + 1, i] == faces[below + 1, i + 1]
            if not plain:
                # Lines of these pixels and of those beside and below them, which are painted later.
                for pair in range(8):
                    v, u = j + pair % 4 // 2, i + pair % 2
                    w, z = (v, u + reach) if pair < 4 else (v + reach, u)
                    if w >= height or z >= width or faces[v, u] == faces[w, z]:
                        continue
                    code, other = faces[v, u], faces[w, z]
                    if code == EMPTY or other == EMPTY:
                        lines[v, u] |= code != EMPTY
                        lines[w, z] |= other != EMPTY
                        continue
                    if code < 0 and other < 0:
                        continue
                    here, there = -float(nearness[v, u]), -float(nearness[w, z])
                    if perspective:
                        here, there = -1 / here, -1 / there
                    here = here if code >= 0 else look.cut_depth
                    there = there if other >= 0 else look.cut_depth
                    # The nearer face, as steep as it may be, ends before the other.
                    nearer = code if here < there else other
                    fall = slopes[nearer] * reach * per_pixel if nearer >= 0 else 0.0
                    fall *= min(here, there) if perspective else 1.0
                    one_axis, two_axis = (
                        look.squares[max(code, -1 - code)],
                        look.squares[max(other, -1 - other)],
                    )
                    gap = look.gap * (_GROUND_GAP if one_axis >= 0 and two_axis >= 0 else 1.0)
                    if abs(here - there) > gap + fall:
                        lines[v, u] |= here < there
                        lines[w, z] |= here > there
                        continue
                    if code >= 0 and other >= 0:
                        one, two = normals[code], normals[other]
                        if one[0] * two[0] + one[1] * two[1] + one[2] * two[2] > _CREASE:
                            continue
                    lines[v, u], lines[w, z] = True, True
            plain = plain and not (lines[j, i] | lines[j, i + 1] | lines[j + 1, i] | lines[j + 1, i + 1])
            red, green, blue, count = 0.0, 0.0, 0.0, 1 if plain else 4
            for sub in range(count):
                v, u = j + sub // 2, i + sub % 2
                code = faces[v, u]
                if code == EMPTY:
                    red, green, blue = red + look.sky[v, 0], green + look.sky[v, 1], blue + look.sky[v, 2]
                    continue
                face = code if code >= 0 else -1 - code
                axis, tint, sunlit = look.squares[face], float(lights[face, 0]), float(lights[face, 1])
                is_ground = axis >= 0
                forward = 0.0
                if is_ground or (shadow.on_bodies and sunlit > 0):
                    forward = float(nearness[v, u])
                    forward = 1 / forward if perspective else -forward
                    if code < 0:
                        tint, sunlit, axis, forward = _CUT, 0.0, cut_axis, look.cut_depth
                    metres = per_pixel * forward if perspective else per_pixel
                    a, b = (u + 0.5 - width / 2) * metres, (height / 2 - v - 0.5) * metres
                    p = eye[0] + a * right[0] + b * up[0] + forward * ahead[0]
                    q = eye[1] + a * right[1] + b * up[1] + forward * ahead[1]
                    r = eye[2] + a * right[2] + b * up[2] + forward * ahead[2]
                    if is_ground:
                        a, b = q if axis == 0 else p, q if axis == 2 else r
                        if (math.floor(a * per_square) + math.floor(b * per_square)) & 1:
                            fade = contrast * fading / (fading + forward) if perspective else contrast
                            tint, sunlit = tint * (1.0 - fade), sunlit * (1.0 - fade)
                    if sunlit > 0:
                        s = middle_s + sun_scale * (sun_x[0] * p + sun_x[1] * q + sun_x[2] * r)
                        t = middle_t - sun_scale * (sun_y[0] * p + sun_y[1] * q + sun_y[2] * r)
                        if first < s < last and first < t < last:
                            # How much nearer the face's own plane comes to the sun, pixel by pixel.
                            n = normals[face]
                            facing = -(sun_z[0] * n[0] + sun_z[1] * n[1] + sun_z[2] * n[2])
                            facing = max(facing, _GRAZING) * sun_scale
                            along = -(sun_x[0] * n[0] + sun_x[1] * n[1] + sun_x[2] * n[2]) / facing
                            across = (sun_y[0] * n[0] + sun_y[1] * n[1] + sun_y[2] * n[2]) / facing
                            near = middle_near - (sun_z[0] * p + sun_z[1] * q + sun_z[2] * r)
                            hidden = _hidden(shadow.nearness, shadow.blur, s, t, near, along, across)
                            sunlit *= 1.0 - hidden
                tint += sunlit
                if lines[v, u] and is_ground:
                    far = min(1.0, (look.distance / forward) ** 2) if perspective else 1.0
                    tint *= 1.0 - (1.0 - _GROUND_LINE) * far
                elif lines[v, u]:
                    tint *= _LINE
                red += tint * look.colours[face, 0]
                green += tint * look.colours[face, 1]
                blue += tint * look.colours[face, 2]
            picture[y, x, 0] = int(min(red / count, 255.0))
            picture[y, x, 1] = int(min(green / count, 255.0))
            picture[y, x, 2] = int(min(blue / count, 255.0))


@compiled
def _hidden(
    nearness: NDArray[np.float32], blur: int, u: float, v: float, near: float, along: float, across: float
) -> float:
    """Fraction of the sun's light that is blocked, 0 to 1.

    Args:
        nearness: Nearness of surfaces to the sun.
        blur: Half the width of the soft edge [pixels].
        u: Column of the point in the map [pixels].
        v: Row of the point in the map [pixels].
        near: Nearness of the point to the sun [m].
        along: Change of its face's nearness with the column [m/pixel].
        across: Change of its face's nearness with the row [m/pixel].
    """
    i, j = int(u), int(v)
    hidden = 0.0
    for b in range(-blur, blur + 2):
        high = j + 1 - v if b == -blur else v - j if b == blur + 1 else 1.0
        for a in range(-blur, blur + 2):
            wide = i + 1 - u if a == -blur else u - i if a == blur + 1 else 1.0
            if nearness[j + b, i + a] > near + along * (i + a - u) + across * (j + b - v):
                hidden += high * wide
    return hidden / (2 * blur + 1) ** 2


SUN = np.array([0.35, -0.55, 0.76]) / math.sqrt(0.35**2 + 0.55**2 + 0.76**2)
"""Direction to the sun in the world, of length 1 (3,)."""
_RIGHT = np.cross((0.0, 0.0, 1.0), SUN) / np.linalg.norm(np.cross((0.0, 0.0, 1.0), SUN))
_AXES = np.array([_RIGHT, np.cross(SUN, _RIGHT), -SUN])
_FAR = 1e3
"""Rays begin so far behind what casts shadows [m]."""


class ShadowMap:
    """Buffers for the depth map from the sun."""

    def __init__(self, size: int, triangles: int, *, blur: int = 0, on_bodies: bool = False) -> None:
        """Allocate buffers for a number of triangles.

        Args:
            size: Width and height [pixels].
            triangles: Number of triangles that cast shadows.
            blur: Half the width over which shadows' edges are softened, beside one pixel [pixels].
            on_bodies: True if shadows fall on bodies, too.
        """
        self._buffer = allocate_buffer(size, size, triangles)
        self._blur, self._on_bodies = blur, on_bodies

    def cast(
        self,
        casters: Sequence[tuple[NDArray[np.float64], NDArray[np.int32]]],
        middle: NDArray[np.float64],
        reach: float,
        lift: float,
        work: Work,
    ) -> Shadow:
        """Draw the depth map of shadow-casting surfaces.

        Args:
            casters: Points in the world (n, 3) [m] and triangles (m, 3) of each surface.
            middle: Centre of the scene in the world (3,) [m].
            reach: Radius around it within which shadows are drawn [m].
            lift: Distance by which tested points are moved towards the sun [m].
            work: Work arrays for the points.
        """
        size, first = len(self._buffer.nearness), 0
        room = size - 2 * self._blur - 6
        projection = Projection(middle, _AXES, room / (2 * reach), False, SUN)
        clear(self._buffer)
        for points, triangles in casters:
            draw_triangles(points, triangles, first, -_FAR, False, projection, self._buffer, work)
            first += len(triangles)
        return Shadow(projection, self._buffer.nearness, self._blur, lift, self._on_bodies)
