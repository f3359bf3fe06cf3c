"""Episodes: the world that is set up for each, and what changes while one runs."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from segtrack.description import VehicleDescription
from segtrack.engine import EngineName
from segtrack.envs.parameters import MODEL_PARAMETERS, Values
from segtrack.envs.task import EpisodeCourse, Outcome, TaskState
from segtrack.experiments.variants import with_body, with_grousers
from segtrack.robot import Robot
from segtrack.robot.track import longitudinal_slip
from segtrack.world import World

if TYPE_CHECKING:
    from segtrack.rendering import Camera


class EpisodeWorld:
    """A world with one robot.

    The robot is loaded before any terrain. At each episode the state right after loading is
    restored and the terrain put under it, so that an episode does not depend on those before it.

    Attributes:
        MAX_SOLIDS: Solids of terrain after which the world is built anew: PyBullet keeps 4 kB of each that
            was removed.
        world: World with the robot, and the terrain of the episode; empty before the first.
        preset: The engine's solver settings.
        time_step: Time step of the world [s].
        robot: Robot in the world.
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
        """Open an empty world, in a window if there is to be one.

        Args:
            vehicle: Vehicle to load.
            engine: Engine that simulates it.
            track_model: Track model of the vehicle.
            preset: The engine's solver settings; its default if not given.
            time_step: Time step instead of the preset's [s].
            period: Control period [s]; the time step is cut so that a whole number fits.
            gui: Show PyBullet's window.

        Raises:
            UnknownNameError: No such preset.
            InvalidValueError: A window for an engine that has none, or no time step.
            SegtrackError: There is no display for a window.
        """
        self._vehicle, self._engine, self._track_model, self._preset = vehicle, engine, track_model, preset
        self.world = World(preset, engine=engine, time_step=time_step, gui=gui)
        self.preset = self.world.preset
        self._window = self.world if gui else None
        self.time_step = period / math.ceil(period / self.world.time_step - 1e-9)
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

    def set_up(self, course: EpisodeCourse, values: Mapping[str, Any]) -> None:
        """Put the robot at the beginning of a course.

        Args:
            course: Terrain and path.
            values: Values of `ROBOT_PARAMETERS`.

        Raises:
            InvalidValueError: The vehicle cannot be changed like that.
        """
        model = {name: values[name] for name in MODEL_PARAMETERS}
        if model != self._loaded or self._solids > self.MAX_SOLIDS:
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
            self._preset, engine=self._engine, time_step=self.time_step, client=client, resettable=False
        )


class Episode:
    """One episode.

    Attributes:
        course: Terrain and path.
        values: Values of all parameters.
        task_state: State after the latest control step.
        queue: Actions that have not been taken yet.
        rng: Source of the sensors' noise.
        observation: Latest observation.
        outcome: `running`, or how the episode ended.
        steps: Control steps so far.
        elapsed: Wall time of the simulation so far [s].
        energy: Work of all belt drives so far [J].
        camera: Camera of its pictures, once one has been asked for.
    """

    def __init__(
        self,
        course: EpisodeCourse,
        values: Values,
        robot: Robot,
        still: NDArray[np.float32],
        rng: np.random.Generator,
    ) -> None:
        """Begin an episode where a robot stands.

        Args:
            course: Terrain and path.
            values: Values of all parameters.
            robot: Robot at the beginning of the course.
            still: Action of nothing (n,).
            rng: Source of the sensors' noise.
        """
        self.course, self.values, self.rng = course, values, rng
        self.task_state = self._read(robot, still, still, robot.read_actuators().belt_energies)
        self.queue = deque([still] * values["action_delay"])
        self.observation: Any = None
        self.outcome: Outcome = "running"
        self.steps = 0
        self.elapsed = self.energy = 0.0
        self.camera: Camera | None = None

    def advance(self, robot: Robot, action: NDArray[np.float32], period: float) -> float:
        """Take in a control step that a robot has made.

        Args:
            robot: Robot after the step.
            action: Action of the step (n,).
            period: Length of the step [s].

        Returns:
            Longitudinal slip of the mean belt over the way along the body's forward axis, in [-1, 1] [-].
        """
        before = self.task_state
        now = self.task_state = self._read(robot, action, before.action, before.actuators.belt_energies)
        self.steps += 1
        self.energy = float(np.add.reduce(now.actuators.belt_energies))
        travels = now.actuators.belt_travels - before.actuators.belt_travels
        way = np.subtract(now.state.position, before.state.position) @ now.forward
        return float(longitudinal_slip(np.add.reduce(travels) / len(travels) / period, way / period))

    def info(self, terms: dict[str, float], slip: float, control_period: float) -> dict[str, Any]:
        """Return what gymnasium hands out beside an observation.

        Args:
            terms: Weighted terms of the reward.
            slip: Slip in the latest control step, in [-1, 1] [-].
            control_period: Time between two actions [s].
        """
        info = {
            "parameters": dict(self.values),
            "outcome": self.outcome,
            "success": self.outcome == "success",
            "progress": self.task_state.place.progress,
            "slip": slip,
            "energy": self.energy,
            "reward_terms": terms,
        }
        if self.outcome != "running" and self.elapsed > 0:
            info["real_time_factor"] = self.steps * control_period / self.elapsed
        return info

    def _read(
        self, robot: Robot, action: NDArray[np.float32], last: NDArray[np.float32], energies: Any
    ) -> TaskState:
        """Read the state of the episode; `energies` are those of the belts before the step (T,) [J]."""
        state, actuators = robot.state, robot.read_actuators()
        x, y, _ = state.position
        work = float(np.add.reduce(np.maximum(actuators.belt_energies - energies, 0.0)))
        return TaskState.of(state, self.course.path.locate(x, y), action, last, work, self.course, actuators)
