"""Edges of rigid solids that enter a moving part between its contact points, as a step's does.

A part is a convex piece, a plate's or a grouser's for instance, bounded by planes of its frame. The
stretch of an edge that lies inside it is pushed out through the exposed face that is nearest to its
middle. Both of its ends push like a contact point, so that a part which slides off a step goes over
from points to edge without a jump. Faces that are not exposed, since a neighbour begins there, bound a
piece and push nothing.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from segtrack.ground.contact_laws import rigid_friction
from segtrack.ground.parameters import ContactParameters
from segtrack.ground.vectors import Vector, compiled, dot, without_share

FACE = 5
"""Numbers a face of a piece has: outward normal, offset, and whether it is exposed (1) or not (0)."""


@compiled
def point_between(begin: Vector, end: Vector, fraction: float) -> Vector:
    """Point at a fraction of the way from `begin` to `end`."""
    return (
        begin[0] + fraction * (end[0] - begin[0]),
        begin[1] + fraction * (end[1] - begin[1]),
        begin[2] + fraction * (end[2] - begin[2]),
    )


@compiled
def edge_in_piece(
    piece: NDArray[np.float64], count: int, begin: Vector, end: Vector
) -> tuple[float, float, Vector, float]:
    """Stretch of an edge inside a convex piece, and the way out.

    Args:
        piece: Its faces (faces, 5), see `FACE`.
        count: How many of them it has.
        begin: One end of the edge, in the piece's frame [m].
        end: The other end [m].

    Returns:
        Fractions of the edge between which it lies inside, the first greater than the last where it
        does not touch; outward normal and offset [m] of the exposed face nearest to the middle.
    """
    first, last = 0.0, 1.0
    outside = (1.0, 0.0, (0.0, 0.0, 1.0), 0.0)
    for f in range(count):
        at = piece[f, 0] * begin[0] + piece[f, 1] * begin[1] + piece[f, 2] * begin[2] - piece[f, 3]
        to = piece[f, 0] * end[0] + piece[f, 1] * end[1] + piece[f, 2] * end[2] - piece[f, 3]
        if at > 0 and to > 0:
            return outside
        if at > 0:
            first = max(first, at / (at - to))
        elif to > 0:
            last = min(last, at / (at - to))
    if not first < last:
        return outside
    middle = point_between(begin, end, (first + last) / 2)
    least, nearest = math.inf, 0
    for f in range(count):
        depth = piece[f, 3] - piece[f, 0] * middle[0] - piece[f, 1] * middle[1] - piece[f, 2] * middle[2]
        if depth < least and piece[f, 4] != 0.0:
            least, nearest = depth, f
    return first, last, (piece[nearest, 0], piece[nearest, 1], piece[nearest, 2]), piece[nearest, 3]


@compiled
def touch_edge_end(
    law: ContactParameters,
    shear: Vector,
    depth: float,
    velocity: Vector,
    inwards: Vector,
    lateral: Vector,
    friction: float,
    weight: float,
    step: float,
) -> tuple[Vector, Vector, Vector, float]:
    """Force of one end of an edge's stretch on the part that it has entered.

    Args:
        law: Contact parameters of the part.
        shear: Shear displacement before the step, in the world [m].
        depth: Of the end under the face through which it is pushed out [m].
        velocity: Of the part at the end, in the world [m/s].
        inwards: Normal of that face into the part, in the world.
        lateral: Direction across the track, in the world.
        friction: Coefficient between part and ground [-].
        weight: Fraction of the law's stiffness and damping that the end has.
        step: Duration [s].

    Returns:
        Force on the part [N], its component along the face [N], the shear displacement after the
        step [m], all in the world, and the normal force [N].
    """
    rising = dot(velocity, inwards)
    push = max(0.0, weight * (law.stiffness * depth - law.damping * rising))
    slip = without_share(velocity, rising, inwards)
    shear, along = rigid_friction(shear, inwards, lateral, slip, friction * push, law, weight, step)
    return without_share(along, -push, inwards), along, shear, push
