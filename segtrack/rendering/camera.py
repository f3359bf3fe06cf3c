"""A camera that follows a vehicle, and draws it from its poses."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.spatial.transform import Rotation

from segtrack.description.frames import Frame
from segtrack.errors import InvalidValueError, UnknownNameError
from segtrack.files import replacing
from segtrack.geometry.rotation import rotation_of
from segtrack.rendering.ground import ground_mesh
from segtrack.rendering.mesh import Mesh, join
from segtrack.rendering.raster import (
    Look,
    Projection,
    allocate_buffer,
    allocate_work,
    clear,
    draw_triangles,
    paint_pixels,
)
from segtrack.rendering.subject import FreeBody, LiveRobot, PosedVehicle
from segtrack.robot import Robot
from segtrack.terrain import Terrain

View = Literal["side", "top", "oblique", "chase"]
SIZE = (640, 360)
"""Width and height of a picture [pixels]."""
MAX_SIZE = 4096
_SKY = np.array([243, 246, 249], dtype=np.float32)
_CUT = np.array([184, 168, 146], dtype=np.float32)
_SUN = np.array([0.35, -0.55, 0.76]) / math.sqrt(0.35**2 + 0.55**2 + 0.76**2)
_TALL: dict[View, float] = {"side": 0.9, "top": 1.05, "oblique": 1.0, "chase": 2.4}
_WIDE = 1.05
"""Height and width of what a picture shows at least, over the robot's longest diagonal."""
_FOCAL = 2.2
"""Focal length over the picture's width, in perspective."""
_DIRECTIONS: dict[View, tuple[float, float, float]] = {
    "side": (0.0, 1.0, 0.0),
    "top": (0.0, 0.0, -1.0),
    "oblique": (0.5, 0.75, -0.43),
    "chase": (1.0, 0.0, -0.43),
}
"""Where each view looks in the world; `chase`, at a robot that heads along the world's x axis."""
_PERSPECTIVE: tuple[View, ...] = ("oblique", "chase")
_SQUARES, _MAX_SQUARES = (0.01, 0.1, 0.5, 1.0, 5.0, math.inf), 20
"""Sides of the squares on the ground [m], and how many the robot's diagonal may span."""
_NEAR, _FAR = 0.05, 1e3
"""Nothing is shown that is nearer [m], in perspective; parallel rays begin so far behind the robot."""


def free_body(mesh: Mesh, pose: Callable[[], tuple[Sequence[float], Sequence[float]]]) -> FreeBody:
    """Return a rigid body of somebody's own, to be shown beside a robot.

    Args:
        mesh: What it looks like, in its own frame.
        pose: Returns its position (3,) [m] and its orientation, quaternion (x, y, z, w), in the world.
    """

    def points() -> NDArray[np.float64]:
        position, orientation = pose()
        return mesh.points @ Rotation.from_quat(orientation).as_matrix().T + position

    return FreeBody(mesh, points)


class Camera:
    """A camera that follows a vehicle: a robot, or one whose poses are given.

    The view `side` looks along +y of the world with parallel rays, at the ground cut off beside the
    robot's right side; `top` looks down with parallel rays, x to the right; `oblique` looks from the
    right, behind and above, in perspective; `chase` likewise from straight behind, and turns with the robot.

    Attributes:
        subject: What it follows.
        view: How it looks.
        size: Width and height of its pictures [pixels].
        scale: Pixels a metre; in perspective, at the robot's distance.
        square: Side of the squares on the ground [m].
    """

    def __init__(
        self,
        robot: Robot | PosedVehicle,
        terrains: Iterable[Terrain] = (),
        *,
        view: View = "side",
        size: tuple[int, int] = SIZE,
        bodies: Iterable[FreeBody] = (),
    ) -> None:
        """Point a camera at a robot.

        Args:
            robot: The robot, in any engine; or a vehicle that is wherever its pose says.
            terrains: What ground to show, `World.terrains`.
            view: `side`, `top`, `oblique` or `chase`.
            size: Width and height of pictures, even [pixels].
            bodies: What else to show; see `free_body`.

        Raises:
            UnknownNameError: No such view.
            InvalidValueError: A size that is odd, or not from 64 to 4096 pixels.
        """
        if view not in get_args(View):
            raise UnknownNameError("view", view, get_args(View))
        if any(pixels % 2 or not 64 <= pixels <= MAX_SIZE for pixels in size):
            expected = f"two even numbers from 64 to {MAX_SIZE}"
            raise InvalidValueError("size of a picture [pixels]", expected, "x".join(map(str, size)))
        self.subject = robot if isinstance(robot, PosedVehicle) else LiveRobot(robot)
        self.view, self.size = view, size
        self._ground = ground_mesh(terrains)
        self._bodies = list(bodies)
        look, pose = self.subject.look, self.subject.pose
        vehicle = join([look.mesh, *(body.mesh for body in self._bodies)])
        self._triangles = vehicle.triangles
        self._colours = np.concatenate([self._ground.colours, vehicle.colours])
        normals = np.abs(self._ground.normals())
        self._squares = np.concatenate([normals.argmax(axis=1), np.full(len(self._triangles), -1)])
        self._squares = self._squares.astype(np.int8)
        arms = look.points(pose) - pose.body.origin
        diagonal = float(np.linalg.norm(np.ptp(arms @ pose.body.rotation, axis=0)))
        self.scale = min(size[1] / _TALL[view], size[0] / _WIDE) / diagonal
        self.square = next(side for side in _SQUARES if _MAX_SQUARES * side >= diagonal)
        self._reach = -float(arms[:, 1].min())
        self._buffer = allocate_buffer(2 * size[0], 2 * size[1], len(self._colours))
        self._work = allocate_work(max(len(self._ground.points), len(vehicle.points)))

    def take(self) -> NDArray[np.uint8]:
        """Take a picture: red, green and blue (height, width, 3)."""
        pose = self.subject.pose
        seen = [self.subject.look.points(pose), *(body.points() for body in self._bodies)]
        points = np.concatenate(seen)
        projection = self._projection(pose.body)
        near = _NEAR if projection.perspective else -_FAR
        backs = self.view == "side"  # It cuts the ground off, and looks into it.
        cut = -self._reach if backs else near
        ground, first = self._ground, len(self._ground.triangles)
        clear(self._buffer)
        draw_triangles(points, self._triangles, first, near, False, projection, self._buffer, self._work)
        draw_triangles(ground.points, ground.triangles, 0, cut, backs, projection, self._buffer, self._work)
        picture = np.empty((self.size[1], self.size[0], 3), np.uint8)
        look = Look(self._colours, self._squares, self.square, _SKY, _CUT, cut)
        paint_pixels(self._buffer, look, projection, picture)
        return picture

    def save(self, path: str | Path) -> Path:
        """Take a picture and write it to a file, .png or another kind that Pillow knows; returns its path.

        Raises:
            FileAccessError: The file cannot be written.
        """
        with replacing(Path(path)) as temporary:
            Image.fromarray(self.take()).save(temporary, optimize=True)
        return Path(path)

    def _projection(self, body: Frame) -> Projection:
        target, forward = np.array(body.origin, dtype=float), np.array(_DIRECTIONS[self.view])
        if self.view == "chase":
            heading = math.atan2(body.rotation[1, 0], body.rotation[0, 0])
            forward = rotation_of((0.0, 0.0, heading)) @ forward
        forward /= np.linalg.norm(forward)
        sideways = np.array([1.0, 0.0, 0.0]) if self.view == "top" else np.cross(forward, [0.0, 0.0, 1.0])
        right = sideways / np.linalg.norm(sideways)
        axes = np.array([right, np.cross(right, forward), forward])
        width = 2 * self.size[0]
        if self.view in _PERSPECTIVE:
            distance = _FOCAL * width / (2 * self.scale)
            return Projection(target - distance * forward, axes, _FOCAL * width, True, _SUN)
        return Projection(target, axes, 2 * self.scale, False, _SUN)
