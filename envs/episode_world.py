"""A robot that is loaded once and set up anew for each episode."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from segtrack.description import VehicleDescription
from segtrack.engine import EngineName
from segtrack.envs.course import Course
from segtrack.envs.parameters import MODEL_PARAMETERS
from segtrack.experiments.variants import with_body, with_grousers
from segtrack.robot import Robot
from segtrack.world import World

_MAX_SOLIDS = 2000
"""After so many solids of terrain the world is built anew: PyBullet keeps 4 kB of each that was removed."""


class EpisodeWorld:
    """A world with one robot.

    The robot is loaded before any terrain. At each episode the state right after loading is
    restored and the terrain put under it, so that an episode does not depend on those before it.

    Attributes:
        world: With the robot, and the terrain of the episode; empty before the first.
        preset: The engine's solver settings.
        robot: In the world.
    """

    robot: Robot

    def __init__(
        self,
        vehicle: VehicleDescription,
        *,
        engine: EngineName,
        track_model: str,
        preset: str | None,
        period: float,
        gui: bool,
    ) -> None:
        """Open an empty world, in a window if there is to be one.

        Args:
            vehicle: What to load.
            engine: What simulates it.
            track_model: How its tracks are built.
            preset: The engine's solver settings; its default if not given.
            period: Of control [s]; the preset's time step is cut so that a whole number fits.
            gui: Show PyBullet's window.

        Raises:
            UnknownNameError: No such preset.
            InvalidValueError: A window for an engine that has none.
            SegtrackError: There is no display for a window.
        """
        self._vehicle, self._engine, self._track_model, self._preset = vehicle, engine, track_model, preset
        self.world = World(preset, engine=engine, gui=gui)
        self.preset = self.world.engine.preset
        self._window = self.world if gui else None
        self._time_step = period / math.ceil(period / self.world.time_step - 1e-9)
        self._loaded: dict[str, Any] | None = None
        self._solids = 0

    def close(self) -> None:
        """Close the world and the window; may be called again."""
        self.world.close()
        if self._window is not None:
            self._window.close()

    def invalidate(self) -> None:
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
        model = {name: values[name] for name in MODEL_PARAMETERS}
        if model != self._loaded or self._solids > _MAX_SOLIDS:
            self._load(model)
        self.world.clear_terrain()
        self.world.restore(self._bare)
        self.world.add_terrain(course.terrain)
        self._solids += len(course.terrain.solids())
        for track in self.robot.tracks.values():
            friction = values["friction"]
            track.set_friction(track.spec.contact.friction if friction is None else friction)
            track.scale_drive(values["drive_force"])
        x, y = course.path.at(0.0)
        x, y = x + values["initial_x"], y + values["initial_y"]
        self.world.place_on_terrain(self.robot, x, y, values["initial_yaw"])

    def _load(self, model: dict[str, Any]) -> None:
        offset = tuple(model[f"center_of_mass_{axis}"] for axis in "xyz")
        vehicle = self._vehicle
        if model["mass"] != 1.0 or any(offset):
            vehicle = with_body(vehicle, model["mass"], offset)
        if model["grouser_height"] != 1.0 or model["grouser_count"] != 1.0:
            vehicle = with_grousers(vehicle, model["grouser_height"], model["grouser_count"])
        self._loaded = None
        self.world = self._open()
        self.robot = self.world.add_vehicle(vehicle, track_model=self._track_model)
        self._bare = self.world.save()
        self._loaded, self._solids = model, 0

    def _open(self) -> World:
        """An empty world, in the window if there is one."""
        client = None
        if self._window is None:
            self.world.close()
        else:
            client = self._window.client
            client.resetSimulation()
        return World(
            self._preset, engine=self._engine, time_step=self._time_step, client=client, resettable=False
        )
