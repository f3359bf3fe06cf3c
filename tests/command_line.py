"""Command line as tests call it: within their process, or as users do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner, Result

import segtrack
from segtrack.cli.app import app

PROGRAM = str(Path(sys.executable).with_name("segtrack"))
KNOWN = ", ".join(segtrack.bundled_vehicles())
CLIMB = ["climb", "packbot", "--step", "0.02", "--speed", "0.3", "--preset", "fast"]


def run(*arguments: str, folder: Path) -> Result:
    """Call the program within this process: starting one takes longer than most commands."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return CliRunner().invoke(app, arguments)


def run_process(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Call the program as users do."""
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False, cwd=folder)


def defaults_of(*path: str) -> dict[str, Any]:
    """Defaults of a command's options by name."""
    command: Any = get_command(app)
    for name in path:
        command = command.commands[name]
    return {option.name: option.default for option in command.params}
