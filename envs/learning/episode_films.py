"""Films of evaluation episodes."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from segtrack.envs.learning.conditions import NOMINAL
from segtrack.envs.learning.evaluation_setup import EvaluationCase, EvaluationSetup
from segtrack.envs.learning.rollouts import make_environment, run_episode
from segtrack.errors import FileAccessError
from segtrack.experiments import Workers


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
    stems = [Path(policy).stem.replace(":", "-") for policy in setup.policies]
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

    with closing(make_environment(job.setup, job.case, "rgb_array")) as env:
        try:
            with closing(film_writer(job.path, SIZE, 1.0 / env.control_period)) as film:
                run_episode(env, job.case.policy, job.setup.seed, lambda: film.send(env.render().tobytes()))
        except OSError as error:
            reason = str(error).partition("\n")[0]
            raise FileAccessError("write to", job.path, reason) from None
    return job.path
