"""Success rates of policies over a task's difficulty, with confidence intervals."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import binomtest

from segtrack.description import load_vehicle
from segtrack.engine import EngineName
from segtrack.envs.environment import Environment
from segtrack.envs.learning.policies import make_policy
from segtrack.envs.parameters import ROBOT_PARAMETERS, check_values, spread
from segtrack.envs.task import FAILURES, Outcome
from segtrack.envs.tasks import TASKS, find_task
from segtrack.errors import InvalidValueError
from segtrack.experiments.parallel import Workers

_PIECE = 5  # Episodes that one process runs in a row; Ctrl-C loses those of unfinished rows.


@dataclass(frozen=True)
class EvaluationSetup:
    """Policies to try, the task, and the number of episodes.

    Attributes:
        task: Name of a task.
        policies: `scripted`, `random`, `ppo`, or files.
        episodes: Number of episodes at each level; all policies get the same seeds.
        levels: Levels of the task's difficulty; the task's own if not given.
        seed: Seed of the first episode.
        vehicle: Bundled name, or path of a vehicle file.
        engine: Name of the engine; if not given, native where that runs the track model.
        track_model: Track model; the engine's default if not given.
        preset: The engine's solver settings; the environments' default if not given.
        parameters: Parameters of the environment, instead of those that are spread.
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
        """Check that it can be evaluated."""
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
        """Levels of the task's difficulty."""
        return self.levels if self.levels is not None else TASKS[self.task].levels

    @property
    def episode_count(self) -> int:
        """Number of episodes of all policies at all levels."""
        return len(self.policies) * len(self.chosen_levels) * self.episodes


@dataclass(frozen=True)
class EpisodeOutcome:
    """Result of one episode.

    Attributes:
        outcome: Outcome, as in `info`.
        duration: Simulated time [s].
        energy: Work of all belt drives [J].
        total_reward: Sum of the rewards.
    """

    outcome: Outcome
    duration: float
    energy: float
    total_reward: float


@dataclass(frozen=True)
class LevelResult:
    """Results of a policy at one level.

    Attributes:
        policy: Name of the policy, as it was given.
        level: Level of the task's difficulty.
        episodes: Results of the episodes, in the order of their seeds; at least one.
    """

    policy: str
    level: float
    episodes: tuple[EpisodeOutcome, ...]

    @property
    def successes(self) -> int:
        """Number of episodes that succeeded."""
        return sum(episode.outcome == "success" for episode in self.episodes)

    @property
    def rate(self) -> float:
        """Success rate."""
        return self.successes / len(self.episodes)

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval of the success rate at 95 %."""
        interval = binomtest(self.successes, len(self.episodes)).proportion_ci(0.95, method="wilson")
        return float(interval.low), float(interval.high)

    def summary(self) -> dict[str, Any]:
        """Return plain values with the names that JSON and CSV have."""
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
    """Results of policies over levels.

    Attributes:
        setup: Policies, task and number of episodes.
        conditions: Parameters that were fixed or sampled, beside the difficulty.
        engine: Name of the engine.
        track_model: Name of the track model.
        preset: The engine's solver settings.
        results: Results, policy by policy and level by level; those without an episode are left out.
    """

    setup: EvaluationSetup
    conditions: Mapping[str, Any]
    engine: EngineName
    track_model: str
    preset: str
    results: tuple[LevelResult, ...]

    @property
    def difficulty(self) -> str:
        """Name and unit of the difficulty."""
        return TASKS[self.setup.task].difficulty_label()

    @property
    def done(self) -> int:
        """Number of episodes that were run."""
        return sum(len(result.episodes) for result in self.results)

    @property
    def finished(self) -> bool:
        """True if all episodes were run; otherwise Ctrl-C ended the evaluation."""
        return self.done == self.setup.episode_count

    def of(self, policy: str) -> tuple[LevelResult, ...]:
        """Return a policy's results, level by level."""
        return tuple(result for result in self.results if result.policy == policy)

    def summary(self) -> dict[str, Any]:
        """Return plain values with the names that JSON has."""
        return {
            "task": self.setup.task,
            "vehicle": self.setup.vehicle,
            "engine": self.engine,
            "track_model": self.track_model,
            "preset": self.preset,
            "difficulty": self.difficulty,
            "conditions": {k: list(v) if isinstance(v, tuple) else v for k, v in self.conditions.items()},
            "seed": self.setup.seed,
            "finished": self.finished,
            "results": [result.summary() for result in self.results],
        }


class EvaluationInterrupted(KeyboardInterrupt):
    """Ctrl-C during an evaluation; carries what was done until then."""

    def __init__(self, result: Evaluation) -> None:
        """Keep the results of the episodes that were run, at least one."""
        super().__init__()
        self.result = result


@dataclass(frozen=True)
class _Piece:
    """Some episodes in a row."""

    setup: EvaluationSetup
    policy: str
    level: float
    seeds: tuple[int, ...]
    conditions: Mapping[str, Any]


def evaluate(setup: EvaluationSetup, *, on_done: Callable[[int], object] | None = None) -> Evaluation:
    """Run the episodes, on all cores.

    Args:
        setup: Policies, task and number of episodes.
        on_done: Called with the number of episodes so far.

    Returns:
        The results.

    Raises:
        SegtrackError: The environment cannot be made, or a policy not be read.
        EvaluationInterrupted: Ctrl-C after some episodes.
    """
    conditions = {**spread(load_vehicle(setup.vehicle)), **setup.parameters}
    tried = _refuse_early(setup, conditions)
    seeds = range(setup.seed, setup.seed + setup.episodes)
    pieces = [
        _Piece(setup, policy, level, tuple(seeds[i : i + _PIECE]), conditions)
        for policy in setup.policies
        for level in setup.chosen_levels
        for i in range(0, len(seeds), _PIECE)
    ]
    done: dict[int, list[EpisodeOutcome]] = {}

    def note(index: int, outcomes: list[EpisodeOutcome]) -> None:
        done[index] = outcomes
        if on_done is not None:
            on_done(sum(map(len, done.values())))

    def results() -> Evaluation:
        episodes: dict[tuple[str, float], tuple[EpisodeOutcome, ...]] = {}
        for i in sorted(done):
            at = pieces[i].policy, pieces[i].level
            episodes[at] = (*episodes.get(at, ()), *done[i])
        levels = (LevelResult(*at, outcomes) for at, outcomes in episodes.items())
        return Evaluation(setup, conditions, tried.engine, tried.track_model, tried.preset, tuple(levels))

    try:
        with Workers(min(len(pieces), os.cpu_count() or 1)) as pool:
            pool.run(_run_piece, pieces, note)
    except KeyboardInterrupt as stop:
        raise (EvaluationInterrupted(results()) if done else stop) from None
    return results()


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
        with closing(_make(setup, level, conditions)) as env:
            for policy in setup.policies:
                make_policy(policy, env)
    return env


def _run_piece(piece: _Piece) -> list[EpisodeOutcome]:
    with closing(_make(piece.setup, piece.level, piece.conditions)) as env:
        return [_run_episode(env, piece.policy, seed) for seed in piece.seeds]


def _run_episode(env: Environment, name: str, seed: int) -> EpisodeOutcome:
    policy = make_policy(name, env, seed)
    observation, info = env.reset(seed=seed)
    total, steps, over = 0.0, 0, False
    while not over:
        observation, reward, terminated, truncated, info = env.step(policy.act(observation))
        total, steps, over = total + reward, steps + 1, terminated or truncated
    return EpisodeOutcome(info["outcome"], steps * env.control_period, info["energy"], total)
