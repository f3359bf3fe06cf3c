"""Speed of environments: single ones in one process and on all cores, and vector environments with memory."""

from __future__ import annotations

import multiprocessing
import os
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, simplefilter

import gymnasium
import numpy as np
from gymnasium.vector import AsyncVectorEnv

from segtrack.engine import EngineName
from segtrack.envs.environment import Environment
from segtrack.envs.tasks import TASKS, find_task
from segtrack.errors import InvalidValueError
from segtrack.experiments import interrupts_blocked

if TYPE_CHECKING:
    from segtrack.envs.vector import VectorEnvironment

RESETS = 100
"""Resets of which the median is taken."""
_EPISODES = 5
"""Episodes of a single environment in each round."""


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
    _check_counts(tasks, steps=steps, rounds=rounds)
    count = workers if workers is not None else os.cpu_count() or 1
    speeds = []
    for task in tasks:
        speeds.append(_measure(task, steps, rounds, vehicle, engine, count))
        if on_done is not None:
            on_done()
    return tuple(speeds)


def _check_counts(tasks: Sequence[str], **counts: int) -> None:
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
    actions = _forward_actions(env.action_space, steps, seed)
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
    own = [_forward_actions(env.single_action_space, steps, seed + i) for i in range(env.num_envs)]
    began = time.perf_counter()
    for actions in zip(*own, strict=True):
        env.step(np.array(actions))
    return steps * env.num_envs / (time.perf_counter() - began)


def _forward_actions(space: gymnasium.Space[Any], steps: int, seed: int) -> np.ndarray:
    """Return actions (steps, n): belts at full speed, flippers at random."""
    shape = space.shape
    assert shape is not None
    actions = np.random.default_rng(seed).uniform(-1.0, 1.0, (steps, *shape)).astype(np.float32)
    actions[:, :2] = 1.0
    return actions


@dataclass(frozen=True)
class BatchSpeed:
    """Speed of a vector environment: medians over rounds.

    Attributes:
        num_envs: Number of robots.
        threads: Number of simulation threads.
        time_step: Time step of the engine [s].
        rate: Control steps per second, of all robots together, with resets [1/s].
        physics: Fraction of a step's time in the simulation [-].
        observation: Fraction of a step's time in observations [-].
        reward: Fraction of a step's time in rewards [-].
        python: Fraction of a step's time in everything else: commands, ends, resets, `info` [-].
        reset: Median duration of one robot's reset [s].
        memory: Growth of resident memory in a separate process, from before construction to after
            the first steps, with kernels [bytes].
    """

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


@dataclass(frozen=True)
class SingleSpeed:
    """Speed of a single environment: median over rounds.

    Attributes:
        engine: Name of the engine.
        track_model: Name of the track model.
        time_step: Time step of the engine [s].
        rate: Control steps per second [1/s].
    """

    engine: EngineName
    track_model: str
    time_step: float
    rate: float


@dataclass(frozen=True)
class TaskSpeeds:
    """Speeds of environments at one task, measured in turn.

    Attributes:
        task: Name of the task.
        batches: Vector environments.
        singles: Single environments: native, and PyBullet if measured.
    """

    task: str
    batches: tuple[BatchSpeed, ...]
    singles: tuple[SingleSpeed, ...]

    def over_pybullet(self, rate: float) -> float | None:
        """Ratio of a rate to PyBullet's single environment [-]; None if that was not measured."""
        reference = [single.rate for single in self.singles if single.engine == "pybullet"]
        return rate / reference[0] if reference else None

    def summary(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict."""
        rows: dict[str, tuple[BatchSpeed | SingleSpeed, ...]]
        rows = {"batches": self.batches, "singles": self.singles}
        return {"task": self.task} | {
            name: [{**vars(row), "over_pybullet": self.over_pybullet(row.rate)} for row in speeds]
            for name, speeds in rows.items()
        }


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
    against_pybullet: bool = False,
    on_done: Callable[[], object] | None = None,
) -> tuple[TaskSpeeds, ...]:
    """Measure vector environments and a single native one; belts at full speed, flippers at random.

    In each round all of them are measured in turn, so that ratios are of one state of the machine.

    Args:
        tasks: Names of tasks.
        num_envs: Numbers of robots.
        threads: Numbers of threads.
        steps: Control steps of each robot in each round.
        rounds: Number of rounds, each from a reset.
        vehicle: Name of the vehicle.
        time_step: Time step of the native engine [s]; by default `VectorEnvironment`'s.
        device: Device of the vector environments, see `segtrack.Batch`.
        against_pybullet: True to measure a single PyBullet environment, too.
        on_done: Function called after each task.

    Returns:
        The speeds, task by task.
    """
    _check_counts(tasks, steps=steps, rounds=rounds)
    speeds = []
    for task in tasks:
        given: dict[str, Any] = {"vehicle": vehicle, "time_step": time_step}
        speeds.append(_speeds_at(task, num_envs, threads, steps, rounds, given, device, against_pybullet))
        if on_done is not None:
            on_done()
    return tuple(speeds)


def _speeds_at(
    task: str,
    num_envs: Sequence[int],
    threads: Sequence[int],
    steps: int,
    rounds: int,
    given: dict[str, Any],
    device: str,
    against_pybullet: bool,
) -> TaskSpeeds:
    """Measure the vector and single environments of one task in turn."""
    from segtrack.envs.vector import VectorEnvironment  # With numba, which takes half a second to import.

    there = {**given, "device": device}
    with ExitStack() as opened:
        singles = [Environment(task, engine="native", **given)]
        if against_pybullet:
            singles.append(Environment(task, engine="pybullet", vehicle=given["vehicle"]))
        numbers = product(num_envs, threads)
        batches = [VectorEnvironment(task, count, threads=shared, **there) for count, shared in numbers]
        for close in (*(env.close for env in singles), *(env.close for env in batches)):
            opened.callback(close)
        rates: list[list[float]] = [[] for _ in singles]
        times: list[list[tuple[float, ...]]] = [[] for _ in batches]
        for i in range(rounds):
            for own, single in zip(rates, singles, strict=True):
                own.append(_single_rate(single, steps, i))
            for its, batch in zip(times, batches, strict=True):
                its.append(_batch_times(batch, steps, i))
        memory = {count: _memory_of(task, count, there) for count in num_envs}
        return TaskSpeeds(
            task,
            tuple(
                _batch_speed(batch, shared, its, memory[batch.num_envs])
                for batch, (_, shared), its in zip(batches, product(num_envs, threads), times, strict=True)
            ),
            tuple(
                SingleSpeed(single.engine, single.track_model, single.time_step, statistics.median(own))
                for single, own in zip(singles, rates, strict=True)
            ),
        )


def _single_rate(env: Environment, steps: int, seed: int) -> float:
    """Control steps per second over the beginnings of several episodes [1/s]."""
    spent = 0.0
    for i in range(_EPISODES):
        env.reset(seed=seed + i)
        actions = _forward_actions(env.action_space, steps, seed + i)
        began = time.perf_counter()
        for action in actions:
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
        spent += time.perf_counter() - began
    return _EPISODES * steps / spent


def _batch_times(env: VectorEnvironment, steps: int, seed: int) -> tuple[float, ...]:
    """Wall times of a control step of all robots, and of its physics, observation and reward [s]."""
    each = [_forward_actions(env.single_action_space, steps, seed + i) for i in range(env.num_envs)]
    env.reset(seed=seed)
    simulated, began = env.simulation_time, time.perf_counter()
    for actions in np.stack(each, axis=1):
        env.step(actions)
    whole = (time.perf_counter() - began) / steps
    view, sensors = env.view, env.sensors
    seen = _duration(lambda: sensors.form(sensors.clip(sensors.read(view))))
    worth = _duration(lambda: env.reward.terms(view))
    return whole, (env.simulation_time - simulated) / steps, seen, worth


def _batch_speed(
    env: VectorEnvironment, threads: int, times: list[tuple[float, ...]], memory: int
) -> BatchSpeed:
    whole, physics, seen, worth = (statistics.median(each) for each in zip(*times, strict=True))
    one = np.arange(env.num_envs) == 0
    resets = [_duration(lambda: env.reset(options={"reset_mask": one}), 1) for _ in range(RESETS)]
    return BatchSpeed(
        env.num_envs,
        threads,
        env.time_step,
        rate=env.num_envs / whole,
        physics=physics / whole,
        observation=seen / whole,
        reward=worth / whole,
        python=(whole - physics - seen - worth) / whole,
        reset=statistics.median(resets),
        memory=memory,
    )


def _duration(call: Callable[[], object], times: int = 5) -> float:
    """Shortest wall time of several calls [s]."""
    durations = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        durations.append(time.perf_counter() - began)
    return min(durations)


def _memory_of(task: str, count: int, given: dict[str, Any]) -> int:
    """Memory of a vector environment in a fresh process [bytes]."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as fresh:
        return fresh.submit(_grown_memory, task, count, given).result()


def _grown_memory(task: str, count: int, given: dict[str, Any]) -> int:
    """Growth of resident memory by a vector environment and its first steps [bytes]."""
    from segtrack.envs.vector import VectorEnvironment

    before = _resident_memory()
    with closing(VectorEnvironment(task, count, **given)) as env:
        env.reset(seed=0)
        for _ in range(2):
            env.step(env.action_space.sample())
        return _resident_memory() - before


def _resident_memory() -> int:
    """Resident memory of the process [bytes]; 0 if the system does not tell."""
    status = Path("/proc/self/statm")
    return int(status.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if status.exists() else 0
