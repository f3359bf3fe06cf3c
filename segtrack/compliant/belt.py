"""A vehicle's belts as kernels read them, and their state."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.compliant.section import Section
from segtrack.errors import InvalidValueError, Phrase
from segtrack.geometry import Arc, BeltPath, normal_of, spin_momentum, tangent_of
from segtrack.ground import LANES, ContactParameters, Ground
from segtrack.kernels import cosine_sine, inlined

SEGMENT = 8
"""Numbers a segment of a path has: first coordinate, x, z, heading, its cosine and sine, signed curvature and
length."""

_VECTOR = 4
"""Numbers that a processor's vectors have, of those that most processors of today have."""


@dataclass(frozen=True, eq=False)
class BeltDesign:
    """One belt, before it moves.

    Attributes:
        name: Name of the track, for messages.
        path: Its outer face, in the track frame.
        coordinates: Belt coordinate of each section's origin at home (n,) [m].
        kinds: Index in `sections` of each section (n,).
        lengths: Lengths of belt that each section stands for (n,) [m].
        sections: Kinds of sections.
        riding: True if sections move with the belt's travel.
        grouser_count: Number of sections that are grousers; these come first.
        law: Contact parameters of a metre of belt: stiffness [N/m^2] and damping [N s/m^2].
        belt_mass: Mass of the belt [kg].
        reflected_mass: Inertia of the drive as the belt feels it [kg].
        rotor_momentum: Angular momentum of the drive's rotor about the axle, per belt speed [kg m].
    """

    name: str
    path: BeltPath
    coordinates: NDArray[np.float64]
    kinds: NDArray[np.intp]
    lengths: NDArray[np.float64]
    sections: tuple[Section, ...]
    riding: bool
    grouser_count: int
    law: ContactParameters
    belt_mass: float
    reflected_mass: float
    rotor_momentum: float

    @property
    def moving_mass(self) -> float:
        """Mass that moves with the belt [kg]."""
        return self.belt_mass + self.reflected_mass

    @property
    def spin_momentum(self) -> float:
        """Angular momentum about the axle per belt speed [kg m]: the belt's and the drive's rotor's."""
        return spin_momentum(self.path, self.belt_mass) + self.rotor_momentum

    @property
    def tip_speed(self) -> float:
        """Largest speed of a part over the vehicle, per belt speed: that of a tip around an arc [-]."""
        bend = max((1 / s.radius for s in self.path.segments if isinstance(s, Arc)), default=0.0)
        boxes = np.array([section.box for section in self.sections])
        return float(1 + bend * np.max(np.sum(np.abs(boxes[:, [0, 2]]) + boxes[:, [3, 5]], axis=1)))

    @property
    def overhang(self) -> float:
        """Farthest of any section's part from its place on the path [m]."""
        boxes = np.array([section.box for section in self.sections])
        return float(np.linalg.norm(np.abs(boxes[:, :3]) + boxes[:, 3:], axis=1).max())

    @property
    def reach(self) -> float:
        """Farthest of any part from the track frame's origin [m]."""
        return float(np.linalg.norm(self.path.outline(), axis=1).max()) + self.overhang

    def points(self, travel: float) -> NDArray[np.float64]:
        """Contact points of all sections in the track frame (n, 3) [m], at a belt travel [m]."""
        at = self.coordinates + self.riding * travel
        places, headings = self.path.point(at), self.path.heading(at)
        found = []
        for kind, section in enumerate(self.sections):
            mine = self.kinds == kind
            x, z = tangent_of(headings[mine])[:, None], normal_of(headings[mine])[:, None]
            plane = places[mine][:, None] + x * section.points[:, :1] + z * section.points[:, 2:]
            across = np.broadcast_to(section.points[:, 1], plane.shape[:2])
            found.append(np.stack([plane[..., 0], across, plane[..., 1]], axis=-1).reshape(-1, 3))
        return np.concatenate(found)


def check_ground(ground: Ground, belts: Sequence[BeltDesign]) -> None:
    """Refuse ground that belts cannot be on.

    Raises:
        InvalidValueError: Soil under belts whose faces stand still.
    """
    if len(ground.soils) and not all(belt.riding for belt in belts):
        got = Phrase("soil, which remembers where it was pressed")
        raise InvalidValueError("ground of track model 'surface'", "rigid", got)


class BeltMotion(NamedTuple):
    """State of T belts, and what their drives are told; kernels change it in place.

    Attributes:
        travels: Since the start (T,) [m].
        speeds: (T,) [m/s].
        forces: Mean force of the drives along the belts' travel in the engine's last step (T,) [N].
        axle_rates: Turning of the parent frames about the axles in the last sub-step (T,) [rad/s].
        targets: Speeds at which the drives aim (T,) [m/s].
        limits: Force limits of the drives (T,) [N].
        frictions: Friction of the tracks (T,) [-].
        slack: Distance that any part may move before candidates are looked for again (1,) [m].
    """

    travels: NDArray[np.float64]
    speeds: NDArray[np.float64]
    forces: NDArray[np.float64]
    axle_rates: NDArray[np.float64]
    targets: NDArray[np.float64]
    limits: NDArray[np.float64]
    frictions: NDArray[np.float64]
    slack: NDArray[np.float64]


class BeltArrays(NamedTuple):
    """All T belts of a vehicle with G sections, of which there are K kinds.

    Attributes:
        section_starts: First section of each belt, and the end of the last one (T + 1,).
        segment_starts: First segment of each belt's path, and the end of the last one (T + 1,).
        segments: Segments of the paths (S, 8), see `SEGMENT`.
        segment_boxes: Centre and half extents, in the track frame, of the box around all sections whose place
            is on each (S, 6) [m].
        perimeters: Perimeters of the paths (T,) [m].
        riding: 1 where sections move with the belt's travel, 0 where they stand still (T,).
        coordinates: Belt coordinate of each section at home (G,) [m].
        lengths: Lengths of belt that each section stands for (G,) [m].
        kinds: Kind of each section (G,).
        points: Contact points of each kind (K, p, 3) [m].
        weights: Their fractions of a section's stiffness (K, p).
        areas: Areas that they stand for in soil (K, p) [m^2].
        sides: Smaller side of their faces (K, p) [m].
        point_counts: Number of each kind's points, of p (K,).
        lanes: x, y, z [m] and weights of each kind's points in chunks of `LANES`, filled up with points of no
            weight (K, c, 4 * `LANES`).
        chunk_counts: Number of each kind's chunks, of c (K,).
        lane_counts: Number of lanes in use of each chunk, in fours (K, c).
        pieces: Convex pieces of each kind (K, pieces, faces, 5).
        piece_counts: Number of each kind's pieces (K,).
        face_counts: Number of each piece's faces (K, pieces).
        edge_weights: Fraction of a section's stiffness at an edge's end (K,).
        boxes: Centre and half extents of each kind (K, 6) [m].
        laws: `ContactParameters` of a metre of each belt (T, 6).
        masses: Masses that move with each belt (T,) [kg].
        spin_momenta: Angular momentum about the axle per belt speed (T,) [kg m].
        reaches: Farthest of any part from the track frames' origins (T,) [m].
        tip_speeds: Largest speeds of any part over the vehicle, per belt speed (T,) [-].
    """

    section_starts: NDArray[np.intp]
    segment_starts: NDArray[np.intp]
    segments: NDArray[np.float64]
    segment_boxes: NDArray[np.float64]
    perimeters: NDArray[np.float64]
    riding: NDArray[np.float64]
    coordinates: NDArray[np.float64]
    lengths: NDArray[np.float64]
    kinds: NDArray[np.intp]
    points: NDArray[np.float64]
    weights: NDArray[np.float64]
    areas: NDArray[np.float64]
    sides: NDArray[np.float64]
    point_counts: NDArray[np.intp]
    lanes: NDArray[np.float64]
    chunk_counts: NDArray[np.intp]
    lane_counts: NDArray[np.intp]
    pieces: NDArray[np.float64]
    piece_counts: NDArray[np.intp]
    face_counts: NDArray[np.intp]
    edge_weights: NDArray[np.float64]
    boxes: NDArray[np.float64]
    laws: NDArray[np.float64]
    masses: NDArray[np.float64]
    spin_momenta: NDArray[np.float64]
    reaches: NDArray[np.float64]
    tip_speeds: NDArray[np.float64]


def pack_belts(belts: Sequence[BeltDesign]) -> BeltArrays:
    """Lay a vehicle's belts out for kernels."""
    sections = [section for belt in belts for section in belt.sections]
    first_kinds = np.cumsum([0, *(len(belt.sections) for belt in belts)])
    most_points = max((len(section.points) for section in sections), default=0)
    most_pieces = max((len(section.pieces) for section in sections), default=0)
    most_faces = max((section.pieces.shape[1] for section in sections), default=0)
    kinds = len(sections)
    points, pieces = np.zeros((kinds, most_points, 3)), np.zeros((kinds, most_pieces, most_faces, 5))
    weights, areas, sides = np.zeros((3, kinds, most_points))
    faces = np.zeros((kinds, most_pieces), dtype=np.intp)
    for k, section in enumerate(sections):
        n, (m, f, _) = len(section.points), section.pieces.shape
        points[k, :n], weights[k, :n] = section.points, section.weights
        areas[k, :n], sides[k, :n] = section.areas, section.sides
        pieces[k, :m, :f], faces[k, :m] = section.pieces, f
    return BeltArrays(
        section_starts=np.cumsum([0, *(len(belt.kinds) for belt in belts)], dtype=np.intp),
        segment_starts=np.cumsum([0, *(len(belt.path.segments) for belt in belts)], dtype=np.intp),
        segments=np.concatenate([np.zeros((0, SEGMENT)), *(_segments(belt.path) for belt in belts)]),
        segment_boxes=np.concatenate([np.zeros((0, 6)), *map(_segment_boxes, belts)]),
        perimeters=np.array([belt.path.perimeter for belt in belts]),
        riding=np.array([float(belt.riding) for belt in belts]),
        coordinates=np.concatenate([np.zeros(0), *(belt.coordinates for belt in belts)]),
        lengths=np.concatenate([np.zeros(0), *(belt.lengths for belt in belts)]),
        kinds=np.concatenate(
            [
                np.zeros(0, dtype=np.intp),
                *(belt.kinds + first for belt, first in zip(belts, first_kinds, strict=False)),
            ]
        ),
        points=points,
        weights=weights,
        areas=areas,
        sides=sides,
        point_counts=np.array([len(section.points) for section in sections], dtype=np.intp),
        lanes=_in_lanes(points, weights),
        chunk_counts=np.array([-(-len(section.points) // LANES) for section in sections], dtype=np.intp),
        lane_counts=_lane_counts(sections, most_points),
        pieces=pieces,
        piece_counts=np.array([len(section.pieces) for section in sections], dtype=np.intp),
        face_counts=faces,
        edge_weights=np.array([section.edge_weight for section in sections]),
        boxes=np.array([section.box for section in sections]).reshape(-1, 6),
        laws=np.array([belt.law for belt in belts], dtype=float).reshape(-1, len(ContactParameters._fields)),
        masses=np.array([belt.moving_mass for belt in belts]),
        spin_momenta=np.array([belt.spin_momentum for belt in belts]),
        reaches=np.array([belt.reach for belt in belts]),
        tip_speeds=np.array([belt.tip_speed for belt in belts]),
    )


def _in_lanes(points: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points (K, p, 3) and their weights (K, p) in rows of `LANES`, filled up with such of no weight."""
    kinds, count, _ = points.shape
    chunks = -(-count // LANES)
    rows = np.zeros((4, kinds, chunks * LANES))
    rows[:3, :, :count], rows[3, :, :count] = np.moveaxis(points, 2, 0), weights
    return np.moveaxis(rows.reshape(4, kinds, chunks, LANES), 0, 2).reshape(kinds, chunks, 4 * LANES)


def _lane_counts(sections: Sequence[Section], most_points: int) -> NDArray[np.intp]:
    """Lanes in use of each chunk of sections' points, in multiples of `_VECTOR` (K, c)."""
    starts = LANES * np.arange(-(-most_points // LANES))
    counts = np.array([len(section.points) for section in sections], dtype=np.intp)
    used = np.clip(counts[:, None] - starts, 0, LANES)
    return -(-used // _VECTOR) * _VECTOR


def _segments(path: BeltPath) -> NDArray[np.float64]:
    rows = []
    for start, segment in zip(path.starts, path.segments, strict=False):
        curvature = 1 / segment.signed_radius if isinstance(segment, Arc) else 0.0
        at = segment.heading
        rows.append((start, *segment.start, at, np.cos(at), np.sin(at), curvature, segment.length))
    return np.array(rows)


def _segment_boxes(belt: BeltDesign) -> NDArray[np.float64]:
    """Boxes around all that sections reach to from each segment of a belt's path (S, 6) [m]."""
    rows, half = [], max(float(np.max(s.box[4] + abs(s.box[1]))) for s in belt.sections)
    for segment in belt.path.segments:
        points = segment.point_at(np.linspace(0.0, segment.length, 33))
        low, high = points.min(axis=0), points.max(axis=0)
        # An arc bulges between its points.
        middle, extent = (low + high) / 2, (high - low) / 2 + belt.overhang + 1e-3 * segment.length
        rows.append((middle[0], 0.0, middle[1], extent[0], half, extent[1]))
    return np.array(rows)


@inlined
def place_on_path(belts: BeltArrays, belt: int, coordinate: float) -> tuple[int, float]:
    """Segment of a belt's path on which a belt coordinate [m] is, and how far along it [m]."""
    perimeter = belts.perimeters[belt]
    along = coordinate - perimeter * math.floor(coordinate / perimeter)
    s = belts.segment_starts[belt]
    last = belts.segment_starts[belt + 1] - 1
    while s < last and along >= belts.segments[s + 1, 0]:
        s += 1
    return s, along - belts.segments[s, 0]


@inlined
def pose_on_segment(belts: BeltArrays, number: int, along: float) -> tuple[float, float, float, float, float]:
    """Place on a segment of a belt's path `along` it [m], in the track frame; returns as `section_pose`."""
    segment = belts.segments[number]
    curvature = segment[6]
    if curvature == 0.0:
        return segment[1] + along * segment[4], segment[2] - along * segment[5], segment[4], segment[5], 0.0
    heading = segment[3] + along * curvature
    cosine, sine = cosine_sine(heading)
    radius = 1 / curvature
    # From the arc's centre, start - radius * normal(start), along the normal at the heading.
    x = segment[1] + radius * (sine - segment[5])
    z = segment[2] + radius * (cosine - segment[4])
    return x, z, cosine, sine, curvature


@inlined
def section_pose(belts: BeltArrays, belt: int, coordinate: float) -> tuple[float, float, float, float, float]:
    """Place of a belt coordinate [m] on a belt's path, in its track frame.

    Returns:
        x and z [m], cosine and sine of the heading about +y, and signed curvature [1/m].
    """
    segment, along = place_on_path(belts, belt, coordinate)
    return pose_on_segment(belts, segment, along)
