"""The program: its commands, and what the process's standard output is for."""

from __future__ import annotations

import os
import sys

import typer

from segtrack.cli.climb import climb
from segtrack.cli.courses import courses
from segtrack.cli.drive import drive
from segtrack.cli.learn import benchmark, evaluate, train
from segtrack.cli.log import log
from segtrack.cli.replay import replay
from segtrack.cli.reproduce import reproduce
from segtrack.cli.station import station
from segtrack.cli.vehicles import draw, schema, urdf, validate, vehicles

app = typer.Typer(
    help="Real-time simulation of tracked robots in PyBullet.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",  # Rich's own would take a unit in brackets for a style.
)
own = (climb, train, evaluate, benchmark, vehicles, validate, schema, urdf, draw, replay, station, drive)
for command in own:
    app.command()(command)
app.add_typer(reproduce, name="reproduce")
app.add_typer(courses, name="courses")
app.add_typer(log, name="log")


def main() -> None:
    """Run the program.

    PyBullet's window talks on the process's standard output, from C. That stream is kept for
    results, so C gets the null device in its place.
    """
    results = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)
    sys.stdout = results
    app()
