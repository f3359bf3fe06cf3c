"""Belts in the track frame: around pulleys that bend them, or around the hull of all wheels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import InvalidValueError, Phrase
from segtrack.geometry.path import Arc, BeltPath, Line, Segment, normal_of

_TOLERANCE = 1e-9
"""Lengths [m] and angles [rad] that differ by less count as equal."""
_MATCH = 1e-6
"""Distance within which a place is an arc's centre [m]."""
_LEAST_BEND = 1e-3
"""A pulley around which the belt bends less [rad] would be a link of next to no mass."""


@dataclass(frozen=True)
class Pulley:
    """A wheel that the belt runs around.

    Attributes:
        x: Centre, forward in the track frame [m].
        z: Centre, up in the track frame [m].
        radius: Radius to the outer face of the belt, grousers not included [m].
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
    beta + asin((r_i - r_j) / |d|). A large pulley between small ones may be passed twice.

    Args:
        pulleys: One or more, in any order.

    Returns:
        The path, beginning with the line on the ground, or one full circle for a single
        pulley.

    Raises:
        InvalidValueError: Pulleys overlap, or the belt does not bend around one of them.
    """
    _refuse_overlap(pulleys)
    path = _taut(pulleys)
    _refuse_idle(pulleys, path)
    return path


def _taut(pulleys: Sequence[Pulley]) -> BeltPath:
    """The path around pulleys of which none lies within another one."""
    if len(pulleys) == 1:
        only = pulleys[0]
        return BeltPath((Arc((only.x, only.z + only.radius), 0.0, only.radius, 2 * math.pi),))
    return BeltPath(_segments(pulleys, _walk(pulleys)))


@lru_cache(maxsize=64)
def wrap_around(pulleys: tuple[Pulley, ...], wheels: tuple[Pulley, ...]) -> BeltPath:
    """Wrap a taut belt around pulleys, and around those wheels that reach out of their hull.

    Wheels may overlap pulleys and each other, or lie within the belt.

    Raises:
        InvalidValueError: No wheel reaches out, and `wrap_belt` refuses the pulleys.
    """
    if not wheels:
        return wrap_belt(pulleys)
    hull = wrap_hull([*pulleys, *wheels])
    reach_out = any(arc_around(hull, wheel.center) is not None for wheel in wheels)
    return hull if reach_out else wrap_belt(pulleys)


def wrap_hull(pulleys: Sequence[Pulley]) -> BeltPath:
    """Wrap a taut belt around the hull of pulleys, which may overlap or lie within it."""
    outer = [
        p
        for i, p in enumerate(pulleys)
        if not any(_holds(q, p) and (i > j or not _holds(p, q)) for j, q in enumerate(pulleys) if j != i)
    ]
    return _taut(outer)


def _holds(outer: Pulley, inner: Pulley) -> bool:
    """Return whether one pulley lies within another one."""
    return math.dist(outer.center, inner.center) <= outer.radius - inner.radius + _TOLERANCE


def _walk(pulleys: Sequence[Pulley]) -> list[tuple[int, float]]:
    """Go once around: each pulley that the belt leaves, and in which heading [rad], which only grows."""
    lowest = min(p.z - p.radius for p in pulleys)
    here = max((p.x, i) for i, p in enumerate(pulleys) if p.z - p.radius <= lowest + _TOLERANCE)[1]
    heading, steps = math.pi, list[tuple[int, float]]()
    while True:
        others = [
            (_turn(heading, _tangent_heading(pulleys[here], p)), j)
            for j, p in enumerate(pulleys)
            if j != here
        ]
        least = min(others)[0]
        # Of several on one tangent, the farthest: the belt does not bend around those before it.
        turn, there = max(
            ((turn, j) for turn, j in others if turn <= least + _TOLERANCE),
            key=lambda step: math.dist(pulleys[here].center, pulleys[step[1]].center),
        )
        heading += turn
        if steps and heading > steps[0][1] + 2 * math.pi - _TOLERANCE:
            return steps
        steps.append((here, heading))
        here = there


def _segments(pulleys: Sequence[Pulley], steps: list[tuple[int, float]]) -> tuple[Segment, ...]:
    """Line from each step's pulley to the next and the arc around that; the line on the ground first."""
    segments: list[Segment] = []
    for k, (i, heading) in enumerate(steps):
        j, following = steps[(k + 1) % len(steps)]
        here, there = pulleys[i], pulleys[j]
        normal = normal_of(heading)
        start, end = here.center + here.radius * normal, there.center + there.radius * normal
        segments.append(Line((float(start[0]), float(start[1])), heading, float(np.linalg.norm(end - start))))
        segments.append(Arc((float(end[0]), float(end[1])), heading, there.radius, _turn(heading, following)))
    ground = BeltPath(tuple(segments)).ground
    return tuple(segments[ground:] + segments[:ground])


def _turn(heading: float, following: float) -> float:
    """The turn about +y from one heading to the next, in [0, 2 pi) [rad]."""
    return (following - heading + _TOLERANCE) % (2 * math.pi) - _TOLERANCE


def _tangent_heading(here: Pulley, there: Pulley) -> float:
    dx, dz = there.x - here.x, there.z - here.z
    return math.atan2(-dz, dx) + math.asin((here.radius - there.radius) / math.hypot(dx, dz))


def _refuse_overlap(pulleys: Sequence[Pulley]) -> None:
    for j, b in enumerate(pulleys):
        for i, a in enumerate(pulleys[:j]):
            apart, least = math.hypot(a.x - b.x, a.z - b.z), a.radius + b.radius
            if apart < least - _TOLERANCE:
                got = Phrase(f"pulleys {i} and {j} overlapping by {least - apart:.3g} m")
                raise InvalidValueError("pulleys", "apart", got)


def _refuse_idle(pulleys: Sequence[Pulley], path: BeltPath) -> None:
    """Refuse pulleys that the belt does not bend around."""
    arcs = [segment for segment in path.segments if isinstance(segment, Arc)]
    for i, pulley in enumerate(pulleys):
        bends = [arc.turn for arc in arcs if math.dist(arc.center, pulley.center) < arc.radius]
        least = min(bends, default=0.0)
        if least < _LEAST_BEND:
            expected = f"in convex position, each bending the belt by at least {_LEAST_BEND:g} rad"
            raise InvalidValueError("pulleys", expected, Phrase(f"pulley {i} bending it by {least:.3g} rad"))


def nearest_arc(path: BeltPath, center: tuple[float, float]) -> Arc:
    """The arc of a path nearest to a place (x, z); of several around one pulley that which turns most."""
    return min(arcs_of(path), key=lambda arc: (round(math.dist(arc.center, center), 6), -arc.turn))


def arc_around(path: BeltPath, center: NDArray[np.float64]) -> Arc | None:
    """The arc of a path around a place (x, z), or None if the path does not bend there."""
    arc = nearest_arc(path, tuple(center.tolist()))
    return arc if is_around(arc, center) and arc.turn >= _LEAST_BEND else None


def is_around(arc: Arc, center: NDArray[np.float64]) -> bool:
    """Return whether a place (x, z) is an arc's centre; a wheel that a path passes twice has two arcs."""
    return math.dist(arc.center, center) < _MATCH


def arcs_of(path: BeltPath) -> list[Arc]:
    """Arcs of a path, in their order."""
    return [segment for segment in path.segments if isinstance(segment, Arc)]
