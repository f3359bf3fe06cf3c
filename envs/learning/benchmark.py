"""Speed of the environments."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium.vector import AsyncVectorEnv

from segtrack.engine import EngineName
from segtrack.envs.environment import Environment
from segtrack.envs.tasks import TASKS, find_task
from segtrack.errors import InvalidValueError

if TYPE_CHECKING:
    from segtrack.envs.vector import VectorEnvironment

_RESETS = 100


@dataclass(frozen=True)
class Speed:
    """Speed of one environment; medians over rounds.

    Attributes:
        task: Name of the task.
        engine: Name of the engine.
        one: Control steps a second in one process, resets included.
        all_cores: Control steps a second with a worker a core, all together.
        workers: Number of workers.
        reset: Duration of a reset, median [s].
        slowest_reset: Longest reset, one that builds the world anew included [s].
        real_time_factor: Simulated over elapsed time in one process.
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
        """Ratio of all cores to one process [-]."""
        return self.all_cores / self.one

    def summary(self) -> dict[str, Any]:
        """Return plain values with the names that JSON has."""
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
    """Measure environments: belts forward at full speed, flippers at random.

    Args:
        tasks: Names of tasks.
        steps: Control steps of each environment in each measurement.
        rounds: Number of turns of one process and all cores.
        vehicle: Name of the vehicle.
        engine: Name of the engine; that of `Environment` if not given.
        workers: Processes for all cores; as many as there are cores if not given.
        on_done: Called after each task.

    Returns:
        The speeds, task by task.
    """
    _check(tasks, steps=steps, rounds=rounds)
    count = workers if workers is not None else os.cpu_count() or 1
    speeds = []
    for task in tasks:
        speeds.append(_measure(task, steps, rounds, vehicle, engine, count))
        if on_done is not None:
            on_done()
    return tuple(speeds)


def _check(tasks: Sequence[str], **counts: int) -> None:
    """Refuse tasks that there are not, and numbers below 1."""
    for task in tasks:
        find_task(task)
    for name, value in counts.items():
        if value < 1:
            raise InvalidValueError(name, "at least 1", value)


def _measure(
    task: str, steps: int, rounds: int, vehicle: str, engine: EngineName | None, workers: int
) -> Speed:
    def make() -> Environment:
        return Environment(task, vehicle=vehicle, engine=engine)

    one, together = make(), AsyncVectorEnv([make] * workers)
    try:
        rates, vector_rates = [], []
        for i in range(rounds):
            rates.append(_one_rate(one, steps, i))
            vector_rates.append(_vector_rate(together, steps, i))
        resets = [_reset_time(one, i) for i in range(_RESETS)]
        period = one.control_period
    finally:
        one.close()
        together.close()
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
    actions = _actions(env.action_space, steps, seed)
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
    own = [_actions(env.single_action_space, steps, seed + i) for i in range(env.num_envs)]
    began = time.perf_counter()
    for actions in zip(*own, strict=True):
        env.step(np.array(actions))
    return steps * env.num_envs / (time.perf_counter() - began)


def _actions(space: gymnasium.Space[Any], steps: int, seed: int) -> np.ndarray:
    shape = space.shape
    assert shape is not None
    actions = np.random.default_rng(seed).uniform(-1.0, 1.0, (steps, *shape)).astype(np.float32)
    actions[:, :2] = 1.0
    return actions


@dataclass(frozen=True)
class BatchSpeed:
    """Speed of a vector environment; medians over rounds.

    Attributes:
        task: Name of the task.
        num_envs: Number of robots.
        threads: Number of threads that simulate.
        time_step: Time step of the engine [s].
        rate: Control steps a second of all robots together, resets included.
        physics: Share of the simulation in the time of a step [-].
        observation: Share of observations [-].
        reward: Share of rewards [-].
        python: Share of everything else: commands, ends, resets, `info` [-].
        reset: Duration of a reset of one robot, median [s].
        memory: Growth of the process's resident memory, from before the construction to after the first steps
            [bytes]; little where another vector environment was there before.
    """

    task: str
    num_envs: int
    threads: int
    time_step: float
    rate: float
    physics: float
    observation: float
    reward: float
    python: float
    reset: float
    memory: int


def benchmark_batches(
    tasks: Sequence[str],
    num_envs: Sequence[int],
    threads: Sequence[int],
    *,
    steps: int = 100,
    rounds: int = 3,
    vehicle: str = "quince",
    time_step: float | None = None,
    device: str = "cpu",
    on_done: Callable[[], object] | None = None,
) -> tuple[BatchSpeed, ...]:
    """Measure vector environments: belts forward at full speed, flippers at random.

    Args:
        tasks: Names of tasks.
        num_envs: Numbers of robots.
        threads: Numbers of threads.
        steps: Control steps of each robot in each round.
        rounds: Number of rounds, each from a reset on.
        vehicle: Name of the vehicle.
        time_step: Time step of the engine [s]; that of `VectorEnvironment` if not given.
        device: Device that simulates, as of `segtrack.Batch`.
        on_done: Called after each measurement.

    Returns:
        The speeds, task by task, number by number.
    """
    from segtrack.envs.vector import VectorEnvironment  # With numba, which takes half a second to import.

    _check(tasks, steps=steps, rounds=rounds)
    given: dict[str, Any] = {"vehicle": vehicle, "time_step": time_step, "device": device}
    speeds = []
    for task, count, number in product(tasks, num_envs, threads):
        before = _resident_memory()
        env = VectorEnvironment(task, count, threads=number, **given)
        try:
            speeds.append(_batch_speed(env, steps, rounds, number, before))
        finally:
            env.close()
        if on_done is not None:
            on_done()
    return tuple(speeds)


def _batch_speed(env: VectorEnvironment, steps: int, rounds: int, threads: int, before: int) -> BatchSpeed:
    count = env.num_envs
    actions = np.stack([_actions(env.single_action_space, steps, i) for i in range(count)], axis=1)
    env.reset(seed=0)
    env.step(actions[0])
    env.step(actions[-1])
    memory, times = _resident_memory() - before, []
    for i in range(rounds):
        env.reset(seed=i)
        simulated, began = env.simulation_time, time.perf_counter()
        for action in actions:
            env.step(action)
        whole = (time.perf_counter() - began) / steps
        view, sensors = env.view, env.sensors
        seen = _duration(lambda: sensors.form(sensors.clip(sensors.read(view))))  # noqa: B023
        worth = _duration(lambda: env.reward.terms(view))  # noqa: B023
        times.append((whole, (env.simulation_time - simulated) / steps, seen, worth))
    whole, physics, seen, worth = (statistics.median(each) for each in zip(*times, strict=True))
    one = np.arange(count) == 0
    resets = [_duration(lambda: env.reset(options={"reset_mask": one}), 1) for _ in range(_RESETS)]
    return BatchSpeed(
        env.task.name,
        count,
        threads,
        env.time_step,
        rate=count / whole,
        physics=physics / whole,
        observation=seen / whole,
        reward=worth / whole,
        python=(whole - physics - seen - worth) / whole,
        reset=statistics.median(resets),
        memory=memory,
    )


def _duration(call: Callable[[], object], times: int = 5) -> float:
    """Duration of a call, the shortest of several [s]."""
    durations = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        durations.append(time.perf_counter() - began)
    return min(durations)


def _resident_memory() -> int:
    """Resident memory of the process [bytes]; 0 where the system does not say."""
    status = Path("/proc/self/statm")
    return int(status.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if status.exists() else 0
