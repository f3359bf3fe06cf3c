"""Demos, one idea each; with --headless every demo runs without a window."""

from pathlib import Path
from typing import Annotated

import typer

from segtrack.engine import DEFAULT_ENGINE

Picture = Annotated[Path | None, typer.Option("--picture", help="Picture to write.", show_default=False)]
"""Option of every demo: what the gallery shows."""
PYBULLET_INSTALLED = DEFAULT_ENGINE == "pybullet"
"""True where PyBullet can be imported; demos of PyBullet programs end with one clear message without it."""
