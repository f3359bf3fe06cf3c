"""Training by proximal policy optimisation with Stable-Baselines3 (extra `train`)."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

from segtrack.description import load_vehicle
from segtrack.envs.environment import Environment
from segtrack.envs.learning.network import Network
from segtrack.envs.learning.policies import NetworkPolicy, make_policy
from segtrack.envs.objects import load_options
from segtrack.envs.parameters import ROBOT_PARAMETERS, WordChoice, check_values, refuse_functions, spread
from segtrack.envs.setup import EnvironmentOptions, TaskSetup, make_graded_task
from segtrack.envs.task import Task
from segtrack.errors import FileAccessError, InvalidValueError, Phrase, SegtrackError, UnknownNameError
from segtrack.files import claimed, write_csv, write_json
from segtrack.native import preset_step

COLUMNS = ("steps", "minutes", "simulation", "episodes", "success_rate", "mean_return")
"""Control steps, minutes of all and of the simulation, and episodes so far; success and return of the latest
episodes, with sampled actions."""


def level_column(strand: Mapping[str, str]) -> str:
    """Return the name of the curve's column for a strand's present level."""
    return "_".join(("level", *strand.values()))


def success_column(level: float) -> str:
    """Return the name of the curve's column for the mean action's success at a level."""
    return f"success_{level:g}"


class LearningCurve:
    """Learning curve as CSV: `COLUMNS`, strands' levels, mean action's success by level; NaN for none.

    Attributes:
        rows: Rows so far.
    """

    def __init__(
        self, path: Path, levels: Sequence[float], strands: Sequence[Mapping[str, str]] = ({},)
    ) -> None:
        """Begin a curve, or continue the one in a file.

        Args:
            path: File of the curve.
            levels: Levels at which the mean action is evaluated.
            strands: Strands of the training, see `TrainingSettings.strands`.

        Raises:
            FileAccessError: The file is damaged, or lacks a column, as that of other levels does.
        """
        self._path = path
        self._names = (*COLUMNS, *map(level_column, strands), *map(success_column, levels))
        self.rows: list[dict[str, float]] = []
        if not path.is_file():
            return
        try:
            with path.open(newline="", encoding="utf-8") as file:
                self.rows = [{n: float(row[n]) for n in self._names} for row in csv.DictReader(file)]
        except KeyError as error:
            raise FileAccessError("read learning curve", path, f"it has no column {error}") from None
        except (ValueError, TypeError, OSError):
            raise FileAccessError("read learning curve", path, "it is damaged") from None

    def last(self, name: str, otherwise: float = 0.0) -> float:
        """Return the last number in a column."""
        return next((row[name] for row in reversed(self.rows) if not math.isnan(row[name])), otherwise)

    def add(self, row: Mapping[str, float]) -> None:
        """Add a row, and write the file atomically."""
        self.rows.append({name: float(row.get(name, math.nan)) for name in self._names})
        write_csv(self._path, self._names, ([f"{v:.8g}" for v in each.values()] for each in self.rows))


SETTINGS, CHECKPOINT, CURVE = "settings.json", "checkpoint.zip", "curve.csv"
POLICY, ONNX = "policy.npz", "policy.onnx"
LEARNERS = "cpu", "cuda"


HIDDEN = (128, 128)
"""Sizes of a policy's hidden layers."""


@dataclass(frozen=True)
class TrainingSettings:
    """Settings of a training run.

    Attributes:
        task: Name of a task, `course:` and a course, or `module:name` of a task of one's own.
        steps: Total number of control steps of all robots; rounded up to whole rollouts.
        robots: Number of robots trained side by side.
        threads: Number of simulation threads, without effect on results; by default one per core.
        seed: Seed of everything random.
        vehicle: Bundled name, or path of a vehicle file.
        start: Policy whose network the training begins with: `ppo`, `ppo:TASK` or a file of `train`; by
            default with a random one.
        hardest: Difficulty at which the curriculum ends; by default the task's hardest level.
        learner: Device on which PyTorch learns, `cpu` or `cuda`.
        preset: Name of the engine's preset; by default the environments' own.
        options: YAML file or `module:function` with options of the environment, see `load_options`.
        parameters: Parameter values or ranges of the environment, besides the spread ones.
    """

    task: str
    steps: int = 5_000_000
    robots: int = 256
    threads: int | None = None
    seed: int = 0
    vehicle: str = "quince"
    start: str | None = None
    hardest: float | None = None
    learner: str = "cpu"
    preset: str | None = None
    options: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check that the training can run."""
        task = self.graded_task
        for name in ("steps", "robots", "threads"):
            if (value := getattr(self, name)) is not None and value < 1:
                raise InvalidValueError(name, "at least 1", value)
        if self.learner not in LEARNERS:
            raise UnknownNameError("learner's device", self.learner, LEARNERS)
        kinds = {**task.parameters, **ROBOT_PARAMETERS}
        refuse_functions(check_values(kinds, self.parameters, self.task))
        if self.hardest is None:
            return
        if task.difficulty in self.parameters:
            expected = f"left out where {task.difficulty} is given"
            raise InvalidValueError("hardest", expected, self.hardest)
        kinds[task.difficulty].check("hardest", self.hardest)
        easiest = (task.curriculum or task.levels)[0]
        if self.hardest <= easiest:
            raise InvalidValueError("hardest", f"above the easiest level of {easiest:g}", self.hardest)

    @cached_property
    def graded_task(self) -> Task:
        """Task to train for."""
        return make_graded_task(self.task)

    @property
    def environment_options(self) -> dict[str, Any]:
        """Options of the environment: vehicle, those of `options`, and `conditions`."""
        own = {} if self.options is None else load_options(self.options)
        return {"vehicle": self.vehicle, **own, **self.conditions}

    @property
    def levels(self) -> tuple[float, ...]:
        """Curriculum levels, up to the hardest; empty if the difficulty is fixed by `parameters`."""
        task = self.graded_task
        if task.difficulty in self.parameters:
            return ()
        all_levels = task.curriculum or task.levels
        hardest = all_levels[-1] if self.hardest is None else self.hardest
        return (*(level for level in all_levels if level < hardest), hardest)

    @property
    def strands(self) -> tuple[dict[str, str], ...]:
        """Groups of robots with fixed word parameters and a curriculum of their own (strands).

        All combinations of the words that are drawn; one strand, that keeps none, where these are more than
        two robots are for each.
        """
        drawn = {name: words for name, words in self.conditions.items() if _are_words(words)}
        strands = tuple(dict(zip(drawn, words, strict=True)) for words in product(*drawn.values()))
        return strands if self.robots >= 2 * len(strands) else ({},)

    @property
    def conditions(self) -> dict[str, Any]:
        """Environment parameters: spread start and friction, and all options of word parameters."""
        words = {n: p.options for n, p in self.graded_task.parameters.items() if isinstance(p, WordChoice)}
        given = {**words, **self.parameters}
        return spread(load_vehicle(self.vehicle), given, self.graded_task.spread)

    @classmethod
    def read(cls, folder: Path) -> TrainingSettings:
        """Read the settings of the training in a folder.

        Raises:
            FileAccessError: It cannot be read.
        """
        path = folder / SETTINGS
        try:
            given = json.loads(path.read_text(encoding="utf-8"))
            lists = {k: tuple(v) if isinstance(v, list) else v for k, v in given["parameters"].items()}
            given.setdefault("preset", "fast")  # Trainings that do not say so were at 4 ms.
            return cls(**{**given, "parameters": lists})
        except OSError as error:
            raise FileAccessError("read training settings", path, error.strerror or str(error)) from None
        except (ValueError, TypeError, KeyError, AttributeError, SegtrackError):
            raise FileAccessError("read training settings", path, "it is damaged") from None


def _are_words(given: Any) -> bool:
    return isinstance(given, tuple) and all(isinstance(each, str) for each in given)


@dataclass(frozen=True)
class TrainingResult:
    """Result of a training run.

    Attributes:
        settings: Settings of the training.
        folder: Folder with checkpoint, policy, curve and TensorBoard's logs.
        steps: Number of control steps so far.
        minutes: Wall time, with resumptions [min].
        success_rate: Success rate of sampled actions over the last episodes, at the curriculum's
            difficulties [-]; NaN if none has ended.
        finished: True if all steps are done; otherwise it was interrupted and can be resumed.
    """

    settings: TrainingSettings
    folder: Path
    steps: int
    minutes: float
    success_rate: float
    finished: bool

    def summary(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict."""
        return {
            "task": self.settings.task,
            "vehicle": self.settings.vehicle,
            "robots": self.settings.robots,
            "steps": self.steps,
            "minutes": self.minutes,
            "success_rate": None if math.isnan(self.success_rate) else self.success_rate,
            "finished": self.finished,
        }

    @property
    def policy(self) -> Path:
        """Path of the learnt policy."""
        return self.folder / POLICY

    @property
    def onnx(self) -> Path:
        """Path of the learnt policy as ONNX, written where the package onnx is installed."""
        return self.folder / ONNX

    @property
    def curve(self) -> Path:
        """Path of the learning curve."""
        return self.folder / CURVE


def train(
    settings: TrainingSettings, folder: Path, *, on_progress: Callable[[int], object] | None = None
) -> TrainingResult:
    """Train a policy.

    Args:
        settings: Settings of the training.
        folder: Folder for checkpoint, policy, curve and TensorBoard's logs.
        on_progress: Function called with the number of control steps so far.

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
    folder: Path,
    *,
    steps: int | None = None,
    threads: int | None = None,
    learner: str | None = None,
    on_progress: Callable[[int], object] | None = None,
) -> TrainingResult:
    """Continue the training in a folder with its settings.

    Args:
        folder: Folder of an earlier `train`.
        steps: Total number of control steps, in place of the earlier setting.
        threads: Number of simulation threads, in place of the earlier setting.
        learner: Device on which PyTorch learns, in place of the earlier setting.
        on_progress: Function called with the number of control steps so far.

    Returns:
        Result of the training.

    Raises:
        SegtrackError: Stable-Baselines3 is missing, or the environment cannot be made.
        FileAccessError: Nothing to resume, it is damaged, or another process trains there.
    """
    if not (folder / CHECKPOINT).is_file():
        raise FileAccessError("resume training in", folder, f"there is no {CHECKPOINT}")
    new: dict[str, Any] = {"steps": steps, "threads": threads, "learner": learner}
    changed = {name: value for name, value in new.items() if value is not None}
    return _learn(replace(TrainingSettings.read(folder), **changed), folder, True, on_progress)


def _learn(
    settings: TrainingSettings, folder: Path, resumed: bool, on_progress: Callable[[int], object] | None
) -> TrainingResult:
    TaskSetup.of(settings.graded_task, EnvironmentOptions.of(settings.environment_options))
    preset_step(settings.preset, None)
    start = None if resumed else _first_network(settings)
    try:
        from segtrack.envs.learning import ppo
    except ImportError as error:
        hint = 'training needs the extra "train" (pip install ".[train]")'
        raise SegtrackError(f"{hint}: {error}") from None
    with claimed(folder):
        write_json(folder / SETTINGS, asdict(settings))
        return ppo.learn(settings, folder, resumed, start, on_progress or (lambda steps: None))


def _first_network(settings: TrainingSettings) -> Network | None:
    """Network that a training begins with; None for a random one.

    Raises:
        SegtrackError: There is no such policy, it does not fit the task, or its layers are others.
    """
    if settings.start is None:
        return None
    with closing(Environment(settings.graded_task, **settings.environment_options)) as env:
        policy = make_policy(settings.start, env)
    if not isinstance(policy, NetworkPolicy):
        raise InvalidValueError("start", "ppo, ppo:TASK, or a file of train (.npz)", settings.start)
    hidden = tuple(len(bias) for bias in policy.network.biases[:-1])
    if hidden != HIDDEN:
        raise InvalidValueError("start", f"a network with layers of {HIDDEN}", Phrase(f"layers of {hidden}"))
    return policy.network
