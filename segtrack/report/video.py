"""A running simulation as a film, drawn by PyBullet's software renderer."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any

import imageio

from segtrack.errors import InvalidValueError
from segtrack.files import replacing
from segtrack.robot import Robot

FRAME_RATE = 25
WIDTH, HEIGHT = 640, 368
_FORMATS = (".mp4", ".gif")


class Film:
    """Takes a frame each 1/25 s of simulated time; the file appears when the film is closed."""

    def __init__(self, path: Path) -> None:
        """Begin a film.

        Raises:
            InvalidValueError: The file's suffix is neither .mp4 nor .gif.
            FileAccessError: It cannot be written.
        """
        if path.suffix.lower() not in _FORMATS:
            raise InvalidValueError("record", f"a file of {' or '.join(_FORMATS)}", str(path))
        self._replacing = replacing(path)
        self._writer: Any = imageio.get_writer(self._replacing.__enter__(), fps=FRAME_RATE)
        self._next = 0.0

    def __enter__(self) -> Film:
        """Use as a context manager."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file; what was filmed up to an error or Ctrl-C is kept."""
        self._writer.close()
        self._replacing.__exit__(None, None, None)

    def take(self, time: float, robot: Robot) -> None:
        """Take a frame if one is due at a time [s], looking at a robot."""
        if time + 1e-9 < self._next:
            return
        self._next += 1 / FRAME_RATE
        self._writer.append_data(robot.take_picture(WIDTH, HEIGHT))
