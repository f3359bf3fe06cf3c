"""The part of training that needs Stable-Baselines3 and PyTorch."""

from __future__ import annotations

import csv
import os
import signal
import time
import zipfile
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import SubprocVecEnv

from segtrack.envs.network import Network, Origin
from segtrack.envs.training import (
    CHECKPOINT,
    CURVE,
    POLICY,
    TrainingResult,
    TrainingSettings,
    make_training_env,
)
from segtrack.errors import FileAccessError
from segtrack.files import replacing

CURVE_COLUMNS = ("steps", "minutes", "episodes", "success_rate", "mean_return", "level")
_RECENT = 100
"""Success rate and return are means over so many episodes."""
_TENSORBOARD = "tensorboard"
_ROLLOUT = 2048
"""Control steps between two updates, over all workers."""
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""For the workers: threads for small matrices would take each other's cores."""


def learn(
    settings: TrainingSettings, folder: Path, resume: bool, on_progress: Callable[[int], object]
) -> TrainingResult:
    """Train until all steps are made, or Ctrl-C; see `segtrack.envs.training.train`."""
    os.environ.update(_ONE_THREAD)
    torch.set_num_threads(1)
    log = _Log(settings, folder, on_progress)
    venv = _workers(settings, log.level)
    try:
        model = _load(folder, venv) if resume else _model(settings, venv, folder)
        try:
            model.learn(
                settings.steps - model.num_timesteps,
                callback=log,
                reset_num_timesteps=False,
                tb_log_name="ppo",
            )
        except KeyboardInterrupt:
            log.keep()
        return log.result()
    finally:
        venv.close()


def _workers(settings: TrainingSettings, level: float | None) -> SubprocVecEnv:
    """The environments, in processes to which Ctrl-C means nothing: the first process takes care of it."""
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        makers: list[Any] = [partial(_Worker, settings, level)] * settings.workers
        return SubprocVecEnv(makers, start_method="spawn")
    finally:
        signal.signal(signal.SIGINT, handler)


def _load(folder: Path, venv: SubprocVecEnv) -> PPO:
    """The model of an earlier sitting.

    Raises:
        FileAccessError: It cannot be read.
    """
    path = folder / CHECKPOINT
    try:
        return PPO.load(path, env=venv, device="cpu", tensorboard_log=str(folder / _TENSORBOARD))
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise FileAccessError("resume training from", path, f"it is damaged ({error})") from None


def _model(settings: TrainingSettings, venv: SubprocVecEnv, folder: Path) -> PPO:
    return PPO(
        "MlpPolicy",
        venv,
        n_steps=max(min(_ROLLOUT, settings.steps) // settings.workers, 16),
        batch_size=256,
        learning_rate=3e-4,
        gamma=0.99,
        ent_coef=0.002,
        target_kl=0.05,
        policy_kwargs={"net_arch": [128, 128], "log_std_init": -0.5},
        tensorboard_log=str(folder / _TENSORBOARD),
        seed=settings.seed,
        device="cpu",
    )


class _Worker(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment whose last info of an episode is small, and tells the return."""

    def __init__(self, settings: TrainingSettings, level: float | None) -> None:
        super().__init__(make_training_env(settings, level))
        self._return = 0.0

    def reset(self, **given: Any) -> tuple[Any, dict[str, Any]]:
        self._return = 0.0
        observation, _ = self.env.reset(**given)
        return observation, {}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._return += float(reward)
        if not (terminated or truncated):
            return observation, reward, terminated, truncated, {}
        last = {"success": info["success"], "return": self._return, "level": info.get("level", np.nan)}
        return observation, reward, terminated, truncated, last


class _Log(BaseCallback):
    """Writes curve, checkpoint and policy after each rollout, and reports progress."""

    def __init__(
        self, settings: TrainingSettings, folder: Path, on_progress: Callable[[int], object]
    ) -> None:
        super().__init__()
        self._settings, self._folder, self._on_progress = settings, folder, on_progress
        self._successes: deque[bool] = deque(maxlen=_RECENT)
        self._returns: deque[float] = deque(maxlen=_RECENT)
        self._before, self._episodes, self.level = _last_row(folder / CURVE)
        self._began = time.perf_counter()

    @property
    def _minutes(self) -> float:
        return self._before + (time.perf_counter() - self._began) / 60

    @property
    def _success_rate(self) -> float:
        return float(np.mean(self._successes)) if self._successes else 0.0

    def _on_step(self) -> bool:
        for done, info in zip(self.locals["dones"], self.locals["infos"], strict=True):
            if done:
                self._successes.append(info["success"])
                self._returns.append(info["return"])
                self.level = info["level"]
                self._episodes += 1
        self._on_progress(self.num_timesteps)
        return True

    def _on_rollout_start(self) -> None:
        if self._returns:
            self._write_row()
            self.keep()

    def _on_training_end(self) -> None:
        self._write_row()
        self.keep()

    def _write_row(self) -> None:
        success, value = self._success_rate, float(np.mean(self._returns)) if self._returns else 0.0
        level = np.nan if self.level is None else self.level
        self.logger.record("episodes/success_rate", success)
        self.logger.record("episodes/mean_return", value)
        self.logger.record("episodes/level", level)
        path = self._folder / CURVE
        new = not path.is_file()
        with path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            if new:
                writer.writerow(CURVE_COLUMNS)
            row = (self._minutes, self._episodes, success, value, level)
            writer.writerow((self.num_timesteps, *(f"{x:.6g}" for x in row)))

    def keep(self) -> None:
        """Write checkpoint and policy, each complete or not at all."""
        with replacing(self._folder / CHECKPOINT) as temporary:
            self.model.save(temporary)
        assert isinstance(self.model, PPO)
        _network(self.model, self._settings).save(self._folder / POLICY)

    def result(self) -> TrainingResult:
        """How it stands."""
        steps = self.model.num_timesteps
        done = steps >= self._settings.steps
        return TrainingResult(self._settings, self._folder, steps, self._minutes, self._success_rate, done)


def _last_row(curve: Path) -> tuple[float, int, float | None]:
    """Minutes, episodes and level of earlier sittings."""
    rows = []
    if curve.is_file():
        with curve.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    if not rows:
        return 0.0, 0, None
    level = float(rows[-1]["level"])
    return float(rows[-1]["minutes"]), int(float(rows[-1]["episodes"])), None if np.isnan(level) else level


def _network(model: PPO, settings: TrainingSettings) -> Network:
    """The mean of the policy's actions, as a network of its own."""
    layers = [
        layer
        for layer in (*model.policy.mlp_extractor.policy_net, model.policy.action_net)
        if isinstance(layer, torch.nn.Linear)
    ]
    env = make_training_env(settings)
    plain: Any = env.unwrapped
    origin = Origin(settings.task, plain.vehicle.name, plain.sensors.entries, plain.actuators.names)
    low, high = plain.sensors.limits
    env.close()
    return Network(
        origin,
        low,
        high,
        tuple(layer.weight.detach().numpy().astype(np.float32).copy() for layer in layers),
        tuple(layer.bias.detach().numpy().astype(np.float32).copy() for layer in layers),
    )
