"""Rewards: weighted sums of named terms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.envs.own_rows import merge_rows, pickled_rows, rows_to_pickle
from segtrack.envs.task import failed
from segtrack.envs.view import TaskView
from segtrack.errors import InvalidValueError, Phrase, UnknownNameError, finite


class Term(NamedTuple):
    """Term of a reward.

    Attributes:
        weight: Default weight, where neither task nor user gives one.
        text: Meaning, for tables.
        value: Function of the view of N robots after a step that returns the unweighted term (N,).
        discount: None; or a factor g, and `value` is a potential p: the term is g p after the step less p
            before it, with p = 0 where the robot's own ending has ended the episode. Such terms leave the
            best policy of a learner that discounts with g as it is (Ng, Harada, Russell 1999).
    """

    weight: float
    text: str
    value: Callable[[TaskView], NDArray[np.floating]]
    discount: float | None = None


def _shock(s: TaskView) -> NDArray[np.float64]:
    """Squared pitch rate: angular velocity about the horizontal axis across the heading (N,) [rad^2/s^2]."""
    across = np.cos(s.yaw) * s.motion.angular_velocity[:, 1] - np.sin(s.yaw) * s.motion.angular_velocity[:, 0]
    return np.asarray(across**2)


TERMS: Mapping[str, Term] = MappingProxyType(
    {
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
            0.2,
            "-(angle between robot and path [rad]) a second",
            lambda s: -np.abs(s.heading_error) * s.period,
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
)
"""Terms that are built in, by name; those of tasks and users follow."""


class Reward:
    """Weighted sum of reward terms.

    Attributes:
        weights: Weight of each term, by name.
    """

    def __init__(
        self,
        task_weights: Mapping[str, float],
        given: Mapping[str, float],
        *own: Mapping[str, Term | None],
    ) -> None:
        """Choose terms, and their weights.

        Args:
            task_weights: Weights of the task, in place of the terms' defaults.
            given: Weights of the user, in place of the task's.
            *own: Terms by name, added to `TERMS` or in place of them; None leaves one out.

        Raises:
            UnknownNameError: There is no such term; also for a weight of the task.
            InvalidValueError: Not weights by term, one that is not a finite number, or a term that is none.
        """
        for what, weights in (("weights of the task", task_weights), ("reward", given)):
            if not isinstance(weights, Mapping):
                raise InvalidValueError(what, "weights by term", weights)
        self._terms = merge_rows("reward term", Term, "value", TERMS, *own)
        left_out = set().union(TERMS, *own) - self._terms.keys()
        for name in (*task_weights, *given):
            if name not in self._terms and (name in given or name not in left_out):
                raise UnknownNameError("reward term", name, self._terms)
        chosen = {name: term.weight for name, term in self._terms.items()} | dict(task_weights) | dict(given)
        for name, term in self._terms.items():
            if term.discount is not None and not 0 <= finite(f"discount of {name}", term.discount) <= 1:
                raise InvalidValueError(f"discount of reward term {name}", "from 0 to 1", term.discount)
        self.weights = {name: finite(f"weight of reward term {name}", chosen[name]) for name in self._terms}

    @property
    def potential_names(self) -> tuple[str, ...]:
        """Names of the terms that are differences of a potential."""
        return tuple(name for name, term in self._terms.items() if term.discount is not None)

    def potentials(self, view: TaskView) -> dict[str, NDArray[Any]]:
        """Return the potentials (N,), by the names of their terms.

        Raises:
            InvalidValueError: One that does not give a number for each robot.
        """
        potentials, shape = {}, view.yaw.shape
        for name in self.potential_names:
            potentials[name] = value = np.asarray(self._terms[name].value(view))
            if value.dtype.kind not in "fiub" or value.shape != shape:
                raise _other(name, value, shape)
        return potentials

    def terms(
        self, view: TaskView, before: Mapping[str, NDArray[np.float64]] | None = None
    ) -> dict[str, NDArray[np.float64]]:
        """Return each term's contribution to the rewards after a step (N,), by name.

        Args:
            view: View after the step.
            before: Potentials before the step (N,), by the name of their term; 0 if not given.

        Raises:
            InvalidValueError: A term that does not give a number for each robot.
        """
        terms, shape = {}, view.yaw.shape
        for name, term in self._terms.items():
            value = np.asarray(term.value(view))
            if value.dtype.kind not in "fiub" or value.shape != shape:
                raise _other(name, value, shape)
            if term.discount is not None:
                value = float(term.discount) * value * (view.outcome == "running")
                value -= 0.0 if before is None else before[name]
            terms[name] = np.asarray(self.weights[name] * value, dtype=float)
        return terms

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a copy, with built-in terms by name."""
        return vars(self) | {"_terms": rows_to_pickle(self._terms, TERMS)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a copy."""
        self.__dict__ |= state | {"_terms": pickled_rows(state["_terms"], TERMS)}


def _other(name: str, value: NDArray[Any], shape: tuple[int, ...]) -> InvalidValueError:
    """Return the error for the value of a term that is no number for each robot."""
    got = Phrase(f"{value.dtype} of shape {value.shape}")
    return InvalidValueError(f"reward term {name}", f"numbers of shape {shape}, a row a robot", got)


def reward_table() -> str:
    """Return the terms as a Markdown table."""
    lines = ["| term | weight | what is weighted |", "|---|---|---|"]
    lines += [f"| {name} | {term.weight:g} | {term.text} |" for name, term in TERMS.items()]
    return "\n".join(lines)
