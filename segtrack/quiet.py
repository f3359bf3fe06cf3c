"""PyBullet's remarks, kept off the standard streams: it prints them from C."""

from __future__ import annotations

import ctypes
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

GREETINGS = re.compile(
    rb"^(?:pybullet build time|argv\[0\]=).*\n?"
    rb"|^\?\n"
    rb"|b3Warning\[[^]\n]*\]:\n"
    rb"(?:Unexpected collision shape type in [\w:]*?::extractCollisionShapes"
    rb"|getCollisionShapeData failed\n?)",
    re.MULTILINE,
)
"""Lines left out: that of the import, that of a connection, that on a concave mesh's corners, and the remarks
on the shapes of a heightfield and of a body without links."""


@contextmanager
def without_greetings() -> Iterator[None]:
    """Keep PyBullet's greetings off standard output and standard error; all else comes when the block ends.

    Works on file descriptors, since the lines are written from C.
    """
    with ExitStack() as stack:
        for descriptor in (1, 2):
            stack.enter_context(_filtered(descriptor))
        yield


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
            os.write(descriptor, GREETINGS.sub(b"", collected.read()))


def _flush() -> None:
    """Write out what Python's and C's streams still hold."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()
    ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None).fflush(None)
