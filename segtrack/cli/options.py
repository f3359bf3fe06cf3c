"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

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
