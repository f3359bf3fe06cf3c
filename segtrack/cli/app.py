"""Program `segtrack`: its commands, and the environment variables that it reads."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import typer

from segtrack.cli.benchmark import benchmark
from segtrack.cli.climb import climb
from segtrack.cli.drive import drive, replay, station
from segtrack.cli.event import event
from segtrack.cli.exporting import export_file
from segtrack.cli.files import courses, draw, schema, urdf, validate, vehicles
from segtrack.cli.importing import import_file
from segtrack.cli.learn import evaluate, train
from segtrack.cli.log import log
from segtrack.cli.output import words
from segtrack.cli.preview import preview
from segtrack.cli.reproduce import reproduce
from segtrack.cli.streams import USERS_MISTAKE
from segtrack.cli.study import study
from segtrack.cli.warm_up import warm_up
from segtrack.files import check_regular

app = typer.Typer(
    help="Real-time simulation of tracked robots, in PyBullet or in segtrack's own engine.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",  # Rich's own would take a unit in brackets for a style.
)
own = (
    climb,
    train,
    evaluate,
    benchmark,
    preview,
    vehicles,
    validate,
    schema,
    urdf,
    draw,
    replay,
    station,
    drive,
    study,
)
for command in (*own, warm_up):
    app.command()(command)
app.command("import")(import_file)
app.command("export")(export_file)
app.add_typer(event, name="event")
app.add_typer(reproduce, name="reproduce")
app.add_typer(courses, name="courses")
app.add_typer(log, name="log")


MIN_COLUMNS = 20
"""Narrowest terminal that is believed; rich prints nothing at all into one of 0 columns."""


def main() -> None:
    """Run the command-line program, after checks of its arguments and environment."""
    for argument in sys.argv[1:]:
        try:
            argument.encode()
        except UnicodeEncodeError:  # It could be neither drawn nor written to a report.
            told = f"segtrack: an argument must be text in UTF-8, got {os.fsencode(argument)!r}"
            words().print(told, style="red", markup=False, highlight=False, soft_wrap=True)
            sys.exit(USERS_MISTAKE)
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns) < MIN_COLUMNS:
        del os.environ["COLUMNS"]
    named = os.environ.get("MATPLOTLIBRC", "")
    for file in ("matplotlibrc", named, os.path.join(named, "matplotlibrc")):
        if file != os.devnull:  # Which says that there are no settings.
            check_regular(Path(file))  # Matplotlib would read one without an end until no memory is left.
    os.environ["MPLBACKEND"] = "agg"  # Pictures are files here, whatever window the user has chosen.
    app()
