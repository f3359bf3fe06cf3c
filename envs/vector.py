"""Vector environment: N robots of one batch, stepped together, each in its own episode."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from segtrack.batch import TRACK_MODELS, Batch
from segtrack.engine import EngineName
from segtrack.envs.codes import coded, outcome_codes
from segtrack.envs.episode import Ends, Episodes, Rows
from segtrack.envs.episode_world import EpisodeBatch
from segtrack.envs.parameters import GROUSER_PARAMETERS, Values, check_values, row_of
from segtrack.envs.pictures import BatchPictures
from segtrack.envs.setup import EnvironmentOptions, TaskSetup
from segtrack.envs.single import RobotEnvironment
from segtrack.envs.task import EpisodeCourse, Task
from segtrack.envs.view import RobotMotions, TaskView
from segtrack.errors import InvalidValueError, NotReadyError, UnknownNameError, whole
from segtrack.experiments import with_grousers
from segtrack.native import preset_step


class VectorSnapshot(NamedTuple):
    """Snapshot of a vector environment, to be restored in it.

    Attributes:
        env: Environment.
        batch: State of its robots.
        changing: Episodes, random generators and parameters.
    """

    env: VectorEnvironment
    batch: Any
    changing: dict[str, Any]


class VectorEnvironment(VectorEnv[Any, Any, NDArray[Any]]):
    """Vector environment of N robots at one task, in one batch of the native engine.

    `gymnasium.make_vec("segtrack/StepClimb-v0", num_envs=1024, height=(0.1, 0.3))` makes one. Robot i with
    seed s sees and earns what a single native environment does with seed s + i, and draws what that draws.
    Rewards, `info` and resets are as gymnasium's `SyncVectorEnv` has them. A
    `real_time_factor` counts the time in which all robots were simulated.

    Attributes:
        task: Task of the robots.
        vehicle: Description of the robots.
        parameters: Parameters of episodes, by name.
        actuators: Mapping of actions to commands.
        scan: Grid of the height scan.
        sensors: Sensors of the observations; with groups those of `policy`, or of the first one.
        groups: Sensors of each observation group; of one without a name where there are no groups.
        reward: Weighted terms of the reward.
        control_period: Time between two actions [s].
        time_step: Time step of the engine [s].
        track_model: Name of the track model.
        autoreset_mode: Mode of resets after the end of an episode.
        batch: Batch of the robots.
        simulation_time: Total wall time of the simulation [s].
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"]}  # type: ignore[misc]

    def __init__(
        self,
        task: str | Task,
        num_envs: int = 1,
        *,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        engine: EngineName = "native",
        track_model: str = "compliant",
        preset: str | None = None,
        time_step: float | None = None,
        threads: int | None = None,
        device: str = "cpu",
        render_mode: str | None = None,
        **given: Any,
    ) -> None:
        """Assemble the environment; the robots stand at the origin until the first reset.

        Args:
            task: Name of a task, `course:` and the name or path of a course, or a task of your own.
            num_envs: Number of robots.
            autoreset_mode: Mode of resets after the end of an episode, as gymnasium's.
            engine: `native`.
            track_model: `compliant` or `surface`.
            preset: `exact` (1 ms, the default) or `fast` (4 ms).
            time_step: Time step instead of the preset's [s]; cut so that a control step is a whole number
                of time steps.
            threads: Number of threads that simulate; as many as there are cores if not given.
            device: Device that simulates, as of `segtrack.Batch`.
            render_mode: `rgb_array` for pictures.
            **given: Options by name, see `EnvironmentOptions`, and parameters of task and robot: numbers, or
                ranges to sample from, of grousers numbers.

        Raises:
            UnknownNameError: No such task, vehicle, parameter, reward term, model, preset, device or mode.
            MissingPackageError: A GPU without its extra.
            NotReadyError: There is no GPU.
            VehicleFileError: The vehicle file has mistakes.
            InvalidValueError: A value that cannot be, as of `Environment`, or not for a batch.
        """
        if engine != "native":
            known = 'native, or with vectorization_mode="sync"'
            raise InvalidValueError("engine of a vector environment", known, engine)
        if render_mode not in (None, *self.metadata["render_modes"]):
            modes = self.metadata["render_modes"]
            raise UnknownNameError("render mode of a vector environment", render_mode, modes)
        if track_model not in TRACK_MODELS:
            raise UnknownNameError("track model of a vector environment", track_model, TRACK_MODELS)
        self.num_envs, self.autoreset_mode = whole("num_envs", num_envs), _autoreset_of(autoreset_mode)
        self._setup = setup = TaskSetup.of(task, EnvironmentOptions.of(given))
        self.task, self.vehicle, self.parameters = setup.task, setup.vehicle, setup.parameters
        self.render_mode, self.track_model = render_mode, track_model
        self._spec: EnvSpec | None = None
        self._pictures: BatchPictures | None = None
        self.actuators, self.sensors, self.scan = setup.actuators, setup.sensors, setup.scan
        self.groups = setup.groups.groups
        self.reward, self.control_period = setup.reward, setup.control_period
        rate = max(1, round(1.0 / self.control_period))
        self.metadata = {**self.metadata, "render_fps": rate, "autoreset_mode": self.autoreset_mode}  # type: ignore[misc]
        self.single_action_space, self.single_observation_space = self.actuators.space, setup.groups.space
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._grousers = {name: setup.given.get(name, 1.0) for name in GROUSER_PARAMETERS}
        self._check_grousers(setup.given)
        self.shaped_vehicle, (height, count) = self.vehicle, self._grousers.values()
        if (height, count) != (1.0, 1.0):
            self.shaped_vehicle = with_grousers(self.vehicle, height, count)
        _, step = preset_step(preset, time_step)
        self.time_step = self.control_period / math.ceil(self.control_period / step - 1e-9)
        library = [course.terrain for course in setup.library]
        engine_given: dict[str, Any] = {"time_step": self.time_step, "threads": threads, "device": device}
        engine_given |= {"terrain": library, "terrain_index": 0, "track_model": track_model}
        self.batch = Batch(self.shaped_vehicle, num_envs, **engine_given)
        self._episode_batch = EpisodeBatch(self.vehicle, self.batch, self.control_period)
        self._episodes, self.simulation_time = Episodes(setup, num_envs, self._episode_batch, self.batch), 0.0
        self._rngs, self._draws = [np_random()[0] for _ in range(num_envs)], Draws(setup, num_envs)
        self._over, self._slip = np.zeros(num_envs, np.bool_), np.zeros(num_envs)
        self._terms = {name: np.zeros(num_envs) for name in self.reward.weights}
        self._columns = ParameterColumns(self.parameters, num_envs)

    def set_parameters(
        self, parameters: Mapping[str, Any], robots: Sequence[int] | NDArray[np.intp] | None = None
    ) -> None:
        """Change the values or ranges that later episodes sample from, automatic resets included.

        Args:
            parameters: Numbers, ranges or distributions by name, as in the constructor, or arrays of numbers
                (n,) or ranges (n, 2) of the robots that are changed; other parameters stay as they are.
            robots: Indices of the robots to change; all if not given.

        Raises:
            UnknownNameError: No such parameter.
            InvalidValueError: A value that cannot be, or no such robot.
        """
        chosen = self._draws.indices(robots)
        own = self._check_grousers(self._draws.check(parameters, len(chosen)))
        self._draws.change(own, chosen)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | NDArray[np.integer[Any]] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode of each robot, or of some.

        Args:
            seed: Seed of the first robot, with consecutive ones for the others; or one for each, in a list
                or array.
            options: Parameters for these episodes in place of the constructor's: numbers, ranges,
                distributions, or arrays of numbers (num_envs,) or ranges (num_envs, 2), a row a robot; and
                `reset_mask`, True for the robots to reset (num_envs,).

        Returns:
            The observations (num_envs, ...), and `info` of the robots that were reset.

        Raises:
            NotReadyError: Closed; or some are to be left out before all were reset.
            UnknownNameError: No such parameter.
            InvalidValueError: A value that cannot be, another number of seeds, or a mask that is none.
        """
        self._check_open("reset")
        seeds, (mask, others) = _seeds_of(seed, self.num_envs), _mask_of(options, self.num_envs)
        if not (mask.all() or self._episodes.courses):
            raise NotReadyError(f"reset some of {self.task.name}", "not all have been reset before")
        own = self._check_grousers(self._draws.check({} if others is None else others, self.num_envs))
        chosen = np.flatnonzero(mask)
        for i in chosen[[seeds[i] is not None for i in chosen.tolist()]].tolist():
            self._rngs[i] = np_random(seeds[i])[0]
        self._over[chosen] = True  # If this is refused, they must be reset before they step.
        self._begin(chosen, own)
        self._over[chosen] = False
        return self._episodes.perception.observe(), self._info(chosen)

    def step(
        self, actions: Any
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Apply actions of all robots for one control step.

        Args:
            actions: Actions (num_envs, n), in [-1, 1], see `segtrack.envs.actuators`.

        Returns:
            Observations, rewards, terminations and truncations (num_envs, ...), and `info`.

        Raises:
            NotReadyError: Not reset, closed, or over in mode `DISABLED`.
            InvalidValueError: Actions of another shape, or not of finite numbers.
        """
        self._check_open("step")
        episodes, batch, count = self._episodes, self.batch, self.num_envs
        if not episodes.courses:
            raise NotReadyError(f"step {self.task.name}", "it has not been reset")
        if self.autoreset_mode is AutoresetMode.DISABLED and self._over.any():
            late = ", ".join(map(str, np.flatnonzero(self._over)))
            raise NotReadyError(f"step {self.task.name}", f"the episodes of {late} are over; reset them")
        taken = self.actuators.check(actions, count)
        (waiting, acting), due = map(np.flatnonzero, (self._over, ~self._over)), np.zeros_like(taken)
        due[acting] = episodes.delayed(acting, taken[acting])
        self.actuators.command(batch, due.astype(float))
        self._episode_batch.push(acting, episodes.pushes(acting) if episodes.pushed else None)
        began = time.perf_counter()
        batch.run(self.control_period)
        elapsed, running = time.perf_counter() - began, batch.running[acting]
        self.simulation_time += elapsed
        went, stuck = acting[running], acting[~running]
        rewards, ended = np.zeros(count), np.zeros((2, count), np.bool_)
        if len(went):
            episodes.elapsed[went] += elapsed
            motion = RobotMotions.of_batch(batch, went)
            self._note(went, episodes.advance(went, motion, taken[went]), rewards, ended)
        if len(stuck):
            self._note(stuck, episodes.diverge(stuck), rewards, ended)
        self._over |= ended.any(axis=0)
        if len(waiting):
            self._begin(waiting, {})
            self._over[waiting] = False
        over, finals = np.flatnonzero(self._over), dict[str, Any]()
        if self.autoreset_mode is AutoresetMode.SAME_STEP and len(over):
            seen = np.full(count, None, dtype=object)
            for i in over.tolist():
                seen[i] = episodes.perception.observe(i)
            finals = _with_masks({"final_obs": seen, "final_info": self._info(over)}, self._over.copy())
            self._begin(over, {})
            self._over = np.zeros(count, np.bool_)
        info = {**finals, **self._info(np.arange(count))}
        return episodes.perception.observe(), rewards, *ended, info

    def close_extras(self, **_: Any) -> None:
        """End the threads; `close()` calls this, once."""
        self.batch.close()
        if self._pictures is not None:
            self._pictures.close()

    @property
    def spec(self) -> EnvSpec | None:
        """Gymnasium's specification, with the number of steps after which episodes are truncated."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        self._spec = spec and replace(spec, max_episode_steps=self.max_episode_steps)

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """Return a picture (height, width, 3) of each robot in mode `rgb_array`, for gymnasium's wrappers.

        They are 640 x 360 pixels for one or two robots, and smaller for more, so that all side by side are
        1280 x 720, down to 128 x 72 for one.

        Raises:
            NotReadyError: Not reset, or closed.
        """
        return None if self.render_mode is None else self._take(range(self.num_envs))

    def picture(self, robot: int) -> NDArray[np.uint8] | None:
        """Return the picture (height, width, 3) of one robot in mode `rgb_array`, as of `render`."""
        return None if self.render_mode is None else self._take([robot])[0]

    def _take(self, robots: Sequence[int]) -> tuple[NDArray[np.uint8], ...]:
        self._check_open("render")
        if self._pictures is None:
            self._pictures = BatchPictures(self.shaped_vehicle, self.track_model, self.num_envs)
        return self._pictures.take(self.batch, self.courses, robots)

    @property
    def robots(self) -> tuple[RobotEnvironment, ...]:
        """Robots, each seen as a single environment."""
        return tuple(RobotEnvironment(self, i) for i in range(self.num_envs))

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return an attribute of each robot's environment, as gymnasium's `SyncVectorEnv` does.

        Raises:
            UnknownAttributeError: There is none.
        """
        return tuple(getattr(robot, name) for robot in self.robots)

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Call a method of each robot's environment, or return an attribute of each.

        Raises:
            UnknownAttributeError: There is none.
        """
        found = self.get_attr(name)
        return tuple(each(*args, **kwargs) if callable(each) else each for each in found)

    def save(self) -> VectorSnapshot:
        """Return a snapshot of all that changes: robots, episodes, random generators, parameters.

        Raises:
            NotReadyError: Not reset, or closed.
        """
        self._check_open("save")
        return VectorSnapshot(self, self.batch.save(), self._copy(self._changing(), self.courses))

    def restore(self, snapshot: VectorSnapshot) -> None:
        """Go on from a snapshot, to the bit.

        Raises:
            NotReadyError: Closed.
            InvalidValueError: No snapshot, or another environment's.
        """
        self._check_open("restore")
        if not isinstance(snapshot, VectorSnapshot) or snapshot.env is not self:
            raise InvalidValueError("snapshot", f"one of this environment's for {self.task.name}", snapshot)
        self.batch.restore(snapshot.batch)
        changing = self._copy(snapshot.changing, snapshot.changing["_episodes"].courses)
        self._episode_batch.recall(changing.pop("worlds"))
        vars(self).update(changing)

    def _changing(self) -> dict[str, Any]:
        """Attributes that change from step to step, besides the batch."""
        names = "_episodes", "_rngs", "_draws", "_over", "_slip", "_terms", "_columns"
        return {name: vars(self)[name] for name in names} | {"worlds": self._episode_batch.memory}

    def _copy(self, changing: dict[str, Any], courses: Sequence[EpisodeCourse]) -> dict[str, Any]:
        """Copy what changes, and keep what does not: setup, batch and courses."""
        kept = (self._setup, self.batch, self._episode_batch, *courses)
        return copy.deepcopy(changing, {id(each): each for each in kept})

    @property
    def max_episode_steps(self) -> int:
        """Control steps after which an episode is truncated."""
        return self._setup.episode_steps

    @property
    def episode_steps(self) -> NDArray[np.intp]:
        """Control steps of each robot's episode so far (num_envs,); one that is raised ends sooner."""
        return self._episodes.steps

    @property
    def courses(self) -> Sequence[EpisodeCourse]:
        """Terrain and path of each robot's episode (num_envs,).

        Raises:
            NotReadyError: There are no episodes yet.
        """
        if not self._episodes.courses:
            raise NotReadyError(f"look at {self.task.name}", "it has not been reset")
        return self._episodes.courses

    @property
    def view(self) -> TaskView:
        """View of the robots after their latest step, the argument of observation parts and reward terms.

        Raises:
            NotReadyError: There are no episodes yet.
        """
        _ = self.courses
        return self._episodes.view

    def _begin(self, chosen: Rows, own: Values) -> None:
        """Begin episodes of some robots; parameters in `own` override the sampled ranges."""
        rngs = [self._rngs[i] for i in chosen.tolist()]
        drawn = self._draws.draw(chosen.tolist(), own, rngs)
        values, courses = [each for each, _ in drawn], [course for _, course in drawn]
        self._episode_batch.set_up(chosen, courses, values)
        self._episodes.begin(chosen, courses, values, rngs, RobotMotions.of_batch(self.batch, chosen))
        self._slip[chosen] = 0.0
        for term in self._terms.values():
            term[chosen] = 0.0
        self._columns.write(chosen, [coded(self.parameters, own) for own in values])

    def _note(self, chosen: Rows, ends: Ends, rewards: NDArray[np.float64], ended: NDArray[np.bool_]) -> None:
        """Record rewards and ends of some robots."""
        rewards[chosen], self._slip[chosen] = ends.rewards, ends.slip
        ended[0, chosen], ended[1, chosen] = ends.terminated, ends.truncated
        for name, term in ends.terms.items():
            self._terms[name][chosen] = term

    def _info(self, chosen: Rows) -> dict[str, Any]:
        """`info` of some robots in gymnasium's format: arrays (num_envs,), each with its mask."""
        episodes, mask = self._episodes, np.zeros(self.num_envs, np.bool_)
        mask[chosen] = True
        named: dict[str, Any] = {
            "parameters": self._columns.arrays,
            "outcome": outcome_codes(episodes.outcome),
            "success": episodes.outcome == "success",
            "progress": episodes.view.progress,
            "slip": self._slip,
            "energy": episodes.energy,
            "reward_terms": self._terms,
        }
        info = _with_masks(named, mask)
        over = mask & (episodes.outcome != "running") & (episodes.elapsed > 0)
        if over.any():
            factor = np.zeros(self.num_envs)
            factor[over] = episodes.steps[over] * self.control_period / episodes.elapsed[over]
            info |= {"real_time_factor": factor, "_real_time_factor": over}
        return info

    def _check_grousers(self, given: Values) -> Values:
        """Return the values; refuse grouser parameters that differ between robots or from the batch's."""
        for name, own in self._grousers.items():
            if not isinstance(own, int | float) or given.get(name, own) != own:
                what, expected = f"{name} of a vector environment", "one number, fixed at construction"
                raise InvalidValueError(what, expected, given[name])
        return given

    def _check_open(self, what: str) -> None:
        if self.closed:
            raise NotReadyError(f"{what} {self.task.name}", "it is closed")


class Draws:
    """Parameter values or ranges of each of N robots, to sample their episodes from."""

    def __init__(self, setup: TaskSetup, count: int) -> None:
        """Start with the setup's values or ranges for each of `count` robots."""
        self._setup, self._given = setup, [setup.given] * count

    def check(self, parameters: Mapping[str, Any], robots: int) -> Values:
        """Check values, ranges, distributions, or arrays with a row for each of some robots; return them.

        Raises:
            UnknownNameError: No such parameter.
            InvalidValueError: A value that cannot be.
        """
        return check_values(self._setup.parameters, parameters, self._setup.task.name, robots)

    def indices(self, robots: Sequence[int] | NDArray[np.intp] | None) -> NDArray[np.intp]:
        """Return the indices of some robots (n,), checked, or of all.

        Raises:
            InvalidValueError: No such robot.
        """
        count = len(self._given)
        chosen = np.arange(count) if robots is None else np.asarray(robots)
        if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
            raise InvalidValueError("robots", "indices, whole numbers", robots)
        for i in chosen.tolist():
            if not 0 <= i < count:
                raise InvalidValueError("robot", f"from 0 to {count - 1}", i)
        return chosen

    def change(self, own: Values, chosen: NDArray[np.intp]) -> None:
        """Change what robots (n,) draw from, by index; `own` may have a row for each of them."""
        for k, i in enumerate(chosen.tolist()):
            self._given[i] = {**self._given[i], **row_of(own, k)}

    def draw(
        self, chosen: Sequence[int], own: Values, rngs: Sequence[np.random.Generator]
    ) -> list[tuple[Values, EpisodeCourse]]:
        """Sample parameters and course of an episode for some robots, by index.

        What is in `own`, which may have a row for each robot of all, overrides what they draw from.
        """
        given = [{**self._given[i], **row_of(own, i)} for i in chosen]
        return [self._setup.draw(each, rng) for each, rng in zip(given, rngs, strict=True)]


def _autoreset_of(mode: str | AutoresetMode) -> AutoresetMode:
    """Return gymnasium's autoreset mode by its name.

    Raises:
        UnknownNameError: No such mode.
    """
    try:
        return AutoresetMode(mode)
    except ValueError:
        known = [each.value for each in AutoresetMode]
        raise UnknownNameError("autoreset mode", str(mode), known) from None


def _seeds_of(
    seed: int | Sequence[int | None] | NDArray[np.integer[Any]] | None, count: int
) -> Sequence[int | None]:
    """Return a seed for each of `count` environments: consecutive from one, or those given.

    Raises:
        InvalidValueError: Another number of seeds, or one that is none.
    """
    if seed is None:
        return [None] * count
    if isinstance(seed, np.ndarray) and seed.ndim == 1:
        seed = seed.tolist()
    if isinstance(seed, Sequence) and not isinstance(seed, str | bytes):
        if len(seed) != count:
            raise InvalidValueError("seed", f"a whole number, or a list of {count}", seed)
        return [None if each is None else whole(f"seed {i}", each, 0) for i, each in enumerate(seed)]
    first = whole("seed", seed, 0)
    return [first + i for i in range(count)]


def _mask_of(options: dict[str, Any] | None, count: int) -> tuple[NDArray[np.bool_], dict[str, Any] | None]:
    """Return which of `count` environments a reset's options select (count,), and the other options.

    Raises:
        InvalidValueError: A `reset_mask` that is none.
    """
    if options is None or "reset_mask" not in options:
        return np.ones(count, np.bool_), options
    mask: Any = options["reset_mask"]
    fits = isinstance(mask, np.ndarray) and mask.dtype == np.bool_ and mask.shape == (count,)
    if not fits or not mask.any():
        expected = f"an array of {count} truth values, one of them true"
        raise InvalidValueError("options['reset_mask']", expected, mask)
    return mask, {key: value for key, value in options.items() if key != "reset_mask"}


class ParameterColumns:
    """Parameter values of N robots' episodes, in one array per parameter.

    Attributes:
        arrays: Values by parameter name (N,).
    """

    def __init__(self, names: Iterable[str], count: int) -> None:
        """Allocate arrays for the values of a number of robots."""
        self.arrays: dict[str, NDArray[Any]] = {}
        self._names, self._count = tuple(names), count
        self._shared: dict[str, Any] = {}

    def write(self, chosen: NDArray[np.intp], values: Sequence[Mapping[str, Any]]) -> None:
        """Store the values of some robots; the first call must be for all.

        Args:
            chosen: Indices of the robots (n,).
            values: Parameter values by name, of each robot (n,).
        """
        for name in self._names:
            own = [each[name] for each in values]
            if name in self._shared and own.count(self._shared[name]) == len(own):
                continue  # Which all robots have already.
            self._shared.pop(name, None)
            column = np.array(own)  # Of the type that gymnasium gives them.
            if len(own) == self._count:
                self.arrays[name] = column
                if own.count(own[0]) == len(own):
                    self._shared[name] = own[0]
                continue
            before = self.arrays[name]
            self.arrays[name] = before.astype(np.promote_types(before.dtype, column.dtype), copy=False)
            self.arrays[name][chosen] = column


def _with_masks(named: dict[str, Any], mask: NDArray[np.bool_]) -> dict[str, Any]:
    """Return arrays with a mask of the robots that they hold for, by gymnasium's names."""
    info, chosen = dict[str, Any](), np.flatnonzero(mask)
    for name, values in named.items():
        if isinstance(values, dict):
            info[name] = values if name == "final_info" else _with_masks(values, mask)
        else:
            # Where few count, faster than `np.where`.
            info[name] = (np.empty if values.dtype == object else np.zeros)(values.shape, values.dtype)
            info[name][chosen] = values[chosen]
        info[f"_{name}"] = mask.copy()
    return info
