"""Observers that film events for `--record`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # Numba takes a while to import.
    from segtrack.experiments import EventObserver, EventProgress
    from segtrack.rendering import Film


@contextmanager
def filming(path: Path | None, options: Mapping[str, Any]) -> Iterator[EventObserver]:
    """Yield an observer that films an event within the block, or does nothing without a path.

    Args:
        path: File of the film.
        options: Options of `Film`.
    """
    film: Film | None = None
    with ExitStack() as stack:

        def observe(now: EventProgress) -> None:
            nonlocal film
            if path is None:
                return
            if film is None:
                from segtrack.rendering import Film

                film = stack.enter_context(Film(path, now.robot, now.world.terrains, **options))
            film.take(now.world.time)

        yield observe


@contextmanager
def filming_beside(
    path: Path | None, options: Mapping[str, Any]
) -> Iterator[tuple[EventObserver, EventObserver]]:
    """Yield two observers that film an event each; at the block's end the films are joined side by side.

    Args:
        path: File of the film; None for no film.
        options: Options of `Film`.
    """
    with tempfile.TemporaryDirectory() as folder:
        parts = [Path(folder) / f"{name}.mp4" for name in ("left", "right")]
        left, right = parts if path is not None else (None, None)
        with filming(left, options) as first, filming(right, options) as second:
            yield first, second
        if path is not None and all(part.exists() for part in parts):
            from segtrack.rendering import join_films

            join_films(path, *parts)
