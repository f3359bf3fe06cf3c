"""Curricula: a wrapper that makes a task harder as it is learnt."""

from __future__ import annotations

from collections import deque
from typing import Any

import gymnasium

from segtrack.envs.parameters import Number
from segtrack.errors import InvalidValueError, UnknownNameError, finite


class Curriculum(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Wrapper that samples a task's difficulty up to a level that rises with the success rate.

    Episodes draw the parameter uniformly, in turn between `easiest` and the level, so that nothing
    is forgotten, and within a `step` of the level. Once `threshold` of the last `window` episodes
    near the level succeeded, it rises by `step`, up to `hardest`. `info["level"]` tells it.

    Attributes:
        level: Present level of the parameter.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        easiest: float,
        hardest: float,
        *,
        step: float,
        level: float | None = None,
        parameter: str | None = None,
        threshold: float = 0.7,
        window: int = 10,
    ) -> None:
        """Wrap an environment.

        Args:
            env: One of segtrack's, wrapped or not.
            easiest: Smallest value of the parameter.
            hardest: Value at which the level stops rising.
            step: Rise of the level, > 0.
            level: First level; a step above the easiest if not given.
            parameter: Name of the parameter; the task's own difficulty if not given.
            threshold: Success rate at which the level rises, in (0, 1].
            window: Number of the latest episodes near the level that count.

        Raises:
            UnknownNameError: No such parameter.
            InvalidValueError: Values that cannot be.
        """
        super().__init__(env)
        there: Any = env.unwrapped
        self._parameter = getattr(there.task, "difficulty", "") if parameter is None else parameter
        kind = there.parameters.get(self._parameter)
        if not isinstance(kind, Number):
            numbers = [name for name, p in there.parameters.items() if isinstance(p, Number)]
            raise UnknownNameError(f"number to vary in {there.task.name}", self._parameter, numbers)
        kind.check(f"curriculum of {self._parameter}", (easiest, hardest))
        if not finite("curriculum step", step) > 0:
            raise InvalidValueError("curriculum step", "greater than 0", step)
        if kind.whole and step != int(step):
            raise InvalidValueError("curriculum step", f"a whole number for {self._parameter}", step)
        if not 0 < threshold <= 1:
            raise InvalidValueError("curriculum threshold", "above 0 and at most 1", threshold)
        if window < 1:
            raise InvalidValueError("curriculum window", "at least 1", window)
        self._easiest, self._hardest, self._step = float(easiest), float(hardest), float(step)
        self._threshold, self._recent = threshold, deque[bool](maxlen=window)
        first = self._easiest + self._step if level is None else finite("curriculum level", level)
        self.level = min(max(first, self._easiest), self._hardest)
        self._near = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode at a difficulty up to the level, unless the options say otherwise."""
        self._near = not self._near
        low = max(self.level - self._step, self._easiest) if self._near else self._easiest
        sampled = {self._parameter: (low, self.level)}
        observation, info = self.env.reset(seed=seed, options={**sampled, **(options or {})})
        return observation, {**info, "level": self.level}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Act; the end of an episode may raise the level for the next."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        if terminated or truncated:
            self._note(info["parameters"][self._parameter], info["success"])
        return observation, reward, terminated, truncated, {**info, "level": self.level}

    def _note(self, value: float, success: bool) -> None:
        if value < self.level - self._step:
            return
        self._recent.append(success)
        full = len(self._recent) == self._recent.maxlen
        if full and sum(self._recent) >= self._threshold * len(self._recent):
            self._recent.clear()
            self.level = min(self.level + self._step, self._hardest)
