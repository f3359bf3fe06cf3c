"""Setup of an environment, single or vector: its options, and everything that is fixed over its episodes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from segtrack.courses import Course, FloorFrame, find_course, parse_course
from segtrack.description import VehicleDescription, load_vehicle, read_text
from segtrack.envs.actuators import ActionMapping, Actuators, FlipperGroups, check_belt_speed, check_mapping
from segtrack.envs.memory import Memory, check_memories
from segtrack.envs.objects import load_object, made
from segtrack.envs.observation import ObservationPart, ObservationSetup, Scan
from segtrack.envs.own_rows import merge_rows
from segtrack.envs.parameters import (
    COURSE_SOIL,
    ROBOT_PARAMETERS,
    Number,
    OfferedNumber,
    Parameter,
    Values,
    WordChoice,
    check_values,
    robot_parameters,
    sample_values,
)
from segtrack.envs.rewards import Reward, Term
from segtrack.envs.sensors import Group, ObservationGroups, ObservationKind, SensorModel, Sensors
from segtrack.envs.task import EpisodeCourse, Path, Task, reach_of
from segtrack.envs.tasks import find_task
from segtrack.errors import InvalidValueError, Phrase, UnexpectedKeywordError, finite
from segtrack.terrain import StaticBody, find_soil

PREFIX = "course:"
"""Begin of the name of a task on a course."""
_SLOWEST = 0.1
"""Mean speed along the path at which the time is over [m/s]."""


class CourseTask(Task):
    """Task to drive a course from its start through its gates, as far as they lead away from the start.

    The way back and further rounds are left out: a path that runs over itself has no one nearest point. x
    leads forward from the start. The course's setting is the parameter `setting`; a range of it draws one of
    the values that the file offers.
    """

    parameters = {}

    def __init__(self, course: str | FilePath) -> None:
        """Read a course.

        Args:
            course: Name of a bundled course, or path of a YAML file.

        Raises:
            UnknownNameError: No such course.
            FileAccessError: The file cannot be read.
            CourseFileError: The file has mistakes; all of them are listed.
            InvalidValueError: Its ground is of several frictions or soils.
        """
        file = find_course(course)
        self.name, self._stem, self._source = f"{PREFIX}{course}", file.stem, read_text(file)
        content, way = _read(self._source, self._stem, None)
        setting = content.setting
        if setting is not None:
            values = sorted({*setting.values, setting.value})
            number = OfferedNumber(
                setting.value, values[0], values[-1], setting.unit, setting.name, offered=setting.values
            )
            self.parameters, self.difficulty, self.levels = {"setting": number}, "setting", setting.values
        self.corridor = (content.lane_width or 2 * Task.corridor) / 2
        self.time_limit = content.time_limit or way.path.length / _SLOWEST

    def course(self, values: Mapping[str, Any], reach: float, rng: np.random.Generator) -> EpisodeCourse:
        """Build the course at its setting."""
        return _read(self._source, self._stem, values.get("setting"))[1]


def make_task(name: str) -> Task:
    """Make a task by its name.

    Args:
        name: Name of a task that comes with segtrack, `course:` and a course's name or path, or
            `module:name` of a task of one's own, or of a class or function that makes it.

    Raises:
        UnknownNameError: There is none of that name.
        InvalidValueError: There is no such module or name, or no task.
        SegtrackError: Whatever `CourseTask` refuses.
    """
    if name.startswith(PREFIX):
        return CourseTask(name.removeprefix(PREFIX))
    if ":" not in name:
        return find_task(name)()
    task = made(load_object("task", name))
    _check_task(task)
    return task


def make_graded_task(name: str) -> Task:
    """Make a task by its name, as `make_task` does; refuse one without levels of difficulty.

    Raises:
        InvalidValueError: It has no `difficulty` among its parameters, or one that is no `Number`, or no
            `levels`, or some that it cannot have.
        SegtrackError: As `make_task`.
    """
    task = make_task(name)
    if getattr(task, "difficulty", None) not in task.parameters or not getattr(task, "levels", ()):
        expected = "one with a difficulty, which names a parameter, and levels of it"
        raise InvalidValueError(f"task {task.name}", expected, Phrase("none"))
    parameter = task.parameters[task.difficulty]
    if not isinstance(parameter, Number):
        raise InvalidValueError(f"difficulty {task.difficulty} of task {task.name}", "a Number", parameter)
    for level in (*task.levels, *task.curriculum):
        parameter.check(f"level of task {task.name}", level)
    check_values({**task.parameters, **ROBOT_PARAMETERS}, task.spread, task.name)
    return task


@lru_cache(maxsize=64)
def _read(source: str, name: str, setting: float | None) -> tuple[Course, EpisodeCourse]:
    """Course at a setting from a file's text, and its terrain and path with x forward from the start."""
    course = parse_course(source, name, setting)
    kinds = {(ground.friction, ground.soil) for ground in course.terrains}
    if len(kinds) > 1:
        got = Phrase(f"{len(kinds)} kinds")
        raise InvalidValueError(f"ground of course {name}", "of one friction and one soil for a task", got)
    ((friction, soil),) = kinds
    start = course.start
    seen = FloorFrame(0.0, 0.0, -start.yaw).at(-start.x, -start.y)._replace(yaw=-start.yaw)
    solids: Any = chain.from_iterable(ground.solids() for ground in course.terrains)
    parts = tuple(seen.moved(solid, 0.0) for solid in solids)
    places = [seen.at(x, y) for x, y in _way(course)]
    path = Path(np.array([(place.x, place.y) for place in places]))
    return course, EpisodeCourse(StaticBody(parts=parts, name=name, friction=friction, soil=soil), path)


def _way(course: Course) -> Iterator[tuple[float, float]]:
    """World x and y of the start, then of the gates as long as they lead away from it [m]."""
    start, far = course.start, 0.0
    yield start.x, start.y
    for gate in course.gates:
        distance = math.dist((start.x, start.y), (gate.x, gate.y))
        if distance <= far:
            return
        far = distance
        yield gate.x, gate.y


@dataclass(frozen=True)
class EnvironmentOptions:
    """Options of an environment, single or vector, besides its task and engine: keywords of `gymnasium.make`.

    Attributes:
        vehicle: Bundled name, path of a vehicle file, or a description.
        control_frequency: Control frequency: actions per second [Hz].
        belt_speed: Belt speed at action 1 [m/s]; no more than the slowest drive's top speed.
        flippers: Actions for coupled `pairs` (front, rear), or for `each`.
        actions: Actions of your own, instead of belt and flipper speeds.
        observation: `flat` for one float32 box, `dict` for named parts.
        scan: Grid of the height scan; `Scan()` if not given.
        time_limit: Time after which an episode is truncated [s]; the task's if not given.
        reward: Weights instead of the task's, by term.
        terms: Terms of the reward beside those that are built in or instead of them, by name; None leaves
            one out.
        parts: Parts of the observation, likewise; new ones follow in their order.
        groups: Observation groups by name, beside the task's or instead of them; None leaves one out. With
            groups an observation has each by its name.
        sensor_models: Noise, bias and delay by part of the observation, likewise.
        memories: Memories by name, likewise.
        parameters: Parameters of task and robot: numbers, or ranges to sample from.
    """

    vehicle: str | FilePath | VehicleDescription = "quince"
    control_frequency: float = 20.0
    belt_speed: float = 0.3
    flippers: FlipperGroups = "pairs"
    actions: ActionMapping | None = None
    observation: ObservationKind = "flat"
    scan: Scan | None = None
    time_limit: float | None = None
    reward: Mapping[str, float] | None = None
    terms: Mapping[str, Term | None] | None = None
    parts: Mapping[str, ObservationPart | None] | None = None
    groups: Mapping[str, Group | None] | None = None
    sensor_models: Mapping[str, SensorModel | None] | None = None
    memories: Mapping[str, Memory | None] | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, keywords: Mapping[str, Any]) -> EnvironmentOptions:
        """Take options from keywords; those of other names are parameters of task and robot.

        Raises:
            InvalidValueError: A control frequency or scan that cannot be.
        """
        names = {each.name for each in fields(cls)} - {"parameters"}
        own = {name: value for name, value in keywords.items() if name in names}
        return cls(**own, parameters={name: value for name, value in keywords.items() if name not in names})

    def __post_init__(self) -> None:
        """Check what depends on neither task nor vehicle.

        Raises:
            InvalidValueError: A control frequency or scan that cannot be.
        """
        if finite("control_frequency [Hz]", self.control_frequency) <= 0:
            raise InvalidValueError("control_frequency [Hz]", "greater than 0", self.control_frequency)
        if self.scan is not None and not isinstance(self.scan, Scan):
            raise InvalidValueError("scan", "a Scan", self.scan)


@dataclass(frozen=True, eq=False)
class TaskSetup:
    """Task, robot, sensors, actuators and reward of an environment.

    Attributes:
        task: Task of the robot.
        vehicle: Description of the robot.
        parameters: Parameters that an episode is built from, by name.
        given: Values or ranges of parameters, in place of their defaults.
        actuators: Commands of the action's entries.
        scan: Grid of the height scan.
        sensors: Sensors of the observations; with groups those of `policy`, or of the first one.
        groups: Sensors of all groups.
        memories: Memories of the episodes, by name.
        reward: Weighted terms of the reward.
        control_period: Time between two actions [s].
        time_limit: Time after which an episode is truncated [s].
        reach: Distance from the body frame to the vehicle's foremost point, flippers at 0 [m].
    """

    task: Task
    vehicle: VehicleDescription
    parameters: dict[str, Parameter]
    given: Values
    actuators: ActionMapping
    scan: Scan
    sensors: Sensors
    groups: ObservationGroups
    memories: dict[str, Memory]
    reward: Reward
    control_period: float
    time_limit: float
    reach: float

    @classmethod
    def of(cls, task: str | Task, options: EnvironmentOptions) -> TaskSetup:
        """Assemble the setup of an environment, from a task or its name and the options.

        Raises:
            UnknownNameError: No such task, vehicle, parameter, observation part or reward term.
            VehicleFileError: The vehicle file has mistakes.
            InvalidValueError: A value, part or term that cannot be, a task without name or parameters, or a
                vehicle without the flippers that the task needs.
        """
        if isinstance(task, str):
            task = make_task(task)
        _check_task(task)
        given = options.vehicle
        vehicle = given if isinstance(given, VehicleDescription) else load_vehicle(given)
        if task.needs_flippers and not vehicle.flippers:
            expected = f"one with flippers for {task.name}"
            raise InvalidValueError("vehicle", expected, Phrase(f"{vehicle.name}, which has none"))
        belts = Actuators(vehicle, check_belt_speed(options.belt_speed, vehicle), options.flippers)
        actuators = belts if options.actions is None else check_mapping(options.actions)
        scan = Scan() if options.scan is None else options.scan
        own_limit = task.time_limit if options.time_limit is None else options.time_limit
        limit = finite("time_limit [s]", own_limit)
        if limit <= 0:
            raise InvalidValueError("time_limit [s]", "greater than 0", own_limit)
        own_parts = {} if options.parts is None else options.parts
        weights = {} if options.reward is None else options.reward
        terms = {} if options.terms is None else options.terms
        known = {**task.parameters, **robot_parameters(vehicle)}
        for name in options.parameters:
            if name not in known:
                raise UnexpectedKeywordError(task.name, name, known)
        groups = ObservationGroups(
            ObservationSetup.of(vehicle, actuators.names, scan, known),
            options.observation,
            (task.parts, own_parts),
            merge_rows("observation group", Group, None, {}, task.groups, options.groups or {}),
            merge_rows(
                "sensor model", SensorModel, None, {}, task.sensor_models, options.sensor_models or {}
            ),
        )
        return cls(
            task=task,
            vehicle=vehicle,
            parameters=known,
            given=check_values(known, options.parameters, task.name),
            actuators=actuators,
            scan=scan,
            sensors=groups.policy,
            groups=groups,
            memories=check_memories(
                merge_rows("memory", Memory, "start", {}, task.memories, options.memories or {})
            ),
            reward=Reward(task.weights, weights, task.terms, terms),
            control_period=1.0 / options.control_frequency,
            time_limit=limit,
            reach=reach_of(vehicle),
        )

    @property
    def episode_steps(self) -> int:
        """Number of control steps after which an episode is truncated."""
        return math.ceil(self.time_limit / self.control_period - 1e-9)

    def check_options(self, options: Mapping[str, Any] | None) -> Values:
        """Parameter values or ranges for an episode, from a reset's options and the environment's own.

        Raises:
            UnknownNameError: No such parameter.
            InvalidValueError: A value that cannot be.
        """
        own = check_values(self.parameters, {} if options is None else options, self.task.name)
        return {**self.given, **own}

    def draw(self, given: Values, rng: np.random.Generator) -> tuple[Values, EpisodeCourse]:
        """Sample the parameters and the course of an episode.

        Raises:
            InvalidValueError: The task gives no course, or one that is not of its library.
        """
        values = sample_values(self.parameters, given, rng)
        course = self.task.course(values, self.reach, rng)
        _check_course(course, self.library, self.task.name)
        return values, _on_other_ground(course, values)

    @cached_property
    def library(self) -> Sequence[EpisodeCourse]:
        """Courses of the task's library; empty without one.

        Raises:
            InvalidValueError: The task gives others than courses.
        """
        library = self.task.library(self.reach)
        courses = library if isinstance(library, Sequence) else (library,)
        for course in courses:
            if not isinstance(course, EpisodeCourse):
                raise InvalidValueError(
                    f"library of {self.task.name}", "a sequence of EpisodeCourses", library
                )
        return courses

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a copy, without the library, which the task makes again."""
        return {name: value for name, value in vars(self).items() if name != "library"}


def _on_other_ground(course: EpisodeCourse, values: Values) -> EpisodeCourse:
    """A course on ground of the friction and soil of parameter values, outside of a library if changed."""
    terrain, changed = course.terrain, dict[str, Any]()
    if values["ground_friction"] != 1.0:
        changed["friction"] = values["ground_friction"] * terrain.friction
    if values["soil"] != COURSE_SOIL:
        changed["soil"] = find_soil(values["soil"])
    return EpisodeCourse(replace(terrain, **changed), course.path) if changed else course


def _check_task(task: object) -> None:
    """Check that an environment can use a task.

    Raises:
        InvalidValueError: Not a task, or one without a name or parameters of its own.
    """
    if not isinstance(task, Task):
        raise InvalidValueError("task", "a task's name, or a Task", task)
    missing = [name for name in ("name", "parameters") if not hasattr(task, name)]
    if missing:
        expected = "one with the class attributes name and parameters"
        raise InvalidValueError(
            f"task {type(task).__name__}", expected, Phrase(f"no {' and no '.join(missing)}")
        )
    parameters: object = task.parameters
    if not isinstance(parameters, Mapping):
        raise InvalidValueError(f"parameters of {task.name}", "a Number or WordChoice by name", parameters)
    for name, parameter in parameters.items():
        if not isinstance(parameter, Number | WordChoice):
            raise InvalidValueError(f"parameter {name} of {task.name}", "a Number or WordChoice", parameter)
        if name in ROBOT_PARAMETERS:
            expected = "named otherwise than one that every task has"
            raise InvalidValueError(f"parameter of {task.name}", expected, name)


def _check_course(course: object, library: Sequence[EpisodeCourse], task: str) -> None:
    """Check that a task's course is valid and agrees with the task's library.

    Raises:
        InvalidValueError: No course, one without its index in the library, or one that is not there.
    """
    if not isinstance(course, EpisodeCourse):
        raise InvalidValueError(f"course of {task}", "an EpisodeCourse", course)
    what, index = f"index of a course of {task}", course.index
    if not library:
        if index is not None:
            raise InvalidValueError(what, "None for a task without a library", index)
        return
    if isinstance(index, bool) or not isinstance(index, int | np.integer) or not 0 <= index < len(library):
        raise InvalidValueError(what, f"a whole number from 0 to {len(library) - 1} in its library", index)
    there = library[index]
    if course is not there and not (
        np.array_equal(course.path.points, there.path.points) and course.terrain == there.terrain
    ):
        raise InvalidValueError(
            f"course of {task} with index {index}", "that of its library", Phrase("another one")
        )
