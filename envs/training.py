"""Proximal policy optimisation with Stable-Baselines3, which the extra `train` installs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from segtrack.description import load_vehicle
from segtrack.envs.conditions import spread
from segtrack.envs.curriculum import Curriculum
from segtrack.envs.environment import Environment
from segtrack.envs.tasks import TASKS
from segtrack.errors import FileAccessError, InvalidValueError, SegtrackError, UnknownNameError

SETTINGS, CHECKPOINT, CURVE, POLICY = "settings.json", "checkpoint.zip", "curve.csv", "policy.npz"


@dataclass(frozen=True)
class TrainingSettings:
    """What to train, and how.

    Attributes:
        task: Name of a task.
        steps: Control steps in total, over all workers.
        workers: Processes with an environment each; two for each core keep the cores busy.
        seed: Of everything random.
        vehicle: Bundled name, or path of a vehicle file.
        hardest: Difficulty at which the curriculum ends; the task's hardest level if not given.
        parameters: Of the environment, numbers or ranges, besides those that are spread anyway.
    """

    task: str
    steps: int = 500_000
    workers: int = 2 * (os.cpu_count() or 1)
    seed: int = 0
    vehicle: str = "quince"
    hardest: float | None = None
    parameters: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what cannot be trained."""
        if self.task not in TASKS:
            raise UnknownNameError("task", self.task, TASKS)
        for name in ("steps", "workers"):
            if getattr(self, name) < 1:
                raise InvalidValueError(name, "at least 1", getattr(self, name))


@dataclass(frozen=True)
class TrainingResult:
    """What training left behind.

    Attributes:
        settings: What was asked for.
        folder: With checkpoint, policy, curve and TensorBoard's logs.
        steps: Control steps so far.
        minutes: That they took, over all sittings.
        success_rate: Over the last episodes, at the curriculum's difficulties.
        finished: Whether all steps were made; otherwise it was interrupted, and can be resumed.
    """

    settings: TrainingSettings
    folder: Path
    steps: int
    minutes: float
    success_rate: float
    finished: bool

    def summary(self) -> dict[str, Any]:
        """As plain values with the names that JSON has."""
        return {
            "task": self.settings.task,
            "vehicle": self.settings.vehicle,
            "steps": self.steps,
            "minutes": self.minutes,
            "success_rate": self.success_rate,
            "finished": self.finished,
        }

    @property
    def policy(self) -> Path:
        """The learnt policy."""
        return self.folder / POLICY

    @property
    def curve(self) -> Path:
        """The learning curve."""
        return self.folder / CURVE


def make_training_env(settings: TrainingSettings, level: float | None = None) -> gymnasium.Env[Any, Any]:
    """One worker's environment: conditions spread, difficulty by curriculum, entries scaled to [-1, 1].

    Args:
        settings: What to train.
        level: Of the curriculum, to begin with.
    """
    task = TASKS[settings.task]
    given = {**spread(load_vehicle(settings.vehicle)), **settings.parameters}
    env: Any = Environment(settings.task, vehicle=settings.vehicle, **given)
    if task.difficulty not in settings.parameters:
        easiest, *_, last = task.levels
        hardest = last if settings.hardest is None else settings.hardest
        env = Curriculum(env, easiest, hardest, step=(hardest - easiest) / 10, level=level)
    return gymnasium.wrappers.RescaleObservation(env, np.float32(-1.0), np.float32(1.0))


def train(
    settings: TrainingSettings,
    folder: Path,
    *,
    resume: bool = False,
    on_progress: Callable[[int], object] | None = None,
) -> TrainingResult:
    """Train a policy.

    Args:
        settings: What to train; with `resume`, only how many steps is taken from it.
        folder: Where checkpoint, policy, curve and TensorBoard's logs go.
        resume: Go on where a training in this folder stopped.
        on_progress: Called with the number of control steps so far.

    Returns:
        What was reached. Ctrl-C ends training early, with everything kept.

    Raises:
        SegtrackError: Stable-Baselines3 is missing, or the environment cannot be made.
        FileAccessError: Nothing to resume, or a training that would be overwritten.
    """
    checkpoint = folder / CHECKPOINT
    if resume:
        if not checkpoint.is_file():
            raise FileAccessError("resume training in", folder, f"there is no {CHECKPOINT}")
        before = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
        settings = TrainingSettings(**{**before, "steps": settings.steps})
    elif checkpoint.is_file():
        reason = f"there is a {CHECKPOINT} already; resume it, or name another folder"
        raise FileAccessError("train in", folder, reason)
    make_training_env(settings).close()
    try:
        from segtrack.envs import ppo
    except ImportError as error:
        hint = 'training needs the extra "train" (pip install "segtrack[train]")'
        raise SegtrackError(f"{hint}: {error}") from None
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SETTINGS).write_text(json.dumps(asdict(settings), indent=2) + "\n", encoding="utf-8")
    return ppo.learn(settings, folder, resume, on_progress or (lambda steps: None))
