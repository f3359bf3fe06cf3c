"""Sections of a belt: contact points, and convex pieces for the edges of the ground that enter.

Lengths are in the section's frame (x along the belt's travel, y along the axle, z outwards from the
belt's face). Across the belt a face has three points with the weights of Simpson's rule: its corners
carry where it hangs over, and a uniform pressure has its true moment about any axis.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import ConvexHull

_ACROSS = ((-0.5, 1 / 6), (0.0, 2 / 3), (0.5, 1 / 6))
"""Places across a face, per its width, and their weights."""
_ROD_ANGLES = tuple(math.radians(angle) for angle in (-60.0, -30.0, 0.0, 30.0, 60.0))
"""Places of contact points around a rod, from its tip."""


@dataclass(frozen=True, eq=False)
class Section:
    """One kind of section of a belt.

    Attributes:
        points: Contact points (p, 3) [m].
        weights: Fraction of the section's stiffness that each has (p,) [-]; those of one face add up to 1.
        areas: Areas that each stands for in soil (p,) [m^2].
        sides: Smaller side of its face (p,) [m].
        pieces: Faces of its convex pieces (pieces, faces, 5), see `ground.point_contact.FACE`.
        edge_weight: Fraction of the section's stiffness at either end of an edge that enters [-].
    """

    points: NDArray[np.float64]
    weights: NDArray[np.float64]
    areas: NDArray[np.float64]
    sides: NDArray[np.float64]
    pieces: NDArray[np.float64]
    edge_weight: float

    @cached_property
    def box(self) -> NDArray[np.float64]:
        """Centre and half extents of the box around its points and pieces (6,) [m]."""
        corners = np.concatenate([self.points, *map(_corners, self.pieces)])
        low, high = corners.min(axis=0), corners.max(axis=0)
        return np.concatenate([(low + high) / 2, (high - low) / 2])


def _corners(faces: NDArray[np.float64]) -> NDArray[np.float64]:
    """Corners (n, 3) of a convex piece (faces, 5) [m]: where three of its planes meet, inside all others."""
    threes = faces[list(combinations(range(len(faces)), 3))]
    meeting = threes[abs(np.linalg.det(threes[..., :3])) > 1e-9]
    corners = np.linalg.solve(meeting[..., :3], meeting[..., 3:4])[..., 0]
    return corners[(corners @ faces[:, :3].T <= faces[:, 3] + 1e-9).all(axis=1)]


def bar_section(base: float, top: float, height: float, width: float) -> Section:
    """Return a grouser whose cross-section is a trapezoid: base and top along the belt [m]."""
    rows = [(-top / 2, height, 0.5), (top / 2, height, 0.5)]
    outline = [(-base / 2, 0.0), (base / 2, 0.0), (top / 2, height), (-top / 2, height)]
    return _across(rows, outline, width, (top * width, min(top, width)), 0.25)


def rod_section(radius: float, width: float) -> Section:
    """Return a grouser that is a rod along the axle, half sunk into the belt [m]."""
    rows = [(radius * math.sin(a), radius * math.cos(a), 1.0) for a in _ROD_ANGLES]
    around = (-math.pi / 2, math.pi / 2, *reversed(_ROD_ANGLES))
    outline = [(radius * math.sin(a), radius * math.cos(a)) for a in around]
    return _across(rows, outline, width, (radius * width, min(radius, width)), 0.5)


def face_section(rear: float, front: float, exposed: float, width: float, thickness: float) -> Section:
    """Return a piece of the belt between grousers, or of a smooth belt.

    Args:
        rear: Its reach against the belt's travel [m].
        front: Its reach along the belt's travel [m].
        exposed: Part of its length that no grouser covers [m].
        width: Along the axle [m].
        thickness: Inwards from the belt's outer face to where nothing can come [m].
    """
    rows = [(0.0, 0.0, 1.0)]
    outline = [(-rear, -thickness), (front, -thickness), (front, 0.0), (-rear, 0.0)]
    section = _across(rows, outline, width, (exposed * width, min(exposed, width)), 0.5)
    section.pieces[0, [1, 3], 4] = 0.0  # Its ends belong to its neighbours.
    return section


def hull_section(vertices: ArrayLike) -> Section:
    """Return a convex grouser: its corners (n, 3) above the belt's face, with the belt at z = 0 [m]."""
    corners = np.asarray(vertices, dtype=float)
    hull = ConvexHull(corners)
    points = corners[hull.vertices]
    points = points[points[:, 2] > 1e-6]
    low, high = corners.min(axis=0), corners.max(axis=0)
    top = points[:, 2] > 0.5 * high[2]
    area = (high[0] - low[0]) * (high[1] - low[1]) / 2
    # Coplanar triangles have the same plane; what looks inwards lies on the belt.
    planes = np.unique(np.round(hull.equations, 9), axis=0)
    exposed = planes[:, 2] > -0.5
    pieces = np.column_stack([planes[:, :3], -planes[:, 3], exposed])[None]
    count = len(points)
    return Section(
        points,
        np.where(top, 1 / np.sum(top), 1 / count),
        np.full(count, area / count),
        np.full(count, min(high[0] - low[0], high[1] - low[1]) / 2),
        pieces,
        0.25,
    )


def _across(
    rows: Sequence[tuple[float, float, float]],
    outline: Sequence[tuple[float, float]],
    width: float,
    soil: tuple[float, float],
    edge_weight: float,
) -> Section:
    """Draw a cross-section out along the axle.

    Args:
        rows: x, z [m] and weight of the rows of contact points.
        outline: x, z of the corners [m], counterclockwise with x to the right and z up; its first
            side lies on the belt.
        width: Along the axle [m].
        soil: Area of the whole face [m^2] and its smaller side [m].
        edge_weight: See `Section`.
    """
    points = [(x, at * width, z) for x, z, _ in rows for at, _ in _ACROSS]
    weights = np.array([weight * across for _, _, weight in rows for _, across in _ACROSS])
    corners = np.array(outline)
    along = np.roll(corners, -1, axis=0) - corners
    normals = np.stack([along[:, 1], -along[:, 0]], axis=1) / np.linalg.norm(along, axis=1)[:, None]
    offsets = np.sum(normals * corners, axis=1)
    planes = [
        (x, 0.0, z, offset, float(i > 0))
        for i, ((x, z), offset) in enumerate(zip(normals, offsets, strict=True))
    ]
    planes += [(0.0, side, 0.0, width / 2, 1.0) for side in (1.0, -1.0)]
    area, side = soil
    return Section(
        np.array(points),
        weights,
        area * weights / weights.sum(),
        np.full(len(points), side),
        np.array([planes]),
        edge_weight,
    )
