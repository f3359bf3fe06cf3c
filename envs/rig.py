"""A robot that is loaded once and set up anew for each episode."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from segtrack.bullet.client import PRESETS, PresetName, open_client
from segtrack.description import VehicleDescription
from segtrack.envs.course import Course
from segtrack.envs.parameters import SHAPING
from segtrack.experiments.variants import with_body, with_grousers
from segtrack.robot import Robot
from segtrack.world import World

_MOST_BODIES = 2000
"""After so many terrain bodies the world is built anew: PyBullet keeps 4 kB of each that was removed."""


class Rig:
    """A world with one robot.

    The robot is loaded before any terrain. At each episode the state right after loading is
    restored and the terrain put under it, so that an episode does not depend on those before it.

    Attributes:
        world: With the robot, and the terrain of the episode.
        robot: In it.
    """

    world: World
    robot: Robot

    def __init__(self, vehicle: VehicleDescription, preset: PresetName, period: float, gui: bool) -> None:
        """Open a client.

        Args:
            vehicle: What to load.
            preset: Solver settings.
            period: Of control [s]; the preset's time step is cut so that a whole number fits.
            gui: Show PyBullet's window.

        Raises:
            SegtrackError: There is no display for a window, or no such preset.
        """
        self._client = open_client(gui)
        self._vehicle, self._preset = vehicle, preset
        self._time_step = period / math.ceil(period / PRESETS[preset].time_step - 1e-9)
        self._loaded: dict[str, Any] | None = None
        self._bodies = 0

    def close(self) -> None:
        """Disconnect; may be called again."""
        if self._client.isConnected():
            self._client.disconnect()

    def spoil(self) -> None:
        """Load the robot anew at the next episode: the simulation has diverged."""
        self._loaded = None

    def set_up(self, course: Course, values: Mapping[str, Any]) -> None:
        """Put the robot at the beginning of a course.

        Args:
            course: The ground and the way.
            values: Of `ROBOT_PARAMETERS`.

        Raises:
            InvalidValueError: The vehicle cannot be changed like that.
        """
        shape = {name: values[name] for name in SHAPING}
        if shape != self._loaded or self._bodies > _MOST_BODIES:
            self._load(shape)
        self.world.clear_terrain()
        self.world.restore(self._bare)
        self._bodies += len(self.world.add_terrain(course.terrain))
        for track in self.robot.tracks.values():
            friction = values["friction"]
            track.set_friction(track.spec.contact.friction if friction is None else friction)
            track.scale_drive(values["drive_force"])
        x, y = course.path.at(0.0)
        self.world.place_on_terrain(
            self.robot, x + values["initial_x"], y + values["initial_y"], values["initial_yaw"]
        )

    def _load(self, shape: dict[str, Any]) -> None:
        offset = tuple(shape[f"center_of_mass_{axis}"] for axis in "xyz")
        vehicle = self._vehicle
        if shape["mass"] != 1.0 or any(offset):
            vehicle = with_body(vehicle, shape["mass"], offset)
        if shape["grouser_height"] != 1.0 or shape["grouser_count"] != 1.0:
            vehicle = with_grousers(vehicle, shape["grouser_height"], shape["grouser_count"])
        self._loaded = None
        self._client.resetSimulation()
        self.world = World(self._preset, time_step=self._time_step, client=self._client, resettable=False)
        self.robot = self.world.add_vehicle(vehicle)
        self._bare = self.world.save()
        self._loaded, self._bodies = shape, 0
