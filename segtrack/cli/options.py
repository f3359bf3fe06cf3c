"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from segtrack.errors import InvalidValueError, Phrase
from segtrack.files import check_file

FilmFile = Annotated[Path | None, typer.Option(help="Film to write (.mp4 or .gif).", show_default=False)]
FilmView = Annotated[
    str | None, typer.Option(help="The film's: side, top, oblique or chase; side.", show_default=False)
]
FrameRate = Annotated[float | None, typer.Option(help="The film's [1/s], 25.", show_default=False)]
FrameSize = Annotated[
    str | None, typer.Option(help="The film's width and height [pixels], 640x360.", show_default=False)
]


def film_options(
    option: str, film: Path | None, view: str | None, frame_rate: float | None, frame_size: str | None
) -> dict[str, Any]:
    """Return the options of a film as `segtrack.rendering.Film` takes them, checked before the work begins.

    Args:
        option: Option that names the film's file.
        film: The file; None for no film.
        view: View of the film.
        frame_rate: Frame rate of the film [1/s].
        frame_size: Frame size of the film, as `640x360` [pixels].

    Raises:
        InvalidValueError: No size, or options of a film without one.
        FileAccessError: Nothing can be written there.
    """
    size = None if frame_size is None else _pixels(frame_size)
    asked = {"view": view, "frame_rate": frame_rate, "size": size}
    options = {name: value for name, value in asked.items() if value is not None}
    if film is not None:
        check_file(option, film, (".mp4", ".gif"))
    elif options:
        raise InvalidValueError(option, "given with --view, --frame-rate or --frame-size", Phrase("none"))
    return options


def _pixels(size: str) -> tuple[int, int]:
    """Width and height of `640x360` and the like [pixels].

    Raises:
        InvalidValueError: It is something else.
    """
    width, _, height = size.partition("x")
    if not (width.isdecimal() and height.isdecimal()):
        raise InvalidValueError("frame-size [pixels]", "width x height, as 640x360", size)
    return int(width), int(height)
