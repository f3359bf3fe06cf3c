"""What a vehicle fills, seen from above: body, belts and flippers where they are now."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from segtrack.description.frames import Frame
from segtrack.geometry.outline import inner_outline
from segtrack.rendering.urdf_visuals import urdf_meshes
from segtrack.robot import Robot, Track
from segtrack.scoring.walls import Outline

_Place = Callable[[], tuple[NDArray[np.float64], NDArray[np.float64]]]
"""Returns a link's rotation (3, 3) and position (3,) in the world [m]."""


class _Prism(NamedTuple):
    """A convex profile on a link, moved along a straight line.

    Attributes:
        place: Where the link is.
        profile: Corners in order, in the link's frame (n, 3) [m].
        across: Way by which the profile is moved, in the link's frame (3,) [m].
    """

    place: _Place
    profile: NDArray[np.float64]
    across: NDArray[np.float64]


class VehicleOutline:
    """A vehicle as convex pieces: its body's box, and the hull of each belt with its grousers.

    Of a body that is a URDF each link's visible meshes count, as the box around them.
    """

    def __init__(self, robot: Robot) -> None:
        """Take a robot's shapes; they do not change."""
        prisms = [*_body(robot), *map(_belt, robot.tracks.values())]
        self._places = [prism.place for prism in prisms]
        self._profiles = np.concatenate([prism.profile for prism in prisms])
        self._across = np.array([prism.across for prism in prisms])
        self._counts = np.array([len(prism.profile) for prism in prisms])

    def look(self) -> Outline:
        """Return where the vehicle is now."""
        places = [place() for place in self._places]
        rotations = np.array([rotation for rotation, _ in places])
        positions = np.array([position for _, position in places])
        of_point = np.repeat(np.arange(len(places)), self._counts)
        points = np.einsum("nij,nj->ni", rotations[of_point], self._profiles) + positions[of_point]
        across = np.einsum("nij,nj->ni", rotations, self._across)
        starts = np.cumsum(self._counts) - self._counts
        z_min = np.minimum.reduceat(points[:, 2], starts) + np.minimum(across[:, 2], 0.0)
        z_max = np.maximum.reduceat(points[:, 2], starts) + np.maximum(across[:, 2], 0.0)
        return Outline(*swept(points[:, :2], self._counts, across[:, :2]), z_min, z_max)


def swept(
    points: NDArray[np.float64], counts: NDArray[np.intp], ways: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return what convex polygons cover when each is moved along a straight line.

    Sides that look along the way are moved, the others stay, and where the two meet a side of the way's
    length comes between.

    Args:
        points: Corners of all polygons, one after another, each in either order (n, 2) [m].
        counts: How many corners each polygon has (p,).
        ways: By which each is moved (p, 2) [m].

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
    body = robot.description.body
    if body.size is not None:
        half = np.array(body.size) / 2
        yield _box(robot, "body", -half, half)
        return
    assert body.urdf is not None
    for name, mesh in urdf_meshes(Path(body.urdf)):
        yield _box(robot, name, mesh.points.min(axis=0), mesh.points.max(axis=0))


def _box(robot: Robot, link: str, low: NDArray[np.float64], high: NDArray[np.float64]) -> _Prism:
    (left, bottom), (right, top) = low[[0, 2]], high[[0, 2]]
    corners = np.array([(left, bottom), (right, bottom), (right, top), (left, top)])

    def place() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        frame = robot.model.link_frame(link)
        return frame.rotation, frame.origin

    return _Prism(place, np.insert(corners, 1, low[1], axis=1), np.array([0.0, high[1] - low[1], 0.0]))


def _belt(track: Track) -> _Prism:
    """A belt's convex hull, out to the tips of its grousers."""
    spec = track.spec
    height = spec.grousers.height if spec.grousers is not None else 0.0
    tips = inner_outline(spec.belt_path, -height)
    mount: Frame = spec.mount.frame

    def place() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        parent = track.model.parent_motion()
        return parent.rotation, parent.position

    profile = mount.plane_points(tips[ConvexHull(tips).vertices], -spec.width / 2)
    return _Prism(place, profile, mount.rotation[:, 1] * spec.width)
