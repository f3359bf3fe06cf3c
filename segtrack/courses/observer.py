"""Observer of a vehicle for a trial: its outline in plan, and the walls that it touches."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from segtrack.courses.course import Course, Wall
from segtrack.courses.trial import ScoringSettings, Situation
from segtrack.description import Frame, shapes_on_links, tip_outline
from segtrack.robot import Robot, Track

Array = NDArray[np.float64]
_ROUNDING = 1e-9
"""Sides this short have no direction, and gaps this small are none [m]."""
_UNREAD = "is flat, or not OBJ, STL or COLLADA"


class PlanOutline(NamedTuple):
    """Outline of a vehicle in plan, as convex parts.

    Attributes:
        points: World x and y of the parts' corners, each part counterclockwise (n, 2) [m].
        counts: Number of corners of each part (p,).
        z_min: Lowest world z of each part (p,) [m].
        z_max: Highest world z of each part (p,) [m].
    """

    points: Array
    counts: NDArray[np.intp]
    z_min: Array
    z_max: Array

    @property
    def polygons(self) -> list[Array]:
        """Corners of each part, counterclockwise (k, 2) [m]."""
        return np.split(self.points, np.cumsum(self.counts)[:-1])


class WallSensor:
    """Sensor for contact with a course's walls.

    Two convex shapes in a plane are apart if and only if one of their sides' normals separates them. In
    height only ranges are compared: a vehicle that leans over a low wall may be said to touch it early.

    Attributes:
        distance: Distance below which a wall counts as touched [m]; near its corners up to 1.4 times as far.
    """

    def __init__(self, walls: Sequence[Wall], distance: float = 0.0) -> None:
        """Prepare to sense a course's walls."""
        self.distance = distance
        self._middles = np.array([(wall.x, wall.y) for wall in walls]).reshape(-1, 2)
        yaws = np.array([wall.yaw for wall in walls])
        axes = [[np.cos(yaws), np.sin(yaws)], [-np.sin(yaws), np.cos(yaws)]]
        self._axes = np.moveaxis(np.array(axes), 2, 0)  # Of each wall, as rows (w, 2, 2).
        self._halves = np.array([(wall.length, wall.width) for wall in walls]).reshape(-1, 2) / 2 + distance
        signs = np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)])
        corners = np.einsum("wi,ci,wij->wcj", self._halves, signs, self._axes)
        self._corners = corners + self._middles[:, None]
        self._bottoms = np.array([wall.bottom for wall in walls])
        self._tops = np.array([wall.top for wall in walls])

    def touches(self, outline: PlanOutline) -> bool:
        """Return whether any part overlaps a wall; touching sides do not count."""
        near = self._near(outline)
        if not len(near):
            return False
        apart = self._apart_by_parts(outline, near) | self._apart_by_walls(outline, near)
        apart |= self._bottoms[near, None] >= outline.z_max
        apart |= self._tops[near, None] <= outline.z_min
        return not apart.all()

    def _near(self, outline: PlanOutline) -> NDArray[np.intp]:
        """Indices of the walls near a circle around all parts."""
        low, high = outline.points.min(axis=0), outline.points.max(axis=0)
        middle, radius = (low + high) / 2, float(np.hypot(*(high - low))) / 2
        seen = np.einsum("wij,wj->wi", self._axes, middle - self._middles)
        gaps = np.maximum(np.abs(seen) - self._halves, 0.0)
        return np.flatnonzero((gaps**2).sum(axis=1) <= radius**2)

    def _apart_by_parts(self, outline: PlanOutline, near: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return True where a side of part p separates it from wall w (w, p)."""
        points, ends = outline.points, np.cumsum(outline.counts)
        starts, after = ends - outline.counts, np.arange(1, len(points) + 1)
        after[ends - 1] = starts
        sides = points[after] - points
        lengths = np.hypot(*sides.T)
        normals = np.stack([sides[:, 1], -sides[:, 0]]) / np.maximum(lengths, _ROUNDING)
        reach = (normals * points.T).sum(axis=0)
        outside = (self._corners[near] @ normals).min(axis=1) >= reach - _ROUNDING
        return np.logical_or.reduceat(outside & (lengths > _ROUNDING), starts, axis=1)

    def _apart_by_walls(self, outline: PlanOutline, near: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return True where a side of wall w separates it from part p (w, p)."""
        starts = np.cumsum(outline.counts) - outline.counts
        seen = self._axes[near] @ (outline.points - self._middles[near, None]).swapaxes(1, 2)
        halves = self._halves[near][:, :, None] - _ROUNDING
        beyond = np.minimum.reduceat(seen, starts, axis=2) >= halves
        before = np.maximum.reduceat(seen, starts, axis=2) <= -halves
        return np.any(beyond | before, axis=1)


_Place = Callable[[], tuple[Array, Array]]
"""Returns a link's rotation (3, 3) and position (3,) in the world [m]."""


class _Prism(NamedTuple):
    """Prism on a link: a convex profile, extruded along a straight line.

    Attributes:
        place: Function that returns the link's pose in the world.
        profile: Corners in order, in the link's frame (n, 3) [m].
        across: Extrusion vector in the link's frame (3,) [m].
    """

    place: _Place
    profile: Array
    across: Array


class VehicleOutline:
    """Convex prisms of a vehicle: collision shapes of its body, and each belt's hull with its grousers.

    A ball or a mesh counts as its view along its own z axis, from one end of it to the other. Meshes that
    only PyBullet can use, and plates without thickness in that view, are left out, as the log says.
    """

    def __init__(self, robot: Robot) -> None:
        """Read a robot's shapes; they do not change."""
        prisms = [*_body(robot), *map(_belt, robot.tracks.values())]
        self._places = [prism.place for prism in prisms]
        self._profiles = np.concatenate([prism.profile for prism in prisms])
        self._across = np.array([prism.across for prism in prisms])
        self._counts = np.array([len(prism.profile) for prism in prisms])

    def look(self) -> PlanOutline:
        """Return the vehicle's present outline."""
        places = [place() for place in self._places]
        rotations = np.array([rotation for rotation, _ in places])
        positions = np.array([position for _, position in places])
        of_point = np.repeat(np.arange(len(places)), self._counts)
        points = np.einsum("nij,nj->ni", rotations[of_point], self._profiles) + positions[of_point]
        across = np.einsum("nij,nj->ni", rotations, self._across)
        starts = np.cumsum(self._counts) - self._counts
        z_min = np.minimum.reduceat(points[:, 2], starts) + np.minimum(across[:, 2], 0.0)
        z_max = np.maximum.reduceat(points[:, 2], starts) + np.maximum(across[:, 2], 0.0)
        return PlanOutline(*swept(points[:, :2], self._counts, across[:, :2]), z_min, z_max)


def swept(points: Array, counts: NDArray[np.intp], ways: Array) -> tuple[Array, NDArray[np.intp]]:
    """Return the areas swept by convex polygons, each moved along a straight line.

    Sides that look along the way are moved, the others stay, and where the two meet a side of the way's
    length comes between.

    Args:
        points: Corners of all polygons, one after another, each in either order (n, 2) [m].
        counts: Number of corners of each polygon (p,).
        ways: Displacement of each polygon (p, 2) [m].

    Returns:
        Corners, those of each polygon counterclockwise (m, 2) [m], and how many each has (p,).
    """
    ends = np.cumsum(counts)
    starts, every = ends - counts, np.arange(len(points))
    after, before = every + 1, every - 1
    after[ends - 1], before[starts] = starts, ends - 1
    x, y = points.T
    clockwise = np.add.reduceat(x * y[after] - y * x[after], starts) < 0
    backwards = np.repeat(starts + ends - 1, counts) - every
    points = points[np.where(np.repeat(clockwise, counts), backwards, every)]

    sides, way = points[after] - points, np.repeat(ways, counts, axis=0)
    leads = way[:, 0] * sides[:, 1] - way[:, 1] * sides[:, 0] > 0
    moved = np.stack([leads[before], leads], axis=1)  # The sides before and after each corner.
    taken = np.stack([moved[:, 0] != moved[:, 1], np.full(len(points), True)], axis=1)
    corners = points[:, None] + moved[:, :, None] * way[:, None]
    return corners[taken], np.add.reduceat(taken.sum(axis=1), starts)


def _body(robot: Robot) -> Iterator[_Prism]:
    """Prisms of a robot's collision shapes."""
    name, log = robot.description.name, logging.getLogger("segtrack")
    for link, frame, corners in shapes_on_links(robot.description):
        try:
            if corners is None:
                log.warning("%s: walls do not feel a mesh of link %r, which %s", name, link, _UNREAD)
            else:
                yield _shape(robot, link, frame, corners)
        except QhullError:
            log.warning("%s: walls do not feel a shape of link %r, which has no thickness", name, link)


def _shape(robot: Robot, link: str, frame: Frame, corners: Array) -> _Prism:
    """Prism around a shape, along the shape's own z axis: exact for boxes and cylinders."""
    hull = corners[ConvexHull(corners[:, :2]).vertices]
    low, high = corners[:, 2].min(), corners[:, 2].max()
    profile = frame.points(np.column_stack([hull[:, :2], np.full(len(hull), low)]))

    def place() -> tuple[Array, Array]:
        own = robot.link_frame(link)
        return own.rotation, own.origin

    return _Prism(place, profile, frame.rotation[:, 2] * (high - low))


def _belt(track: Track) -> _Prism:
    """Prism of a belt's convex hull, out to its grousers' tips."""
    spec, tips = track.spec, tip_outline(track.spec)
    mount: Frame = spec.mount.frame

    def place() -> tuple[Array, Array]:
        parent = track.parent_motion()
        return parent.rotation, parent.position

    profile = mount.plane_points(tips[ConvexHull(tips).vertices], -spec.width / 2)
    return _Prism(place, profile, mount.rotation[:, 1] * spec.width)


class TrialObserver:
    """Observer of a robot on a course, for a trial."""

    def __init__(self, robot: Robot, course: Course, settings: ScoringSettings) -> None:
        """Prepare to observe a robot on a course."""
        self._robot = robot
        self._outline = VehicleOutline(robot)
        self._sensor = WallSensor(course.walls, settings.touch_distance) if course.walls else None

    def look(
        self, time: float, wall_clock: float | None = None, late: bool = False, commanded: bool = True
    ) -> Situation:
        """Return the robot's situation at a simulated time [s]; arguments as in `Situation`."""
        state = self._robot.state
        touching = self._sensor is not None and self._sensor.touches(self._outline.look())
        return Situation(time, state.position, state.roll, state.pitch, touching, wall_clock, late, commanded)
