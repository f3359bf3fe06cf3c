"""Runs of policies' episodes: many in one batch, or one by one in an environment."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from segtrack.envs.codes import OUTCOMES
from segtrack.envs.environment import Environment
from segtrack.envs.learning.evaluation_setup import EvaluationCase, EvaluationSetup
from segtrack.envs.learning.policies import make_policy
from segtrack.envs.learning.results import EpisodeOutcome

if TYPE_CHECKING:
    from segtrack.envs.vector import VectorEnvironment  # With numba, which takes half a second to import.


class Job(NamedTuple):
    """Episode to run.

    Attributes:
        case: Policy, track model, condition and level.
        seed: Seed of the episode.
    """

    case: EvaluationCase
    seed: int


class Row(NamedTuple):
    """Consecutive episodes of one case.

    Attributes:
        setup: Setup of the evaluation.
        case: Policy, track model, condition and level.
        seeds: Seeds of the episodes.
    """

    setup: EvaluationSetup
    case: EvaluationCase
    seeds: tuple[int, ...]


def make_environment(
    setup: EvaluationSetup, case: EvaluationCase, render_mode: str | None = None
) -> Environment:
    """Make the environment of a case.

    Raises:
        SegtrackError: As `Environment`.
    """
    return Environment(
        setup.graded_task,
        vehicle=setup.description,
        engine=case.engine,
        track_model=case.track_model,
        preset=setup.preset,
        render_mode=render_mode,
        **setup.environment_options,
        **{**setup.spread, **setup.values_of(case)},
    )


def run_row(row: Row) -> list[EpisodeOutcome]:
    """Run episodes one by one."""
    with closing(make_environment(row.setup, row.case)) as env:
        return [run_episode(env, row.setup.played(row.case), seed) for seed in row.seeds]


def run_episode(
    env: Environment, name: str, seed: int, on_step: Callable[[], object] = lambda: None
) -> EpisodeOutcome:
    """Run an episode of a policy, by name; `on_step` is called at its start and after each step."""
    policy = make_policy(name, env, seed)
    observation, info = env.reset(seed=seed)
    total, steps, over = 0.0, 0, False
    on_step()
    while not over:
        observation, reward, terminated, truncated, info = env.step(policy.act(observation))
        total, steps, over = total + reward, steps + 1, terminated or truncated
        on_step()
    return EpisodeOutcome(OUTCOMES[info["outcome"]], steps * env.control_period, info["energy"], total)


def run_together(
    env: VectorEnvironment,
    setup: EvaluationSetup,
    jobs: Sequence[Job],
    on_done: Callable[[Job, EpisodeOutcome], object],
) -> None:
    """Run episodes in a vector environment; a robot that has finished one begins the next.

    Args:
        env: Environment of any number of robots, in the autoreset mode `Disabled`.
        setup: Setup of the evaluation.
        jobs: Episodes, in the order in which they begin.
        on_done: Function called after each episode, in the order in which they end.
    """
    count, waiting = env.num_envs, deque(jobs)
    cases = dict.fromkeys(job.case for job in jobs)
    values = {case: setup.values_of(case) for case in cases}
    policies = {name: make_policy(name, env) for name in map(setup.played, cases)}
    running: list[Job | None] = [None] * count
    acting = np.full(count, None, dtype=object)
    totals, steps, over = np.zeros(count), np.zeros(count, dtype=int), np.ones(count, np.bool_)
    observations, _ = env.reset(seed=0)
    while waiting or any(running):
        free = np.flatnonzero(over).tolist()
        beginning = [(i, waiting.popleft()) for i in free if waiting]
        totals[over], steps[over] = 0.0, 0
        for case, group in groupby(beginning, lambda one: one[1].case):
            seeds: list[int | None] = [None] * count
            for i, job in group:
                acting[i] = setup.played(case)
                policies[acting[i]].begin(i, job.seed)
                running[i], seeds[i], over[i] = job, job.seed, False
            begun = np.array([seed is not None for seed in seeds])
            observations, _ = env.reset(seed=seeds, options={**values[case], "reset_mask": begun})
        if over.any():  # Nothing waits any more: these only keep the others company.
            observations, _ = env.reset(options={"reset_mask": over})
        actions = np.zeros((count, len(env.actuators.names)), np.float32)
        for name, policy in policies.items():
            own = acting == name
            if own.any():
                actions[own] = policy.act(observations)[own]
        observations, rewards, terminated, truncated, info = env.step(actions)
        totals, steps, over = totals + rewards, steps + 1, terminated | truncated
        for i in np.flatnonzero(over).tolist():
            ended, running[i], acting[i] = running[i], None, None
            if ended is not None:
                duration, energy = int(steps[i]) * env.control_period, float(info["energy"][i])
                outcome = OUTCOMES[info["outcome"][i]]
                on_done(ended, EpisodeOutcome(outcome, duration, energy, float(totals[i])))
