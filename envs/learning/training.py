"""Training by proximal policy optimisation with Stable-Baselines3, which the extra `train` installs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from segtrack.description import load_vehicle
from segtrack.engine import EngineName
from segtrack.envs.environment import Environment
from segtrack.envs.learning.curriculum import Curriculum
from segtrack.envs.parameters import ROBOT_PARAMETERS, check_values, spread
from segtrack.envs.tasks import TASKS, find_task
from segtrack.errors import FileAccessError, InvalidValueError, MissingPyBulletError, SegtrackError
from segtrack.files import write_json
from segtrack.world import resolve

SETTINGS, CHECKPOINT, CURVE, POLICY = "settings.json", "checkpoint.zip", "curve.csv", "policy.npz"
LOCK = "training.lock"
"""File with the id of the process that trains in a folder, locked as long as that process lives."""


@dataclass(frozen=True)
class TrainingSettings:
    """Settings of a training.

    Attributes:
        task: Name of a task.
        steps: Control steps in total, over all workers.
        workers: Processes with an environment each; two for each core keep the cores busy.
        seed: Seed of everything random.
        vehicle: Bundled name, or path of a vehicle file.
        hardest: Difficulty at which the curriculum ends; the task's hardest level if not given.
        engine: Name of the engine; once made, the one that was chosen where none is given.
        parameters: Parameters of the environment, numbers or ranges, besides those that are spread anyway.
    """

    task: str
    steps: int = 500_000
    workers: int = 2 * (os.cpu_count() or 1)
    seed: int = 0
    vehicle: str = "quince"
    hardest: float | None = None
    engine: EngineName | None = None
    parameters: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check that it can be trained."""
        task = find_task(self.task)
        object.__setattr__(self, "engine", resolve(self.engine, None)[0])
        for name in ("steps", "workers"):
            if getattr(self, name) < 1:
                raise InvalidValueError(name, "at least 1", getattr(self, name))
        kinds = {**task.parameters, **ROBOT_PARAMETERS}
        check_values(kinds, self.parameters, self.task)
        if self.hardest is None:
            return
        if task.difficulty in self.parameters:
            expected = f"left out where {task.difficulty} is given"
            raise InvalidValueError("hardest", expected, self.hardest)
        kinds[task.difficulty].check("hardest", self.hardest)
        if self.hardest <= task.levels[0]:
            raise InvalidValueError("hardest", f"above the easiest level of {task.levels[0]:g}", self.hardest)

    @classmethod
    def read(cls, folder: Path) -> TrainingSettings:
        """Read the settings with which a training in a folder began.

        Raises:
            FileAccessError: It cannot be read.
            MissingPyBulletError: It began in PyBullet, which is not installed.
        """
        path = folder / SETTINGS
        try:
            given = json.loads(path.read_text(encoding="utf-8"))
            lists = {k: tuple(v) if isinstance(v, list) else v for k, v in given["parameters"].items()}
            return cls(**{**given, "parameters": lists})
        except OSError as error:
            raise FileAccessError("read training settings", path, error.strerror or str(error)) from None
        except MissingPyBulletError:
            raise
        except (ValueError, TypeError, KeyError, AttributeError, SegtrackError):
            raise FileAccessError("read training settings", path, "it is damaged") from None


@dataclass(frozen=True)
class TrainingResult:
    """Result of a training.

    Attributes:
        settings: Settings of the training.
        folder: Folder with checkpoint, policy, curve and TensorBoard's logs.
        steps: Control steps so far.
        minutes: Duration, resumptions included [min].
        success_rate: Success rate over the last episodes, at the curriculum's difficulties [-].
        finished: True once all steps were made; otherwise it was interrupted, and can be resumed.
    """

    settings: TrainingSettings
    folder: Path
    steps: int
    minutes: float
    success_rate: float
    finished: bool

    def summary(self) -> dict[str, Any]:
        """Return plain values with the names that JSON has."""
        return {
            "task": self.settings.task,
            "vehicle": self.settings.vehicle,
            "engine": self.settings.engine,
            "steps": self.steps,
            "minutes": self.minutes,
            "success_rate": self.success_rate,
            "finished": self.finished,
        }

    @property
    def policy(self) -> Path:
        """File of the learnt policy."""
        return self.folder / POLICY

    @property
    def curve(self) -> Path:
        """File of the learning curve."""
        return self.folder / CURVE


def make_training_env(settings: TrainingSettings, level: float | None = None) -> gymnasium.Env[Any, Any]:
    """Make a worker's environment: conditions spread, difficulty by curriculum, entries scaled to [-1, 1].

    Args:
        settings: Settings of the training.
        level: First level of the curriculum.
    """
    task = TASKS[settings.task]
    given = {**spread(load_vehicle(settings.vehicle)), **settings.parameters}
    env: Any = Environment(settings.task, vehicle=settings.vehicle, engine=settings.engine, **given)
    if task.difficulty not in settings.parameters:
        easiest, *_, last = task.levels
        hardest = last if settings.hardest is None else settings.hardest
        env = Curriculum(env, easiest, hardest, step=(hardest - easiest) / 10, level=level)
    return gymnasium.wrappers.RescaleObservation(env, np.float32(-1.0), np.float32(1.0))


def train(
    settings: TrainingSettings, folder: Path, *, on_progress: Callable[[int], object] | None = None
) -> TrainingResult:
    """Train a policy.

    Args:
        settings: Settings of the training.
        folder: Folder for checkpoint, policy, curve and TensorBoard's logs.
        on_progress: Called with the number of control steps so far.

    Returns:
        Result of the training. Ctrl-C ends training early, with everything kept.

    Raises:
        SegtrackError: Stable-Baselines3 is missing, or the environment cannot be made.
        FileAccessError: There is a training in the folder, which would be overwritten, or another
            process trains there.
    """
    if (folder / CHECKPOINT).is_file():
        reason = f"there is a {CHECKPOINT} already; resume it, or name another folder"
        raise FileAccessError("train in", folder, reason)
    return _learn(settings, folder, False, on_progress)


def resume(
    folder: Path, *, steps: int | None = None, on_progress: Callable[[int], object] | None = None
) -> TrainingResult:
    """Go on with the training in a folder, as it was set up.

    Args:
        folder: Folder of `train`.
        steps: Control steps in total, instead of as many as it was set up for.
        on_progress: Called with the number of control steps so far.

    Returns:
        Result of the training.

    Raises:
        SegtrackError: Stable-Baselines3 is missing, or the environment cannot be made.
        FileAccessError: Nothing to resume, it is damaged, or another process trains there.
    """
    if not (folder / CHECKPOINT).is_file():
        raise FileAccessError("resume training in", folder, f"there is no {CHECKPOINT}")
    settings = TrainingSettings.read(folder)
    return _learn(settings if steps is None else replace(settings, steps=steps), folder, True, on_progress)


def _learn(
    settings: TrainingSettings, folder: Path, resumed: bool, on_progress: Callable[[int], object] | None
) -> TrainingResult:
    make_training_env(settings).close()
    try:
        from segtrack.envs.learning import ppo
    except ImportError as error:
        hint = 'training needs the extra "train" (pip install ".[train]")'
        raise SegtrackError(f"{hint}: {error}") from None
    with _locked(folder):
        write_json(folder / SETTINGS, asdict(settings))
        return ppo.learn(settings, folder, resumed, on_progress or (lambda steps: None))


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep other trainings out of a folder; the system frees the lock of a process that dies.

    Raises:
        FileAccessError: Another process trains there, or the lock cannot be written.
    """
    import fcntl  # Not on Windows, where the rest of this module can be imported.

    path = folder / LOCK
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = path.open("a+", encoding="utf-8")
    except OSError as error:
        raise FileAccessError("write", path, error.strerror or str(error)) from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            reason = f"process {file.read().strip() or 'unknown'} trains there"
            raise FileAccessError("train in", folder, reason) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
        file.truncate(0)
