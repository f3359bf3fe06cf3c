"""Closed loops of equal plates in the track frame.

Plates are chords of the belt's path, joined by hinges. Around the sprocket, whose arc has
radius r, a whole number n of them must fit, so the hinges run at a depth d below the
belt's outer face: p / (2 sin(pi / n)) = r - d, where p is the plates' pitch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from segtrack.errors import InvalidValueError, Phrase
from segtrack.geometry.path import Arc, BeltPath, Line, chain_segments, normal_of
from segtrack.geometry.pulleys import arcs_of, nearest_arc

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
    """A loop of plates around a path.

    Attributes:
        path: The belt's outer face.
        hinges: First hinge of each plate, and the last one's end (n + 1, 2) in (x, z) [m].
        pitch: Distance between a plate's hinges [m].
        depth: Depth of the hinges below the outer face, a tenth of the pitch or so, of either sign [m].
        teeth: Plates in one turn of the sprocket.
        driven: Centre (x, z) of the pulley that drives; around which it turns most if not given [m].
        tensioned: Centre of the pulley that tensions; the one farthest from that if not given [m].
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
        """The arc that drives; not named, the one that turns most (of two alike that behind the ground)."""
        if self.driven is not None:
            return nearest_arc(self.path, self.driven)
        return max(arcs_of(self.path), key=lambda arc: round(arc.turn, 6))

    @property
    def idler(self) -> Arc:
        """The arc that tensions; not named, the one farthest from the sprocket."""
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
    """Lay plates around a path.

    Args:
        path: The belt's outer face.
        count: Number of plates.
        teeth: Number of sprocket teeth; by default that with which the hinges run nearest to the outer face.
            Where no depth within 0.9 of the smallest radius fits it, the hinges run that far above or below.
        driven: See `PlateLoop`.
        tensioned: Likewise.

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
    """The path moved inwards by `depth` [m]."""
    first = path.segments[0]
    x, z = np.asarray(first.start) - depth * normal_of(first.heading)
    pieces: list[tuple[float, float | None]] = [
        (segment.length, None) if isinstance(segment, Line) else (segment.radius - depth, segment.turn)
        for segment in path.segments
    ]
    return BeltPath(chain_segments((float(x), float(z)), first.heading, pieces))
