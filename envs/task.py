"""What a task is: a course, an end, a reward."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from segtrack.description import VehicleDescription
from segtrack.description.placement import bounding_box
from segtrack.envs.course import Course, PathPoint
from segtrack.envs.parameters import Parameter
from segtrack.robot import RobotState


@dataclass(frozen=True)
class TaskState:
    """Where an episode stands after a control step.

    Attributes:
        state: Of the robot.
        place: On the course's path.
        action: As it was given (n,), in [-1, 1].
        last_action: The one before.
        work: What the belt drives did in this step, without what they got back [J].
        course: The ground and the way.
    """

    state: RobotState
    place: PathPoint
    action: np.ndarray
    last_action: np.ndarray
    work: float
    course: Course

    @property
    def up(self) -> float:
        """The world's z component of the body's z axis [-]."""
        return math.cos(self.state.roll) * math.cos(self.state.pitch)

    @property
    def forward(self) -> tuple[float, float, float]:
        """The body's x axis in the world."""
        level = math.cos(self.state.pitch)
        return level * math.cos(self.state.yaw), level * math.sin(self.state.yaw), math.sin(self.state.pitch)

    @property
    def heading_error(self) -> float:
        """How far the body must turn left to head along the path [rad]."""
        return math.remainder(self.place.heading - self.state.yaw, math.tau)


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
    """One thing to do. A task holds no state of an episode.

    Attributes:
        name: As in its environment's id.
        parameters: What its courses are built from.
        difficulty: The parameter by which success is plotted and by which a curriculum goes.
        levels: Values of it for the picture.
        needs_flippers: Whether a vehicle without flippers is refused.
        corridor: Half width about the path that must not be left [m].
        time_limit: When an episode is truncated [s].
        weights: Of the reward's terms.
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
        """The difficulty's name and unit, for tables and pictures."""
        return f"{cls.difficulty} [{getattr(cls.parameters[cls.difficulty], 'unit', '-')}]"

    @abstractmethod
    def course(self, values: Mapping[str, Any], reach: float, rng: np.random.Generator) -> Course:
        """Lay out an episode.

        Args:
            values: Of the parameters.
            reach: From the body frame to the vehicle's foremost point, flippers at 0 [m].
            rng: For what each episode has of its own.
        """

    def outcome(self, task_state: TaskState) -> Outcome:
        """How the episode ends here, or that it is running."""
        if task_state.up < TIP_OVER:
            return "tip_over"
        if task_state.state.position[2] < FALLEN:
            return "fallen"
        if abs(task_state.place.lateral) > self.corridor:
            return "off_course"
        there = task_state.place.progress >= task_state.course.path.length - 1e-6
        return "success" if there and task_state.up >= UPRIGHT else "running"


def reach_of(vehicle: VehicleDescription) -> float:
    """From the body frame to a vehicle's foremost point, flippers at 0 [m]."""
    return float(bounding_box(vehicle, {})[1][0])
