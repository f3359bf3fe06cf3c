"""Commands of the gymnasium environments: `segtrack train` and `evaluate`."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import Annotated, Any

import typer
import yaml

from segtrack.cli.output import (
    INTERRUPTED,
    JsonFlag,
    OutFolder,
    command,
    counting,
    finish,
    progress,
    results_folder,
    say_written,
    show,
)
from segtrack.description import read_value
from segtrack.errors import InvalidValueError, MissingPackageError, Phrase
from segtrack.files import write_figure
from segtrack.reproduce import MOST_ROBOTS, MOST_THREADS, Preset, TrackModels, parse_numbers

Task = Annotated[
    str,
    typer.Argument(
        help="StepClimb, StairClimb, GapCross, RoughTerrain, Drive, Traverse, course:NAME, or MODULE:NAME of "
        "a task of your own."
    ),
]
VehicleChoice = Annotated[
    str | None, typer.Option(help="Bundled vehicle or vehicle file, quince.", show_default=False)
]
Engine = Annotated[
    str | None,
    typer.Option(
        "--engine",
        help="native, pybullet or mujoco; if not given, native where that runs the track model.",
        show_default=False,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A parameter of the environment: a number, a word, or a range [LOW, HIGH]; may be repeated.",
        show_default=False,
    ),
]

Options = Annotated[
    str | None,
    typer.Option(
        "--options",
        metavar="FILE|MODULE:FUNCTION",
        help="Options of the environment, as reward, terms, parts, actions: a YAML file, or a function.",
        show_default=False,
    ),
]


@command
def train(
    task: Task,
    steps: Annotated[
        int | None,
        typer.Option(
            help="Control steps in total, 5000000; rounded up to whole updates, of 32 steps of each robot.",
            min=1,
            show_default=False,
        ),
    ] = None,
    robots: Annotated[
        int | None, typer.Option(help="Robots side by side, 256.", min=1, max=MOST_ROBOTS, show_default=False)
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(help="Threads that simulate, one a core.", min=1, max=MOST_THREADS, show_default=False),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of everything random, 0.", min=0, show_default=False)
    ] = None,
    vehicle: VehicleChoice = None,
    start: Annotated[
        str | None,
        typer.Option(
            help="Policy whose network it begins with: ppo, ppo:TASK or a file of train; a random one.",
            show_default=False,
        ),
    ] = None,
    hardest: Annotated[
        float | None,
        typer.Option(help="Where the curriculum ends; the task's hardest level.", show_default=False),
    ] = None,
    learner: Annotated[
        str | None, typer.Option(help="Device on which PyTorch learns, cpu or cuda; cpu.", show_default=False)
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            help="exact (1 ms, as environments that are made) or fast (4 ms); exact.", show_default=False
        ),
    ] = None,
    settings: Settings = None,
    options: Options = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the training in the folder.")] = False,
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Train a policy by PPO, with a curriculum over the task's difficulty; Ctrl-C keeps what was reached.

    Start and friction are spread as for `evaluate`.
    """
    for package in ("torch", "stable_baselines3", "tensorboard"):
        if find_spec(package) is None:
            raise MissingPackageError("training", package, "train")
    from segtrack.envs import learning
    from segtrack.report import draw_curve, training_table

    folder = results_folder(out, f"train-{folder_name(task_name(task))}")
    named: dict[str, Any] = {
        "task": task_name(task),
        "steps": steps,
        "robots": robots,
        "threads": threads,
        "seed": seed,
        "vehicle": vehicle,
        "start": start,
        "learner": learner,
        "preset": preset,
        "options": options,
    }
    named |= {"hardest": hardest, "parameters": read_settings(settings) or None}
    given = {name: value for name, value in named.items() if value is not None}
    if resume:
        setup = learning.TrainingSettings.read(folder)
        for name, value in given.items():
            if name not in ("steps", "threads", "learner") and getattr(setup, name) != value:
                expected = f"{getattr(setup, name)!r}, with which this training began"
                raise InvalidValueError(name, expected, value)
    else:
        setup = learning.TrainingSettings(**given)
    with progress("training", steps or setup.steps) as advance:
        if resume:
            result = learning.resume(
                folder, steps=steps, threads=threads, learner=learner, on_progress=advance
            )
        else:
            result = learning.train(setup, folder, on_progress=advance)
    written = [result.folder / learning.CHECKPOINT, result.policy, result.onnx]
    if result.curve.is_file():
        written += [result.curve, write_figure(folder / "curve.png", draw_curve(result))]
    show(training_table(result), result.summary(), as_json)
    say_written(*(path for path in written if path.is_file()))
    if not result.finished:
        raise typer.Exit(INTERRUPTED)


@command
def evaluate(
    task: Task,
    policy: Annotated[
        list[str],
        typer.Option(
            help="scripted, steered (along the path, flippers at rest), constant (the best constant action "
            "of each level, looked for first), constant:ACTION, random, ppo (segtrack's own), ppo:TASK (of "
            "another task), a file (.npz, .onnx, TorchScript as .pt), or MODULE:FUNCTION of your own; may be "
            "repeated."
        ),
    ] = ["scripted"],  # noqa: B006
    episodes: Annotated[
        int | None, typer.Option(help="Episodes at each level, 20.", min=1, max=1_000_000, show_default=False)
    ] = None,
    levels: Annotated[
        str | None,
        typer.Option(help="Levels of the task's difficulty, with commas; its own.", show_default=False),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the first episode, 0.", min=0, show_default=False)
    ] = None,
    vehicle: VehicleChoice = None,
    track_model: TrackModels = None,
    engine: Engine = None,
    preset: Preset = None,
    conditions: Annotated[
        bool,
        typer.Option(
            "--conditions",
            help="Also with other friction and mass, a delay, and noise: at the task's default level, or at "
            "--levels.",
        ),
    ] = False,
    settings: Settings = None,
    options: Options = None,
    benchmark: Annotated[
        bool,
        typer.Option(
            "--benchmark",
            help="Setup to cite: 200 episodes, seed 0, all levels, --conditions, both baselines.",
        ),
    ] = False,
    film: Annotated[
        bool, typer.Option("--film", help="Also film the first episode of each policy at each level.")
    ] = False,
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Success rate of policies over a task's difficulty, with Wilson's 95 % intervals.

    In each episode the start is up to 0.1 m and 0.15 rad off, and the tracks' friction up to 0.1 from the
    vehicle's, unless `--set` says otherwise. All policies, track models and conditions get the same episodes.
    Engine and track model are native and compliant if not given: all episodes run in one batch.
    Ctrl-C writes the results of the episodes that are done.
    """
    from segtrack.envs import learning
    from segtrack.envs.learning import CONDITIONS, EvaluationSetup, benchmark_setup
    from segtrack.report import Outcome, draw_evaluation, evaluation_tables

    named = {
        "episodes": episodes,
        "levels": None if levels is None else parse_numbers("--levels", levels),
        "seed": seed,
        "vehicle": vehicle,
        "preset": preset,
        "options": options,
        "conditions": tuple(CONDITIONS) if conditions else None,
        "parameters": read_settings(settings) or None,
    }
    given: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
    models: dict[str, Any] = {"engine": engine, "track_models": tuple(track_model or ())}
    if benchmark and given:
        raise InvalidValueError("--benchmark", "given without what it decides", Phrase(", ".join(given)))
    make = benchmark_setup if benchmark else EvaluationSetup
    setup = make(task_name(task), tuple(policy), **models, **given)
    folder = results_folder(out, f"evaluate-{folder_name(setup.task)}")
    if "constant" in setup.policies:
        trials = learning.trials_of(setup)
        with progress("constant actions", trials.episode_count) as advance:
            setup = learning.find_constants(setup, trials, on_done=advance)
    planned = setup.episode_count
    try:
        with progress("episodes", planned) as advance:
            result = learning.evaluate(setup, on_done=advance)
    except learning.EvaluationInterrupted as stop:
        result = stop.result
    summary = result.summary()
    files = {
        "evaluation.csv": result.rows(),
        "evaluation.json": summary,
        "evaluation.png": draw_evaluation(result),
    }
    if film and result.finished:
        films = learning.film_jobs(setup, folder)
        with counting("films", len(films)) as filmed:
            say_written(*learning.film_all(films, filmed))
    done = f"interrupted: results are of {result.done} of {planned} episodes"
    ended = "" if result.finished else done
    outcome = Outcome(evaluation_tables(result), summary, files, notes=result.notes, interrupted=ended)
    finish(outcome, folder, as_json)


def task_name(name: str) -> str:
    """Return a task's name, from the name or from an environment's id."""
    return name.removeprefix("segtrack/").removesuffix("-v0")


def folder_name(task: str) -> str:
    """Return a task's name as part of a folder's."""
    return re.sub(r"[^\w.-]+", "-", task)


def read_settings(settings: list[str] | None) -> dict[str, Any]:
    """Return the values of `--set` options: numbers, words or ranges."""
    given = {}
    for text in settings or []:
        name, equals, value = text.partition("=")
        if not equals:
            raise InvalidValueError("--set", "NAME=VALUE", text)
        try:
            read = _read(value)
        except yaml.YAMLError:
            expected = "a number, a word, or a range [LOW, HIGH]"
            raise InvalidValueError(f"--set {name}", expected, value) from None
        if name.strip() in given:
            raise InvalidValueError(f"--set {name.strip()}", "given once", text)
        given[name.strip()] = tuple(read) if isinstance(read, list) else read
    return given


def _read(text: str) -> Any:
    """Parse a number, also in forms that YAML takes for text (1e-1), or else any YAML value."""
    try:
        return float(text)
    except ValueError:
        return read_value(text)
