"""`segtrack benchmark`: speed of the gymnasium environments."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from segtrack.cli.learn import Engine, task_name
from segtrack.cli.output import JsonFlag, OutFolder, command, counting, finish, results_folder
from segtrack.errors import InvalidValueError
from segtrack.reproduce import MOST_ROBOTS, MOST_THREADS, parse_numbers, parse_time_step


@command
def benchmark(
    tasks: Annotated[
        list[str] | None, typer.Argument(help="Tasks; all of them if none is named.", show_default=False)
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(
            help="Control steps of each measurement, 500; of each robot, 100, with --num-envs.",
            min=1,
            show_default=False,
        ),
    ] = None,
    rounds: Annotated[int, typer.Option(help="Turns of one process and of all cores.", min=1)] = 3,
    vehicle: Annotated[
        str, typer.Option(help="Name of a bundled vehicle, or path of a vehicle file.")
    ] = "quince",
    engine: Engine = None,
    num_envs: Annotated[
        str | None,
        typer.Option(
            help="Measure vector environments of so many robots, such as 1,16,256, and a single native one.",
            show_default=False,
        ),
    ] = None,
    threads: Annotated[str, typer.Option(help="Threads of vector environments, such as 1,2.")] = "1",
    time_step: Annotated[
        float | None,
        typer.Option(
            parser=parse_time_step, help="Time step of vector environments [s], 0.001.", show_default=False
        ),
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="Device of vector environments, cpu or cuda.", show_default=False)
    ] = None,
    against_pybullet: Annotated[
        bool, typer.Option("--against-pybullet", help="With --num-envs: also a single one in PyBullet.")
    ] = False,
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Measure control steps a second of the environments, in one process and on all cores."""
    from segtrack.envs import TASKS, learning
    from segtrack.envs.learning import benchmark_batches
    from segtrack.recording import versions
    from segtrack.report import Outcome, batch_table, benchmark_table, draw_benchmark

    chosen = tuple(map(task_name, tasks)) if tasks else tuple(TASKS)
    given: dict[str, Any] = {"rounds": rounds, "vehicle": vehicle, **({"steps": steps} if steps else {})}
    if num_envs is not None:
        if engine not in (None, "native"):
            raise InvalidValueError("--engine with --num-envs", "native", engine)
        numbers, shared = (
            _counts("--num-envs", num_envs, MOST_ROBOTS),
            _counts("--threads", threads, MOST_THREADS),
        )
        folder = results_folder(out, "benchmark")
        with counting("measuring", len(chosen)) as done:
            measured = benchmark_batches(
                chosen,
                numbers,
                shared,
                time_step=time_step,
                device=device or "cpu",
                against_pybullet=against_pybullet,
                on_done=done,
                **given,
            )
        at_tasks = [speed.summary() for speed in measured]
        batch_summary = {
            "vehicle": vehicle,
            "device": device or "cpu",
            "tasks": at_tasks,
            "versions": versions(),
        }
        files: dict[str, Any] = {"benchmark.json": batch_summary}
        finish(Outcome(batch_table(measured), batch_summary, files), folder, as_json)
        return
    alone = ("--time-step", time_step), ("--device", device), ("--against-pybullet", against_pybullet or None)
    for name, value in alone:
        if value is not None:
            raise InvalidValueError(name, "left out without --num-envs", value)
    folder = results_folder(out, "benchmark")
    with counting("measuring", len(chosen)) as done:
        speeds = learning.benchmark(
            chosen,
            engine=engine,  # type: ignore[arg-type]
            on_done=done,
            **given,
        )
    summary = {"vehicle": vehicle, "tasks": [speed.summary() for speed in speeds], "versions": versions()}
    files = {"benchmark.json": summary, "benchmark.png": draw_benchmark(speeds)}
    finish(Outcome(benchmark_table(speeds), summary, files), folder, as_json)


def _counts(option: str, text: str, most: int) -> tuple[int, ...]:
    """Parse an option's whole numbers from 1 to `most`."""
    numbers = parse_numbers(option, text)
    for number in numbers:
        if not 1 <= number <= most or not number.is_integer():
            raise InvalidValueError(option, f"whole numbers from 1 to {most}", number)
    return tuple(map(int, numbers))
