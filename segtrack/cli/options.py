"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from segtrack.errors import InvalidValueError

TrackModel = Annotated[
    str | None,
    typer.Option(
        help="segments, smooth, wheels:N, plates or chain (PyBullet), compliant or surface (both); "
        "the engine's first if not given.",
        show_default=False,
    ),
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


def pixels(size: str) -> tuple[int, int]:
    """Width and height of `640x360` and the like [pixels].

    Raises:
        InvalidValueError: It is something else.
    """
    width, _, height = size.partition("x")
    if not (width.isdecimal() and height.isdecimal()):
        raise InvalidValueError("frame-size [pixels]", "width x height, as 640x360", size)
    return int(width), int(height)
