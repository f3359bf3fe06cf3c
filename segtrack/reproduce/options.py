"""Command-line options that choose what simulates; shared by all commands that simulate."""

from __future__ import annotations

from typing import Annotated

import typer

from segtrack.engine.track_models import describe_track_models
from segtrack.errors import InvalidValueError

TrackModel = Annotated[
    str | None,
    typer.Option(help=f"{describe_track_models()}; the engine's first if not given.", show_default=False),
]
TrackModels = Annotated[
    list[str] | None,
    typer.Option("--track-model", help=f"{describe_track_models()}; may be repeated.", show_default=False),
]
EngineChoice = Annotated[
    str | None,
    typer.Option(
        "--engine",
        help="pybullet or native; the one that runs the track model if not given, PyBullet where installed.",
        show_default=False,
    ),
]
Preset = Annotated[
    str | None,
    typer.Option(
        help="Solver settings; PyBullet's are exact (1 ms), fast (4 ms) and coarse (10 ms).",
        show_default=False,
    ),
]
Rounds = Annotated[int, typer.Option(help="How often each takes its turn.", min=1)]


def parse_numbers(option: str, text: str) -> tuple[float, ...]:
    """Parse the value of an option that takes several numbers.

    Raises:
        InvalidValueError: The text is not numbers with commas between them.
    """
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InvalidValueError(option, "numbers with commas between them", text) from None
