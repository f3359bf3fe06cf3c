"""From a course file to a course: pieces laid out, their solids and walls, gates and bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from segtrack.courses.apparatus.plain import Flat
from segtrack.courses.apparatus.upright import WALL_THICKNESS
from segtrack.courses.course import Course, Setting, Start, Wall, Zone
from segtrack.courses.file import CourseFile, Gate, Lane, LanePiece, Pose
from segtrack.terrain import Plane, StaticBody, Terrain, find_soil
from segtrack.terrain.floor import ROOT_DEPTH
from segtrack.terrain.solids import Box, Hull

_BELOW, _ABOVE = 0.2, 1.0
"""How far a gate reaches below its ground and above it [m]."""


class _Frame(NamedTuple):
    """A place on the floor: x, y [m] and yaw [rad] in the world."""

    x: float
    y: float
    yaw: float

    @classmethod
    def of(cls, pose: Pose) -> _Frame:
        return cls(pose.x, pose.y, math.radians(pose.yaw_deg))

    def at(self, along: float, across: float = 0.0) -> _Frame:
        """A place in it, with its yaw."""
        cosine, sine = math.cos(self.yaw), math.sin(self.yaw)
        return _Frame(
            self.x + cosine * along - sine * across, self.y + sine * along + cosine * across, self.yaw
        )

    def moved(self, solid: Box | Hull, elevation: float) -> Box | Hull:
        """A solid of this frame in the world."""
        turn = Rotation.from_euler("z", self.yaw)
        origin = np.array([self.x, self.y, elevation])
        if isinstance(solid, Hull):
            return Hull(turn.apply(solid.points) + origin)
        x, y, z = (turn.apply(solid.center_in_world) + origin).tolist()
        quaternion = (turn * Rotation.from_quat(solid.quaternion_box_to_world)).as_quat().tolist()
        return Box((x, y, z), solid.half_extents, tuple(quaternion))


class _Laid(NamedTuple):
    """A piece where it stands, and how wide it is [m]."""

    piece: LanePiece
    frame: _Frame
    width: float

    @property
    def extent(self) -> float:
        return self.piece.apparatus.extent(self.width)

    def zone(self, inset: float = 0.0) -> Zone:
        """Where a vehicle is that has done it, so far from its ends [m]."""
        start, end, height = self.piece.apparatus.goal(self.width)
        length = max(end - start - 2 * inset, 0.0)
        return _zone(self.frame.at((start + end) / 2), length, self.width, self.piece.elevation + height)

    def corners(self) -> Iterator[tuple[float, float]]:
        """Of its outline in plan [m]."""
        for along in (0.0, self.extent):
            for across in (-self.width / 2, self.width / 2):
                place = self.frame.at(along, across)
                yield place.x, place.y

    def solids(self) -> Iterator[Box | Hull]:
        """In the world; of level ground on the floor none."""
        if isinstance(self.piece.apparatus, Flat) and self.piece.elevation == 0:
            return
        for solid in self.piece.apparatus.solids(self.width, ROOT_DEPTH + self.piece.elevation):
            yield self.frame.moved(solid, self.piece.elevation)

    def walls(self) -> Iterator[Wall]:
        """What of it must not be touched."""
        for upright in self.piece.apparatus.walls(self.width):
            x, y, yaw = self.frame.at(upright.x, upright.y)
            top = self.piece.elevation + upright.top
            yield Wall(x, y, yaw, upright.length, upright.width, -ROOT_DEPTH, top)


def build_course(file: CourseFile, name: str, value: float | None, source: str) -> Course:
    """Build a course.

    Args:
        file: With the setting's value in its places.
        name: Of the course.
        value: Of the setting; None if there is none.
        source: Text of the file.

    Returns:
        The course.
    """
    lanes = [list(_laid(lane)) for lane in file.lanes]
    loose = [_Laid(piece, _Frame.of(piece.place), piece.width) for piece in file.terrain]
    pieces = [laid for lane in lanes for laid in lane] + loose
    walls = [wall for lane, laid in zip(file.lanes, lanes, strict=True) for wall in _lane_walls(lane, laid)]
    walls += [wall for laid in pieces for wall in laid.walls()]
    start = _start(file, lanes)
    gates = tuple(_gates(file, lanes, pieces))
    setting = None
    if file.setting is not None and value is not None:
        setting = Setting(file.setting.name, file.setting.unit, file.setting.values, value)
    return Course(
        name=name,
        title=file.title,
        description=file.description,
        kind=file.kind,
        terrains=tuple(_terrains(file, name, pieces, walls)),
        start=start,
        gates=gates,
        walls=tuple(walls),
        bounds=_bounds(pieces, gates, file.margin),
        lowest=file.lowest,
        distance=_distance(start, gates),
        setting=setting,
        lane_width=min((lane.width for lane in file.lanes), default=None),
        vehicle=file.vehicle,
        time_limit=file.time_limit,
        source=source,
    )


def _laid(lane: Lane) -> Iterator[_Laid]:
    along, frame = 0.0, _Frame.of(lane.place)
    for piece in lane.pieces:
        yield _Laid(piece, frame.at(along), lane.width)
        along += piece.apparatus.extent(lane.width)


def _lane_walls(lane: Lane, laid: Sequence[_Laid]) -> Iterator[Wall]:
    """Walls beside each piece, as high above it everywhere, and at the two ends."""
    if lane.walls is None:
        return
    aside = (lane.width + WALL_THICKNESS) / 2
    sides = [sign for sign, given in ((1, lane.walls.left), (-1, lane.walls.right)) if given]
    tops = [piece.elevation + piece.apparatus.top(lane.width) + lane.walls.height for piece in lane.pieces]
    first = 0
    for i in range(1, len(laid) + 1):
        if i < len(laid) and tops[i] == tops[first]:
            continue  # One wall beside all pieces that are equally high.
        length = sum(each.extent for each in laid[first:i])
        for side in sides:
            x, y, yaw = laid[first].frame.at(length / 2, side * aside)
            yield Wall(x, y, yaw, length, WALL_THICKNESS, -ROOT_DEPTH, tops[first])
        first = i
    across = lane.width + 2 * WALL_THICKNESS
    for given, place, top in (
        (lane.walls.start, laid[0].frame.at(-WALL_THICKNESS / 2), tops[0]),
        (lane.walls.end, laid[-1].frame.at(laid[-1].extent + WALL_THICKNESS / 2), tops[-1]),
    ):
        if given:
            yield Wall(*place, WALL_THICKNESS, across, -ROOT_DEPTH, top)


def _terrains(
    file: CourseFile, name: str, pieces: Sequence[_Laid], walls: Sequence[Wall]
) -> Iterator[Terrain]:
    """The floor, the pieces of each kind of ground, and the walls."""
    soil = None if file.soil is None else find_soil(file.soil)
    yield Plane(friction=file.friction, soil=soil)
    kinds: dict[tuple[float, str | None], list[Box | Hull]] = {}
    for laid in pieces:
        friction = file.friction if laid.piece.friction is None else laid.piece.friction
        kinds.setdefault((friction, laid.piece.soil), []).extend(laid.solids())
    for (friction, ground), solids in kinds.items():
        if solids:
            soil = None if ground is None else find_soil(ground)
            label = name if ground is None else f"{name}: {ground}"
            yield StaticBody(parts=tuple(solids), name=label, friction=friction, soil=soil)
    if walls:
        parts = tuple(_wall_solid(wall) for wall in walls)
        yield StaticBody(parts=parts, name=f"{name}: walls", friction=file.friction)


def _wall_solid(wall: Wall) -> Box:
    half = wall.length / 2, wall.width / 2, (wall.top - wall.bottom) / 2
    turn = 0.0, 0.0, math.sin(wall.yaw / 2), math.cos(wall.yaw / 2)
    return Box((wall.x, wall.y, (wall.top + wall.bottom) / 2), half, turn)


def _start(file: CourseFile, lanes: Sequence[Sequence[_Laid]]) -> Start:
    if file.start is not None:
        return Start(*_Frame.of(file.start))
    zone = lanes[0][0].zone()
    return Start(zone.x, zone.y, zone.yaw)


def _gates(file: CourseFile, lanes: Sequence[Sequence[_Laid]], pieces: Sequence[_Laid]) -> Iterator[Zone]:
    if not file.gates:
        yield from (lanes[-1][-1].zone(), lanes[0][0].zone())
    named = {laid.piece.name: laid for laid in pieces}
    for gate in file.gates:
        yield named[gate.piece].zone(gate.inset) if gate.piece is not None else _rectangle(gate)


def _rectangle(gate: Gate) -> Zone:
    assert gate.place is not None
    return _zone(_Frame.of(gate.place), gate.length, gate.width, gate.elevation)


def _zone(middle: _Frame, length: float, width: float, ground: float) -> Zone:
    return Zone(*middle, length, width, ground - _BELOW, ground + _ABOVE)


def _bounds(pieces: Sequence[_Laid], gates: Sequence[Zone], margin: float) -> Zone:
    """Around all pieces and gates, along the world's axes."""
    corners = [corner for laid in pieces for corner in laid.corners()]
    for gate in gates:
        middle = _Frame(gate.x, gate.y, gate.yaw)
        ends = [(a * gate.length / 2, b * gate.width / 2) for a in (-1, 1) for b in (-1, 1)]
        corners += [middle.at(*end)[:2] for end in ends]
    low, high = np.min(corners, axis=0) - margin, np.max(corners, axis=0) + margin
    (x, y), (length, width) = ((low + high) / 2).tolist(), (high - low).tolist()
    return Zone(x, y, 0.0, length, width)


def _distance(start: Start, gates: Sequence[Zone]) -> float:
    """From the start to each gate's middle in turn, and from the last one to the start [m]."""
    places = [(start.x, start.y), *((gate.x, gate.y) for gate in gates), (start.x, start.y)]
    return sum(math.dist(a, b) for a, b in zip(places, places[1:], strict=False))
