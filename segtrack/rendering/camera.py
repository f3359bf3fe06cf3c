"""Camera that follows a vehicle and draws it, the terrain and other bodies from their poses."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.spatial.transform import Rotation

from segtrack.description import Frame
from segtrack.errors import InvalidValueError, UnknownNameError
from segtrack.files import replacing
from segtrack.geometry import rotation_of
from segtrack.rendering.look import VehicleLook, VehiclePose
from segtrack.rendering.mesh import COLOURS, ColouredMesh, ground_mesh, join
from segtrack.rendering.raster import (
    Buffer,
    Projection,
    Work,
    allocate_buffer,
    allocate_work,
    clear,
    draw_triangles,
)
from segtrack.rendering.shading import SUN, Look, ShadowMap, paint_pixels
from segtrack.rendering.vehicle import look_of, read_pose
from segtrack.robot import Robot
from segtrack.terrain import Terrain


@dataclass
class PosedVehicle:
    """Vehicle at a given pose, without a world: for recordings.

    Attributes:
        look: Meshes of the vehicle.
        pose: Pose of the vehicle; set it before each picture.
    """

    look: VehicleLook
    pose: VehiclePose


class LiveRobot:
    """Robot in a world, with its present pose.

    Attributes:
        look: Meshes of the vehicle.
    """

    def __init__(self, robot: Robot) -> None:
        """Read the meshes of a robot, in any engine."""
        self._robot, self.look = robot, look_of(robot)

    @property
    def pose(self) -> VehiclePose:
        """Present pose of the robot."""
        return read_pose(self._robot)


class FreeBody(NamedTuple):
    """Rigid body of a user's own, with its present place; see `free_body`.

    Attributes:
        mesh: Triangles and colours, in the body's own frame.
        points: Function that returns the mesh's present points in the world (n, 3) [m].
    """

    mesh: ColouredMesh
    points: Callable[[], NDArray[np.float64]]


View = Literal["side", "top", "oblique", "chase"]
SIZE = (640, 360)
"""Width and height of a picture [pixels]."""
MAX_SIZE = 4096
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
"""Direction of each view in the world; `chase`, at a robot that heads along the world's x axis."""
_PERSPECTIVE: tuple[View, ...] = ("oblique", "chase")
_SQUARES, _MAX_SQUARES = (0.01, 0.1, 0.5, 1.0, 5.0, math.inf), 20
"""Sides of the squares on the ground [m], and how many the robot's diagonal may span."""
_GAP, _LIFT = 0.005, 0.004
"""Gap between two faces from which a line is drawn between them, and distance by which points are tested for
shadows nearer to the sun than they are, over the robot's diagonal."""
_SHADOW, _FINE_SHADOW, _FINE_BLUR = 512, 2048, 3
"""Pixels along a side of what the sun sees, of a frame and of a still, and half the blur of a still's."""
_SHADOW_REACH = 3.0
"""Distance to which a still shows shadows of the ground, over the robot's diagonal."""
_NEAR, _FAR = 0.05, 1e3
"""Nothing is shown that is nearer [m], in perspective; parallel rays begin so far behind the robot."""


def free_body(mesh: ColouredMesh, pose: Callable[[], tuple[Sequence[float], Sequence[float]]]) -> FreeBody:
    """Return a rigid body of the user's own, to be shown beside a robot.

    Args:
        mesh: Mesh of the body, in its own frame.
        pose: Function that returns position (3,) [m] and orientation (x, y, z, w) in the world.
    """

    def points() -> NDArray[np.float64]:
        position, orientation = pose()
        return mesh.points @ Rotation.from_quat(orientation).as_matrix().T + position

    return FreeBody(mesh, points)


@dataclass(frozen=True, eq=False)
class _Canvas:
    """Buffers for pictures of one size and sampling.

    Attributes:
        samples: Buffer pixels along each side of a picture's pixel.
        buffer: Rendered samples of a picture.
        work: Work arrays.
        sky: Background colours of each row of the buffer (height, 3).
        shadows: Depth map from the sun.
        with_ground: True if the ground casts shadows too.
    """

    samples: int
    buffer: Buffer
    work: Work
    sky: NDArray[np.float32]
    shadows: ShadowMap
    with_ground: bool


class Camera:
    """Camera that follows a robot, or a vehicle whose poses are given.

    The view `side` looks along +y of the world with parallel rays, at the ground cut off beside the
    robot's right side; `top` looks down with parallel rays, x to the right; `oblique` looks from the
    right, behind and above, in perspective; `chase` likewise from straight behind, and turns with the robot.

    Attributes:
        subject: Vehicle that the camera follows.
        view: Name of the view.
        size: Width and height of the pictures [pixels].
        scale: Pixels per metre; in perspective, at the robot's distance.
        square: Edge length of the squares drawn on the ground [m].
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
            robot: Robot in any engine, or a vehicle at a given pose.
            terrains: Ground to show, such as `World.terrains`.
            view: `side`, `top`, `oblique` or `chase`.
            size: Width and height of pictures, even numbers [pixels].
            bodies: Other bodies to show; see `free_body`.

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
        corners = look.points(pose)
        inside = (corners - pose.body.origin) @ pose.body.rotation
        diagonal = float(np.linalg.norm(np.ptp(inside, axis=0)))
        self._middle = (inside.min(axis=0) + inside.max(axis=0)) / 2
        self.scale = min(size[1] / _TALL[view], size[0] / _WIDE) / diagonal
        self.square = next(side for side in _SQUARES if _MAX_SQUARES * side >= diagonal)
        self._diagonal, self._reach = diagonal, -float((corners - self._target(pose.body))[:, 1].min())
        self._points = max(len(self._ground.points), len(vehicle.points))
        self._canvas = self._prepare(2, ShadowMap(_SHADOW, len(self._triangles)))

    def take(self, *, fine: bool = False) -> NDArray[np.uint8]:
        """Take a picture and return red, green and blue (height, width, 3).

        Args:
            fine: True for a still: 16 samples per pixel in place of 4, and shadows of the
                ground and, except in side view, on bodies; ten times slower.
        """
        if not fine:
            return self._draw(self._canvas)
        on_bodies = self.view != "side"  # There, a track would darken all that is behind it.
        shadows = ShadowMap(_FINE_SHADOW, len(self._colours), blur=_FINE_BLUR, on_bodies=on_bodies)
        large = self._draw(self._prepare(4, shadows, with_ground=True)).astype(np.uint16)
        width, height = self.size
        means: NDArray[np.uint8] = (large.reshape(height, 2, width, 2, 3).sum(axis=(1, 3)) // 4).astype(
            np.uint8
        )
        return means

    def _prepare(self, samples: int, shadows: ShadowMap, *, with_ground: bool = False) -> _Canvas:
        """Allocate buffers for pictures with `samples` along each side of a pixel."""
        width, height = samples * self.size[0], samples * self.size[1]
        down = np.linspace(0.0, 1.0, height)[:, None]
        sky = (1 - down) * np.array(COLOURS["sky"]) + down * np.array(COLOURS["horizon"])
        buffer = allocate_buffer(width, height, len(self._colours))
        return _Canvas(
            samples, buffer, allocate_work(self._points), sky.astype(np.float32), shadows, with_ground
        )

    def _draw(self, canvas: _Canvas) -> NDArray[np.uint8]:
        """Draw the present scene on a canvas."""
        pose = self.subject.pose
        seen = [self.subject.look.points(pose), *(body.points() for body in self._bodies)]
        points = np.concatenate(seen)
        projection = self._projection(pose.body, canvas.samples)
        near = _NEAR if projection.perspective else -_FAR
        backs = self.view == "side"  # It cuts the ground off, and looks into it.
        cut = -self._reach if backs else near
        ground, first, work = self._ground, len(self._ground.triangles), canvas.work
        casters, reach = [(points, self._triangles)], _SHADOW_REACH * self._diagonal
        if canvas.with_ground:
            casters.insert(0, (ground.points, ground.triangles))
        elif self.view == "side":
            casters = []  # The ground is seen edge-on.
        else:
            reach = min(reach, 1.02 * float(np.linalg.norm(points - pose.body.origin, axis=1).max()))
        lift = _LIFT * self._diagonal
        shadow = canvas.shadows.cast(casters, pose.body.origin, reach, lift, work)
        clear(canvas.buffer)
        draw_triangles(points, self._triangles, first, near, False, projection, canvas.buffer, work)
        draw_triangles(ground.points, ground.triangles, 0, cut, backs, projection, canvas.buffer, work)
        gap, distance = _GAP * self._diagonal, _FOCAL * self.size[0] / self.scale
        ground_look = self._colours, self._squares, self.square
        look = Look(*ground_look, canvas.sky, cut, gap, canvas.samples // 2, distance)
        picture = np.empty((len(canvas.sky) // 2, canvas.samples * self.size[0] // 2, 3), np.uint8)
        paint_pixels(canvas.buffer, look, shadow, projection, picture)
        return picture

    def save(self, path: str | Path) -> Path:
        """Take a fine picture, write it to a .png or another format of Pillow's, and return its path.

        A .png has a palette of 256 colours, which halves it.

        Raises:
            FileAccessError: The file cannot be written.
        """
        image = Image.fromarray(self.take(fine=True))
        if Path(path).suffix.lower() == ".png":
            image = image.quantize(256, dither=Image.Dither.NONE)
        with replacing(Path(path)) as temporary:
            image.save(temporary, optimize=True)
        return Path(path)

    def _target(self, body: Frame) -> NDArray[np.float64]:
        """Middle of the robot's bounds in the world (3,) [m], so that a mast stays in the picture."""
        target: NDArray[np.float64] = body.points(self._middle)
        return target

    def _projection(self, body: Frame, samples: int) -> Projection:
        """Projection of the view for a pose of the body and a sampling of the buffer."""
        target, forward = self._target(body), np.array(_DIRECTIONS[self.view])
        if self.view == "chase":
            heading = math.atan2(body.rotation[1, 0], body.rotation[0, 0])
            forward = rotation_of((0.0, 0.0, heading)) @ forward
        forward /= np.linalg.norm(forward)
        sideways = np.array([1.0, 0.0, 0.0]) if self.view == "top" else np.cross(forward, [0.0, 0.0, 1.0])
        right = sideways / np.linalg.norm(sideways)
        axes = np.array([right, np.cross(right, forward), forward])
        width = samples * self.size[0]
        if self.view in _PERSPECTIVE:
            distance = _FOCAL * self.size[0] / self.scale
            return Projection(target - distance * forward, axes, _FOCAL * width, True, SUN)
        return Projection(target, axes, samples * self.scale, False, SUN)
