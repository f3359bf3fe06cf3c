"""Worlds of environments, single or batched, set up anew for each episode."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from segtrack.description import VehicleDescription
from segtrack.engine import EngineName
from segtrack.envs.actuators import ActionMapping
from segtrack.envs.parameters import BODY_PARAMETERS, GROUSER_PARAMETERS, Values
from segtrack.envs.task import EpisodeCourse
from segtrack.experiments import with_body, with_grousers
from segtrack.robot import Robot
from segtrack.world import World

if TYPE_CHECKING:
    from segtrack.batch import Batch


_BULLET_PRESET = "coarse"


class EpisodeWorld:
    """World with one robot, set up anew for each episode.

    The robot is loaded before any terrain. At each episode the state right after loading is
    restored and the terrain put under it, so that an episode does not depend on those before it.
    The native engine then lets its body weigh otherwise, as a batch does; it is loaded anew with other
    grousers, and with another body where the belt is a chain or the engine PyBullet.

    Attributes:
        MAX_SOLIDS: Number of terrain solids after which the world is rebuilt: PyBullet keeps 4 kB of each
            removed one.
        world: World with the robot and the episode's terrain; empty before the first.
        preset: Name of the engine's preset.
        time_step: Time step of the world [s].
        robot: Robot of the world.
    """

    MAX_SOLIDS: ClassVar[int] = 2000
    robot: Robot

    def __init__(
        self,
        vehicle: VehicleDescription,
        *,
        engine: EngineName,
        track_model: str,
        preset: str | None,
        time_step: float | None,
        period: float,
        gui: bool,
    ) -> None:
        """Open an empty world, with a window if `gui`.

        Args:
            vehicle: Vehicle to load.
            engine: Name of the engine.
            track_model: Track model of the vehicle.
            preset: Name of the engine's preset; by default the engine's own, for PyBullet `coarse`.
            time_step: Time step in place of the preset's [s].
            period: Control period [s]; the time step is reduced so that a whole number fits.
            gui: True to show PyBullet's window.

        Raises:
            UnknownNameError: No such preset.
            InvalidValueError: A window for an engine that has none, or no time step.
            SegtrackError: There is no display for a window.
        """
        self._preset = _BULLET_PRESET if preset is None and engine == "pybullet" else preset
        self._vehicle, self._engine, self._track_model = vehicle, engine, track_model
        self.world = World(self._preset, engine=engine, time_step=time_step, gui=gui)
        self.preset = self.world.preset
        self._window, self._period = self.world if gui else None, period
        self.time_step = period / math.ceil(period / self.world.time_step - 1e-9)
        at_run_time = engine == "native" and track_model != "chain"
        self._shaping = GROUSER_PARAMETERS if at_run_time else (*BODY_PARAMETERS, *GROUSER_PARAMETERS)
        self._loaded: dict[str, Any] | None = None
        self._solids = 0

    def close(self) -> None:
        """Close the world and the window; may be called again."""
        self.world.close()
        if self._window is not None:
            self._window.close()

    def invalidate(self) -> None:
        """Let the next episode load the robot anew, because the simulation diverged."""
        self._loaded = None

    def set_up(self, course: EpisodeCourse, values: Mapping[str, Any]) -> None:
        """Place the robot at the start of a course.

        Args:
            course: Terrain and path.
            values: Values of `ROBOT_PARAMETERS`.

        Raises:
            InvalidValueError: The vehicle cannot be changed like that.
        """
        loaded = {name: values[name] for name in self._shaping}
        if loaded != self._loaded or self._solids > self.MAX_SOLIDS:
            self._load(loaded)
        self.world.clear_terrain()
        self.world.restore(self._bare)
        if self._shaping == GROUSER_PARAMETERS:
            self._set_body(values)
        self.world.add_terrain(course.terrain)
        self._solids += len(course.terrain.solids())
        for track in self.robot.tracks.values():
            friction = values["friction"]
            track.set_friction(track.spec.contact.friction if friction is None else friction)
            track.scale_drive(values["drive_force"])
        x, y = course.path.at(0.0)
        x, y = x + values["initial_x"], y + values["initial_y"]
        self.world.place_on_terrain(self.robot, x, y, values["initial_yaw"])

    def act(self, actuators: ActionMapping, action: NDArray[np.float64], real_time: bool) -> None:
        """Command the robot, and simulate one control step.

        Args:
            actuators: Mapping of actions to commands.
            action: Action (n,), in [-1, 1].
            real_time: True to keep pace with the wall clock.

        Raises:
            DivergedError: The simulation has diverged.
        """
        actuators.command(self.robot, action)
        self.world.run(self._period, real_time=real_time)

    def _load(self, values: dict[str, Any]) -> None:
        """Load the robot anew with the parameter values that change its shape."""
        vehicle = self._vehicle
        if self._shaping != GROUSER_PARAMETERS:
            vehicle = _balanced(vehicle, values)
        if values["grouser_height"] != 1.0 or values["grouser_count"] != 1.0:
            vehicle = with_grousers(vehicle, values["grouser_height"], values["grouser_count"])
        self._loaded = None
        self.world = self._open()
        self.robot = self.world.add_vehicle(vehicle, track_model=self._track_model)
        self._bare = self.world.save()
        self._loaded, self._solids = values, 0

    def _set_body(self, values: Mapping[str, Any]) -> None:
        """Set mass, centre of mass and inertia of the body from parameter values."""
        from segtrack.native import BeltVehicle  # With numba, which PyBullet does without.

        body, model = _balanced(self._vehicle, values).body, self.robot.model
        if body is not self._vehicle.body:
            assert isinstance(model, BeltVehicle) and body.mass is not None
            model.set_body(body.mass, body.center_of_mass)

    def _open(self) -> World:
        """Open an empty world, with a window if there is to be one."""
        client = None
        if self._window is None:
            self.world.close()
        else:
            client = self._window.client
            client.resetSimulation()
        return World(
            self._preset, engine=self._engine, time_step=self.time_step, client=client, resettable=False
        )


def _balanced(vehicle: VehicleDescription, values: Mapping[str, Any]) -> VehicleDescription:
    """Copy of a vehicle whose body's mass properties follow parameter values."""
    mass, *offset = (values[name] for name in BODY_PARAMETERS)
    return with_body(vehicle, mass, offset) if mass != 1.0 or any(offset) else vehicle


class EpisodeBatch:
    """Batch whose robots are placed at the start of episodes one by one.

    Attributes:
        bodies: Values of `BODY_PARAMETERS` of each robot (N,).
    """

    def __init__(self, vehicle: VehicleDescription, batch: Batch) -> None:
        """Wrap a batch of unchanged vehicles, except for grousers."""
        self._vehicle, self._batch = vehicle, batch
        self._frictions = [track.spec.contact.friction for track in vehicle.mounted_tracks()]
        self.bodies: list[tuple[float, ...]] = [(1.0, 0.0, 0.0, 0.0)] * len(batch)

    def set_up(
        self, chosen: NDArray[np.intp], courses: Sequence[EpisodeCourse], values: Sequence[Values]
    ) -> None:
        """Place robots at the start of courses.

        Args:
            chosen: Indices of the robots (n,).
            courses: Terrain and path of each robot (n,).
            values: Values of `ROBOT_PARAMETERS` for each robot (n,).

        Raises:
            InvalidValueError: The vehicle cannot be changed like that.
        """
        batch, indices = self._batch, chosen.tolist()
        bodies = [tuple(own[name] for name in BODY_PARAMETERS) for own in values]
        changed = [k for k, i in enumerate(indices) if bodies[k] != self.bodies[i]]
        if changed:
            others = [with_body(self._vehicle, bodies[k][0], bodies[k][1:]).body for k in changed]
            batch.set_body(
                chosen[changed],
                mass=np.array([body.mass for body in others], dtype=float),
                center_of_mass=[body.center_of_mass for body in others],
            )
            for k in changed:
                self.bodies[indices[k]] = bodies[k]
        own = [v["friction"] for v in values]
        tracks = [self._frictions if f is None else [f] * len(self._frictions) for f in own]
        batch.set_friction(np.array(tracks), chosen)
        batch.scale_drives([v["drive_force"] for v in values], chosen)
        moved = np.array([[v["initial_x"], v["initial_y"]] for v in values])
        x, y = (np.array([course.path.points[0] for course in courses]) + moved).T
        yaw = [v["initial_yaw"] for v in values]
        made = [course.index for course in courses if course.index is not None]
        grounds: dict[str, Any] = (
            {"terrain_index": made} if made else {"terrain": [course.terrain for course in courses]}
        )
        batch.reset(chosen, x=x, y=y, yaw=yaw, **grounds)
