"""Speed of single environments, in one process and on all cores."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from warnings import catch_warnings, simplefilter

import gymnasium
import numpy as np
from gymnasium.vector import AsyncVectorEnv

from segtrack.engine import EngineName
from segtrack.envs.environment import Environment
from segtrack.envs.tasks import TASKS, find_task
from segtrack.errors import InvalidValueError
from segtrack.experiments import interrupts_blocked

RESETS = 100
"""Resets of which the median is taken."""


@dataclass(frozen=True)
class Speed:
    """Speed of one environment: medians over rounds.

    Attributes:
        task: Name of the task.
        engine: Name of the engine.
        one: Control steps per second in one process, with resets [1/s].
        all_cores: Control steps per second of all workers together, one per core [1/s].
        workers: Number of worker processes.
        reset: Median duration of a reset [s].
        slowest_reset: Longest reset, when the world is rebuilt [s].
        real_time_factor: Simulated over elapsed time in one process [-].
    """

    task: str
    engine: EngineName
    one: float
    all_cores: float
    workers: int
    reset: float
    slowest_reset: float
    real_time_factor: float

    @property
    def gain(self) -> float:
        """Ratio of the rate on all cores to that in one process [-]."""
        return self.all_cores / self.one

    def summary(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict."""
        return {**vars(self), "gain": self.gain}


def benchmark(
    tasks: Sequence[str] = tuple(TASKS),
    *,
    steps: int = 500,
    rounds: int = 3,
    vehicle: str = "quince",
    engine: EngineName | None = None,
    workers: int | None = None,
    on_done: Callable[[], object] | None = None,
) -> tuple[Speed, ...]:
    """Measure environments with belts at full speed and flippers at random.

    Args:
        tasks: Names of tasks.
        steps: Control steps of each environment in each measurement.
        rounds: Number of alternations between one process and all cores.
        vehicle: Name of the vehicle.
        engine: Name of the engine; by default `Environment`'s.
        workers: Number of worker processes; by default the number of cores.
        on_done: Function called after each task.

    Returns:
        The speeds, task by task.
    """
    check_counts(tasks, steps=steps, rounds=rounds)
    count = workers if workers is not None else os.cpu_count() or 1
    speeds = []
    for task in tasks:
        speeds.append(_measure(task, steps, rounds, vehicle, engine, count))
        if on_done is not None:
            on_done()
    return tuple(speeds)


def check_counts(tasks: Sequence[str], **counts: int) -> None:
    """Refuse unknown tasks, and counts below 1.

    Raises:
        UnknownNameError: There is no such task.
        InvalidValueError: A number below 1.
    """
    for task in tasks:
        find_task(task)
    for name, value in counts.items():
        if value < 1:
            raise InvalidValueError(name, "at least 1", value)


def _measure(
    task: str, steps: int, rounds: int, vehicle: str, engine: EngineName | None, workers: int
) -> Speed:
    """Measure one task in one process and on all cores."""

    def make() -> Environment:
        return Environment(task, vehicle=vehicle, engine=engine)

    with interrupts_blocked():
        one, together = make(), AsyncVectorEnv([make] * workers)
    try:
        rates, vector_rates = [], []
        for i in range(rounds):
            rates.append(_one_rate(one, steps, i))
            vector_rates.append(_vector_rate(together, steps, i))
        resets = [_reset_time(one, i) for i in range(RESETS)]
        period = one.control_period
    finally:
        one.close()
        with catch_warnings():
            simplefilter("ignore")  # Of a call that was under way when Ctrl-C came.
            together.close(terminate=True)
    rate = statistics.median(rates)
    return Speed(
        task,
        one.engine,
        one=rate,
        all_cores=statistics.median(vector_rates),
        workers=workers,
        reset=statistics.median(resets),
        slowest_reset=max(resets),
        real_time_factor=rate * period,
    )


def _one_rate(env: gymnasium.Env[Any, Any], steps: int, seed: int) -> float:
    env.reset(seed=seed)
    actions = forward_actions(env.action_space, steps, seed)
    began = time.perf_counter()
    for action in actions:
        _, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            env.reset()
    return steps / (time.perf_counter() - began)


def _reset_time(env: Environment, seed: int) -> float:
    began = time.perf_counter()
    env.reset(seed=seed)
    return time.perf_counter() - began


def _vector_rate(env: AsyncVectorEnv, steps: int, seed: int) -> float:
    env.reset(seed=seed)
    own = [forward_actions(env.single_action_space, steps, seed + i) for i in range(env.num_envs)]
    began = time.perf_counter()
    for actions in zip(*own, strict=True):
        env.step(np.array(actions))
    return steps * env.num_envs / (time.perf_counter() - began)


def forward_actions(space: gymnasium.Space[Any], steps: int, seed: int) -> np.ndarray:
    """Return actions (steps, n): belts at full speed, flippers at random."""
    shape = space.shape
    assert shape is not None
    actions = np.random.default_rng(seed).uniform(-1.0, 1.0, (steps, *shape)).astype(np.float32)
    actions[:, :2] = 1.0
    return actions
