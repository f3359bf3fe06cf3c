"""Ground of a course: placed pieces with their solids, walls and gates."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from segtrack.courses.course import Course, Setting, Start, Wall, Zone
from segtrack.courses.course_file import CourseFile, FloorPlace, Lane, LanePiece, Layout
from segtrack.courses.pieces import WALL_THICKNESS
from segtrack.errors import Problem
from segtrack.geometry import Box, Cylinder, Hull
from segtrack.terrain import (
    FLOOR_REACH,
    ROOT_DEPTH,
    ConvexSolid,
    HalfSpace,
    Obstacle,
    Plane,
    Platform,
    Prism,
    Soil,
    StaticBody,
    Terrain,
    find_soil,
)

_Part = Box | Cylinder | HalfSpace | Hull

MAX_SOLIDS = 5000
"""Most solids of a layout, fifteen times those of the largest bundled course."""
_BELOW, _ABOVE = 0.2, 1.0
"""Distances by which a zone reaches below its ground and above it [m]."""


class FloorFrame(NamedTuple):
    """Frame on the floor: x, y [m] and yaw [rad] in the world."""

    x: float
    y: float
    yaw: float

    @classmethod
    def of(cls, pose: FloorPlace) -> FloorFrame:
        """Make the frame from a place in a file."""
        return cls(pose.x, pose.y, math.radians(pose.yaw_deg))

    def at(self, along: float, across: float = 0.0) -> FloorFrame:
        """Return the frame at a point of this frame [m], with equal yaw."""
        cosine, sine = math.cos(self.yaw), math.sin(self.yaw)
        return FloorFrame(
            self.x + cosine * along - sine * across, self.y + sine * along + cosine * across, self.yaw
        )

    def moved(self, solid: ConvexSolid, elevation: float) -> _Part:
        """Transform a solid of this frame to the world."""
        turn = Rotation.from_euler("z", self.yaw)
        origin = np.array([self.x, self.y, elevation])
        if isinstance(solid, Prism):
            solid = solid.hull
        if isinstance(solid, Hull):
            return Hull.of(turn.apply(solid.points) + origin)
        if isinstance(solid, HalfSpace):
            point, normal = turn.apply(solid.point_in_world) + origin, turn.apply(solid.normal)
            return HalfSpace(tuple(point.tolist()), tuple(normal.tolist()))
        x, y, z = (turn.apply(solid.center) + origin).tolist()
        quaternion = (turn * Rotation.from_quat(solid.quaternion)).as_quat().tolist()
        return replace(solid, center=(x, y, z), quaternion=tuple(quaternion))


class LaidPiece(NamedTuple):
    """Piece at its place, with its width [m]."""

    piece: LanePiece
    frame: FloorFrame
    width: float

    @property
    def obstacle(self) -> Obstacle:
        """Obstacle of the piece, which begins at x = 0 of the piece's frame."""
        return self.piece.apparatus.obstacle(self.width)

    @property
    def extent(self) -> float:
        """Length along the piece's x axis [m]."""
        return self.obstacle.extent

    def zone(self, inset: float = 0.0) -> Zone:
        """Return the zone in which a vehicle has mastered the piece, inset from its ends [m]."""
        start, end, height = self.obstacle.level_top
        length = max(end - start - 2 * inset, 0.0)
        return zone_at(self.frame.at((start + end) / 2), length, self.width, self.piece.elevation + height)

    def corners(self) -> Iterator[tuple[float, float]]:
        """Yield the corners of the outline in plan [m]."""
        for along in (0.0, self.extent):
            for across in (-self.width / 2, self.width / 2):
                place = self.frame.at(along, across)
                yield place.x, place.y

    def solids(self) -> Iterator[_Part]:
        """Yield the solids in the world; none for level ground on the floor."""
        obstacle = self.obstacle
        if isinstance(obstacle, Platform) and self.piece.elevation == 0:
            return
        for solid in obstacle.shapes(ROOT_DEPTH + self.piece.elevation):
            yield self.frame.moved(solid, self.piece.elevation)

    def walls(self) -> Iterator[Wall]:
        """Yield the walls, which must not be touched."""
        for upright in self.piece.apparatus.walls(self.width):
            x, y, yaw = self.frame.at(upright.x, upright.y)
            top = self.piece.elevation + upright.top
            yield Wall(x, y, yaw, upright.length, upright.width, -ROOT_DEPTH, top)


class Site(NamedTuple):
    """Layout with all pieces at their places.

    Attributes:
        lanes: Pieces of each lane.
        pieces: All pieces, those of lanes first.
        walls: All walls, which must not be touched.
    """

    lanes: tuple[tuple[LaidPiece, ...], ...]
    pieces: tuple[LaidPiece, ...]
    walls: tuple[Wall, ...]

    def problems(self) -> Iterator[Problem]:
        """Yield the mistakes in the pieces' places."""
        corners = [corner for piece in self.pieces for corner in piece.corners()]
        farthest = max((abs(place) for corner in corners for place in corner), default=0.0)
        if farthest > FLOOR_REACH:
            reach = f"which reaches {FLOOR_REACH:g} m from the origin"
            yield Problem("lanes and terrain", f"must be on the floor, {reach}, got {farthest:.3g} m")
        solids = chain.from_iterable(each.obstacle.shapes(ROOT_DEPTH) for each in self.pieces)
        if next(islice(solids, MAX_SOLIDS, None), None) is not None:
            yield Problem("lanes and terrain", f"must consist of at most {MAX_SOLIDS} solids, got more")


def lay_out(layout: Layout) -> Site:
    """Place the pieces of a layout."""
    lanes = tuple(tuple(_laid(lane)) for lane in layout.lanes)
    loose = [LaidPiece(piece, FloorFrame.of(piece.place), piece.width) for piece in layout.terrain]
    pieces = (*chain.from_iterable(lanes), *loose)
    walls = [_lane_walls(lane, laid) for lane, laid in zip(layout.lanes, lanes, strict=True)]
    return Site(lanes, pieces, (*chain.from_iterable(walls), *chain.from_iterable(p.walls() for p in pieces)))


def _laid(lane: Lane) -> Iterator[LaidPiece]:
    along, frame = 0.0, FloorFrame.of(lane.place)
    for piece in lane.pieces:
        yield LaidPiece(piece, frame.at(along), lane.width)
        along += piece.apparatus.obstacle(lane.width).extent


def _lane_walls(lane: Lane, laid: Sequence[LaidPiece]) -> Iterator[Wall]:
    """Walls beside each piece of a lane, at constant height above it, and at the lane's ends."""
    if lane.walls is None:
        return
    aside = (lane.width + WALL_THICKNESS) / 2
    sides = [sign for sign, given in ((1, lane.walls.left), (-1, lane.walls.right)) if given]
    tops = [each.piece.elevation + each.obstacle.top + lane.walls.height for each in laid]
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


def build_ground(layout: Layout, name: str) -> tuple[Terrain, ...]:
    """Return the terrains of a layout: floor, pieces by kind of ground, and walls.

    Args:
        layout: Layout, with the setting's value filled in.
        name: Name of the terrains for messages.
    """
    return tuple(_terrains(layout, name, lay_out(layout)))


def _terrains(layout: Layout, name: str, site: Site) -> Iterator[Terrain]:
    yield Plane(friction=layout.friction, soil=_soil(layout.soil))
    kinds: dict[tuple[float, str | None], list[_Part]] = {}
    for laid in site.pieces:
        friction = layout.friction if laid.piece.friction is None else laid.piece.friction
        kinds.setdefault((friction, laid.piece.soil), []).extend(laid.solids())
    for (friction, ground), solids in kinds.items():
        if solids:
            label = name if ground is None else f"{name}: {ground}"
            yield StaticBody(parts=tuple(solids), name=label, friction=friction, soil=_soil(ground))
    if site.walls:
        parts = tuple(_wall_solid(wall) for wall in site.walls)
        yield StaticBody(parts=parts, name=f"{name}: walls", friction=layout.friction)


def _soil(name: str | None) -> Soil | None:
    return None if name is None else find_soil(name)


def _wall_solid(wall: Wall) -> Box:
    size = wall.length, wall.width, wall.top - wall.bottom
    turn = 0.0, 0.0, math.sin(wall.yaw / 2), math.cos(wall.yaw / 2)
    return Box(size, (wall.x, wall.y, (wall.top + wall.bottom) / 2), turn)


def zone_at(middle: FloorFrame, length: float, width: float, ground: float) -> Zone:
    """Zone of the body frame of a vehicle that stands in a rectangle on ground of a height [m]."""
    return Zone(*middle, length, width, ground - _BELOW, ground + _ABOVE)


def build_course(file: CourseFile, name: str, value: float | None, source: str) -> Course:
    """Build a course.

    Args:
        file: Content of the file, with the setting's value filled in.
        name: Name of the course.
        value: Value of the setting; None if there is none.
        source: Text of the file.

    Returns:
        The course.
    """
    site = lay_out(file)
    start, gates = _start(file, site), tuple(gates_of(file, site))
    setting = None
    if file.setting is not None and value is not None:
        setting = Setting(file.setting.name, file.setting.unit, file.setting.values, value)
    return Course(
        name=name,
        title=file.title,
        description=file.description,
        kind=file.kind,
        terrains=build_ground(file, name),
        start=start,
        gates=gates,
        walls=site.walls,
        bounds=_bounds(site.pieces, gates, file.margin),
        lowest=file.lowest,
        distance=_distance(start, gates),
        setting=setting,
        lane_width=min((lane.width for lane in file.lanes), default=None),
        vehicle=file.vehicle,
        time_limit=file.time_limit,
        source=source,
    )


def _start(file: CourseFile, site: Site) -> Start:
    if file.start is not None:
        return Start(*FloorFrame.of(file.start))
    zone = site.lanes[0][0].zone()
    return Start(zone.x, zone.y, zone.yaw)


def gates_of(file: CourseFile, site: Site) -> Iterator[Zone]:
    """Yield the gates of a repetition, in order."""
    if not file.gates:
        yield from (site.lanes[-1][-1].zone(), site.lanes[0][0].zone())
    named = {laid.piece.name: laid for laid in site.pieces}
    for gate in file.gates:
        if gate.place is None:
            yield named[gate.piece].zone(gate.inset)
        else:
            yield zone_at(FloorFrame.of(gate.place), gate.length, gate.width, gate.elevation)


def _bounds(pieces: Sequence[LaidPiece], gates: Sequence[Zone], margin: float) -> Zone:
    """Return the rectangle, along the world's axes, around all pieces and gates."""
    corners = [corner for laid in pieces for corner in laid.corners()]
    for gate in gates:
        middle = FloorFrame(gate.x, gate.y, gate.yaw)
        ends = [(a * gate.length / 2, b * gate.width / 2) for a in (-1, 1) for b in (-1, 1)]
        corners += [middle.at(*end)[:2] for end in ends]
    low, high = np.min(corners, axis=0) - margin, np.max(corners, axis=0) + margin
    (x, y), (length, width) = ((low + high) / 2).tolist(), (high - low).tolist()
    return Zone(x, y, 0.0, length, width)


def _distance(start: Start, gates: Sequence[Zone]) -> float:
    """Return the length of the path from the start through the middles of all gates and back [m]."""
    places = [(start.x, start.y), *((gate.x, gate.y) for gate in gates), (start.x, start.y)]
    return sum(math.dist(a, b) for a, b in zip(places, places[1:], strict=False))
