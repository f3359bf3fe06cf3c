"""A task, a robot, sensors, actuators and a reward, put together as a gymnasium environment."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import numpy as np
from numpy.typing import NDArray

from segtrack.bullet.client import PRESETS, PresetName
from segtrack.description import VehicleDescription, load_vehicle
from segtrack.envs.actions import Actuators, FlipperGroups
from segtrack.envs.course import Course
from segtrack.envs.observation import ObservationKind, Scan, Sensors
from segtrack.envs.parameters import Values, check_values, draw_values, robot_parameters
from segtrack.envs.rewards import Reward
from segtrack.envs.rig import Rig
from segtrack.envs.task import FAILURES, Outcome, Situation, Task, reach_of
from segtrack.envs.tasks import find_task
from segtrack.errors import (
    DivergedError,
    InvalidValueError,
    NotReadyError,
    Phrase,
    UnknownNameError,
    finite,
)

_WIDTH, _HEIGHT = 640, 368
_MODES = ("human", "rgb_array")


class Environment(gymnasium.Env[Any, NDArray[np.float32]]):
    """One robot at one task.

    `gymnasium.make("segtrack/StepClimb-v0", height=(0.1, 0.3))` and the like make one. Parameters
    of the task and of the robot (`env.unwrapped.parameters`) are keywords: a number fixes one, a
    pair (low, high) draws it for each episode. `reset(options={...})` takes the same for one
    episode. What was drawn is in `info["parameters"]`.

    Every `info` has `parameters`, `outcome`, `success`, `progress` [m], `slip` (of the last control
    step) [-], `energy` (work of all belt drives since the start) [J] and `reward_terms`.
    The last one of an episode also has its `real_time_factor`, which differs from run to run.

    Attributes:
        task: What is to be done.
        vehicle: What is to do it.
        parameters: Everything that an episode is built from, by name.
        actuators: What actions command.
        scan: Where the height scan looks.
        sensors: What observations hold.
        reward: The weighted terms.
        control_period: Between two actions [s].
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": list(_MODES), "render_fps": 20}  # type: ignore[misc]

    def __init__(
        self,
        task: str | Task,
        *,
        vehicle: str | Path | VehicleDescription = "quince",
        control_frequency: float = 20.0,
        belt_speed: float = 0.3,
        flippers: FlipperGroups = "pairs",
        observation: ObservationKind = "flat",
        scan: Scan | None = None,
        time_limit: float | None = None,
        reward: Mapping[str, float] | None = None,
        preset: PresetName = "coarse",
        render_mode: str | None = None,
        **parameters: Any,
    ) -> None:
        """Put it together; the robot is loaded at the first reset.

        Args:
            task: Name of a task, or one of your own.
            vehicle: Bundled name, path of a vehicle file, or a description.
            control_frequency: Actions a second [Hz]; time steps are cut so that a whole number fits.
            belt_speed: Of a belt at action 1 [m/s]; no more than the slowest drive's top speed.
            flippers: Actions for coupled `pairs` (front, rear), or for `each`.
            observation: `flat` for one float32 box, `dict` for named parts.
            scan: Where the height scan looks.
            time_limit: When an episode is truncated [s]; the task's if not given.
            reward: Weights instead of the task's, by term.
            preset: Solver settings: `coarse` (10 ms), `fast` (4 ms) or `exact` (1 ms).
            render_mode: `human` for PyBullet's window at the pace of the clock, `rgb_array` for pictures.
            **parameters: Of task and robot: numbers, or ranges to draw from.

        Raises:
            UnknownNameError: No such task, vehicle, parameter, reward term, preset or mode.
            VehicleFileError: The vehicle file has mistakes.
            InvalidValueError: A value that cannot be, or a vehicle without the flippers that the task needs.
            SegtrackError: There is no display for a window.
        """
        if isinstance(task, str):
            task = find_task(task)()
        if not isinstance(task, Task):
            raise InvalidValueError("task", "a task's name, or a Task", task)
        if render_mode is not None and render_mode not in _MODES:
            raise UnknownNameError("render mode", render_mode, _MODES)
        if preset not in PRESETS:
            raise UnknownNameError("solver preset", preset, PRESETS)
        self.task, self.render_mode = task, render_mode
        self.vehicle = vehicle if isinstance(vehicle, VehicleDescription) else load_vehicle(vehicle)
        if task.needs_flippers and not self.vehicle.flippers:
            expected = f"one with flippers for {task.name}"
            raise InvalidValueError("vehicle", expected, Phrase(f"{self.vehicle.name}, which has none"))
        if finite("control_frequency [Hz]", control_frequency) <= 0:
            raise InvalidValueError("control_frequency [Hz]", "greater than 0", control_frequency)
        self.control_period = 1.0 / control_frequency
        self.metadata = {**self.metadata, "render_fps": max(1, round(control_frequency))}  # type: ignore[misc]
        self.actuators = Actuators(self.vehicle, _checked_speed(belt_speed, self.vehicle), flippers)
        self.action_space = self.actuators.space
        self.scan = scan if scan is not None else Scan()
        if not isinstance(self.scan, Scan):
            raise InvalidValueError("scan", "a Scan", scan)
        self.sensors = Sensors(self.vehicle, self.actuators.names, self.scan, observation)
        self.observation_space = self.sensors.space
        limit = task.time_limit if time_limit is None else finite("time_limit [s]", time_limit)
        if limit <= 0:
            raise InvalidValueError("time_limit [s]", "greater than 0", time_limit)
        self._time_limit = limit
        self.reward = Reward(task.weights, reward if reward is not None else {}, self.control_period)
        self.parameters = {**task.parameters, **robot_parameters(self.vehicle)}
        self._given = check_values(self.parameters, parameters, task.name)
        self._reach = reach_of(self.vehicle)
        self._rig: Rig | None = Rig(self.vehicle, preset, self.control_period, gui=render_mode == "human")
        self._episode: _Episode | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: Of everything that is drawn from here on.
            options: Parameters for this episode instead of the constructor's: numbers or ranges.

        Returns:
            The first observation, and `info`.

        Raises:
            NotReadyError: The environment is closed.
            UnknownNameError: No such parameter.
            InvalidValueError: A value that cannot be.
        """
        rig = self._open_rig("reset")
        given = self._given
        if options is not None:
            given = {**given, **check_values(self.parameters, options, self.task.name)}
        super().reset(seed=seed)
        values = draw_values(self.parameters, given, self.np_random)
        course = self.task.course(values, self._reach, self.np_random)
        self._episode = None
        rig.set_up(course, values)
        zero = np.zeros(self.action_space.shape or (), np.float32)
        situation = self._situation(course, zero, zero, 0.0)
        self._episode = _Episode(course, values, situation, deque([zero] * values["action_delay"]))
        return self._observe(), self._info(dict.fromkeys(self.reward.weights, 0.0), 0.0)

    def step(self, action: NDArray[np.float32]) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Act for one control step.

        Args:
            action: See `segtrack.envs.actions` (n,), in [-1, 1].

        Returns:
            Observation, reward, whether the robot ended it (success, tipped over, fallen, off the
            course), whether time is over or the simulation has diverged, and `info`.

        Raises:
            NotReadyError: Not reset, over, or closed.
            InvalidValueError: An action of another shape, or not of finite numbers.
        """
        rig, episode = self._open_rig("step"), self._running("step")
        action = self.actuators.check(action)
        episode.queue.append(action)
        self.actuators.apply(rig.robot, episode.queue.popleft())
        before, began = episode.situation, time.perf_counter()
        energies, travels = _accounts(rig)
        try:
            rig.world.run(self.control_period, real_time=self.render_mode == "human")
        except DivergedError:
            episode.outcome = "diverged"
            rig.spoil()
            return self._observe(), 0.0, False, True, self._info(dict.fromkeys(self.reward.weights, 0.0), 0.0)
        episode.steps += 1
        episode.elapsed += time.perf_counter() - began
        work, way = _accounts(rig)
        gained = float(np.sum(np.maximum(work - energies, 0.0)))
        now = self._situation(episode.course, action, before.action, gained)
        episode.situation, episode.energy = now, float(np.sum(work))
        episode.outcome = self.task.outcome(now)
        terms = self.reward.terms(before.place.progress, now, episode.outcome)
        terminated = episode.outcome == "success" or episode.outcome in FAILURES
        truncated = episode.steps * self.control_period >= self._time_limit - 1e-9
        if truncated and not terminated:
            episode.outcome = "timeout"
        slip = _slip(before, now, float(np.mean(way - travels)))
        return self._observe(), sum(terms.values()), terminated, truncated, self._info(terms, slip)

    def render(self) -> Any:
        """A picture (height, width, 3) in mode `rgb_array`; PyBullet's window shows itself."""
        if self.render_mode != "rgb_array":
            return None
        rig = self._open_rig("render")
        if self._episode is None:
            raise NotReadyError(f"render {self.task.name}", "it has not been reset")
        return rig.robot.take_picture(_WIDTH, _HEIGHT)

    def close(self) -> None:
        """Give back what PyBullet holds; may be called again."""
        if self._rig is not None:
            self._rig.close()
        self._rig = self._episode = None

    @property
    def situation(self) -> Situation:
        """Where the episode stands, more exactly than the observation tells.

        Raises:
            NotReadyError: There is no episode.
        """
        if self._episode is None:
            raise NotReadyError(f"look at {self.task.name}", "it has not been reset")
        return self._episode.situation

    def _open_rig(self, what: str) -> Rig:
        if self._rig is None:
            raise NotReadyError(f"{what} {self.task.name}", "it is closed")
        return self._rig

    def _running(self, what: str) -> _Episode:
        if self._episode is None:
            raise NotReadyError(f"{what} {self.task.name}", "it has not been reset")
        if self._episode.over:
            raise NotReadyError(f"{what} {self.task.name}", "its episode is over; reset it")
        return self._episode

    def _situation(
        self, course: Course, action: NDArray[np.float32], last: NDArray[np.float32], work: float
    ) -> Situation:
        rig = self._open_rig("look at")
        state = rig.robot.state
        x, y, _ = state.position
        return Situation(state, course.path.locate(x, y), action, last, work, course)

    def _observe(self) -> Any:
        rig, episode = self._open_rig("observe"), self._episode
        assert episode is not None
        if episode.outcome != "diverged":
            entries = self.sensors.read(rig.robot, episode.situation)
            noise = episode.values["sensor_noise"]
            episode.observation = self.sensors.form(self.sensors.noisy(entries, noise, self.np_random))
        return episode.observation

    def _info(self, terms: dict[str, float], slip: float) -> dict[str, Any]:
        episode = self._episode
        assert episode is not None
        info = {
            "parameters": dict(episode.values),
            "outcome": episode.outcome,
            "success": episode.outcome == "success",
            "progress": episode.situation.place.progress,
            "slip": slip,
            "energy": episode.energy,
            "reward_terms": terms,
        }
        if episode.over and episode.elapsed > 0:
            info["real_time_factor"] = episode.steps * self.control_period / episode.elapsed
        return info


class _Episode:
    """What changes while an episode runs."""

    def __init__(
        self, course: Course, values: Values, situation: Situation, queue: deque[NDArray[np.float32]]
    ) -> None:
        self.course, self.values, self.situation, self.queue = course, values, situation, queue
        self.observation: Any = None
        self.outcome: Outcome = "running"
        self.steps = 0
        self.elapsed = self.energy = 0.0

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.outcome != "running"


def _checked_speed(speed: float, vehicle: VehicleDescription) -> float:
    top = min(track.spec.drive.top_speed for track in vehicle.mounted_tracks())
    if not 0 < finite("belt_speed [m/s]", speed) <= top:
        raise InvalidValueError(
            "belt_speed [m/s]", f"above 0 and at most {top:g}, the slowest drive's", speed
        )
    return float(speed)


def _accounts(rig: Rig) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Work [J] and travel [m] of each belt since the start."""
    tracks = rig.robot.tracks.values()
    return np.array([t.energy for t in tracks]), np.array([t.travel for t in tracks])


def _slip(before: Situation, now: Situation, travel: float) -> float:
    """1 - way along the body's forward axis / mean belt travel; 0 while the belts stand."""
    if abs(travel) < 1e-4:
        return 0.0
    way = np.subtract(now.state.position, before.state.position) @ now.forward
    return float(1.0 - way / travel)
