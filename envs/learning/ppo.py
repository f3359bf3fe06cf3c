"""The part of training that needs Stable-Baselines3 and PyTorch."""

from __future__ import annotations

import csv
import os
import signal
import time
import zipfile
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import SubprocVecEnv

from segtrack.envs.learning.network import Network, NetworkOrigin
from segtrack.envs.learning.training import (
    CHECKPOINT,
    CURVE,
    POLICY,
    TrainingResult,
    TrainingSettings,
    make_training_env,
)
from segtrack.errors import FileAccessError
from segtrack.files import replacing, write_csv

Limits = tuple[NDArray[np.float32], NDArray[np.float32]]

CURVE_COLUMNS = ("steps", "minutes", "episodes", "success_rate", "mean_return", "level")
_RECENT = 100
"""Success rate and return are means over so many episodes."""
_SAVE_EVERY = 50_000
"""A policy is kept for good each time that so many control steps more are made."""
_TENSORBOARD = "tensorboard"
_MINIBATCHES = 8
"""Into so many a rollout is cut for the gradient's steps."""
_ROLLOUT = 2048
"""Control steps between two updates, over all workers."""
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""For the workers: threads for small matrices would take each other's cores."""


def learn(
    settings: TrainingSettings, folder: Path, resumed: bool, on_progress: Callable[[int], object]
) -> TrainingResult:
    """Train until all steps are made, or Ctrl-C; see `segtrack.envs.learning.training`."""
    log = _Log(settings, folder, on_progress)
    with _few_threads():
        venv = _workers(settings, log.level)
        try:
            model = _load(settings, folder, venv) if resumed else _model(settings, venv, folder)
            log.model = model
            left = settings.steps - model.num_timesteps
            try:
                if left > 0:
                    model.learn(left, callback=log, reset_num_timesteps=False, tb_log_name="ppo")
            except KeyboardInterrupt:
                log.keep()
            return log.result()
        finally:
            _end(venv)


@contextmanager
def _few_threads() -> Iterator[None]:
    """One thread for each process: those of small matrices would take each other's cores."""
    before, threads = dict(os.environ), torch.get_num_threads()
    os.environ.update(_ONE_THREAD)
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        for name in _ONE_THREAD:
            if name in before:
                os.environ[name] = before[name]
            else:
                del os.environ[name]


def _workers(settings: TrainingSettings, level: float | None) -> SubprocVecEnv:
    """The environments, in processes to which Ctrl-C means nothing: the first process takes care of it.

    A process inherits which signals are blocked; one that comes meanwhile is delivered afterwards.
    """
    # Started with the first process otherwise, it would unblock the signal in this one.
    resource_tracker.ensure_running()
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        makers: list[Any] = [partial(_Worker, settings, level)] * settings.workers
        return SubprocVecEnv(makers, start_method="spawn")
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _end(venv: SubprocVecEnv) -> None:
    """End the workers, which have nothing to lose.

    `SubprocVecEnv.close` would wait for answers that were read before Ctrl-C came: for ever.
    """
    for process in venv.processes:
        process.terminate()
    for process in venv.processes:
        process.join()


def _rollout(settings: TrainingSettings) -> int:
    """Control steps of each worker between two updates, in whole minibatches."""
    steps = min(_ROLLOUT, settings.steps) // settings.workers
    return max(steps // _MINIBATCHES, 2) * _MINIBATCHES


def _load(settings: TrainingSettings, folder: Path, venv: SubprocVecEnv) -> PPO:
    """The model as it was kept, with random numbers of its own from here on."""
    path = folder / CHECKPOINT
    changed: dict[str, Any] = {"tensorboard_log": str(folder / _TENSORBOARD), "n_steps": _rollout(settings)}
    try:
        model = PPO.load(path, env=venv, device="cpu", **changed)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise FileAccessError("resume training from", path, f"it is damaged ({error})") from None
    model.set_random_seed(settings.seed + model.num_timesteps)
    return model


def _model(settings: TrainingSettings, venv: SubprocVecEnv, folder: Path) -> PPO:
    return PPO(
        "MlpPolicy",
        venv,
        n_steps=_rollout(settings),
        batch_size=_rollout(settings) * settings.workers // _MINIBATCHES,
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
        self._levels: dict[int, float] = {}
        self._rows = _read_curve(folder / CURVE)
        self._before = self._rows[-1]["minutes"] if self._rows else 0.0
        self._episodes = int(self._rows[-1]["episodes"]) if self._rows else 0
        self._saved = self._rows[-1]["steps"] // _SAVE_EVERY if self._rows else 0
        self._began = time.perf_counter()
        self._origin, self._limits = _origin(settings)

    @property
    def level(self) -> float | None:
        """Level of the curriculum: mean over the workers, or that of an earlier run; None without one."""
        if self._levels:
            return float(np.mean(list(self._levels.values())))
        level = self._rows[-1]["level"] if self._rows else np.nan
        return None if np.isnan(level) else level

    @property
    def _minutes(self) -> float:
        return self._before + (time.perf_counter() - self._began) / 60

    def _on_step(self) -> bool:
        for worker, (done, info) in enumerate(zip(self.locals["dones"], self.locals["infos"], strict=True)):
            if done:
                self._successes.append(info["success"])
                self._returns.append(info["return"])
                self._episodes += 1
                if not np.isnan(info["level"]):
                    self._levels[worker] = info["level"]
        self._on_progress(self.num_timesteps)
        return True

    def _on_rollout_start(self) -> None:
        self._note()
        self.keep()

    def _on_training_end(self) -> None:
        self._note()
        self.keep()

    def _note(self) -> None:
        """Add a row to the curve, once an episode has ended."""
        if not self._returns:
            return
        row = {
            "steps": float(self.num_timesteps),
            "minutes": self._minutes,
            "episodes": float(self._episodes),
            "success_rate": float(np.mean(self._successes)),
            "mean_return": float(np.mean(self._returns)),
            "level": np.nan if self.level is None else self.level,
        }
        for name in ("success_rate", "mean_return", "level"):
            self.logger.record(f"episodes/{name}", row[name])
        self._rows.append(row)
        cells = ([f"{value:.8g}" for value in row.values()] for row in self._rows)
        write_csv(self._folder / CURVE, list(row), cells)

    def keep(self) -> None:
        """Write checkpoint and policy, each complete or not at all."""
        with replacing(self._folder / CHECKPOINT) as temporary:
            self.model.save(temporary)
        assert isinstance(self.model, PPO)
        network = _network(self.model, self._origin, self._limits)
        network.save(self._folder / POLICY)
        if self.model.num_timesteps // _SAVE_EVERY > self._saved:
            self._saved = self.model.num_timesteps // _SAVE_EVERY
            network.save(self._folder / "policies" / f"{self.model.num_timesteps:08d}.npz")

    def result(self) -> TrainingResult:
        """Return the result of the training so far."""
        steps = self.model.num_timesteps
        rate = self._rows[-1]["success_rate"] if self._rows else 0.0
        done = steps >= self._settings.steps
        return TrainingResult(self._settings, self._folder, steps, self._minutes, rate, done)


def _read_curve(path: Path) -> list[dict[str, float]]:
    """The rows of an earlier run."""
    if not path.is_file():
        return []
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return [{name: float(row[name]) for name in CURVE_COLUMNS} for row in csv.DictReader(file)]
    except (ValueError, TypeError, KeyError, OSError):
        raise FileAccessError("read learning curve", path, "it is damaged") from None


def _origin(settings: TrainingSettings) -> tuple[NetworkOrigin, Limits]:
    """Return a policy's origin, and the limits to which its observations are scaled."""
    env: Any = make_training_env(settings)
    try:
        return NetworkOrigin.of(env.unwrapped), env.unwrapped.sensors.limits
    finally:
        env.close()


def _network(model: PPO, origin: NetworkOrigin, limits: Limits) -> Network:
    """The mean of the policy's actions, as a network of its own."""
    layers = [
        layer
        for layer in (*model.policy.mlp_extractor.policy_net, model.policy.action_net)
        if isinstance(layer, torch.nn.Linear)
    ]
    return Network(
        origin,
        *limits,
        tuple(layer.weight.detach().numpy().astype(np.float32).copy() for layer in layers),
        tuple(layer.bias.detach().numpy().astype(np.float32).copy() for layer in layers),
    )
