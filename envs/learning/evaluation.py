"""Evaluation of policies: many episodes in each case, in a batch or in parallel processes; films of some."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import closing
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from segtrack.engine import EngineName
from segtrack.envs.learning.evaluation_setup import NOMINAL, EvaluationCase, EvaluationSetup
from segtrack.envs.learning.policies import make_policy, short_name
from segtrack.envs.learning.results import EpisodeOutcome, Evaluation, LevelResult, Model
from segtrack.envs.learning.rollouts import Job, Row, make_environment, run_episode, run_row, run_together
from segtrack.errors import FileAccessError
from segtrack.experiments import Workers

_ROBOTS = 128
"""Largest number of robots in a batch. More are hardly faster, and more of them wait for the last to end."""
_ROW = 5
"""Episodes that one process runs in a row; Ctrl-C loses those of unfinished rows."""


class EvaluationInterrupted(KeyboardInterrupt):
    """Ctrl-C during an evaluation; carries the results so far."""

    def __init__(self, result: Evaluation) -> None:
        """Keep the results of the finished episodes, at least one."""
        super().__init__()
        self.result = result


def evaluate(setup: EvaluationSetup, *, on_done: Callable[[int], object] | None = None) -> Evaluation:
    """Run the episodes: `compliant` and `surface` in one native batch, others in parallel processes.

    Args:
        setup: Policies, task and number of episodes.
        on_done: Function called with the number of episodes so far.

    Returns:
        The results.

    Raises:
        SegtrackError: The environment cannot be made, or a policy not be read.
        EvaluationInterrupted: Ctrl-C after some episodes. It has those of each case up to the first that was
            not done; later ones that were would favour episodes that are over soon.
    """
    began = time.perf_counter()
    models, trained_for = _refuse_early(setup)
    cases = [case for model in setup.models for case in setup.cases(*model)]
    seeds = range(setup.seed, setup.seed + setup.episodes)
    done: dict[Job, EpisodeOutcome] = {}

    def note(job: Job, outcome: EpisodeOutcome) -> None:
        done[job] = outcome
        if on_done is not None:
            on_done(len(done))

    def results() -> Evaluation:
        levels = []
        for case in cases:
            known = takewhile(done.__contains__, (Job(case, seed) for seed in seeds))
            if episodes := tuple(done[job] for job in known):
                levels.append(LevelResult(case, episodes))
        return Evaluation(setup, models, trained_for, tuple(levels), time.perf_counter() - began)

    try:
        rows = []
        for model in setup.models:
            if is_batched(setup, *model):
                _run_batch(setup, *model, note)
            else:
                rows += [
                    Row(setup, case, tuple(seeds[i : i + _ROW]))
                    for case in setup.cases(*model)
                    for i in range(0, len(seeds), _ROW)
                ]
        with Workers(min(len(rows), os.cpu_count() or 1)) as pool:
            pool.run(run_row, rows, lambda i, ends: _note_row(rows[i], ends, note))
    except KeyboardInterrupt as stop:
        result = results()
        raise (EvaluationInterrupted(result) if result.done else stop) from None
    return results()


def is_batched(setup: EvaluationSetup, engine: EngineName, track_model: str) -> bool:
    """Return whether all episodes of an engine and track model run in one batch."""
    from segtrack.batch import TRACK_MODELS  # With numba, which takes half a second to import.

    grousers = (setup.parameters.get(name, 1.0) for name in ("grouser_height", "grouser_count"))
    drawn = any(isinstance(value, tuple) for value in grousers)
    return engine == "native" and track_model in TRACK_MODELS and not drawn


def _run_batch(
    setup: EvaluationSetup,
    engine: EngineName,
    track_model: str,
    note: Callable[[Job, EpisodeOutcome], object],
) -> None:
    """Run the cases of one track model in a batch, and report each episode."""
    from segtrack.envs.vector import VectorEnvironment

    cases = setup.cases(engine, track_model)
    jobs = [Job(case, setup.seed + i) for case in cases for i in range(setup.episodes)]
    env = VectorEnvironment(
        setup.graded_task,
        min(len(jobs), _ROBOTS),
        autoreset_mode="Disabled",
        vehicle=setup.description,
        track_model=track_model,
        preset=setup.preset,
        **setup.environment_options,
        **setup.spread,
    )
    with closing(env):
        run_together(env, setup, jobs, note)


def _note_row(
    row: Row, outcomes: list[EpisodeOutcome], note: Callable[[Job, EpisodeOutcome], object]
) -> None:
    for seed, outcome in zip(row.seeds, outcomes, strict=True):
        note(Job(row.case, seed), outcome)


def _refuse_early(setup: EvaluationSetup) -> tuple[tuple[Model, ...], dict[str, str | None]]:
    """Find mistakes before any work; return the models, and the task that each policy was trained for."""
    models, trained_for = [], dict[str, str | None]()
    for engine, track_model in setup.models:
        cases = setup.cases(engine, track_model)
        for first in cases[: len(cases) // len(setup.policies)]:  # Those of the first policy.
            with closing(make_environment(setup, first)) as env:
                for case in (first._replace(policy=policy) for policy in setup.policies):
                    trained_for[case.policy] = make_policy(setup.played(case), env).trained_for
        models.append(Model(engine, track_model, env.preset, env.time_step))
    return tuple(models), trained_for


class FilmJob(NamedTuple):
    """Film of one episode.

    Attributes:
        setup: Setup of the evaluation.
        case: Policy, track model, condition and level.
        path: File to write.
    """

    setup: EvaluationSetup
    case: EvaluationCase
    path: Path


def film_jobs(setup: EvaluationSetup, folder: Path) -> list[FilmJob]:
    """Return the films of an evaluation: each policy's first episode at each level.

    In the first track model and nominal conditions.
    """
    stems = [short_name(policy).replace(":", "-") for policy in setup.policies]
    names = [stem if stems.count(stem) == 1 else f"{stem}-{i}" for i, stem in enumerate(stems)]
    of_policy = dict(zip(setup.policies, names, strict=True))
    cases = (case for case in setup.cases(*setup.models[0]) if case.condition == NOMINAL)
    return [FilmJob(setup, case, folder / f"{of_policy[case.policy]}-{case.level:g}.mp4") for case in cases]


def film_all(jobs: list[FilmJob], on_done: Callable[[], object]) -> list[Path]:
    """Film episodes in separate processes, and return the files.

    Raises:
        FileAccessError: A file cannot be written.
    """
    with Workers(min(len(jobs), os.cpu_count() or 1)) as pool:
        return pool.run(film_episode, jobs, lambda i, path: on_done())


def film_episode(job: FilmJob) -> Path:
    """Film a case's episode with the evaluation's first seed, one frame for each control step.

    Raises:
        FileAccessError: The file cannot be written.
    """
    from segtrack.rendering import SIZE, film_writer  # With numba, which takes half a second to import.

    policy = job.setup.played(job.case)
    with closing(make_environment(job.setup, job.case, "rgb_array")) as env:
        try:
            with closing(film_writer(job.path, SIZE, 1.0 / env.control_period)) as film:
                run_episode(env, policy, job.setup.seed, lambda: film.send(env.render().tobytes()))
        except OSError as error:
            reason = str(error).partition("\n")[0]
            raise FileAccessError("write to", job.path, reason) from None
    return job.path
