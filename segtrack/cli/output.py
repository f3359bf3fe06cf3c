"""What every command shares: where words go, how errors end it, and the progress bar."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, ParamSpec

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from segtrack.cli.fit import fit_table
from segtrack.errors import InvalidValueError, SegtrackError
from segtrack.files import check_writable, to_json

Arguments = ParamSpec("Arguments")

JsonFlag = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on standard output, nothing else.")
]
OutFolder = Annotated[
    Path | None, typer.Option("--out", help="Folder for what is written.", show_default=False)
]

USERS_MISTAKE = 2
INTERRUPTED = 130


def command(function: Callable[Arguments, None]) -> Callable[Arguments, None]:
    """Make a function a command that ends with one clear line where the user made a mistake."""

    @functools.wraps(function)
    def run(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        try:
            function(*args, **kwargs)
        except SegtrackError as error:
            words().print(f"segtrack: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
            raise typer.Exit(USERS_MISTAKE) from None
        except KeyboardInterrupt:
            words().print("segtrack: interrupted", style="red")
            raise typer.Exit(INTERRUPTED) from None

    return run


def words() -> Console:
    """The console for messages and progress: standard error."""
    return Console(stderr=True)


def results_folder(out: Path | None, default: str) -> Path:
    """Where to write, checked before the work begins.

    Raises:
        FileAccessError: Nothing can be written there.
    """
    folder = out if out is not None else Path("out") / default
    check_writable(folder)
    return folder


def numbers(option: str, text: str) -> tuple[float, ...]:
    """The numbers of an option that takes several.

    Raises:
        InvalidValueError: They are no numbers with commas between them.
    """
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InvalidValueError(option, "numbers with commas between them", text) from None


def show(tables: Table | Sequence[Table], summary: Mapping[str, Any], as_json: bool) -> None:
    """Print a result: as one JSON object, or as tables that fit the terminal."""
    if as_json:
        typer.echo(to_json(summary))
        return
    console = Console()
    for table in [tables] if isinstance(tables, Table) else tables:
        for column in table.columns:
            column.header = escape(str(column.header))  # A unit in brackets is no markup.
        console.print(fit_table(table, console))


def say_written(*paths: Path) -> None:
    """Tell which files were written."""
    for path in paths:
        words().print(f"wrote {path}", markup=False, highlight=False, soft_wrap=True)


@contextmanager
def progress(what: str, total: float) -> Iterator[Callable[[float], None]]:
    """A bar on standard error, if that is a terminal; yields a function that sets how far it is."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    console = words()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)


@contextmanager
def counting(what: str, total: int) -> Iterator[Callable[[], None]]:
    """A bar on standard error for so many pieces of work; yields a function to call after each."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = words()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)
