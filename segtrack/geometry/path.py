"""Belt paths of lines and arcs, and their outlines."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segtrack.errors import InvalidValueError, Phrase

CLOSURE = 1e-9
"""Largest gap [m] and largest kink [rad] of a path that counts as closed."""


@dataclass(frozen=True)
class Line:
    """Straight segment of a belt path, carried by a slider.

    Attributes:
        start: First point (x, z) in the track frame [m].
        heading: Direction of travel, about +y [rad].
        length: Length along the belt [m].
    """

    start: tuple[float, float]
    heading: float
    length: float

    kind = "line"
    turn = 0.0

    def heading_at(self, along: NDArray[np.float64]) -> NDArray[np.float64]:
        """Headings (n,) about +y [rad], all equal, at `along` (n,) [m]."""
        return np.full_like(along, self.heading)

    def point_at(self, along: NDArray[np.float64]) -> NDArray[np.float64]:
        """Points (n, 2) in (x, z) of the track frame [m], `along` (n,) [m] from the segment's start."""
        return np.asarray(self.start) + along[:, None] * tangent_of(self.heading)


@dataclass(frozen=True)
class Arc:
    """Circular segment of a belt path, carried by a hinge.

    Attributes:
        start: First point (x, z) in the track frame [m].
        heading: Direction of travel at the start, about +y [rad].
        radius: Radius of the belt's outer face [m], > 0.
        turn: Angle of the arc about +y [rad]; negative bends inwards.
    """

    start: tuple[float, float]
    heading: float
    radius: float
    turn: float

    kind = "arc"

    @property
    def length(self) -> float:
        """Length along the belt [m]."""
        return self.radius * abs(self.turn)

    @property
    def signed_radius(self) -> float:
        """Radius [m], negative where the path bends inwards."""
        return math.copysign(self.radius, self.turn)

    @property
    def center(self) -> NDArray[np.float64]:
        """Centre (x, z) in the track frame [m]."""
        return np.asarray(self.start) - self.signed_radius * normal_of(self.heading)

    def heading_at(self, along: NDArray[np.float64]) -> NDArray[np.float64]:
        """Headings (n,) about +y [rad] at distances `along` (n,) [m] from the segment's start."""
        return self.heading + along / self.signed_radius

    def point_at(self, along: NDArray[np.float64]) -> NDArray[np.float64]:
        """Points (n, 2) in (x, z) of the track frame [m], `along` (n,) [m] from the segment's start."""
        return self.center + self.signed_radius * normal_of(self.heading_at(along))


Segment = Line | Arc


def tangent_of(heading: ArrayLike) -> NDArray[np.float64]:
    """Unit tangents (..., 2) in (x, z) for headings [rad]."""
    return np.stack([np.cos(heading), -np.sin(heading)], axis=-1)


def normal_of(heading: ArrayLike) -> NDArray[np.float64]:
    """Unit outward normals (..., 2) in (x, z) for headings [rad]."""
    return np.stack([np.sin(heading), np.cos(heading)], axis=-1)


@dataclass(frozen=True)
class BeltPath:
    """Closed, tangent-continuous loop of segments, in the direction of belt travel.

    Attributes:
        segments: Segments; each begins where the one before ends.

    Raises:
        InvalidValueError: The path is empty, does not close, has a kink, or does not turn by
            one full round about +y.
    """

    segments: tuple[Segment, ...]

    def __post_init__(self) -> None:
        """Check that the path closes to `CLOSURE`."""
        if not self.segments:
            raise InvalidValueError("path", "at least one segment", Phrase("none"))
        for i, segment in enumerate(self.segments):
            after = self.segments[(i + 1) % len(self.segments)]
            length = np.array([segment.length])
            gap = float(np.linalg.norm(segment.point_at(length)[0] - after.start))
            kink = abs(math.remainder(float(segment.heading_at(length)[0]) - after.heading, 2 * math.pi))
            if gap > CLOSURE:
                got = Phrase(f"a gap of {gap:.3g} m after segment {i}")
                raise InvalidValueError("path", f"closed to {CLOSURE:g} m", got)
            if kink > CLOSURE:
                got = Phrase(f"a kink of {kink:.3g} rad after segment {i}")
                raise InvalidValueError("path", f"tangent-continuous to {CLOSURE:g} rad", got)
        turn = sum(segment.turn for segment in self.segments)
        if abs(turn - 2 * math.pi) > 1e-6:
            raise InvalidValueError("path", "one full turn of 2 pi about +y", Phrase(f"{turn:.6g} rad"))

    @cached_property
    def starts(self) -> NDArray[np.float64]:
        """Belt coordinates at which the segments start, then the perimeter (n + 1,) [m]."""
        starts = np.concatenate([[0.0], np.cumsum([segment.length for segment in self.segments])])
        starts.setflags(write=False)
        return starts

    @property
    def perimeter(self) -> float:
        """Length of the whole loop [m]."""
        return float(self.starts[-1])

    @property
    def ground(self) -> int:
        """Index of the ground segment: the line facing down whose middle is lowest.

        Of two at one height it is the one in front. A path without such lines has any line on the
        ground, or an arc.
        """
        middles = np.round([s.point_at(np.array([s.length / 2]))[0] for s in self.segments], 9)
        faces_down = np.array([isinstance(s, Line) and math.cos(s.heading) < -CLOSURE for s in self.segments])
        is_arc = np.array([isinstance(s, Arc) for s in self.segments])
        return int(np.lexsort((-middles[:, 0], middles[:, 1], is_arc, ~faces_down))[0])

    @property
    def names(self) -> tuple[str, ...]:
        """Name of each segment: its kind and its index in the path."""
        return tuple(f"{segment.kind}_{i}" for i, segment in enumerate(self.segments))

    def segment_of(self, coordinate: ArrayLike) -> NDArray[np.intp]:
        """Index of the segment at each belt coordinate [m] (any value, folded into one round)."""
        folded = np.mod(coordinate, self.perimeter)
        return np.clip(np.searchsorted(self.starts, folded, side="right") - 1, 0, len(self.segments) - 1)

    def point(self, coordinate: ArrayLike) -> NDArray[np.float64]:
        """Points (n, 2) of the belt in (x, z) of the track frame [m] at belt coordinates (n,) [m]."""
        return self.point_on(*self._locate(coordinate))

    def heading(self, coordinate: ArrayLike) -> NDArray[np.float64]:
        """Headings (n,) about +y [rad] at belt coordinates (n,) [m]."""
        return self.heading_on(*self._locate(coordinate))

    def point_on(self, segments: NDArray[np.intp], along: NDArray[np.float64]) -> NDArray[np.float64]:
        """Points (n, 2) in (x, z) of the track frame [m] `along` (n,) [m] from the starts of `segments` (n,).

        Beyond a segment's ends they go on straight along a line, or around an arc's circle.
        """
        base, radius, straight = (column[segments] for column in self._columns[2:])
        headings = self.heading_on(segments, along)
        turned = base + radius[:, None] * normal_of(headings)
        return turned + (straight * along)[:, None] * tangent_of(headings)

    def heading_on(self, segments: NDArray[np.intp], along: NDArray[np.float64]) -> NDArray[np.float64]:
        """Headings (n,) about +y [rad] at distances `along` (n,) [m] from the starts of `segments` (n,)."""
        heading, bend = (column[segments] for column in self._columns[:2])
        return heading + along / bend

    @cached_property
    def _columns(self) -> tuple[NDArray[np.float64], ...]:
        """Per segment: heading, radius (line: inf), arc centre or line start, radius (line: 0), is line."""
        arcs = np.array([isinstance(segment, Arc) for segment in self.segments])
        heading = np.array([segment.heading for segment in self.segments])
        base = np.array([s.center if isinstance(s, Arc) else s.start for s in self.segments])
        radius = np.array([s.signed_radius if isinstance(s, Arc) else 0.0 for s in self.segments])
        return heading, np.where(arcs, radius, np.inf), base, radius, np.where(arcs, 0.0, 1.0)

    def tangent(self, coordinate: ArrayLike) -> NDArray[np.float64]:
        """Unit tangents (n, 2) in (x, z) of the track frame at belt coordinates (n,) [m]."""
        return tangent_of(self.heading(coordinate))

    def outline(self, spacing: float = 0.002) -> NDArray[np.float64]:
        """Closed polygon (n, 2) along the belt in (x, z) [m], for drawing; arcs in chords of `spacing`."""
        pieces = []
        for segment in self.segments:
            chords = 1 if segment.turn == 0 else 1 + int(segment.length / spacing)
            pieces.append(segment.point_at(np.linspace(0, segment.length, chords + 1)))
        return np.concatenate(pieces)

    def _locate(self, coordinate: ArrayLike) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Segment index of each belt coordinate [m], and the distance from that segment's start [m]."""
        folded = np.mod(np.atleast_1d(np.asarray(coordinate, dtype=float)), self.perimeter)
        segments = self.segment_of(folded)
        return segments, folded - self.starts[segments]


def chain_segments(
    start: tuple[float, float], heading: float, pieces: list[tuple[float, float | None]]
) -> tuple[Segment, ...]:
    """Join lines and arcs end to end into segments.

    Args:
        start: First point (x, z) in the track frame [m].
        heading: Direction of travel there, about +y [rad].
        pieces: (length [m], None) for a line, (radius [m], turn [rad]) for an arc.

    Returns:
        The segments; whether they close is `BeltPath`'s to check.
    """
    segments: list[Segment] = []
    for size, turn in pieces:
        segment: Segment = Line(start, heading, size) if turn is None else Arc(start, heading, size, turn)
        end = np.array([segment.length])
        start = tuple(segment.point_at(end)[0].tolist())
        heading = float(segment.heading_at(end)[0])
        segments.append(segment)
    return tuple(segments)


def inner_outline(path: BeltPath, thickness: float) -> NDArray[np.float64]:
    """Closed polygon (n, 2) along the belt's inner face, in (x, z) of the track frame [m]."""
    along = _stations(path)
    return path.point(along) - thickness * normal_of(path.heading(along))


def outer_outline(path: BeltPath) -> NDArray[np.float64]:
    """Closed polygon (n, 2) along the belt's outer face in (x, z) [m]; points face `inner_outline`'s."""
    return path.point(_stations(path))


def _stations(path: BeltPath) -> NDArray[np.float64]:
    """Belt coordinates of outline points [m]: ends of lines, and arcs at least every 6 degrees."""
    pieces = []
    for start, segment in zip(path.starts, path.segments, strict=False):
        count = 3 + 2 * int(abs(segment.turn) / math.radians(12)) if isinstance(segment, Arc) else 2
        pieces.append(start + np.linspace(0, segment.length * (1 - 1e-9), count))
    return np.concatenate(pieces)
