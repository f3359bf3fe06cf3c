"""Rewards: weighted sums of named terms, the same terms for all tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.envs.task import failed
from segtrack.envs.view import TaskView
from segtrack.errors import InvalidValueError, Phrase, UnknownNameError, finite


class Term(NamedTuple):
    """One term of a reward.

    Attributes:
        weight: Weight where neither task nor user gives another.
        text: Meaning, for tables.
        value: Function of the view of N robots after a control step that gives the unweighted term (N,).
    """

    weight: float
    text: str
    value: Callable[[TaskView], NDArray[np.floating]]


def _shock(s: TaskView) -> NDArray[np.float64]:
    """Square of the turning about the axis across the heading: the y axis as far as the heading goes."""
    across = np.cos(s.yaw) * s.motion.angular_velocity[:, 1] - np.sin(s.yaw) * s.motion.angular_velocity[:, 0]
    return np.asarray(across**2)


TERMS: dict[str, Term] = {
    "progress": Term(5.0, "length of the path gained in the step [m]", lambda s: s.gained),
    "success": Term(10.0, "1 when the task is done", lambda s: 1.0 * (s.outcome == "success")),
    "failure": Term(
        5.0,
        "-1 when the robot has tipped over, fallen or left the course",
        lambda s: -1.0 * failed(s.outcome),
    ),
    "time": Term(0.2, "-1 a second", lambda s: np.full(len(s.gained), -s.period)),
    "lateral": Term(0.5, "-(distance to the path [m]) a second", lambda s: -np.abs(s.lateral) * s.period),
    "heading": Term(
        0.2, "-(angle between robot and path [rad]) a second", lambda s: -np.abs(s.heading_error) * s.period
    ),
    "tilt": Term(0.5, "-(roll [rad])^2 a second", lambda s: -(s.roll**2) * s.period),
    "shock": Term(
        0.02,
        "-(body's angular speed about its y axis [rad/s])^2 a second",
        lambda s: -_shock(s) * s.period,
    ),
    "energy": Term(0.5, "-(positive work of the belt drives [kJ])", lambda s: -s.work / 1000.0),
    "smoothness": Term(
        0.01,
        "-(mean square change of the action)",
        lambda s: -np.mean((s.action - s.last_action) ** 2, axis=1).astype(float),
    ),
}
"""All terms by name. A further row is a further term: in rewards, `info`, errors and tables."""


class Reward:
    """Weighted terms of a control step.

    Attributes:
        weights: Weight of each term, by name.
    """

    def __init__(self, task_weights: Mapping[str, float], given: Mapping[str, float]) -> None:
        """Choose the weights.

        Args:
            task_weights: Weights of the task, instead of those of `TERMS`.
            given: Weights of the user, instead of the task's.

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

    def terms(self, view: TaskView) -> dict[str, NDArray[np.float64]]:
        """Return what each term adds to the rewards (N,) of the step after which a view is seen.

        Raises:
            InvalidValueError: A term that does not give a number for each robot.
        """
        terms = {}
        for name, term in TERMS.items():
            terms[name] = np.asarray(self.weights[name] * term.value(view), dtype=float)
            if terms[name].shape != view.yaw.shape:
                got = Phrase(f"shape {terms[name].shape}")
                raise InvalidValueError(
                    f"reward term {name}", f"of shape {view.yaw.shape}, a row a robot", got
                )
        return terms


def reward_table() -> str:
    """Return the terms as a Markdown table."""
    lines = ["| term | weight | what is weighted |", "|---|---|---|"]
    lines += [f"| {name} | {term.weight:g} | {term.text} |" for name, term in TERMS.items()]
    return "\n".join(lines)
