"""Results of evaluations: success rates with confidence intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binomtest

from segtrack.envs.learning.evaluation_setup import CONDITIONS, EvaluationCase, EvaluationSetup
from segtrack.envs.task import FAILURES, Outcome


class EpisodeOutcome(NamedTuple):
    """Result of one episode.

    Attributes:
        outcome: Outcome of the episode, as in `info`.
        duration: Simulated time [s].
        energy: Work of all belt drives [J].
        total_reward: Sum of the rewards.
    """

    outcome: Outcome
    duration: float
    energy: float
    total_reward: float


ENDINGS: tuple[Outcome, ...] = (*FAILURES, "timeout", "diverged")
"""Endings besides success."""


@dataclass(frozen=True)
class LevelResult:
    """Results of one case: a policy at one level, in one track model and condition.

    Attributes:
        case: Policy, track model, condition and level.
        episodes: Results of the episodes, in the order of their seeds; at least one.
    """

    case: EvaluationCase
    episodes: tuple[EpisodeOutcome, ...]

    @property
    def successes(self) -> int:
        """Number of episodes that succeeded."""
        return sum(episode.outcome == "success" for episode in self.episodes)

    @property
    def rate(self) -> float:
        """Success rate, 0 to 1."""
        return self.successes / len(self.episodes)

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the success rate."""
        interval = binomtest(self.successes, len(self.episodes)).proportion_ci(0.95, method="wilson")
        return float(interval.low), float(interval.high)

    def summary(self) -> dict[str, Any]:
        """Return a dict of plain values, by their names in JSON and CSV."""
        low, high = self.interval
        done = [episode.duration for episode in self.episodes if episode.outcome == "success"]
        return {
            **self.case._asdict(),
            "episodes": len(self.episodes),
            "successes": self.successes,
            "rate": self.rate,
            "low": low,
            "high": high,
            **{end: sum(e.outcome == end for e in self.episodes) for end in ENDINGS},
            "mean_duration_of_successes": float(np.mean(done)) if done else None,
            "mean_energy": float(np.mean([episode.energy for episode in self.episodes])),
            "mean_return": float(np.mean([episode.total_reward for episode in self.episodes])),
        }


class Model(NamedTuple):
    """Engine, track model and time step of an evaluation.

    Attributes:
        engine: Name of the engine.
        track_model: Name of the track model.
        preset: Name of the engine's preset.
        time_step: Time step of the engine [s].
    """

    engine: str
    track_model: str
    preset: str
    time_step: float


@dataclass(frozen=True)
class Evaluation:
    """Results of an evaluation, over policies, track models, conditions and levels.

    Attributes:
        setup: Policies, task and number of episodes.
        models: Engines and track models.
        trained_for: Training task of each policy by name; None for untrained ones.
        results: Results, case by case; cases without an episode are left out.
        wall_time: Wall time of the evaluation [s].
    """

    setup: EvaluationSetup
    models: tuple[Model, ...]
    trained_for: Mapping[str, str | None]
    results: tuple[LevelResult, ...]
    wall_time: float

    @property
    def difficulty(self) -> str:
        """Name and unit of the task's difficulty."""
        return self.setup.graded_task.difficulty_label()

    @property
    def done(self) -> int:
        """Number of episodes that were run."""
        return sum(len(result.episodes) for result in self.results)

    @property
    def finished(self) -> bool:
        """True if all episodes were run; False after Ctrl-C."""
        return self.done == self.setup.episode_count

    def of(self, **named: Any) -> tuple[LevelResult, ...]:
        """Return the results whose cases have given values, by their names in `EvaluationCase`."""
        return tuple(at for at in self.results if named.items() <= at.case._asdict().items())

    def reference(self, at: LevelResult) -> LevelResult | None:
        """Return the result of the policy and level in the reference track model and condition.

        None if that is the result itself, or was not run.
        """
        (engine, track_model), *_ = self.setup.models
        first = EvaluationCase(at.case.policy, engine, track_model, self.setup.conditions[0], at.case.level)
        found = self.of(**first._asdict())
        return found[0] if found and at.case != first else None

    def rows(self) -> list[dict[str, Any]]:
        """Return the results as rows of plain values, by their names in JSON and CSV.

        `difference` is the success rate less that in the first track model and condition.
        """
        references = [self.reference(at) for at in self.results]
        differences = [
            None if first is None or len(first.episodes) != len(at.episodes) else at.rate - first.rate
            for at, first in zip(self.results, references, strict=True)
        ]
        return [
            {**at.summary(), "difference": difference}
            for at, difference in zip(self.results, differences, strict=True)
        ]

    @property
    def notes(self) -> tuple[str, ...]:
        """Note on each policy that was trained for another task."""
        here = self.setup.graded_task.name
        return tuple(
            f"policy {name} was trained for {task}, not for {here}"
            for name, task in self.trained_for.items()
            if task not in (None, here)
        )

    def summary(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict."""
        from segtrack.recording import versions

        setup = self.setup
        return {
            "task": setup.task,
            "benchmark": setup.benchmark if self.finished else None,
            "vehicle": setup.vehicle,
            "policies": [{"policy": name, "trained_for": self.trained_for[name]} for name in setup.policies],
            "models": [model._asdict() for model in self.models],
            "difficulty": self.difficulty,
            "constants": [{"level": level, "action": list(of)} for level, of in setup.constants.items()],
            "options": setup.options,
            "parameters": {k: list(v) if isinstance(v, tuple) else v for k, v in setup.spread.items()},
            "conditions": {name: dict(CONDITIONS[name]) for name in setup.conditions},
            "seed": setup.seed,
            "episodes": setup.episodes,
            "finished": self.finished,
            "results": self.rows(),
            "wall_time": self.wall_time,
            "versions": versions(),
        }
