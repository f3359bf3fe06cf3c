"""Rewards: weighted sums of named terms, the same terms for all tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from segtrack.envs.task import FAILURES, Outcome, TaskState
from segtrack.errors import InvalidValueError, UnknownNameError, finite


class ControlStep(NamedTuple):
    """One control step, as the terms of a reward see it.

    Attributes:
        gained: Progress along the path in the step [m].
        now: State after the step.
        outcome: Outcome of the episode after the step.
        period: Length of the step [s].
    """

    gained: float
    now: TaskState
    outcome: Outcome
    period: float


class Term(NamedTuple):
    """One term of a reward.

    Attributes:
        weight: Weight where neither task nor user gives another.
        text: Meaning, for tables.
        value: Function of the control step that gives the unweighted term.
    """

    weight: float
    text: str
    value: Callable[[ControlStep], float]


TERMS: dict[str, Term] = {
    "progress": Term(5.0, "length of the path gained in the step [m]", lambda step: step.gained),
    "success": Term(10.0, "1 when the task is done", lambda step: float(step.outcome == "success")),
    "failure": Term(
        5.0,
        "-1 when the robot has tipped over, fallen or left the course",
        lambda step: -float(step.outcome in FAILURES),
    ),
    "time": Term(0.2, "-1 a second", lambda step: -step.period),
    "lateral": Term(
        0.5, "-(distance to the path [m]) a second", lambda step: -abs(step.now.place.lateral) * step.period
    ),
    "heading": Term(
        0.2,
        "-(angle between robot and path [rad]) a second",
        lambda step: -abs(step.now.heading_error) * step.period,
    ),
    "tilt": Term(0.5, "-(roll [rad])^2 a second", lambda step: -(step.now.state.roll**2) * step.period),
    "shock": Term(
        0.02,
        "-(body's angular speed about its y axis [rad/s])^2 a second",
        # About the y axis as far as the heading goes.
        lambda step: (
            -float(
                (
                    -np.sin(step.now.state.yaw) * step.now.state.angular_velocity[0]
                    + np.cos(step.now.state.yaw) * step.now.state.angular_velocity[1]
                )
                ** 2
            )
            * step.period
        ),
    ),
    "energy": Term(0.5, "-(positive work of the belt drives [kJ])", lambda step: -step.now.work / 1000.0),
    "smoothness": Term(
        0.01,
        "-(mean square change of the action)",
        lambda step: (
            -float(np.add.reduce((step.now.action - step.now.last_action) ** 2) / len(step.now.action))
        ),
    ),
}
"""All terms by name. A further row is a further term: in rewards, `info`, errors and tables."""


class Reward:
    """Weighted terms of a control step.

    Attributes:
        weights: Weight of each term, by name.
    """

    def __init__(self, task_weights: Mapping[str, float], given: Mapping[str, float], period: float) -> None:
        """Choose the weights.

        Args:
            task_weights: Weights of the task, instead of those of `TERMS`.
            given: Weights of the user, instead of the task's.
            period: Length of a control step [s].

        Raises:
            UnknownNameError: There is no such term; also for a weight of the task.
            InvalidValueError: A weight is not a finite number.
        """
        if not isinstance(given, Mapping):
            raise InvalidValueError("reward", "weights by term", given)
        for name in (*task_weights, *given):
            if name not in TERMS:
                raise UnknownNameError("reward term", name, TERMS)
        user = {name: finite(f"weight of reward term {name}", weight) for name, weight in given.items()}
        self.weights = {**{name: term.weight for name, term in TERMS.items()}, **task_weights, **user}
        self._period = period

    def terms(self, before: float, now: TaskState, outcome: Outcome) -> dict[str, float]:
        """Return what each term adds to the reward of a step.

        Args:
            before: Progress before the step [m].
            now: State after the step.
            outcome: Outcome of the episode after the step.
        """
        step = ControlStep(now.place.progress - before, now, outcome, self._period)
        terms = {}
        for name, term in TERMS.items():
            terms[name] = self.weights[name] * term.value(step)
        return terms


def reward_table() -> str:
    """Return the terms as a Markdown table."""
    lines = ["| term | weight | what is weighted |", "|---|---|---|"]
    lines += [f"| {name} | {term.weight:g} | {term.text} |" for name, term in TERMS.items()]
    return "\n".join(lines)
