"""Commands of the gymnasium environments: `segtrack train`, `evaluate` and `benchmark`."""

from __future__ import annotations

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
from segtrack.errors import InvalidValueError
from segtrack.files import write_figure
from segtrack.reproduce.registry import EngineChoice, Preset, TrackModel, parse_numbers

Task = Annotated[str, typer.Argument(help="StepClimb, StairClimb, GapCross, RoughTerrain or Drive.")]
Vehicle = Annotated[str, typer.Option(help="Name of a bundled vehicle, or path of a vehicle file.")]
Seed = Annotated[int, typer.Option(help="Seed of everything random.", min=0)]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A parameter of the environment: a number, a word, or a range [LOW, HIGH]; may be repeated.",
        show_default=False,
    ),
]


@command
def train(
    task: Task,
    steps: Annotated[
        int | None, typer.Option(help="Control steps in total, 5000000.", min=1, show_default=False)
    ] = None,
    robots: Annotated[
        int | None, typer.Option(help="Robots side by side, 256.", min=1, show_default=False)
    ] = None,
    threads: Annotated[
        int | None, typer.Option(help="Threads that simulate, one a core.", min=1, show_default=False)
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of everything random, 0.", min=0, show_default=False)
    ] = None,
    vehicle: Annotated[
        str | None, typer.Option(help="Bundled vehicle or vehicle file, quince.", show_default=False)
    ] = None,
    hardest: Annotated[
        float | None,
        typer.Option(help="Where the curriculum ends; the task's hardest level.", show_default=False),
    ] = None,
    settings: Settings = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the training in the folder.")] = False,
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Train a policy by PPO, with a curriculum over the task's difficulty; Ctrl-C keeps what was reached.

    Start and friction are spread as for `evaluate`.
    """
    from segtrack.envs.learning import training
    from segtrack.report.learning import draw_curve, training_table

    folder = results_folder(out, f"train-{_task(task)}")
    named: dict[str, Any] = {
        "task": _task(task),
        "steps": steps,
        "robots": robots,
        "threads": threads,
        "seed": seed,
        "vehicle": vehicle,
    }
    named |= {"hardest": hardest, "parameters": _parameters(settings) or None}
    given = {name: value for name, value in named.items() if value is not None}
    if resume:
        setup = training.TrainingSettings.read(folder)
        for name, value in given.items():
            if name not in ("steps", "threads") and getattr(setup, name) != value:
                expected = f"{getattr(setup, name)!r}, with which this training began"
                raise InvalidValueError(name, expected, value)
    else:
        setup = training.TrainingSettings(**given)
    with progress("training", steps or setup.steps) as advance:
        if resume:
            result = training.resume(folder, steps=steps, threads=threads, on_progress=advance)
        else:
            result = training.train(setup, folder, on_progress=advance)
    written = [result.folder / training.CHECKPOINT, result.policy]
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
        list[str], typer.Option(help="scripted, random, ppo (segtrack's own), or a file; may be repeated.")
    ] = ["scripted"],  # noqa: B006
    episodes: Annotated[int, typer.Option(help="Episodes at each level.", min=1)] = 20,
    levels: Annotated[
        str | None,
        typer.Option(help="Levels of the task's difficulty, with commas; its own.", show_default=False),
    ] = None,
    seed: Seed = 0,
    vehicle: Vehicle = "quince",
    track_model: TrackModel = None,
    engine: EngineChoice = None,
    preset: Preset = None,
    settings: Settings = None,
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Success rate of policies over a task's difficulty, with Wilson's 95 % intervals.

    In each episode the start is up to 0.1 m and 0.15 rad off, and the tracks' friction up to 0.1 from the
    vehicle's, unless `--set` says otherwise. All policies get the same episodes.
    Ctrl-C writes the results of the episodes that are done.
    """
    from segtrack.envs.learning import evaluation
    from segtrack.report.learning import draw_evaluation, evaluation_table
    from segtrack.report.outcome import Outcome

    setup = evaluation.EvaluationSetup(
        _task(task),
        policies=tuple(policy),
        episodes=episodes,
        levels=None if levels is None else parse_numbers("--levels", levels),
        seed=seed,
        vehicle=vehicle,
        engine=engine,  # type: ignore[arg-type]
        track_model=track_model,
        preset=preset,
        parameters=_parameters(settings),
    )
    folder = results_folder(out, f"evaluate-{setup.task}")
    planned = setup.episode_count
    try:
        with progress("episodes", planned) as advance:
            result = evaluation.evaluate(setup, on_done=advance)
    except evaluation.EvaluationInterrupted as stop:
        result = stop.result
    summary = result.summary()
    files = {
        "evaluation.csv": [level.summary() for level in result.results],
        "evaluation.json": summary,
        "evaluation.png": draw_evaluation(result),
    }
    done = f"interrupted: results are of {result.done} of {planned} episodes"
    ended = "" if result.finished else done
    finish(Outcome(evaluation_table(result), summary, files, interrupted=ended), folder, as_json)


@command
def benchmark(
    tasks: Annotated[
        list[str] | None, typer.Argument(help="Tasks; all of them if none is named.", show_default=False)
    ] = None,
    steps: Annotated[int, typer.Option(help="Control steps of each measurement.", min=1)] = 500,
    rounds: Annotated[int, typer.Option(help="Turns of one process and of all cores.", min=1)] = 3,
    vehicle: Vehicle = "quince",
    engine: EngineChoice = None,
    num_envs: Annotated[
        str | None,
        typer.Option(
            help="Measure vector environments of so many robots instead, such as 1,16,256.",
            show_default=False,
        ),
    ] = None,
    threads: Annotated[str, typer.Option(help="Threads of vector environments, such as 1,2.")] = "1",
    time_step: Annotated[
        float | None,
        typer.Option(help="Time step of vector environments [s], 0.001.", show_default=False),
    ] = None,
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Measure control steps a second of the environments, in one process and on all cores."""
    from segtrack.envs.learning import benchmark as measuring
    from segtrack.envs.tasks import TASKS
    from segtrack.report.learning import batch_table, benchmark_table, draw_benchmark
    from segtrack.report.outcome import Outcome

    chosen = tuple(map(_task, tasks)) if tasks else tuple(TASKS)
    given: dict[str, Any] = {"steps": steps, "rounds": rounds, "vehicle": vehicle}
    if num_envs is not None:
        if engine not in (None, "native"):
            raise InvalidValueError("--engine with --num-envs", "native", engine)
        numbers, shared = _counts("--num-envs", num_envs), _counts("--threads", threads)
        folder = results_folder(out, "benchmark")
        with counting("measuring", len(chosen) * len(numbers) * len(shared)) as done:
            batches = measuring.benchmark_batches(
                chosen, numbers, shared, time_step=time_step, on_done=done, **given
            )
        batch_summary = {"vehicle": vehicle, "batches": [vars(speed) for speed in batches]}
        files: dict[str, Any] = {"benchmark.json": batch_summary}
        finish(Outcome(batch_table(batches), batch_summary, files), folder, as_json)
        return
    if time_step is not None:
        raise InvalidValueError("--time-step", "left out without --num-envs", time_step)
    folder = results_folder(out, "benchmark")
    with counting("measuring", len(chosen)) as done:
        speeds = measuring.benchmark(
            chosen,
            engine=engine,  # type: ignore[arg-type]
            on_done=done,
            **given,
        )
    summary = {"vehicle": vehicle, "tasks": [speed.summary() for speed in speeds]}
    files = {"benchmark.json": summary, "benchmark.png": draw_benchmark(speeds)}
    finish(Outcome(benchmark_table(speeds), summary, files), folder, as_json)


def _counts(option: str, text: str) -> tuple[int, ...]:
    """Return whole numbers from 1, of an option."""
    numbers = parse_numbers(option, text)
    for number in numbers:
        if number < 1 or not number.is_integer():
            raise InvalidValueError(option, "whole numbers from 1", number)
    return tuple(map(int, numbers))


def _task(name: str) -> str:
    """Return a task's name, given as such or as an environment's id."""
    return name.removeprefix("segtrack/").removesuffix("-v0")


def _parameters(settings: list[str] | None) -> dict[str, Any]:
    """Return the values of `--set`: numbers, words, or ranges."""
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
        given[name.strip()] = tuple(read) if isinstance(read, list) else read
    return given


def _read(text: str) -> Any:
    """Return a number, also one that YAML does not take for one, such as 1e-1; or whatever YAML reads."""
    try:
        return float(text)
    except ValueError:
        return yaml.safe_load(text)
