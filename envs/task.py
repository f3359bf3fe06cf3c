"""Tasks: courses of terrain and path, outcomes and reward weights."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.description import VehicleDescription, bounding_box
from segtrack.envs.parameters import Parameter
from segtrack.envs.view import TaskView
from segtrack.errors import InvalidValueError, Phrase, UnknownNameError
from segtrack.terrain import Terrain

if TYPE_CHECKING:
    from segtrack.envs.memory import Memory
    from segtrack.envs.observation import ObservationPart
    from segtrack.envs.rewards import Term  # Which imports this module.
    from segtrack.envs.sensors import Group, SensorModel


class PathPoint(NamedTuple):
    """Place of a robot relative to a path.

    Attributes:
        progress: Path length up to the nearest point [m].
        lateral: Signed distance from the path, left positive [m].
        heading: Heading of the path at the nearest point, about the world's z axis [rad].
    """

    progress: float
    lateral: float
    heading: float


@dataclass(frozen=True, eq=False)
class Path:
    """Polyline on the ground that a robot follows.

    Attributes:
        points: World x and y (n, 2) [m], n >= 2; consecutive points differ.
    """

    points: NDArray[np.float64]

    def __post_init__(self) -> None:
        """Check that there are two or more points that differ.

        Raises:
            InvalidValueError: Points of another shape, not finite, or equal ones that follow each other.
        """
        try:
            points = np.array(self.points, dtype=float)
        except (TypeError, ValueError):  # Ragged, or no numbers.
            points = np.zeros(0)
        if points.ndim != 2 or points.shape[1] != 2 or len(points) < 2 or not np.isfinite(points).all():
            expected = "finite x and y of two points or more (n, 2)"
            raise InvalidValueError("points of a path [m]", expected, self.points)
        if not np.linalg.norm(np.diff(points, axis=0), axis=1).all():
            raise InvalidValueError("points of a path [m]", "each another than the one before", self.points)
        points.setflags(write=False)
        object.__setattr__(self, "points", points)

    @cached_property
    def segments(self) -> NDArray[np.float64]:
        """Segments (n - 1, 7): start x, y; direction x, y; length, length before it [m]; heading [rad]."""
        steps = np.diff(self.points, axis=0)
        lengths = np.linalg.norm(steps, axis=1)
        directions = steps / lengths[:, None]
        marks = np.concatenate(([0.0], np.cumsum(lengths)[:-1]))
        headings = np.arctan2(directions[:, 1], directions[:, 0])
        return np.column_stack([self.points[:-1], directions, lengths, marks, headings])

    @cached_property
    def length(self) -> float:
        """Length from the first to the last point [m]."""
        return float(self.segments[-1, 4] + self.segments[-1, 5])

    def locate(self, x: float, y: float) -> PathPoint:
        """Return the point of the path nearest to world x and y [m]."""
        place = Paths([self]).locate(np.array([[x, y]]))
        return PathPoint(*(float(array[0]) for array in place))

    def at(self, progress: float) -> tuple[float, float]:
        """Return world x and y at a path length `progress` [m]; clamped to the ends."""
        ((x, y),) = Paths([self]).at(np.array([progress])).tolist()
        return x, y


class Paths:
    """Paths of N robots in arrays.

    Attributes:
        length: Length of each path (N,) [m].
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        """Store paths in arrays; shorter ones are padded with far-away segments."""
        self.length = np.zeros(len(paths))
        self._segments = np.full((7, len(paths), 1), np.inf)
        for i, path in enumerate(paths):
            self.replace(i, path)

    def replace(self, index: int, path: Path) -> None:
        """Replace the path of one robot."""
        count, width = len(path.segments), self._segments.shape[2]
        if count > width:
            room = ((0, 0), (0, 0), (0, count - width))
            self._segments = np.pad(self._segments, room, constant_values=np.inf)
        self._segments[:, index, :count], self._segments[:, index, count:] = path.segments.T, np.inf
        self.length[index] = path.length

    def rows(self, chosen: NDArray[np.intp]) -> Paths:
        """Return the paths of some robots, by their indices."""
        if len(chosen) == len(self.length):
            return self
        some = Paths.__new__(Paths)
        some.length, some._segments = self.length[chosen], self._segments[:, chosen]
        return some

    def locate(self, places: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
        """Return progress, lateral [m] and heading [rad] (N,), as `PathPoint`, for places (N, 2) [m]."""
        if self._segments.shape[2] == 1:
            near = self._segments[:, :, 0]
        else:
            x, y, dx, dy, lengths = self._segments[:5]
            aside_x, aside_y = places[:, :1] - x, places[:, 1:] - y
            with np.errstate(invalid="ignore"):
                along = (aside_x * dx + aside_y * dy).clip(0.0, lengths)
                squares = (aside_x - along * dx) ** 2 + (aside_y - along * dy) ** 2
            near = self._of_each(np.where(np.isnan(squares), np.inf, squares).argmin(axis=1))
        x, y, dx, dy, lengths, marks, headings = near
        aside_x, aside_y = places[:, 0] - x, places[:, 1] - y
        along = (aside_x * dx + aside_y * dy).clip(0.0, lengths)
        return marks + along, dx * aside_y - dy * aside_x, headings

    def at(self, progress: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return world x and y (N, 2) [m] at path lengths `progress` (N,) [m]; clamped to the ends."""
        x, y, dx, dy, lengths, marks, _ = self._of_each(
            (self._segments[5, :, 1:] <= progress[:, None]).sum(axis=1)
        )
        along = (progress - marks).clip(0.0, lengths)
        return np.array([x + along * dx, y + along * dy]).T

    def _of_each(self, segments: NDArray[np.intp]) -> NDArray[np.float64]:
        """Columns of one segment of each path (7, N), by index (N,)."""
        return self._segments[:, np.arange(len(segments)), segments]


APPROACH = 0.3
"""Free distance before an obstacle at the start [m]."""
BEYOND = 0.6
"""Distance behind an obstacle's last edge that the body frame must reach [m]."""


@lru_cache(maxsize=64)
def straight(x_start: float, x_end: float) -> Path:
    """Return the straight path along y = 0 from `x_start` to `x_end` [m]."""
    return Path(np.array([[x_start, 0.0], [x_end, 0.0]]))


@dataclass(frozen=True)
class EpisodeCourse:
    """Terrain and path of one episode.

    Attributes:
        terrain: Terrain of the episode.
        path: Path from the start of the body frame to its goal; the robot starts heading along it.
        index: Index in the task's library; None for a course outside of it.
    """

    terrain: Terrain
    path: Path
    index: int | None = None

    def __post_init__(self) -> None:
        """Check that it has a terrain and a path.

        Raises:
            InvalidValueError: It has not.
        """
        for what, value, kind in (("terrain", self.terrain, Terrain), ("path", self.path, Path)):
            if not isinstance(value, kind):
                raise InvalidValueError(f"{what} of an EpisodeCourse", f"a {kind.__name__}", value)


Outcome = Literal["running", "success", "tip_over", "fallen", "off_course", "timeout", "diverged"]
"""How an episode ended, or `running`."""
FAILURES: tuple[Outcome, ...] = ("tip_over", "fallen", "off_course")
"""Endings that the robot brought about, besides success."""

TIP_OVER = math.cos(math.radians(80.0))
"""A robot whose z axis leans further than 80 deg has tipped over."""
UPRIGHT = math.cos(math.radians(35.0))
"""A robot has arrived only if it leans no further than 35 deg."""
FALLEN = -0.05
"""A body frame this far below the ground at the start [m] has fallen into something."""


class Task(ABC):
    """Base class of tasks. A task holds no state of an episode.

    Attributes:
        name: Name of the task, as in its environment's id.
        parameters: Parameters of the task's courses, by name.
        difficulty: Name of the parameter that a curriculum raises, and that success is plotted over.
        levels: Values of the difficulty in evaluations, the easiest first; conditions of a benchmark are
            tried at that one.
        curriculum: Values of the difficulty in trainings, the easiest first; without any, the levels.
        spread: Parameter values and ranges of trainings and evaluations, besides those of all tasks, see
            `segtrack.envs.parameters.spread`.
        needs_flippers: True to refuse a vehicle without flippers.
        corridor: Half width of the corridor along the path; leaving it fails [m].
        time_limit: Time after which an episode is truncated [s].
        weights: Weights of the reward's terms, by name.
        terms: Reward terms by name, added to `segtrack.envs.rewards.TERMS` or in place of them;
            None leaves one out.
        parts: Observation parts by name, added to `segtrack.envs.observation.PARTS` or in place of them.
        groups: Observation groups by name; without any, an observation is not split into groups.
        sensor_models: Noise, bias and delay of the sensors of parts, by the parts' names.
        memories: Values that are kept from step to step, by name, see `segtrack.envs.Memory`.
    """

    name: str
    parameters: Mapping[str, Parameter]
    difficulty: str
    levels: tuple[float, ...]
    curriculum: tuple[float, ...] = ()
    spread: Mapping[str, Any] = {}
    needs_flippers: bool = False
    corridor: float = 0.5
    time_limit: float = 15.0
    weights: Mapping[str, float] = {}
    terms: Mapping[str, Term | None] = {}
    parts: Mapping[str, ObservationPart | None] = {}
    groups: Mapping[str, Group] = {}
    sensor_models: Mapping[str, SensorModel] = {}
    memories: Mapping[str, Memory] = {}

    def difficulty_label(self) -> str:
        """Return the difficulty's name and unit, for tables and pictures."""
        return f"{self.difficulty} [{getattr(self.parameters[self.difficulty], 'unit', '-')}]"

    @abstractmethod
    def course(self, values: Mapping[str, Any], reach: float, rng: np.random.Generator) -> EpisodeCourse:
        """Build the course of an episode.

        Args:
            values: Values of the parameters.
            reach: Distance from the body frame to the vehicle's foremost point, flippers at 0 [m].
            rng: Random generator.
        """

    def library(self, reach: float) -> Sequence[EpisodeCourse]:
        """Return courses made in advance, one of which each episode uses; empty if episodes make their own.

        Args:
            reach: Distance from the body frame to the vehicle's foremost point, flippers at 0 [m].
        """
        return ()

    def outcome(self, view: TaskView) -> NDArray[np.str_]:
        """Return the outcome of each robot by the task's rules (N,), an `Outcome`: `running` until its end.

        Checked in this order, the first that holds counts: `tip_over`, `fallen`, `off_course`, `success`.
        """
        there = (view.progress >= view.path_length - 1e-6) & (view.up >= UPRIGHT)
        outcome = np.where(there, "success", "running")
        outcome = np.where(np.abs(view.lateral) > self.corridor, "off_course", outcome)
        outcome = np.where(view.motion.position[:, 2] < FALLEN, "fallen", outcome)
        return np.where(view.up < TIP_OVER, "tip_over", outcome)


def failed(outcomes: NDArray[np.str_]) -> NDArray[np.bool_]:
    """Return a mask of the outcomes that are `FAILURES`."""
    failures = outcomes == FAILURES[0]
    for word in FAILURES[1:]:
        failures |= outcomes == word
    return failures


def outcomes_of(task: Task, view: TaskView) -> NDArray[np.str_]:
    """Outcome of each robot (N,) by the rules of a task, read-only.

    Raises:
        InvalidValueError: The task does not give one for each.
        UnknownNameError: A word that is no outcome of a task.
    """
    outcome = np.array(task.outcome(view))
    outcome.setflags(write=False)
    if outcome.shape != view.yaw.shape or outcome.dtype.kind != "U":
        got = Phrase(f"{outcome.dtype} of shape {outcome.shape}")
        raise InvalidValueError(f"outcome of {task.name}", f"words of shape {view.yaw.shape}", got)
    known = "running", "success", *FAILURES
    for word in np.unique(outcome).tolist():
        if word not in known:
            raise UnknownNameError(f"outcome of {task.name}", word, known)
    return outcome


def reach_of(vehicle: VehicleDescription) -> float:
    """Return the distance from the body frame to a vehicle's foremost point, flippers at 0 [m]."""
    return float(bounding_box(vehicle, {})[1][0])
