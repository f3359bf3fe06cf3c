"""How often policies succeed, over a task's difficulty, with confidence intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import binomtest

from segtrack.description import load_vehicle
from segtrack.engine import EngineName
from segtrack.envs.conditions import spread
from segtrack.envs.environment import Environment
from segtrack.envs.parameters import ROBOT_PARAMETERS, check_values
from segtrack.envs.policies import make_policy
from segtrack.envs.task import FAILURES, Outcome
from segtrack.envs.tasks import TASKS, find_task
from segtrack.errors import InvalidValueError
from segtrack.experiments.parallel import run_parallel

CONFIDENCE = 0.95
_PIECE = 10
"""Episodes that one process runs in a row."""


@dataclass(frozen=True)
class EvaluationSetup:
    """Which policies to try, on what, how often.

    Attributes:
        task: Name of a task.
        policies: `scripted`, `random`, `ppo`, or files.
        episodes: At each level; all policies get the same seeds.
        levels: Of the task's difficulty; the task's own if not given.
        seed: Of the first episode.
        vehicle: Bundled name, or path of a vehicle file.
        engine: What simulates them; what runs the track model if not given.
        track_model: How tracks are built; the engine's default if not given.
        preset: The engine's solver settings; the environments' default if not given.
        parameters: Of the environment, instead of those that are spread.
    """

    task: str
    policies: tuple[str, ...] = ("scripted",)
    episodes: int = 20
    levels: tuple[float, ...] | None = None
    seed: int = 0
    vehicle: str = "quince"
    engine: EngineName | None = None
    track_model: str | None = None
    preset: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what cannot be evaluated."""
        task = find_task(self.task)
        if self.episodes < 1:
            raise InvalidValueError("episodes", "at least 1", self.episodes)
        for name, values in (("policies", self.policies), ("levels", self.chosen_levels)):
            if not values or len(set(values)) < len(values):
                raise InvalidValueError(name, "some, each of them once", values)
        if task.difficulty in self.parameters:
            what = f"parameter {task.difficulty}"
            raise InvalidValueError(what, "given as levels", self.parameters[task.difficulty])
        check_values({**task.parameters, **ROBOT_PARAMETERS}, self.parameters, self.task)

    @property
    def chosen_levels(self) -> tuple[float, ...]:
        """Of the task's difficulty."""
        return self.levels if self.levels is not None else TASKS[self.task].levels


@dataclass(frozen=True)
class EpisodeOutcome:
    """How one episode ended.

    Attributes:
        outcome: As `info` has it.
        duration: Simulated [s].
        energy: Work of all belt drives [J].
        total_reward: Sum of the rewards.
    """

    outcome: Outcome
    duration: float
    energy: float
    total_reward: float


@dataclass(frozen=True)
class LevelResult:
    """What a policy did at one level.

    Attributes:
        policy: As it was named.
        level: Of the task's difficulty.
        episodes: How they ended.
    """

    policy: str
    level: float
    episodes: tuple[EpisodeOutcome, ...]

    @property
    def successes(self) -> int:
        """How many episodes succeeded."""
        return sum(episode.outcome == "success" for episode in self.episodes)

    @property
    def rate(self) -> float:
        """Of success."""
        return self.successes / len(self.episodes)

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval of the success rate at 95 %."""
        test = binomtest(self.successes, len(self.episodes))
        interval = test.proportion_ci(CONFIDENCE, method="wilson")
        return float(interval.low), float(interval.high)

    def summary(self) -> dict[str, Any]:
        """As plain values with the names that JSON and CSV have."""
        low, high = self.interval
        done = [episode.duration for episode in self.episodes if episode.outcome == "success"]
        return {
            "policy": self.policy,
            "level": self.level,
            "episodes": len(self.episodes),
            "successes": self.successes,
            "rate": self.rate,
            "low": low,
            "high": high,
            **{end: sum(e.outcome == end for e in self.episodes) for end in (*FAILURES, "timeout")},
            "mean_duration_of_successes": float(np.mean(done)) if done else None,
            "mean_energy": float(np.mean([episode.energy for episode in self.episodes])),
            "mean_return": float(np.mean([episode.total_reward for episode in self.episodes])),
        }


@dataclass(frozen=True)
class Evaluation:
    """How policies did.

    Attributes:
        setup: What was asked for.
        conditions: Parameters that were fixed or sampled, beside the difficulty.
        engine: What simulated them.
        track_model: How tracks were built.
        preset: The engine's solver settings.
        results: Level by level, policy by policy.
    """

    setup: EvaluationSetup
    conditions: Mapping[str, Any]
    engine: EngineName
    track_model: str
    preset: str
    results: tuple[LevelResult, ...]

    @property
    def difficulty(self) -> str:
        """Name and unit of what the levels are of."""
        return TASKS[self.setup.task].difficulty_label()

    def of(self, policy: str) -> tuple[LevelResult, ...]:
        """A policy's results, level by level."""
        return tuple(result for result in self.results if result.policy == policy)

    def summary(self) -> dict[str, Any]:
        """As plain values with the names that JSON has."""
        return {
            "task": self.setup.task,
            "vehicle": self.setup.vehicle,
            "engine": self.engine,
            "track_model": self.track_model,
            "preset": self.preset,
            "difficulty": self.difficulty,
            "conditions": {k: list(v) if isinstance(v, tuple) else v for k, v in self.conditions.items()},
            "seed": self.setup.seed,
            "results": [result.summary() for result in self.results],
        }


@dataclass(frozen=True)
class _Piece:
    """Some episodes in a row."""

    setup: EvaluationSetup
    policy: str
    level: float
    seeds: tuple[int, ...]
    conditions: Mapping[str, Any]

    def make(self) -> Environment:
        """The environment at the level."""
        return _make(self.setup, self.level, self.conditions)


def evaluate(setup: EvaluationSetup, *, on_done: Callable[[int], object] | None = None) -> Evaluation:
    """Run the episodes, on all cores.

    Args:
        setup: What to do.
        on_done: Called with the number of episodes so far.

    Returns:
        How they ended.

    Raises:
        SegtrackError: The environment cannot be made, or a policy not be read.
    """
    vehicle = load_vehicle(setup.vehicle)
    conditions = {**spread(vehicle), **setup.parameters}
    tried = _refuse_early(setup, conditions)
    seeds = range(setup.seed, setup.seed + setup.episodes)
    cut = [tuple(seeds[i : i + _PIECE]) for i in range(0, len(seeds), _PIECE)]
    pieces = [
        _Piece(setup, policy, level, some, conditions)
        for policy in setup.policies
        for level in setup.chosen_levels
        for some in cut
    ]
    finished = 0

    def count() -> None:
        nonlocal finished
        finished += 1
        if on_done is not None:
            on_done(round(finished / len(pieces) * episode_count(setup)))

    outcomes = run_parallel(_run_piece, pieces, on_done=count)
    results = []
    for i in range(0, len(pieces), len(cut)):
        episodes = tuple(outcome for piece in outcomes[i : i + len(cut)] for outcome in piece)
        results.append(LevelResult(pieces[i].policy, pieces[i].level, episodes))
    return Evaluation(setup, conditions, tried.engine, tried.track_model, tried.preset, tuple(results))


def episode_count(setup: EvaluationSetup) -> int:
    """How many episodes an evaluation runs."""
    return len(setup.policies) * len(setup.chosen_levels) * setup.episodes


def _make(setup: EvaluationSetup, level: float, conditions: Mapping[str, Any]) -> Environment:
    return Environment(
        setup.task,
        vehicle=setup.vehicle,
        engine=setup.engine,
        track_model=setup.track_model,
        preset=setup.preset,
        **{**conditions, TASKS[setup.task].difficulty: level},
    )


def _refuse_early(setup: EvaluationSetup, conditions: Mapping[str, Any]) -> Environment:
    """Find mistakes before any work is done; returns a closed environment that was found good."""
    for level in setup.chosen_levels:
        env = _make(setup, level, conditions)
        try:
            for policy in setup.policies:
                make_policy(policy, env)
        finally:
            env.close()
    return env


def _run_piece(piece: _Piece) -> list[EpisodeOutcome]:
    env = piece.make()
    try:
        return [_run_episode(env, piece.policy, seed) for seed in piece.seeds]
    finally:
        env.close()


def _run_episode(env: Environment, name: str, seed: int) -> EpisodeOutcome:
    policy = make_policy(name, env, seed)
    observation, info = env.reset(seed=seed)
    total, steps, over = 0.0, 0, False
    while not over:
        observation, reward, terminated, truncated, info = env.step(policy.act(observation))
        total, steps, over = total + reward, steps + 1, terminated or truncated
    duration = steps * env.control_period
    return EpisodeOutcome(info["outcome"], duration, info["energy"], total)
