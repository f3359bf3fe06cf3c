"""Belt paths around pulleys or all wheels, and loops of equal plates on them, in the track frame.

Plates are chords of the belt's path, joined by hinges. Around the sprocket, whose arc has
radius r, a whole number n of them must fit, so the hinges run at a depth d below the
belt's outer face: p / (2 sin(pi / n)) = r - d, where p is the plates' pitch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from segtrack.errors import InvalidValueError, Phrase
from segtrack.geometry.path import Arc, BeltPath, Line, Segment, chain_segments, normal_of

_TOLERANCE = 1e-9
"""Lengths [m] and angles [rad] that differ by less count as equal."""
_MATCH = 1e-6
"""Distance within which a place is an arc's centre [m]."""
_LEAST_BEND = 1e-3
"""A pulley around which the belt bends less [rad] would be a link of next to no mass."""


@dataclass(frozen=True)
class Pulley:
    """Wheel that a belt runs around, as a circle in the track plane.

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
    """Taut path around pulleys, none of which lies within another one."""
    if len(pulleys) == 1:
        only = pulleys[0]
        return BeltPath((Arc((only.x, only.z + only.radius), 0.0, only.radius, 2 * math.pi),))
    return BeltPath(_segments(pulleys, _walk(pulleys)))


@lru_cache(maxsize=64)
def wrap_around(pulleys: tuple[Pulley, ...], wheels: tuple[Pulley, ...]) -> BeltPath:
    """Wrap a taut belt around pulleys, and around the wheels that stick out of the pulleys' hull.

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
    """Return whether the inner pulley lies within the outer one."""
    return math.dist(outer.center, inner.center) <= outer.radius - inner.radius + _TOLERANCE


def _walk(pulleys: Sequence[Pulley]) -> list[tuple[int, float]]:
    """Pulleys in order around the hull, with the belt's growing heading on leaving each [rad]."""
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
    """Refuse pulleys that overlap."""
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
    """Arc of a path whose centre is nearest to a place (x, z) [m]; of several there, the longest turn."""
    return min(arcs_of(path), key=lambda arc: (round(math.dist(arc.center, center), 6), -arc.turn))


def arc_around(path: BeltPath, center: NDArray[np.float64]) -> Arc | None:
    """Arc of a path whose centre is a place (x, z) [m], or None if the path does not bend around it."""
    arc = nearest_arc(path, tuple(center.tolist()))
    return arc if is_around(arc, center) and arc.turn >= _LEAST_BEND else None


def is_around(arc: Arc, center: NDArray[np.float64]) -> bool:
    """Return whether an arc's centre is a place (x, z) [m]; a wheel that a path passes twice has two arcs."""
    return math.dist(arc.center, center) < _MATCH


def arcs_of(path: BeltPath) -> list[Arc]:
    """Arcs of a path, in path order."""
    return [segment for segment in path.segments if isinstance(segment, Arc)]


_SLACK = 1e-4
"""Fraction by which a loop is longer than its path, so that no phase of it is too tight [-]."""
MIN_TEETH = 5
"""Around the smallest pulley."""
_ITERATIONS = 24
"""Most corrections of the chords, each of which leaves a twentieth of what they lack."""
_ROUNDING = 1e-15
"""Fraction of the perimeter that a chord may lack [-]."""
_DEPTH_TOLERANCE = 1e-12
"""Of the hinges' depth [m]."""


@dataclass(frozen=True)
class PlateLoop:
    """Closed loop of equal plates joined by hinges, laid around a belt path.

    Attributes:
        path: The belt's outer face.
        hinges: First hinge of each plate, then the end of the last plate: (n + 1, 2) in (x, z) [m].
        pitch: Distance between a plate's hinges [m].
        depth: Depth of the hinges below the outer face, negative above it; about a tenth of the pitch [m].
        teeth: Number of plates that fit around the sprocket's full circle.
        driven: Centre (x, z) of the driving pulley; by default the one with the longest turn [m].
        tensioned: Centre of the tensioning pulley; by default the one farthest from the driving one [m].
    """

    path: BeltPath
    hinges: NDArray[np.float64]
    pitch: float
    depth: float
    teeth: int
    driven: tuple[float, float] | None = None
    tensioned: tuple[float, float] | None = None

    @cached_property
    def headings(self) -> NDArray[np.float64]:
        """Heading of each plate (n,), about +y [rad]."""
        steps = np.diff(self.hinges, axis=0)
        return np.arctan2(-steps[:, 1], steps[:, 0])

    @property
    def sprocket(self) -> Arc:
        """Arc of the driving pulley; by default that with the longest turn (of two alike, the rear)."""
        if self.driven is not None:
            return nearest_arc(self.path, self.driven)
        return max(arcs_of(self.path), key=lambda arc: round(arc.turn, 6))

    @property
    def idler(self) -> Arc:
        """Arc of the tensioning pulley; by default the one farthest from the sprocket."""
        if self.tensioned is not None:
            return nearest_arc(self.path, self.tensioned)
        return max(arcs_of(self.path), key=lambda arc: math.dist(arc.center, self.sprocket.center))

    def apothem(self, arc: Arc, thickness: float) -> float:
        """Distance from an arc's centre to the inner faces of the plates around it [m]."""
        return math.sqrt((arc.radius - self.depth) ** 2 - self.pitch**2 / 4) + self.depth - thickness

    @property
    def sprocket_phase(self) -> float:
        """Angle about +y, from upward, at which a hinge on the sprocket stands [rad]."""
        arms = self.hinges - self.sprocket.center
        on_it = arms[np.linalg.norm(arms, axis=1) < self.sprocket.radius - self.depth + 1e-6]
        x, z = on_it[len(on_it) // 2]
        return math.atan2(x, z)


@lru_cache(maxsize=32)
def plate_loop(
    path: BeltPath,
    count: int,
    teeth: int | None = None,
    driven: tuple[float, float] | None = None,
    tensioned: tuple[float, float] | None = None,
) -> PlateLoop:
    """Lay a closed loop of equal plates around a path.

    Args:
        path: The belt's outer face.
        count: Number of plates.
        teeth: Number of sprocket teeth; by default, hinges run as near to the outer face as can be.
            Where no depth within 0.9 of the smallest radius fits it, the hinges run that far above or below.
        driven: See `PlateLoop`.
        tensioned: See `PlateLoop`.

    Raises:
        InvalidValueError: The path bends inwards, has fewer than two arcs, or the plates are
            too long for its arcs.
    """
    arcs = arcs_of(path)
    if len(arcs) < 2 or any(arc.turn < 0 for arc in arcs):
        expected = "around two or more pulleys, bending outwards"
        raise InvalidValueError("path of a track of plates", expected, Phrase(", ".join(path.names)))
    max_pitch = 2 * min(arc.radius for arc in arcs) * math.sin(math.pi / MIN_TEETH)
    loop = PlateLoop(path, *_chords(path, count), depth=0.0, teeth=0, driven=driven, tensioned=tensioned)
    if loop.pitch > max_pitch:
        expected = f"no longer than {max_pitch:.4g} m, for {MIN_TEETH} to fit around the smallest pulley"
        raise InvalidValueError("plates of a track", expected, Phrase(f"{loop.pitch:.4g} m"))
    if teeth is None:
        teeth = round(math.pi / math.asin(loop.pitch / 2 / loop.sprocket.radius))
    radius, sides = loop.sprocket.radius, 2 * math.sin(math.pi / teeth)

    def gap(depth: float) -> float:
        """Distance of the sprocket's polygon inside of hinges at a depth [m]: nearly linear in it."""
        return radius - depth - _chords(_inset(path, depth), count)[1] / sides

    deepest = 0.9 * min(arc.radius for arc in arcs)
    ends = -deepest, deepest
    fits = gap(ends[0]) * gap(ends[1]) < 0
    depth = brentq(gap, *ends, xtol=_DEPTH_TOLERANCE) if fits else min(ends, key=lambda end: abs(gap(end)))
    return PlateLoop(path, *_chords(_inset(path, depth), count), depth, teeth, driven, tensioned)


def _chords(path: BeltPath, count: int) -> tuple[NDArray[np.float64], float]:
    """Hinges (n + 1, 2) of `count` equal chords, from the middle of the ground line, and their pitch.

    The path lengths that the chords span always add up to the perimeter; they are shifted
    from chords that are too long to those that are too short.
    """
    middle = float(path.starts[path.ground]) + path.segments[path.ground].length / 2
    spans = np.full(count, path.perimeter / count)
    for _ in range(_ITERATIONS):
        hinges = path.point(middle + np.concatenate([[0.0], np.cumsum(spans)]))
        chords = np.linalg.norm(np.diff(hinges, axis=0), axis=1)
        missing = chords.mean() - chords
        if np.abs(missing).max() < _ROUNDING * path.perimeter:
            break
        spans += missing
    hinges.setflags(write=False)
    return hinges, float(chords.mean()) * (1 + _SLACK)


def _inset(path: BeltPath, depth: float) -> BeltPath:
    """Path offset inwards by `depth` [m]."""
    first = path.segments[0]
    x, z = np.asarray(first.start) - depth * normal_of(first.heading)
    pieces: list[tuple[float, float | None]] = [
        (segment.length, None) if isinstance(segment, Line) else (segment.radius - depth, segment.turn)
        for segment in path.segments
    ]
    return BeltPath(chain_segments((float(x), float(z)), first.heading, pieces))
