"""Progress of compilation, which takes tens of seconds once: a bar on a terminal, else a line."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from numba.core import event

NOTICE = "segtrack: compiling kernels, once after installation or a change: a minute or two"


class Reporter(Protocol):
    """A display of compilation."""

    def begin(self, total: float) -> None:
        """Show that compilation of so much work has begun."""

    def advance(self, name: str, done: float) -> None:
        """Show that so much work is done, the latest kernel's with it."""

    def end(self) -> None:
        """Show that compilation has ended."""


class LogReporter:
    """One warning of the logger `segtrack` for all compilation in a process.

    Python shows warnings on standard error where a program has not set up logging.
    """

    def __init__(self) -> None:
        """Begin with nothing said."""
        self._warned = False

    def begin(self, total: float) -> None:
        """Warn, the first time."""
        if not self._warned:
            logging.getLogger("segtrack").warning(NOTICE)
        self._warned = True

    def advance(self, name: str, done: float) -> None:
        """Do nothing."""

    def end(self) -> None:
        """Do nothing."""


class BarReporter:
    """A progress bar of its own on standard error, or a task in a bar that is shown already."""

    def __init__(self, bar: Any = None) -> None:
        """Take the `rich.progress.Progress` that is shown, if there is one."""
        self._shown, self._bar, self._task = bar, bar, None

    def begin(self, total: float) -> None:
        """Show the bar."""
        if self._shown is None:
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._bar.start()
        self._task = self._bar.add_task("compiling kernels, once", total=total)

    def advance(self, name: str, done: float) -> None:
        """Move the bar."""
        self._bar.update(self._task, completed=done)

    def end(self) -> None:
        """Remove the bar."""
        self._bar.remove_task(self._task)
        if self._shown is None:
            self._bar.stop()


class _Watch(event.Listener):
    """The listener for numba's compilations of `kernels.Kernel`."""

    def __init__(self) -> None:
        self._depth, self._done = 0, 0.0
        self._left: dict[Any, float] = {}

    def on_start(self, event: Any) -> None:
        """Begin a display with the kernel that Python has called."""
        kernel = event.data["dispatcher"]
        if hasattr(kernel, "callees"):
            if self._depth == 0:
                # A kernel's code contains that of its callees.
                self._left = {one: float(len(one.callees())) for one in kernel.callees()}
                self._done = 0.0
                current_reporter().begin(sum(self._left.values()))
            self._depth += 1

    def on_end(self, event: Any) -> None:
        """Count a kernel, the first time that it is compiled for any arguments."""
        kernel = event.data["dispatcher"]
        if hasattr(kernel, "callees"):
            self._done += self._left.pop(kernel, 0.0)
            self._depth -= 1
            current_reporter().advance(kernel.py_func.__name__, self._done)
            if self._depth == 0:
                current_reporter().end()


_reporters: list[Reporter] = []
_log = LogReporter()
_watches: list[_Watch] = []


def current_reporter() -> Reporter:
    """Return what shows compilation now."""
    if not _reporters:
        _reporters.append(BarReporter() if sys.stderr is not None and sys.stderr.isatty() else _log)
    return _reporters[-1]


@contextmanager
def report_to(reporter: Reporter) -> Iterator[None]:
    """Let a reporter show compilation within the block."""
    current_reporter()
    _reporters.append(reporter)
    try:
        yield
    finally:
        _reporters.remove(reporter)


def watch() -> None:
    """Begin to report the compilation of kernels in this process, if that has not begun."""
    if not _watches:
        _watches.append(_Watch())
        event.register("numba:compile", _watches[0])


@contextmanager
def count_compiled() -> Iterator[Callable[[], int]]:
    """Count the kernels that are compiled within the block; the function it gives returns how many so far."""
    with event.install_recorder("numba:compile") as recorder:
        yield lambda: sum(
            one.is_start and hasattr(one.data["dispatcher"], "callees") for _, one in recorder.buffer
        )
