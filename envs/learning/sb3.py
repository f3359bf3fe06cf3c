"""Adapter of a vector environment to Stable-Baselines3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from segtrack.envs.learning.scaling import REWARD_SCALE, check_same_step, scaled
from segtrack.envs.single import RobotEnvironment
from segtrack.envs.vector import VectorEnvironment
from segtrack.errors import InvalidValueError


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
        check_same_step(env)
        self.env = env
        self._returns = np.zeros(env.num_envs)
        observations = spaces.Box(-1.0, 1.0, (len(env.sensors.entries),), np.float32)
        super().__init__(env.num_envs, observations, env.single_action_space)

    def reset(self) -> NDArray[np.float32]:
        """Begin an episode of each robot with the seeds of `seed`; returns the observations (N, n)."""
        observations, _ = self.env.reset(seed=self._seeds)
        self._reset_seeds()
        self._returns[:] = 0.0
        return scaled(self.env.sensors, observations)

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
                "terminal_observation": scaled(self.env.sensors, info["final_obs"][i]),
                "TimeLimit.truncated": bool(truncated[i] and not terminated[i]),
                "success": bool(info["final_info"]["success"][i]),
                "return": float(self._returns[i]),
            }
        self._returns[over] = 0.0
        return (
            scaled(self.env.sensors, observations),
            (REWARD_SCALE * rewards).astype(np.float32),
            over,
            infos,
        )

    def close(self) -> None:
        """Close the environment; may be called again."""
        self.env.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of each of some robots' environments, see `VectorEnvironment.robots`."""
        return [getattr(robot, attr_name) for robot in self._chosen(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of the environment, which all robots share.

        Raises:
            InvalidValueError: Only some robots are asked for.
        """
        if set(self._get_indices(indices)) != set(range(self.num_envs)):
            raise InvalidValueError(f"indices of {attr_name}", "of all robots, which share it", indices)
        setattr(self.env, attr_name, value)

    def env_method(self, method_name: str, *given: Any, indices: Any = None, **named: Any) -> list[Any]:
        """Call a method of each of some robots' environments: `set_parameters`, or `render`."""
        return [getattr(robot, method_name)(*given, **named) for robot in self._chosen(indices)]

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """Return a picture of each robot, or None in an environment without `render_mode="rgb_array"`."""
        return self.env.render() or [None] * self.num_envs

    def _chosen(self, indices: Any) -> list[RobotEnvironment]:
        robots = self.env.robots
        return [robots[i] for i in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return False for each robot: none has a wrapper of its own."""
        return [False for _ in self._get_indices(indices)]
