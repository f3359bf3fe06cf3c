"""PyBullet's remarks, kept off the standard streams: its import and each connection print a line from C."""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from segtrack.errors import MissingPyBulletError

GREETINGS = (
    b"pybullet build time",
    b"argv[0]=",
    b"b3Warning[examples/SharedMemory/PhysicsServerCommandProcessor.cpp,14335]:",
    b"Unexpected collision shape type in PhysicsServerCommandProcessor::extractCollisionShapes",
)
"""How the lines begin that are left out: of the import, of a connection, and of a heightfield's shape."""


@contextmanager
def without_greetings() -> Iterator[None]:
    """Keep PyBullet's greetings off standard output and standard error; all else comes when the block ends.

    Works on file descriptors, since the lines are written from C.
    """
    with ExitStack() as stack:
        for descriptor in (1, 2):
            stack.enter_context(_filtered(descriptor))
        yield


def import_pybullet() -> None:
    """Import PyBullet without its greeting; whatever else goes wrong is raised as ever.

    Raises:
        MissingPyBulletError: It is not installed.
    """
    try:
        with without_greetings():
            importlib.import_module("pybullet")
    except ModuleNotFoundError as error:
        if error.name != "pybullet":
            raise
        raise MissingPyBulletError from None


@contextmanager
def _filtered(descriptor: int) -> Iterator[None]:
    """Collect what is written to a file descriptor, and pass on what is no greeting."""
    _flush()
    try:
        original = os.dup(descriptor)
    except OSError:  # A program without that stream has nothing to keep clean.
        yield
        return
    with tempfile.TemporaryFile() as collected:
        os.dup2(collected.fileno(), descriptor)
        try:
            yield
        finally:
            _flush()
            os.dup2(original, descriptor)
            os.close(original)
            collected.seek(0)
            for line in collected:
                if not line.startswith(GREETINGS):
                    os.write(descriptor, line)


def _flush() -> None:
    """Write out what Python's and C's streams still hold."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()
    ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None).fflush(None)
