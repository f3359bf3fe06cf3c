"""Window that shows pictures of an environment, by pygame-ce (extra `drive`)."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segtrack.engine import EngineName
from segtrack.errors import MissingPackageError, SegtrackError


def why_no_window(engine: EngineName) -> SegtrackError | None:
    """Return the error that says why an engine's environments can have no window; None if they can."""
    variables = ("DISPLAY",) if engine == "pybullet" else ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")
    if sys.platform.startswith("linux") and not any(map(os.environ.get, variables)):
        told = "a window needs a display, and the environment variable DISPLAY is not set"
        return SegtrackError(told)
    if engine == "native" and find_spec("pygame") is None:
        return MissingPackageError('render_mode="human"', "pygame", "drive")
    return None


class PictureWindow:
    """Window that shows one picture after another, at the pace of the clock."""

    def __init__(self, title: str) -> None:
        """Prepare a window; it opens with the first picture."""
        self._title = title
        self._screen: Any = None
        self._clock: Any = None

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a copy, which opens a window of its own."""
        return vars(self) | {"_screen": None, "_clock": None}

    def show(self, picture: NDArray[np.uint8], rate: float) -> None:
        """Show a picture (height, width, 3), no sooner than 1 / `rate` [s] after the one before."""
        import pygame

        if self._screen is None:
            pygame.display.init()
            self._screen = pygame.display.set_mode((picture.shape[1], picture.shape[0]))
            pygame.display.set_caption(self._title)
            self._clock = pygame.time.Clock()
        pygame.event.pump()  # Else the desktop takes the window for hung.
        self._screen.blit(pygame.surfarray.make_surface(picture.swapaxes(0, 1)), (0, 0))
        pygame.display.flip()
        self._clock.tick(rate)

    def close(self) -> None:
        """Close the window; may be called again."""
        if self._screen is not None:
            import pygame

            pygame.display.quit()
            self._screen = None
