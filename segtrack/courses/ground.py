"""From a layout to the ground: pieces in their places, their solids and walls."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from segtrack.courses.apparatus.plain import Flat
from segtrack.courses.apparatus.upright import WALL_THICKNESS
from segtrack.courses.course import Wall, Zone
from segtrack.courses.layout import Lane, LanePiece, Layout, Pose
from segtrack.errors import Problem
from segtrack.terrain import Plane, Soil, StaticBody, Terrain, find_soil
from segtrack.terrain.floor import FLOOR_REACH, ROOT_DEPTH
from segtrack.terrain.solids import Box, Hull

_BELOW, _ABOVE = 0.2, 1.0
"""How far a zone reaches below its ground and above it [m]."""


class Frame(NamedTuple):
    """A place on the floor: x, y [m] and yaw [rad] in the world."""

    x: float
    y: float
    yaw: float

    @classmethod
    def of(cls, pose: Pose) -> Frame:
        """The place that a file gives."""
        return cls(pose.x, pose.y, math.radians(pose.yaw_deg))

    def at(self, along: float, across: float = 0.0) -> Frame:
        """A place in it, with its yaw."""
        cosine, sine = math.cos(self.yaw), math.sin(self.yaw)
        return Frame(
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


class LaidPiece(NamedTuple):
    """A piece where it stands, and how wide it is [m]."""

    piece: LanePiece
    frame: Frame
    width: float

    @property
    def extent(self) -> float:
        """Length along its frame's x axis [m]."""
        return self.piece.apparatus.extent(self.width)

    def zone(self, inset: float = 0.0) -> Zone:
        """Where a vehicle is that has done it, so far from its ends [m]."""
        start, end, height = self.piece.apparatus.goal(self.width)
        length = max(end - start - 2 * inset, 0.0)
        return zone_at(self.frame.at((start + end) / 2), length, self.width, self.piece.elevation + height)

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


class Site(NamedTuple):
    """A layout with everything in its place.

    Attributes:
        lanes: The pieces of each lane.
        pieces: All there are, those of lanes first.
        walls: All that must not be touched.
    """

    lanes: tuple[tuple[LaidPiece, ...], ...]
    pieces: tuple[LaidPiece, ...]
    walls: tuple[Wall, ...]

    def problems(self) -> Iterator[Problem]:
        """What is wrong with where the pieces are."""
        corners = [corner for piece in self.pieces for corner in piece.corners()]
        farthest = max((abs(place) for corner in corners for place in corner), default=0.0)
        if farthest > FLOOR_REACH:
            reach = f"which reaches {FLOOR_REACH:g} m from the origin"
            yield Problem("lanes and terrain", f"must be on the floor, {reach}, got {farthest:.3g} m")


def lay_out(layout: Layout) -> Site:
    """Put the pieces of a layout in their places."""
    lanes = tuple(tuple(_laid(lane)) for lane in layout.lanes)
    loose = [LaidPiece(piece, Frame.of(piece.place), piece.width) for piece in layout.terrain]
    pieces = (*chain.from_iterable(lanes), *loose)
    walls = [_lane_walls(lane, laid) for lane, laid in zip(layout.lanes, lanes, strict=True)]
    return Site(lanes, pieces, (*chain.from_iterable(walls), *chain.from_iterable(p.walls() for p in pieces)))


def _laid(lane: Lane) -> Iterator[LaidPiece]:
    along, frame = 0.0, Frame.of(lane.place)
    for piece in lane.pieces:
        yield LaidPiece(piece, frame.at(along), lane.width)
        along += piece.apparatus.extent(lane.width)


def _lane_walls(lane: Lane, laid: Sequence[LaidPiece]) -> Iterator[Wall]:
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


def build_ground(layout: Layout, name: str) -> tuple[Terrain, ...]:
    """The terrains of a layout: its floor, its pieces by their kind of ground, and its walls.

    Args:
        layout: With numbers in the places of a setting.
        name: By which messages call the terrains.
    """
    return tuple(_terrains(layout, name, lay_out(layout)))


def _terrains(layout: Layout, name: str, site: Site) -> Iterator[Terrain]:
    yield Plane(friction=layout.friction, soil=_soil(layout.soil))
    kinds: dict[tuple[float, str | None], list[Box | Hull]] = {}
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
    half = wall.length / 2, wall.width / 2, (wall.top - wall.bottom) / 2
    turn = 0.0, 0.0, math.sin(wall.yaw / 2), math.cos(wall.yaw / 2)
    return Box((wall.x, wall.y, (wall.top + wall.bottom) / 2), half, turn)


def zone_at(middle: Frame, length: float, width: float, ground: float) -> Zone:
    """A zone around a vehicle that stands on ground of a height [m] within a rectangle."""
    return Zone(*middle, length, width, ground - _BELOW, ground + _ABOVE)
