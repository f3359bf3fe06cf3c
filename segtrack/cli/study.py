"""`segtrack study`: one event for many vehicles that differ in numbers of their file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from segtrack.cli.filming import filming, filming_beside
from segtrack.cli.output import (
    FilmFile,
    FilmView,
    FrameRate,
    FrameSize,
    Jobs,
    JsonFlag,
    OutFolder,
    command,
    film_options,
    path,
    progress,
    results_folder,
    say_written,
    show,
    words,
)
from segtrack.errors import InvalidValueError, Phrase, SegtrackError
from segtrack.files import write_figure, write_json

if TYPE_CHECKING:  # Numba and scipy take a while to import.
    from segtrack.experiments import EventProgress, StudyFile

RUNS = "runs.parquet"
"""Name of the table of runs in a study's folder."""


@command
def study(
    file: Annotated[Path, typer.Argument(parser=path, help="Path of a study file.")],
    jobs: Jobs = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the runs that are in the folder.")
    ] = False,
    row: Annotated[
        int | None,
        typer.Option(help="Run one row of the table again, by its number from 0.", min=0, show_default=False),
    ] = None,
    beside: Annotated[
        int | None,
        typer.Option(
            help="Run this row, too, and draw both at the instant of the largest pitch of --row.",
            min=0,
            show_default=False,
        ),
    ] = None,
    record: FilmFile = None,
    view: FilmView = None,
    frame_rate: FrameRate = None,
    frame_size: FrameSize = None,
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Run an event, or a search for its limit, for many vehicles that differ in numbers of their file."""
    from segtrack.experiments import NOT_RUN, Workers, check_parquet, load_study_file, run_study, write_runs

    options = film_options("--record", record, view, frame_rate, frame_size)
    if record is not None and row is None:
        raise InvalidValueError("--row", "given with --record", Phrase("none"))
    if beside is not None and row is None:
        raise InvalidValueError("--row", "given with --beside", Phrase("none"))
    folder = results_folder(out, f"study-{file.stem}")
    content = load_study_file(file)
    check_parquet()
    if row is not None and beside is not None:
        _beside(content, folder, (row, beside), record, options, as_json)
        return
    if row is not None:
        _again(content, folder, row, record, options, as_json)
        return
    from segtrack.report import draw_study, study_tables

    try:
        with Workers(jobs) as pool, progress("studying", 1.0) as advance:
            result = run_study(content, folder, pool=pool, resume=resume, on_share=advance)
    except KeyboardInterrupt:
        words().print("what is finished is kept: --resume goes on", highlight=False)
        raise
    written = [
        write_runs(folder / RUNS, content.parameters, result.rows, result.head),
        write_json(folder / "summary.json", result.summary()),
        write_figure(folder / "study.png", draw_study(result)),
    ]
    show(study_tables(result), result.summary(), as_json)
    if result.note:
        words().print(f"no sensitivities: {result.note}", markup=False, highlight=False, soft_wrap=True)
    say_written(*written)
    if all(row["outcome"] in NOT_RUN for row in result.rows):
        ((reason, count),) = Counter(row["reason"] for row in result.rows).most_common(1)
        runs = len(result.rows)
        raise SegtrackError(f"none of {runs} runs could be simulated; the reason of {count}: {reason}")


def _again(
    content: StudyFile,
    folder: Path,
    number: int,
    record: Path | None,
    options: dict[str, object],
    as_json: bool,
) -> None:
    """Run one row again, filmed if wanted, and report whether its result is equal."""
    from rich.markup import escape
    from rich.table import Table

    from segtrack.experiments import provenance, read_runs, run_row

    rows = read_runs(folder / RUNS, content.parameters, provenance(content))
    with progress(f"row {number}", 1.0) as advance, filming(record, options) as take:

        def observe(now: EventProgress) -> None:
            advance(now.fraction)
            take(now)

        again = run_row(rows, content, number, observe)
    before = rows[number]
    table = Table("", "in the table", "now", title=f"row {number}")
    for name, value in again.items():
        table.add_row(
            name, escape(str(before[name])), "equal" if before[name] == value else escape(str(value))
        )
    show(table, {"row": number, "equal": again == before, "before": before, "now": again}, as_json)
    say_written(*([record] if record is not None else []))


def _beside(
    content: StudyFile,
    folder: Path,
    numbers: tuple[int, int],
    record: Path | None,
    options: dict[str, object],
    as_json: bool,
) -> None:
    """Run two rows, draw them side by side at one instant, and film them if wanted."""
    from segtrack.experiments import job_of_row, provenance, read_runs, run_beside, setup_of
    from segtrack.report import beside_table, draw_rows, row_at_instant

    rows = read_runs(folder / RUNS, content.parameters, provenance(content))
    named = zip(numbers, ("--row", "--beside"), strict=True)
    jobs = [job_of_row(rows, content, number, option) for number, option in named]
    first, second = map(setup_of, jobs)
    with filming_beside(record, options) as observers:
        instants = run_beside(first, second, observers)
    names = [f"row {number}" for number in numbers]
    seen = [row_at_instant(content, job, instant) for job, instant in zip(jobs, instants, strict=True)]
    picture = write_figure(folder / f"rows-{numbers[0]}-{numbers[1]}.png", draw_rows(names, seen, instants))
    show(beside_table(names, seen), dict(zip(names, seen, strict=True)), as_json)
    say_written(picture, *([record] if record is not None else []))
