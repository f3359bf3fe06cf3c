"""Gymnasium environment: a task, a robot, sensors, actuators and a reward."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, cast

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec
from numpy.typing import NDArray

from segtrack.engine import EngineName, resolve
from segtrack.envs.codes import OUTCOMES, coded
from segtrack.envs.episode import Episodes, TaskState
from segtrack.envs.episode_world import EpisodeWorld
from segtrack.envs.setup import EnvironmentOptions, TaskSetup
from segtrack.envs.task import Outcome, Task
from segtrack.envs.view import RobotMotions, TaskView
from segtrack.envs.window import PictureWindow, why_no_window
from segtrack.errors import DivergedError, NotReadyError, UnknownNameError, whole

if TYPE_CHECKING:
    from segtrack.rendering import Camera

_MODES = ("human", "rgb_array")
_ONE = np.zeros(1, dtype=np.intp)


class Environment(gymnasium.Env[Any, NDArray[np.float32]]):
    """Gymnasium environment of one robot at one task.

    `gymnasium.make("segtrack/StepClimb-v0", height=(0.1, 0.3))` and the like make one. Parameters
    of the task and of the robot (`env.unwrapped.parameters`) are keywords: a number fixes one, a
    pair (low, high) samples it for each episode, a `Distribution` draws it. `reset(options={...})` takes
    the same for one episode. Sampled values are in `info["parameters"]`.

    Every `info` is of numbers alone. It has `parameters` (a word as its index in the parameter's `options`),
    `outcome` (an index in `segtrack.envs.OUTCOMES`), `success`, `progress` [m], `slip` (of the last control
    step, in [-1, 1], as `Track.slip`) [-], `energy` (work of all belt drives since the start) [J]
    and `reward_terms`; the last one of an episode also its `real_time_factor`, which differs from run
    to run. A native environment can be copied and pickled: the copy goes on from the same state, to the bit.

    Attributes:
        task: Task of the robot.
        vehicle: Description of the robot.
        parameters: Parameters of episodes, by name.
        actuators: Mapping of actions to commands.
        scan: Grid of the height scan.
        sensors: Sensors of the observations; with groups those of `policy`, or of the first one.
        reward: Weighted terms of the reward.
        control_period: Time between two actions [s].
        time_step: Time step of the engine [s].
        engine: Name of the engine.
        track_model: Name of the track model.
        preset: Name of the engine's preset.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": list(_MODES), "render_fps": 20}  # type: ignore[misc]

    def __init__(
        self,
        task: str | Task,
        *,
        engine: EngineName | None = None,
        track_model: str | None = None,
        preset: str | None = None,
        time_step: float | None = None,
        render_mode: str | None = None,
        **given: Any,
    ) -> None:
        """Assemble an environment; the robot is loaded at the first reset.

        Args:
            task: Name of a task, `course:` and the name or path of a course, or a task of your own.
            engine: `native` or `pybullet`; if not given, native where that runs the track model.
            track_model: Track model; the engine's default if not given, `compliant` or `segments`.
            preset: The engine's solver settings: the native engine's are `exact` (1 ms, the default) and
                `fast` (4 ms), PyBullet's `coarse` (10 ms, the default here), `fast` (5 ms) and `exact`.
            time_step: Time step instead of the preset's [s]; cut so that a whole number fits a control step.
            render_mode: `human` for a window at the pace of the clock (of pygame-ce, or PyBullet's own),
                `rgb_array` for pictures; `gymnasium.make` has `rgb_array_list`, too.
            **given: Options by name, see `EnvironmentOptions`, and parameters of task and robot: numbers, or
                ranges to sample from.

        Raises:
            UnknownNameError: No such task, vehicle, parameter, part, term, engine, model, preset or mode.
            VehicleFileError: The vehicle file has mistakes.
            InvalidValueError: A value, part or term that cannot be, an engine that does not run the track
                model, a task without name or parameters, or a vehicle without flippers.
            MissingPackageError: A window without pygame-ce.
            SegtrackError: There is no display for a window.
        """
        if render_mode is not None and render_mode not in _MODES:
            raise UnknownNameError("render mode", render_mode, _MODES)
        self.engine, self.track_model = resolve(engine, track_model, "native")
        in_bullets_window = render_mode == "human" and self.engine == "pybullet"
        no_window = why_no_window(self.engine)
        if render_mode == "human" and no_window is not None:
            raise no_window
        options = EnvironmentOptions.of(given)
        self._setup = TaskSetup.of(task, options)
        self.task, self.vehicle, self.render_mode = self._setup.task, self._setup.vehicle, render_mode
        self.control_period, self.parameters = self._setup.control_period, self._setup.parameters
        modes = [mode for mode in _MODES if mode != "human" or no_window is None]
        rate = max(1, round(options.control_frequency))
        self.metadata = {**self.metadata, "render_modes": modes, "render_fps": rate}  # type: ignore[misc]
        self.actuators, self.action_space = self._setup.actuators, self._setup.actuators.space
        self.scan, self.reward = self._setup.scan, self._setup.reward
        self.sensors, self.observation_space = self._setup.sensors, self._setup.groups.space
        self._episode_world: EpisodeWorld | None = EpisodeWorld(
            self.vehicle,
            engine=self.engine,
            track_model=self.track_model,
            preset=preset,
            time_step=time_step,
            period=self.control_period,
            gui=in_bullets_window,
        )
        self.preset, self.time_step = self._episode_world.preset, self._episode_world.time_step
        self._spec: EnvSpec | None = None
        self._episode: Episodes | None = None
        self._camera: Camera | None = None
        self._window: PictureWindow | None = None
        if render_mode == "human" and not in_bullets_window:
            self._window = PictureWindow(f"{self.task.name}, {self.vehicle.name}")

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: Seed of everything sampled from here on.
            options: Parameters for this episode in place of the constructor's: numbers or ranges.

        Returns:
            The first observation, and `info`.

        Raises:
            NotReadyError: The environment is closed.
            UnknownNameError: No such parameter.
            InvalidValueError: A value that cannot be.
        """
        episode_world, given = self._open_world("reset"), self._setup.check_options(options)
        super().reset(seed=None if seed is None else whole("seed", seed, 0))
        values, course = self._setup.draw(given, self.np_random)
        self._episode = self._camera = None
        episode_world.set_up(course, values)
        episode = Episodes(self._setup, 1, episode_world)
        motion = RobotMotions.of_robot(episode_world.robot)
        episode.begin(_ONE, [course], [values], [self.np_random], motion)
        self._episode = episode
        self._values = coded(self.parameters, values)
        if self._window is not None:
            self._window.show(self._take_picture(), 1.0 / self.control_period)
        info = self._info(episode, dict.fromkeys(self.reward.weights, 0.0), 0.0)
        return episode.perception.observe(0), info

    def step(self, action: NDArray[np.float32]) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Apply an action for one control step.

        Args:
            action: Action (n,), in [-1, 1], see `segtrack.envs.actuators`.

        Returns:
            Observation, reward, termination (success, tipped over, fallen, off the course), truncation
            (time is over, or the simulation has diverged), and `info`.

        Raises:
            NotReadyError: Not reset, over, or closed.
            InvalidValueError: An action of another shape, or not of finite numbers.
        """
        episode_world, episode = self._episode_world, self._episode
        if episode_world is None or episode is None or episode.outcome[0] != "running":
            raise self._refusal("step")
        actions = self.actuators.check(action)[None]
        due = episode.delayed(_ONE, actions)[0].astype(float)
        if episode.pushed and (pushes := episode.pushes(_ONE)) is not None:
            episode_world.push(pushes[0])
        began = time.perf_counter()
        try:
            in_real_time = self.render_mode == "human" and self._window is None
            episode_world.act(self.actuators, due, in_real_time)
        except DivergedError:
            episode_world.invalidate()
            ends = episode.diverge(_ONE)
        else:
            episode.elapsed += time.perf_counter() - began
            ends = episode.advance(_ONE, RobotMotions.of_robot(episode_world.robot), actions)
        terms = {}
        for name, term in ends.terms.items():
            terms[name] = float(term[0])
        info = self._info(episode, terms, float(ends.slip[0]))
        ended = bool(ends.terminated[0]), bool(ends.truncated[0])
        if self._window is not None:
            self._window.show(self._take_picture(), 1.0 / self.control_period)
        return episode.perception.observe(0), float(ends.rewards[0]), *ended, info

    def _info(self, episode: Episodes, terms: dict[str, float], slip: float) -> dict[str, Any]:
        """`info` of the present state: outcome, reward terms, slip, and totals at an episode's end."""
        outcome, elapsed = cast(Outcome, str(episode.outcome[0])), float(episode.elapsed[0])
        info = {
            "parameters": dict(self._values),
            "outcome": OUTCOMES.index(outcome),
            "success": outcome == "success",
            "progress": float(episode.view.progress[0]),
            "slip": slip,
            "energy": float(episode.energy[0]),
            "reward_terms": terms,
        }
        if outcome != "running" and elapsed > 0:
            info["real_time_factor"] = int(episode.steps[0]) * self.control_period / elapsed
        return info

    def render(self) -> Any:
        """Return a picture (height, width, 3) in mode `rgb_array`; a window shows each step by itself."""
        return self._take_picture() if self.render_mode == "rgb_array" else None

    def _take_picture(self) -> NDArray[np.uint8]:
        from segtrack.rendering import Camera  # With numba, which takes half a second to import.

        episode_world = self._open_world("render")
        self._current("render")
        if self._camera is None:
            self._camera = Camera(episode_world.robot, episode_world.world.terrains, view="oblique")
        return self._camera.take()

    def close(self) -> None:
        """Free the engine's resources; may be called again."""
        if self._episode_world is not None:
            self._episode_world.close()
        if self._window is not None:
            self._window.close()
        self._episode_world = self._episode = None

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a copy; refuse if the world is PyBullet's."""
        if self.engine == "pybullet":
            reason = "its world is PyBullet's; the engine native can be copied"
            raise NotReadyError(f"copy {self.task.name}", reason)
        return vars(self)

    @property
    def spec(self) -> EnvSpec | None:
        """Gymnasium's specification, with the number of steps after which episodes are truncated."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        self._spec = spec and replace(spec, max_episode_steps=self._setup.episode_steps)

    @property
    def task_state(self) -> TaskState:
        """Noise-free state of the episode, without limits.

        Raises:
            NotReadyError: There is no episode.
        """
        episode = self._current("look at")
        return TaskState.of(episode.view, episode.courses[0])

    @property
    def view(self) -> TaskView:
        """View of the robot (N = 1), the argument of observation parts and reward terms.

        Raises:
            NotReadyError: There is no episode.
        """
        return self._current("look at").view

    def _current(self, what: str) -> Episodes:
        if self._episode is None:
            raise self._refusal(what)
        return self._episode

    def _open_world(self, what: str) -> EpisodeWorld:
        if self._episode_world is None:
            raise self._refusal(what)
        return self._episode_world

    def _refusal(self, what: str) -> NotReadyError:
        """Return the error for an action without a running episode."""
        reason = "its episode is over; reset it" if self._episode is not None else "it has not been reset"
        return NotReadyError(
            f"{what} {self.task.name}", "it is closed" if self._episode_world is None else reason
        )
