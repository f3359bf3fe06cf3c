"""Tasks: a course of terrain and path, an end and a reward."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.description import VehicleDescription
from segtrack.description.placement import bounding_box
from segtrack.engine import ActuatorState
from segtrack.envs.parameters import Parameter
from segtrack.errors import InvalidValueError, Phrase
from segtrack.robot import RobotState
from segtrack.terrain import Terrain


class PathPoint(NamedTuple):
    """Place relative to a path.

    Attributes:
        progress: Length of the path up to the nearest point of it [m].
        lateral: Distance to the left of its line there [m].
        heading: Heading of the path there, about the world's z axis [rad].
    """

    progress: float
    lateral: float
    heading: float


@dataclass(frozen=True, eq=False)
class Path:
    """Path over the ground: a line through points.

    Attributes:
        points: World x and y (n, 2) [m], n >= 2.
    """

    points: NDArray[np.float64]

    @cached_property
    def _directions(self) -> NDArray[np.float64]:
        steps = np.diff(self.points, axis=0)
        return np.asarray(steps / np.linalg.norm(steps, axis=1)[:, None])

    @cached_property
    def _marks(self) -> NDArray[np.float64]:
        """Length of the path up to each point (n,) [m]."""
        return np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(self.points, axis=0), axis=1))))

    @cached_property
    def _lengths(self) -> NDArray[np.float64]:
        """Length of each segment (n - 1,) [m]."""
        return np.diff(self._marks)

    @cached_property
    def _segments(self) -> list[tuple[float, ...]]:
        """Start x and y, direction x and y, length, mark [m] and heading [rad] of each segment."""
        directions, marks = self._directions, self._marks
        rows = np.column_stack([self.points[:-1], directions, self._lengths, marks[:-1]]).tolist()
        return [(*row, math.atan2(row[3], row[2])) for row in rows]

    @cached_property
    def _axes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """World x and world y of the points (n,) [m]."""
        return np.ascontiguousarray(self.points[:, 0]), np.ascontiguousarray(self.points[:, 1])

    @cached_property
    def length(self) -> float:
        """Length from the first to the last point [m]."""
        return float(self._marks[-1])

    def locate(self, x: float, y: float) -> PathPoint:
        """Return the point of the path that is nearest to world x and y [m]."""
        nearest = 0
        if len(self._segments) > 1:
            offsets = np.array([x, y]) - self.points[:-1]
            along_all = np.add.reduce(offsets * self._directions, axis=1).clip(0.0, self._lengths)
            aside = offsets - along_all[:, None] * self._directions
            nearest = int(np.add.reduce(aside**2, axis=1).argmin())
        start_x, start_y, dx, dy, length, mark, heading = self._segments[nearest]
        aside_x, aside_y = x - start_x, y - start_y
        along = min(max(aside_x * dx + aside_y * dy, 0.0), length)
        return PathPoint(mark + along, dx * aside_y - dy * aside_x, heading)

    def at(self, progress: float) -> tuple[float, float]:
        """Return world x and y after some length of the path [m]; its ends beyond it."""
        x, y = self._axes
        return float(np.interp(progress, self._marks, x)), float(np.interp(progress, self._marks, y))


def straight(x_start: float, x_end: float) -> Path:
    """Return the straight path along y = 0 [m]."""
    return Path(np.array([[x_start, 0.0], [x_end, 0.0]]))


@dataclass(frozen=True)
class EpisodeCourse:
    """Terrain and path of one episode.

    Attributes:
        terrain: Ground of the episode.
        path: Path from the start of the body frame to its goal, heading along it.
    """

    terrain: Terrain
    path: Path


class TaskState(NamedTuple):
    """State of an episode after a control step.

    Attributes:
        state: Pose and velocity of the robot.
        place: Place on the course's path.
        action: Latest action as it was given (n,), in [-1, 1].
        last_action: Action before that (n,), in [-1, 1].
        work: Work of the belt drives in this step, without what they got back [J].
        course: Terrain and path.
        actuators: State of belts and flippers.
        up: World z component of the body's z axis [-].
        forward: Body's x axis in the world (3,).
        heading_error: Angle by which the body must turn left to head along the path [rad].
    """

    state: RobotState
    place: PathPoint
    action: np.ndarray
    last_action: np.ndarray
    work: float
    course: EpisodeCourse
    actuators: ActuatorState

    up: float
    forward: tuple[float, float, float]
    heading_error: float

    @classmethod
    def of(
        cls,
        state: RobotState,
        place: PathPoint,
        action: np.ndarray,
        last_action: np.ndarray,
        work: float,
        course: EpisodeCourse,
        actuators: ActuatorState,
    ) -> TaskState:
        """Derive the angles to the vertical and to the path; arguments as the attributes."""
        level = math.cos(state.pitch)
        forward = level * math.cos(state.yaw), level * math.sin(state.yaw), math.sin(state.pitch)
        heading_error = math.remainder(place.heading - state.yaw, math.tau)
        up = math.cos(state.roll) * level
        return cls(state, place, action, last_action, work, course, actuators, up, forward, heading_error)


Outcome = Literal["running", "success", "tip_over", "fallen", "off_course", "timeout", "diverged"]
FAILURES: tuple[Outcome, ...] = ("tip_over", "fallen", "off_course")
"""Endings that the robot brought about, besides success."""

TIP_OVER = math.cos(math.radians(80.0))
"""A robot whose z axis leans further than 80 deg has tipped over."""
UPRIGHT = math.cos(math.radians(35.0))
"""A robot has arrived only if it leans no further than 35 deg."""
FALLEN = -0.05
"""A body frame this far below the ground at the start [m] has fallen into something."""


class Task(ABC):
    """Base of tasks. A task holds no state of an episode.

    Attributes:
        name: Name, as in its environment's id.
        parameters: Parameters of its courses, by name.
        difficulty: Name of the parameter by which success is plotted and by which a curriculum goes.
        levels: Values of the difficulty for the picture.
        needs_flippers: True to refuse a vehicle without flippers.
        corridor: Half width about the path that must not be left [m].
        time_limit: Time after which an episode is truncated [s].
        weights: Weights of the reward's terms, by name.
    """

    name: ClassVar[str]
    parameters: ClassVar[dict[str, Parameter]]
    difficulty: ClassVar[str]
    levels: ClassVar[tuple[float, ...]]
    needs_flippers: ClassVar[bool] = False
    corridor: ClassVar[float] = 0.5
    time_limit: ClassVar[float] = 15.0
    weights: ClassVar[Mapping[str, float]] = {}

    @classmethod
    def difficulty_label(cls) -> str:
        """Return the difficulty's name and unit, for tables and pictures."""
        return f"{cls.difficulty} [{getattr(cls.parameters[cls.difficulty], 'unit', '-')}]"

    @abstractmethod
    def course(self, values: Mapping[str, Any], reach: float, rng: np.random.Generator) -> EpisodeCourse:
        """Lay out an episode.

        Args:
            values: Values of the parameters.
            reach: Distance from the body frame to the vehicle's foremost point, flippers at 0 [m].
            rng: Source of random numbers.
        """

    def outcome(self, task_state: TaskState) -> Outcome:
        """Return the outcome of the episode here: `running` unless it ends.

        Checked in this order, the first that holds counts: `tip_over`, `fallen`, `off_course`, `success`.
        """
        if task_state.up < TIP_OVER:
            return "tip_over"
        if task_state.state.position[2] < FALLEN:
            return "fallen"
        if abs(task_state.place.lateral) > self.corridor:
            return "off_course"
        there = task_state.place.progress >= task_state.course.path.length - 1e-6
        return "success" if there and task_state.up >= UPRIGHT else "running"


def check_task(task: object) -> None:
    """Check that an environment can be built from a task.

    Raises:
        InvalidValueError: Not a task, or one without a name or parameters.
    """
    if not isinstance(task, Task):
        raise InvalidValueError("task", "a task's name, or a Task", task)
    missing = [name for name in ("name", "parameters") if not hasattr(task, name)]
    if missing:
        expected = "one with the class attributes name and parameters"
        raise InvalidValueError(
            f"task {type(task).__name__}", expected, Phrase(f"no {' and no '.join(missing)}")
        )


def reach_of(vehicle: VehicleDescription) -> float:
    """Return the distance from the body frame to a vehicle's foremost point, flippers at 0 [m]."""
    return float(bounding_box(vehicle, {})[1][0])
