"""Adapter of a vector environment to rsl_rl."""

from __future__ import annotations

from typing import Any

import torch
from rsl_rl.env import VecEnv
from tensordict import TensorDict

from segtrack.envs.learning.scaling import REWARD_SCALE, check_same_step, scaled
from segtrack.envs.vector import VectorEnvironment


class RslRobots(VecEnv):
    """Vector environment for rsl_rl's runners: observations in [-1, 1], rewards times `REWARD_SCALE`.

    Observations are those of the environment's groups by name, or of the group `policy` where it has none. An
    episode that ends logs `success`.

    Attributes:
        env: Wrapped vector environment.
        device: Device of the tensors.
        num_envs: Number of robots.
        num_actions: Number of the action's entries.
        max_episode_length: Control steps after which an episode is truncated.
        cfg: Task and vehicle, for the log.
    """

    def __init__(self, env: VectorEnvironment, device: str | torch.device = "cpu", *, seed: int = 0) -> None:
        """Wrap an environment, and reset it.

        Args:
            env: Environment whose autoreset mode begins episodes in the step that ends them.
            device: Device of the tensors that go in and out.
            seed: Seed of the first robot's episodes, with consecutive ones for the others.

        Raises:
            InvalidValueError: An environment in another autoreset mode.
        """
        check_same_step(env)
        self.env, self.device, self.num_envs = env, device, env.num_envs
        self.num_actions, self.max_episode_length = len(env.actuators.names), env.max_episode_steps
        self.cfg = {"task": env.task.name, "vehicle": env.vehicle.name}
        self._observations, _ = env.reset(seed=seed)

    @property
    def episode_length_buf(self) -> torch.Tensor:
        """Control steps of the present episodes so far (N,); rsl_rl may set them."""
        return torch.as_tensor(self.env.episode_steps, device=self.device)

    @episode_length_buf.setter
    def episode_length_buf(self, steps: torch.Tensor) -> None:
        self.env.episode_steps[:] = steps.cpu().numpy()

    def get_observations(self) -> TensorDict:
        """Return the present observations of each group (N, n)."""
        rows = {
            each.group or "policy": torch.as_tensor(scaled(each, self._observations), device=self.device)
            for each in self.env.groups
        }
        return TensorDict(rows, batch_size=[self.num_envs], device=self.device)

    def step(self, actions: torch.Tensor) -> tuple[TensorDict, torch.Tensor, torch.Tensor, dict[str, Any]]:
        """Step, and return observations, rewards (N,), ends (N,), and extras with `time_outs` and `log`."""
        self._observations, *told, info = self.env.step(actions.detach().cpu().numpy())
        rewards, terminated, truncated = (torch.as_tensor(each, device=self.device) for each in told)
        over = terminated | truncated
        extras: dict[str, Any] = {"time_outs": truncated & ~terminated, "log": {}}
        if over.any():
            success = info["final_info"]["success"][over.cpu().numpy()]
            extras["log"]["/success"] = float(success.mean())
        return self.get_observations(), REWARD_SCALE * rewards.float(), over, extras
