"""Streams, errors, tables, progress bars and options shared by commands."""

from __future__ import annotations

import functools
import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec

import typer
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from segtrack.cli.streams import USERS_MISTAKE
from segtrack.errors import InvalidValueError, Phrase, SegtrackError
from segtrack.files import check_file, claimed, to_json

if TYPE_CHECKING:
    from segtrack.report import Outcome


def fit_table(table: Table, console: Console) -> Table:
    """Fit a table to a console without cutting any cell.

    Columns are as wide as their cells, or else at least as their longest words, between which cells are
    wrapped. Where even words do not fit beside each other, each row becomes a block of lines, one for
    each column that has something in it.
    """
    columns = table.columns
    ranges = [_range(console, [column.header, *column.cells], column.no_wrap) for column in columns]
    room = console.width - _around(table)
    spare = room - sum(low for low, _ in ranges)
    wanted = sum(high - low for low, high in ranges)
    if spare >= wanted:
        return table
    if spare >= 0:
        for column, (low, high) in zip(columns, ranges, strict=True):
            column.width = low + spare * (high - low) // wanted
        return table
    if len(columns) > 2:
        return fit_table(_blocks(table), console)
    for column in columns:
        column.overflow = "fold"  # Words are broken where they must.
    return table


def _blocks(table: Table) -> Table:
    """Table of two columns (header, cell), with a section for each row of the original."""
    blocks = Table(title=table.title, show_header=False)
    blocks.add_column()
    blocks.add_column()
    for row in zip(*(column.cells for column in table.columns), strict=True):
        for column, cell in zip(table.columns, row, strict=True):
            if str(cell):
                header = str(column.header).replace("-\n", "").replace("\n", " ")
                blocks.add_row(header, cell)
        blocks.add_section()
    return blocks


def _range(console: Console, cells: list[object], no_wrap: bool) -> tuple[int, int]:
    """Width of the longest word (or line, if lines are not wrapped), and of the longest line."""
    texts = [Text.from_markup(str(cell)) for cell in cells]
    sizes = [Measurement.get(console, console.options.update(width=10**4), text) for text in texts]
    high = max(size.maximum for size in sizes)
    return (high if no_wrap else max(size.minimum for size in sizes)), high


def _around(table: Table) -> int:
    """Width of a table's borders and padding."""
    _, right, _, left = table.padding
    borders = len(table.columns) + 1 if table.box is not None else 0
    return borders + len(table.columns) * (left + right)


Arguments = ParamSpec("Arguments")


def path(text: str) -> Path:
    """Parse the path of a file or folder; an empty name is refused."""
    if not text:
        raise typer.BadParameter("must be a path, got ''")
    return Path(text)


Jobs = Annotated[int | None, typer.Option(help="Processes; as many as there are cores if not given.", min=1)]
JsonFlag = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on standard output, nothing else.")
]
OutFolder = Annotated[
    Path | None, typer.Option("--out", parser=path, help="Folder for what is written.", show_default=False)
]

INTERRUPTED = 130


_held = ExitStack()
"""Folders that the running command has claimed."""


def command(function: Callable[Arguments, None]) -> Callable[Arguments, None]:
    """Turn a function into a command that reports mistakes of the user in one line."""

    @functools.wraps(function)
    def run(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        try:
            function(*args, **kwargs)
        except (SegtrackError, OSError) as error:
            words().print(f"segtrack: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
            raise typer.Exit(USERS_MISTAKE) from None
        except KeyboardInterrupt:
            words().print("segtrack: interrupted", style="red")
            raise typer.Exit(INTERRUPTED) from None
        finally:
            _held.close()

    return run


def words() -> Console:
    """Return the console for messages and progress, on standard error."""
    return Console(stderr=True)


def results_folder(out: Path | None, default: str) -> Path:
    """Return the folder for results, locked for this command until it ends.

    Raises:
        FileAccessError: Nothing can be written there, or another command writes there.
    """
    folder = out if out is not None else Path("out") / default
    _held.enter_context(claimed(folder))
    return folder


def show(tables: Table | Sequence[Table], summary: Mapping[str, Any], as_json: bool) -> None:
    """Print a result as one JSON object, or as tables that fit the terminal."""
    if as_json:
        typer.echo(to_json(summary))
        return
    console = Console()
    for table in [tables] if isinstance(tables, Table) else tables:
        for column in table.columns:
            column.header = escape(str(column.header))  # A unit in brackets is no markup.
        console.print(fit_table(table, console))


def finish(outcome: Outcome, folder: Path, as_json: bool) -> None:
    """Write an outcome's files to a folder, and print its tables and notes.

    Raises:
        FileAccessError: A file cannot be written.
        Exit: The work was interrupted.
    """
    written = outcome.write(folder)
    show(outcome.tables, outcome.summary, as_json)
    for note in outcome.notes:
        words().print(note, markup=False, highlight=False, soft_wrap=True)
    say_written(*written)
    if outcome.interrupted:
        words().print(outcome.interrupted, style="red", highlight=False)
        raise typer.Exit(INTERRUPTED)


def say_written(*paths: Path) -> None:
    """Print the names of written files."""
    for path in paths:
        words().print(f"wrote {path}", markup=False, highlight=False, soft_wrap=True)


@contextmanager
def progress(what: str, total: float) -> Iterator[Callable[[float], None]]:
    """Show a progress bar on a terminal's standard error; yields a function that sets the progress."""
    with _bar(what, total, TimeElapsedColumn()) as update:
        yield update


@contextmanager
def counting(what: str, total: int) -> Iterator[Callable[[], None]]:
    """Show a progress bar on standard error; yields a function to call after each piece of work."""
    done = itertools.count(1)
    with _bar(what, total, MofNCompleteColumn()) as update:
        yield lambda: update(next(done))


@contextmanager
def _bar(what: str, total: float, column: ProgressColumn) -> Iterator[Callable[[float], None]]:
    """Progress bar on standard error with one task, or a line a minute where that is no terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), column, TimeRemainingColumn())
    console = words()
    bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    if bar.disable:  # It would end with an empty line in many versions of rich, if it were begun.
        yield _lines(what, total, console)
        return
    with bar, compilation_shown_in(bar):
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)


LINE_EVERY = 60.0
"""Time between two lines on progress where there is no terminal [s]."""


def _lines(what: str, total: float, console: Console) -> Callable[[float], None]:
    """Return a function of the progress that prints it as a line once a minute."""
    began = told = time.monotonic()

    def update(done: float) -> None:
        nonlocal told
        now = time.monotonic()
        if now - told < LINE_EVERY:
            return
        told, passed = now, (now - began) / 60
        left = f", {passed * (total - done) / done:.0f} min left" if 0 < done < total else ""
        line = f"{what}: {done / total:.0%} after {passed:.0f} min{left}"
        console.print(line, markup=False, highlight=False, soft_wrap=True)

    return update


@contextmanager
def compilation_shown_in(bar: Progress) -> Iterator[None]:
    """Show the compilation of kernels as a task of a progress bar within the block."""
    if bar.disable:
        yield
        return
    from segtrack.kernels import BarReporter, report_to

    with report_to(BarReporter(bar)):
        yield


FilmFile = Annotated[
    Path | None, typer.Option(parser=path, help="Film to write (.mp4 or .gif).", show_default=False)
]
FilmView = Annotated[
    str | None, typer.Option(help="The film's: side, top, oblique or chase; side.", show_default=False)
]
FrameRate = Annotated[float | None, typer.Option(help="The film's [1/s], 25.", show_default=False)]
FrameSize = Annotated[
    str | None, typer.Option(help="The film's width and height [pixels], 640x360.", show_default=False)
]


def film_options(
    option: str, film: Path | None, view: str | None, frame_rate: float | None, frame_size: str | None
) -> dict[str, Any]:
    """Check the film options, and return them as keyword arguments of `segtrack.rendering.Film`.

    Args:
        option: Name of the option with the film's file.
        film: File of the film; None for no film.
        view: View of the film.
        frame_rate: Frame rate of the film [1/s].
        frame_size: Frame size of the film, as `640x360` [pixels].

    Raises:
        InvalidValueError: No size, or options of a film without one.
        FileAccessError: Nothing can be written there.
    """
    size = None if frame_size is None else _pixels(frame_size)
    asked = {"view": view, "frame_rate": frame_rate, "size": size}
    options = {name: value for name, value in asked.items() if value is not None}
    if film is not None:
        check_file(option, film, (".mp4", ".gif"))
    elif options:
        raise InvalidValueError(option, "given with --view, --frame-rate or --frame-size", Phrase("none"))
    return options


def _pixels(size: str) -> tuple[int, int]:
    """Parse a size such as `640x360` to width and height [pixels]."""
    width, _, height = size.partition("x")
    if not (width.isdecimal() and height.isdecimal()):
        raise InvalidValueError("frame-size [pixels]", "width x height, as 640x360", size)
    return int(width), int(height)
