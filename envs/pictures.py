"""Pictures of the robots of a batch."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from segtrack.batch import Batch
from segtrack.description import VehicleDescription
from segtrack.envs.task import EpisodeCourse
from segtrack.native import BeltVehicle
from segtrack.rendering import SIZE, Camera
from segtrack.world import World

GRID, SMALLEST = (1280, 720), (128, 72)
"""Width and height of the grid of all robots' pictures, and of one of them at least [pixels]."""


class BatchPictures:
    """Cameras of the robots of a batch, each with its course.

    Attributes:
        size: Width and height of a picture [pixels]: the smaller, the more robots there are.
    """

    def __init__(self, vehicle: VehicleDescription, track_model: str, count: int) -> None:
        """Load a robot to be placed as each of the batch's in turn."""
        columns = math.ceil(math.sqrt(count))
        width, height = (
            min(own, max(whole // columns // 2 * 2, least))
            for own, whole, least in zip(SIZE, GRID, SMALLEST, strict=True)
        )
        self.size = width, height
        self._world = World(engine="native")
        self._robot = self._world.add_vehicle(vehicle, track_model=track_model)
        self._cameras: list[tuple[EpisodeCourse, Camera] | None] = [None] * count

    def close(self) -> None:
        """Close the world of the robot that is shown."""
        self._world.close()

    def take(
        self, batch: Batch, courses: Sequence[EpisodeCourse], robots: Sequence[int]
    ) -> tuple[NDArray[np.uint8], ...]:
        """Take a picture (height, width, 3) of each of some robots of a batch, by their indices.

        Args:
            batch: Batch of the robots.
            courses: Terrain and path of each robot of the batch (N,).
            robots: Indices of the robots to show (n,).
        """
        model, taken = self._robot.model, []
        assert isinstance(model, BeltVehicle)
        state = batch.save().fleet.state
        for i in robots:
            for shown, read in zip(model.state, state, strict=True):
                shown[0] = read[i]
            known = self._cameras[i]
            if known is None or known[0] is not courses[i]:
                camera = Camera(self._robot, [courses[i].terrain], view="oblique", size=self.size)
                known = self._cameras[i] = courses[i], camera
            taken.append(known[1].take())
        return tuple(taken)
