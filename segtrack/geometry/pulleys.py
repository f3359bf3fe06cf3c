"""The belt around a set of pulleys: the convex hull of their circles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from segtrack.errors import InvalidValueError
from segtrack.geometry.path import Arc, BeltPath, Line, Segment, normal_of

_ANGLE_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Pulley:
    """A wheel that the belt runs around.

    Attributes:
        x: Centre, forward in the track frame [m].
        z: Centre, up in the track frame [m].
        radius: To the outer face of the belt, grousers not included [m].
    """

    x: float
    z: float
    radius: float

    @property
    def center(self) -> np.ndarray:
        """Centre (x, z) in the track frame [m]."""
        return np.array([self.x, self.z])


def wrap_belt(pulleys: Sequence[Pulley]) -> BeltPath:
    """Wrap a taut belt around pulleys.

    The hull of the circles is walked by gift wrapping: from pulley i the belt leaves
    for the pulley j whose common outer tangent needs the least turn. With
    d = c_j - c_i of heading beta, that tangent has heading
    beta + asin((r_i - r_j) / |d|).

    Args:
        pulleys: One or more, in any order.

    Returns:
        The path, beginning with the lowest line (the one on the ground), or one full
        circle for a single pulley.

    Raises:
        InvalidValueError: Pulleys overlap, or one of them does not touch the belt.
    """
    if len(pulleys) == 1:
        only = pulleys[0]
        return BeltPath((Arc((only.x, only.z + only.radius), 0.0, only.radius, 2 * math.pi),))
    _refuse_overlap(pulleys)
    lowest = min(p.z - p.radius for p in pulleys)
    first = max((p.x, i) for i, p in enumerate(pulleys) if p.z - p.radius <= lowest + _ANGLE_TOLERANCE)[1]
    tour, headings = [first], [math.pi]
    while len(tour) <= len(pulleys):
        turn, following = min(
            (_turn(headings[-1], _tangent_heading(pulleys[tour[-1]], p)), j)
            for j, p in enumerate(pulleys)
            if j != tour[-1]
        )
        headings.append(headings[-1] + turn)
        tour.append(following)
        if following == first:
            break
    missed = sorted(set(range(len(pulleys))) - set(tour))
    if missed or tour[-1] != first:
        raise InvalidValueError("pulleys", "in convex position, each touching the belt", f"pulley {missed[0]} inside it")
    return BeltPath(_segments(pulleys, tour, headings[1:]))


def _segments(pulleys: Sequence[Pulley], tour: list[int], headings: list[float]) -> tuple[Segment, ...]:
    """Lines tour[k] -> tour[k+1], each followed by the arc around tour[k+1]; the lowest line first."""
    pairs: list[tuple[Line, Arc]] = []
    for k, heading in enumerate(headings):
        here, there = pulleys[tour[k]], pulleys[tour[k + 1]]
        normal = normal_of(heading)
        start, end = here.center + here.radius * normal, there.center + there.radius * normal
        turn = _turn(heading, headings[(k + 1) % len(headings)])
        line = Line((float(start[0]), float(start[1])), heading, float(np.linalg.norm(end - start)))
        pairs.append((line, Arc((float(end[0]), float(end[1])), heading, there.radius, turn)))
    middles = [line.point_at(np.array([line.length / 2]))[0][1] for line, _ in pairs]
    lowest = int(np.argmin(middles))
    return tuple(segment for pair in pairs[lowest:] + pairs[:lowest] for segment in pair)


def _turn(heading: float, following: float) -> float:
    """The turn about +y from one heading to the next, in [0, 2 pi) [rad]."""
    return (following - heading + _ANGLE_TOLERANCE) % (2 * math.pi) - _ANGLE_TOLERANCE


def _tangent_heading(here: Pulley, there: Pulley) -> float:
    dx, dz = there.x - here.x, there.z - here.z
    return math.atan2(-dz, dx) + math.asin((here.radius - there.radius) / math.hypot(dx, dz))


def _refuse_overlap(pulleys: Sequence[Pulley]) -> None:
    for j, b in enumerate(pulleys):
        for i, a in enumerate(pulleys[:j]):
            apart, least = math.hypot(a.x - b.x, a.z - b.z), a.radius + b.radius
            if apart < least:
                raise InvalidValueError(
                    "pulleys", "apart", f"pulleys {i} and {j} overlapping by {least - apart:.3g} m"
                )
