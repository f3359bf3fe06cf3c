"""Subjects of a camera: what it follows, and other bodies in the picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.rendering.look import VehicleLook, VehiclePose
from segtrack.rendering.mesh import ColouredMesh
from segtrack.rendering.vehicle import look_of, read_pose
from segtrack.robot import Robot


@dataclass
class PosedVehicle:
    """A vehicle that is wherever its pose says, without a world: one of a recording.

    Attributes:
        look: What it looks like.
        pose: Where it is; to be set before each picture.
    """

    look: VehicleLook
    pose: VehiclePose


class LiveRobot:
    """A robot where it is now.

    Attributes:
        look: What it looks like.
    """

    def __init__(self, robot: Robot) -> None:
        """Take a robot, in any engine."""
        self._robot, self.look = robot, look_of(robot)

    @property
    def pose(self) -> VehiclePose:
        """Return its pose."""
        return read_pose(self._robot)


class FreeBody(NamedTuple):
    """A rigid body of somebody's own; see `free_body`.

    Attributes:
        mesh: Its triangles and their colours.
        points: Returns the mesh's points where they are now, in the world (n, 3) [m].
    """

    mesh: ColouredMesh
    points: Callable[[], NDArray[np.float64]]
