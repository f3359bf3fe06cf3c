"""`segtrack replay`: a recorded drive as a table, a film or numbers, and whether it can be repeated."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from segtrack.cli.options import FilmFile, FilmView, FrameRate, FrameSize, film_options
from segtrack.cli.output import JsonFlag, command, progress, say_written, show
from segtrack.errors import MissingPackageError
from segtrack.files import check_file, write_csv

if TYPE_CHECKING:
    from segtrack.recording.recording import Recording
    from segtrack.recording.replay import CheckResult

_DIFFERENT = 1
"""Exit code where a drive that was simulated again differs."""


@command
def replay(
    file: Annotated[Path, typer.Argument(help="Recording of a drive, .mcap.", show_default=False)],
    check: Annotated[
        bool, typer.Option("--check", help="Simulate the inputs again; exit code 1 if a state differs.")
    ] = False,
    film: FilmFile = None,
    view: FilmView = None,
    frame_rate: FrameRate = None,
    frame_size: FrameSize = None,
    csv: Annotated[
        Path | None, typer.Option(help="Table of poses, commands and readings to write.", show_default=False)
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Show a recorded drive; simulate it again, film it or write its numbers."""
    options = film_options("--film", film, view, frame_rate, frame_size)
    if csv is not None:
        check_file("--csv", csv, (".csv",))
    recording = _open(file)
    result = _checked(recording) if check else None
    _write(recording, film, csv, options)
    from segtrack.report.replay_table import replay_tables

    summary = recording.summary() | {"check": None if result is None else result.summary()}
    show(replay_tables(recording, result), summary, as_json)
    if result is not None and result.difference is not None:
        raise typer.Exit(_DIFFERENT)


def _open(file: Path) -> Recording:
    try:
        from segtrack.recording.recording import Recording
    except ModuleNotFoundError as error:
        raise MissingPackageError("reading a recording", str(error.name), "station") from None
    return Recording.open(file)


def _checked(recording: Recording) -> CheckResult:
    from segtrack.recording.replay import check

    with progress("simulating again", recording.times[-1]) as advance:
        return check(recording, advance)


def _write(recording: Recording, film: Path | None, csv: Path | None, options: dict[str, Any]) -> None:
    """Write film and table, if they are asked for."""
    from segtrack.recording import replay

    if film is not None:
        with progress("filming", recording.times[-1]) as advance:
            replay.film(recording, film, advance, **options)
        say_written(film)
    if csv is not None:
        say_written(write_csv(csv, *replay.columns(recording)))
