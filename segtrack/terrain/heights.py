"""Heights of all convex solids of a terrain, at many places at once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.terrain.columns import ON_FACE, UPRIGHT_PART, Column, HalfSpaces, column_of
from segtrack.terrain.solids import Box, ConvexSolid, Hull, Prism

Array = NDArray[np.float64]

_BESIDE = 1e-9
"""Distance from a solid from which on a place is beside it for certain [m]."""
_FEW = 8
"""Boxes up to this number are all looked at: less work than to choose those that are near."""
_AT_ONCE = 2**20
"""Pairs of a box or a face and a place that are looked at together."""


class Heights:
    """Upper surface of convex solids, in arrays, so that all places are evaluated together."""

    def __init__(self, solids: Iterable[ConvexSolid], level: float = -math.inf) -> None:
        """Prepare the solids.

        Args:
            solids: Solids that may overlap.
            level: Height where there is no solid [m].
        """
        self._level = level
        straight: list[Box] = []
        turned: list[Box] = []
        faces: list[tuple[ConvexSolid, HalfSpaces]] = []
        self._round: list[Column] = []
        for solid in solids:
            if isinstance(solid, Box) and solid.quaternion[:2] == (0.0, 0.0):
                (turned if solid.quaternion[2] else straight).append(solid)
                continue
            column = column_of(solid)
            if isinstance(column, HalfSpaces):
                faces.append((solid, column))
            else:
                self._round.append(column)
        self._groups: list[_UprightBoxes | _Polyhedra] = []
        if straight:
            self._groups.append(_UprightBoxes(straight, turned=False))
        if turned:
            self._groups.append(_UprightBoxes(turned, turned=True))
        if faces:
            self._groups.append(_Polyhedra(faces))
        self._rows = max([group.rows for group in self._groups], default=1)

    def highest(self, x: Array, y: Array) -> Array:
        """Height of the highest solid at places (n,) [m], even if it overhangs; `level` without any."""
        size = max(1, _AT_ONCE // self._rows)
        if x.size > size:
            parts = [slice(first, first + size) for first in range(0, x.size, size)]
            return np.concatenate([self.highest(x[part], y[part]) for part in parts])
        height: Array | None = None
        for group in self._groups if x.size else ():
            found = group.highest(x, y)
            if found is not None:
                height = found if height is None else np.maximum(height, found)
        if height is None:
            height = np.full(x.shape, -math.inf)
        for column in self._round:
            low, high = column.span(x, y)
            height = np.maximum(height, np.where(low <= high, high, -math.inf))
        return np.where(height == -math.inf, self._level, height)


class _Plan:
    """Bounding rectangles of solids in the world's x and y.

    Attributes:
        low: Smallest x and y of each solid (n, 2) [m].
        high: Largest x and y of each solid (n, 2) [m].
    """

    def __init__(self, low: Array, high: Array) -> None:
        self.low, self.high = low - _BESIDE, high + _BESIDE

    def near(self, x: Array, y: Array) -> NDArray[np.bool_]:
        """Mask of the solids whose rectangles meet the bounding rectangle of the places (n,)."""
        least, most = np.fmin.reduce, np.fmax.reduce
        reached = (self.low <= (most(x), most(y))) & (self.high >= (least(x), least(y)))
        return np.asarray(reached[:, 0] & reached[:, 1])


class _UprightBoxes:
    """Upright boxes in arrays: aligned with the world's axes (fields have hundreds), or at any yaw.

    Attributes:
        rows: Number of boxes.
    """

    def __init__(self, boxes: Sequence[Box], turned: bool) -> None:
        self.rows = len(boxes)
        centers = np.array([box.center for box in boxes])
        halves = np.array([box.size for box in boxes]) / 2
        reach = halves + ON_FACE
        yaws = [2 * math.atan2(*box.quaternion[2:]) for box in boxes]
        turn = (np.cos(yaws), np.sin(yaws)) if turned else ()
        # Columns (n, 1): centres' x and y, reach along both, tops [m]; cosine and sine of the yaws.
        columns = (*centers.T[:2], *reach.T[:2], centers[:, 2] + halves[:, 2], *turn)
        self._layout = tuple(np.ascontiguousarray(column)[:, None] for column in columns)
        extent = np.hypot(halves[:, :1], halves[:, 1:2])  # At any yaw.
        self._plan = _Plan(centers[:, :2] - extent, centers[:, :2] + extent)

    def highest(self, x: Array, y: Array) -> Array | None:
        """Height of the highest box at places (n,) [m], -inf beside them; None far from all."""
        layout = self._layout
        if self.rows > _FEW:
            near = self._plan.near(x, y)
            if not near.any():
                return None
            layout = tuple(column[near] for column in layout)
        center_x, center_y, reach_x, reach_y, top, *turn = layout
        x, y = x - center_x, y - center_y
        if turn:
            cosine, sine = turn
            x, y = cosine * x + sine * y, cosine * y - sine * x
        inside = (np.abs(x) <= reach_x) & (np.abs(y) <= reach_y)
        return np.asarray(np.maximum.reduce(np.where(inside, top, -math.inf), axis=0))


class _Polyhedra:
    """Polyhedra in arrays, grouped by their numbers of upward, downward and vertical faces.

    Attributes:
        rows: Total number of faces.
    """

    def __init__(self, solids: Sequence[tuple[ConvexSolid, HalfSpaces]]) -> None:
        self.rows = sum(len(column.offsets) for _, column in solids)
        sorted_faces = [_Faces.of(column) for _, column in solids]
        shapes = [tuple(map(len, faces)) for faces in sorted_faces]
        order = sorted(range(len(solids)), key=shapes.__getitem__)
        ranges = np.array([_plan_of(solids[i][0]) for i in order])
        self._plan = _Plan(ranges[:, 0], ranges[:, 1])
        self._groups: list[_Faces] = []
        first: list[int] = []
        for k, i in enumerate(order):
            if k == 0 or shapes[i] != shapes[order[k - 1]]:
                first.append(k)
        for start, end in zip(first, [*first[1:], len(order)], strict=True):
            members = [sorted_faces[i] for i in order[start:end]]
            self._groups.append(_Faces(*(np.stack(faces) for faces in zip(*members, strict=True))))
        self._first = np.array(first)

    def highest(self, x: Array, y: Array) -> Array | None:
        """Height of the highest polyhedron at places (n,) [m], -inf beside them; None far from all."""
        if len(self._plan.low) == 1:
            return self._groups[0].highest(x, y)
        near = np.flatnonzero(self._plan.near(x, y))
        groups = np.searchsorted(self._first, near, side="right") - 1
        height: Array | None = None
        for i in np.unique(groups).tolist():
            members = near[groups == i] - self._first[i]
            found = _Faces(*(faces[members] for faces in self._groups[i])).highest(x, y)
            height = found if height is None else np.maximum(height, found)
        return height


class _Faces(NamedTuple):
    """Faces of polyhedra with equal face counts; each a plane of normal (3,) and distance from the origin.

    Attributes:
        up: Upward faces (polyhedra, faces, 4).
        down: Downward faces (polyhedra, faces, 4).
        sides: Vertical faces (polyhedra, faces, 4).
    """

    up: Array
    down: Array
    sides: Array

    @classmethod
    def of(cls, column: HalfSpaces) -> _Faces:
        """Sort the faces of one polyhedron by direction; the polyhedra axis is left out."""
        planes, z = np.column_stack([column.normals, column.offsets]), column.normals[:, 2]
        up, down = z > UPRIGHT_PART, z < -UPRIGHT_PART
        return cls(planes[up], planes[down], planes[~(up | down)])

    def highest(self, x: Array, y: Array) -> Array:
        """Height of the highest of the polyhedra at places (n,) [m], -inf beside them."""
        high = np.minimum.reduce(_heights(self.up, x, y), axis=1, initial=math.inf)
        low = np.maximum.reduce(_heights(self.down, x, y), axis=1, initial=-math.inf)
        inside = low <= high
        if self.sides.shape[1]:
            # A line misses a solid where it is outside an upright face.
            inside &= np.minimum.reduce(_room(self.sides, x, y), axis=1) >= -ON_FACE
        return np.asarray(np.maximum.reduce(np.where(inside, high, -math.inf), axis=0))


def _room(planes: Array, x: Array, y: Array) -> Array:
    """Signed distance of places (n,) at z = 0 from planes (..., 4), positive on the inner side [m]."""
    slopes_y = planes[..., 1:2]
    # Not a matrix product, whose last bit depends on how many places and planes there are.
    beyond = planes[..., 0:1] * x
    if slopes_y.any():  # Not of prisms across the path.
        beyond += slopes_y * y
    return np.subtract(planes[..., 3:4], beyond, out=beyond)


def _heights(planes: Array, x: Array, y: Array) -> Array:
    """Heights of non-vertical planes (..., 4) at places (n,) [m]."""
    room = _room(planes, x, y)
    return np.divide(room, planes[..., 2:3], out=room)


def _plan_of(solid: ConvexSolid) -> tuple[tuple[float, float], tuple[float, float]]:
    """Smallest and largest (x, y) of a polyhedron [m]; infinite for other solids."""
    match solid:
        case Hull() | Prism():
            points = np.array((solid.hull if isinstance(solid, Prism) else solid).points)
            return tuple(points[:, :2].min(axis=0)), tuple(points[:, :2].max(axis=0))
    return (-math.inf, -math.inf), (math.inf, math.inf)
