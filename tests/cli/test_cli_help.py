"""What every command's help shows: the units in brackets that its source has."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import typer
from tables import each_row
from typer.testing import CliRunner

from segtrack.cli.app import app


def commands(command: Any, *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Each command and group below one, with the words that call it."""
    yield path, command
    for name, child in getattr(command, "commands", {}).items():
        yield from commands(child, *path, name)


COMMANDS = dict(commands(typer.main.get_command(app)))


def written(command: Any) -> list[str]:
    """A command's texts as they stand in the source."""
    texts = [command.help, *(getattr(parameter, "help", None) for parameter in command.params)]
    return [text for text in texts if text]


@each_row("path", COMMANDS)
def test_help_shows_every_unit_of_the_source(path: tuple[str, ...]) -> None:
    done = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": "300", "TERMINAL_WIDTH": "300"})
    assert done.exit_code == 0
    shown = " ".join(done.output.split())
    for text in written(COMMANDS[path]):
        for unit in re.findall(r"\S+ \[[^]]+\]", text):
            assert unit in shown


def test_there_are_units_to_show() -> None:
    units = [re.findall(r"\[([^]]+)\]", text) for text in written(COMMANDS[("climb",)])]
    assert {"m", "deg", "m/s"} <= {unit for found in units for unit in found}


def test_commands_load_what_they_need_when_they_run() -> None:
    said = (
        "import sys, segtrack.cli.app; print({'numba', 'scipy', 'matplotlib', 'pydantic'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
