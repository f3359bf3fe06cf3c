"""What changes while an episode runs."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from segtrack.envs.course import Course
from segtrack.envs.parameters import Values
from segtrack.envs.task import Outcome, TaskState
from segtrack.robot import Robot
from segtrack.robot.slip import longitudinal_slip

if TYPE_CHECKING:  # Numba takes half a second to import.
    from segtrack.rendering import Camera


class Episode:
    """One episode.

    Attributes:
        course: The ground and the way.
        values: Of all parameters.
        task_state: After the latest control step.
        queue: Actions that have not been taken yet.
        observation: The latest.
        outcome: How it ended, or that it is running.
        steps: Control steps so far.
        elapsed: Wall time of the simulation so far [s].
        energy: Work of all belt drives so far [J].
        camera: What takes its pictures, once one has been asked for.
    """

    def __init__(
        self, course: Course, values: Values, task_state: TaskState, queue: deque[NDArray[np.float32]]
    ) -> None:
        """Begin it."""
        self.course, self.values, self.task_state, self.queue = course, values, task_state, queue
        self.observation: Any = None
        self.outcome: Outcome = "running"
        self.steps = 0
        self.elapsed = self.energy = 0.0
        self.camera: Camera | None = None

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.outcome != "running"

    def info(self, terms: dict[str, float], slip: float, control_period: float) -> dict[str, Any]:
        """What gymnasium hands out beside an observation.

        Args:
            terms: Of the reward, weighted.
            slip: Of the latest control step, in [-1, 1] [-].
            control_period: Between two actions [s].
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
        if self.over and self.elapsed > 0:
            info["real_time_factor"] = self.steps * control_period / self.elapsed
        return info


def work_and_travel(robot: Robot) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Work [J] and travel [m] of each belt since the start."""
    states = [track.state for track in robot.tracks.values()]
    return np.array([state.energy for state in states]), np.array([state.travel for state in states])


def mean_slip(before: TaskState, now: TaskState, travel: float, time: float) -> float:
    """Longitudinal slip of the mean belt over the way along the body's forward axis, in [-1, 1] [-].

    Args:
        before: At the beginning of a control step.
        now: At its end.
        travel: Of the belts meanwhile, their mean [m].
        time: That the control step took [s].
    """
    way = np.subtract(now.state.position, before.state.position) @ now.forward
    return longitudinal_slip(travel / time, float(way) / time)
