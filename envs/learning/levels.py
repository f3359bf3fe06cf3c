"""Curriculum over levels of difficulty, raised by the success of the policy's mean action."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segtrack.envs.learning.sb3 import Robots

THRESHOLD = 0.9
"""Success of the mean action from which a level counts as mastered."""
EACH, LEAST = 12, 3
"""Robots at each level in a trial, shared by all strands, and of each strand at least."""


class Levels:
    """Curriculum: difficulty levels, and the level up to which robots train.

    Half of the robots draw evenly from the easiest level to the present one, so that nothing is forgotten,
    the others between the level before it and it.

    Attributes:
        values: Levels, easiest first.
        present: Level up to which robots train; initially the second.
    """

    def __init__(self, values: Sequence[float], reached: float = -math.inf) -> None:
        """Start at the second level, or at the level `reached` by an earlier training."""
        self.values = tuple(values)
        self.present = max(self.values[:2][-1], reached)

    def ranges(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the difficulty ranges sampled by the first and by the second half of the robots."""
        before = [value for value in self.values if value < self.present]
        return (self.values[0], self.present), (before[-1] if before else self.present, self.present)

    def note(self, success: Iterable[float]) -> None:
        """Raise the present level to the first one not mastered, or else to the last; it never falls.

        Args:
            success: Success of the mean action at each level (n,).
        """
        failed = [v for v, rate in zip(self.values, success, strict=True) if rate < THRESHOLD]
        self.present = max(self.present, failed[0] if failed else self.values[-1])


class LevelTrial:
    """Evaluates the mean action in every (condition, level) case in one batch."""

    def __init__(self, robots: Robots, cases: Sequence[Mapping[str, Any]]) -> None:
        """Assign equally many consecutive robots to each case.

        Args:
            robots: Robots, a multiple of the number of cases.
            cases: Parameters of each case (n,).
        """
        self._robots, self._count = robots, len(cases)
        each = robots.num_envs // len(cases)
        for k, case in enumerate(cases):
            robots.env.set_parameters(case, range(k * each, (k + 1) * each))

    def success(self, act: Callable[[NDArray[np.float32]], NDArray[np.float32]]) -> NDArray[np.float64]:
        """Run one episode of each robot, and return each case's success rate (n,).

        Args:
            act: Function from scaled observations (N, n) to actions (N, A).
        """
        observations: Any = self._robots.reset()
        succeeded = np.full(self._robots.num_envs, np.nan)
        while np.isnan(succeeded).any():
            observations, _, over, infos = self._robots.step(act(observations))
            for i in np.flatnonzero(over & np.isnan(succeeded)).tolist():
                succeeded[i] = infos[i]["success"]
        return succeeded.reshape(self._count, -1).mean(axis=1)
