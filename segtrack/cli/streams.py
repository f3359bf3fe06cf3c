"""Standard streams of the program, and one exit for all failures to write to them."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

USERS_MISTAKE = 2
BROKEN_PIPE = 141
"""Exit code where nobody reads any further, as of programs that SIGPIPE ends."""


def open_streams() -> None:
    """Reserve standard output for results; if writing fails, end the program silently or with one line.

    PyBullet's window talks on the process's standard output, from C, which gets the null device in its
    place. Descriptors that the shell has closed are opened, or files would take their numbers; writing
    results to a closed one fails when it is tried. What cannot be said on standard error is left out.
    """
    for descriptor, mode in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(descriptor)
        except OSError:  # The lowest number that is free is this one.
            os.set_inheritable(os.open(os.devnull, mode), True)
    results = os.dup(1)
    _silence(1)
    sys.stdout = _text(results, _end, "utf-8", "strict")
    sys.stderr = _text(2, lambda _: None, getattr(sys.stderr, "encoding", "utf-8"), "backslashreplace")


class _Stream(io.FileIO):
    """File that calls a function and becomes the null device when writing fails."""

    def __init__(self, descriptor: int, fails: Callable[[OSError], None]) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self._fails = fails

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            _silence(self.fileno())  # What is still buffered is written at the program's end.
            self._fails(error)
            return memoryview(data).nbytes


def _text(descriptor: int, fails: Callable[[OSError], None], encoding: str, errors: str) -> io.TextIOWrapper:
    buffer = io.BufferedWriter(_Stream(descriptor, fails))
    return io.TextIOWrapper(buffer, encoding=encoding, errors=errors, line_buffering=True)


def _silence(descriptor: int) -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, descriptor)
    os.close(null)


def _end(error: OSError) -> NoReturn:
    """End the program because results cannot be written."""
    if isinstance(error, BrokenPipeError):
        raise SystemExit(BROKEN_PIPE)
    with suppress(OSError):
        sys.stderr.write(f"segtrack: cannot write to standard output: {error.strerror}\n")
    raise SystemExit(USERS_MISTAKE)
