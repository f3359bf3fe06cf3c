"""One idea each; every demo runs without a window with --headless."""

from pathlib import Path
from typing import Annotated

import typer

Picture = Annotated[Path | None, typer.Option("--picture", help="Picture to write.", show_default=False)]
"""Option of every demo: what the gallery shows."""
