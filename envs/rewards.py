"""The reward: a weighted sum of named terms, the same for all tasks.

| term | what is weighted |
|---|---|
| progress | length of the path gained in the step [m] |
| success | 1 when the task is done |
| failure | -1 when the robot has tipped over, fallen or left the course |
| time | -1 a second |
| lateral | -(distance to the path [m]) a second |
| heading | -(angle between robot and path [rad]) a second |
| tilt | -(roll [rad])^2 a second |
| shock | -(body's angular speed about its y axis [rad/s])^2 a second |
| energy | -(positive work of the belt drives [kJ]) |
| smoothness | -(mean square change of the action) |
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from segtrack.envs.task import FAILURES, Outcome, TaskState
from segtrack.errors import InvalidValueError, UnknownNameError, finite

WEIGHTS: dict[str, float] = {
    "progress": 5.0,
    "success": 10.0,
    "failure": 5.0,
    "time": 0.2,
    "lateral": 0.5,
    "heading": 0.2,
    "tilt": 0.5,
    "shock": 0.02,
    "energy": 0.5,
    "smoothness": 0.01,
}
"""Weight of each term where neither task nor user says otherwise."""


class Reward:
    """The weighted terms of one control step."""

    def __init__(self, task_weights: Mapping[str, float], given: Mapping[str, float], period: float) -> None:
        """Set it up.

        Args:
            task_weights: Of the task, instead of `WEIGHTS`.
            given: Of the user, instead of the task's.
            period: Length of a control step [s].

        Raises:
            UnknownNameError: There is no such term.
            InvalidValueError: A weight is not a finite number.
        """
        if not isinstance(given, Mapping):
            raise InvalidValueError("reward", "weights by term", given)
        for name in given:
            if name not in WEIGHTS:
                raise UnknownNameError("reward term", name, WEIGHTS)
        user = {name: finite(f"weight of reward term {name}", weight) for name, weight in given.items()}
        self.weights = {**WEIGHTS, **task_weights, **user}
        self._period = period

    def terms(self, before: float, now: TaskState, outcome: Outcome) -> dict[str, float]:
        """What each term adds to the reward of a step.

        Args:
            before: Progress before the step [m].
            now: After it.
            outcome: Of the episode, after it.
        """
        state = now.state
        # About the body's y axis, as far as the heading goes.
        sine, cosine = np.sin(state.yaw), np.cos(state.yaw)
        turning = -sine * state.angular_velocity[0] + cosine * state.angular_velocity[1]
        values = {
            "progress": now.place.progress - before,
            "success": float(outcome == "success"),
            "failure": -float(outcome in FAILURES),
            "time": -self._period,
            "lateral": -abs(now.place.lateral) * self._period,
            "heading": -abs(now.heading_error) * self._period,
            "tilt": -(state.roll**2) * self._period,
            "shock": -float(turning**2) * self._period,
            "energy": -now.work / 1000.0,
            "smoothness": -float(np.mean((now.action - now.last_action) ** 2)),
        }
        return {name: self.weights[name] * value for name, value in values.items()}
