"""Adapter of a vector environment to Stable-Baselines3."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from segtrack.envs.vector import VectorEnvironment
from segtrack.errors import InvalidValueError

REWARD_SCALE = 0.1
"""Factor on rewards: returns of about 1, so that the critic's gradient does not drown the policy's."""


class Robots(VecEnv):
    """Vector environment for Stable-Baselines3: flat observations in [-1, 1], rewards times `REWARD_SCALE`.

    The `info` of a robot is empty but in the last step of an episode; there it has `terminal_observation` and
    `TimeLimit.truncated`, as Stable-Baselines3 wants, and `success` and `return` (not scaled).

    Attributes:
        env: Wrapped vector environment.
    """

    def __init__(self, env: VectorEnvironment) -> None:
        """Wrap an environment whose autoreset mode begins episodes in the step that ends them.

        Raises:
            InvalidValueError: An environment in another autoreset mode.
        """
        mode = env.metadata["autoreset_mode"]
        if mode is not AutoresetMode.SAME_STEP:
            raise InvalidValueError("autoreset_mode", AutoresetMode.SAME_STEP.value, mode.value)
        self.env = env
        self._low, self._high = env.sensors.limits
        self._returns = np.zeros(env.num_envs)
        observations = spaces.Box(-1.0, 1.0, self._low.shape, np.float32)
        super().__init__(env.num_envs, observations, env.single_action_space)

    def reset(self) -> NDArray[np.float32]:
        """Begin an episode of each robot with the seeds of `seed`; returns the observations (N, n)."""
        observations, _ = self.env.reset(seed=self._seeds)
        self._reset_seeds()
        self._returns[:] = 0.0
        return self._scaled(observations)

    def step_async(self, actions: NDArray[np.float32]) -> None:
        """Store the actions (N, A) for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], Any]:
        """Step, and return observations (N, n), rewards and ends (N,), and an `info` for each robot."""
        observations, rewards, terminated, truncated, info = self.env.step(self._actions)
        self._returns += rewards
        over = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(over).tolist():
            infos[i] = {
                "terminal_observation": self._scaled(info["final_obs"][i]),
                "TimeLimit.truncated": bool(truncated[i] and not terminated[i]),
                "success": bool(info["final_info"]["success"][i]),
                "return": float(self._returns[i]),
            }
        self._returns[over] = 0.0
        return self._scaled(observations), (REWARD_SCALE * rewards).astype(np.float32), over, infos

    def close(self) -> None:
        """Close the environment; may be called again."""
        self.env.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of the environment, repeated for each of some robots."""
        return [getattr(self.env, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of the environment, shared by all robots."""
        setattr(self.env, attr_name, value)

    def env_method(self, method_name: str, *given: Any, indices: Any = None, **named: Any) -> list[Any]:
        """Call a method of the environment, shared by all robots."""
        return [getattr(self.env, method_name)(*given, **named)]

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return False for each robot: none has a wrapper of its own."""
        return [False for _ in self._get_indices(indices)]

    def _scaled(self, observations: Any) -> NDArray[np.float32]:
        entries = self.env.sensors.flat(observations)
        return np.asarray(2 * (entries - self._low) / (self._high - self._low) - 1, dtype=np.float32)
