"""A line for whoever waits while kernels are compiled, which takes half a minute once."""

from __future__ import annotations

import logging
from typing import Any

from numba.core import event


class _Notice(event.Listener):
    """Logs a warning as the first kernel of this process is compiled; cached ones are not."""

    def __init__(self) -> None:
        self._said = False

    def on_start(self, event: Any) -> None:
        """Log it, once, for kernels of segtrack."""
        ours = event.data["dispatcher"].py_func.__module__.startswith("segtrack.")
        if ours and not self._said:
            self._said = True
            logging.getLogger("segtrack").warning(
                "segtrack: compiling kernels, once after installation or a change: up to a minute"
            )

    def on_end(self, event: Any) -> None:
        """Do nothing."""


def announce_compilation() -> None:
    """Have the first compilation in this process logged by the logger `segtrack`, as a warning.

    Python shows warnings on standard error where a program has not set up logging.
    """
    event.register("numba:compile", _Notice())
