"""The errors that segtrack raises for what a user gave.

Every message says what, where, expected and got. Classes take values, not
sentences, so that the same mistake always reads the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import SupportsFloat


class SegtrackError(Exception):
    """Base of every error that a user of segtrack can cause."""


class UnknownNameError(SegtrackError, LookupError):
    """A name that is none of those there are."""

    def __init__(self, kind: str, name: object, known: Iterable[str]) -> None:
        """Say which name of which kind is unknown, and list the alternatives."""
        self.kind, self.name, self.known = kind, name, tuple(known)
        super().__init__(f"no {kind} {name!r}; there are: {', '.join(self.known) or 'none'}")


class InvalidValueError(SegtrackError, ValueError):
    """A value outside what `what` accepts."""

    def __init__(self, what: str, expected: str, got: object) -> None:
        """Say what must be how, and what was given."""
        self.what, self.expected, self.got = what, expected, got
        super().__init__(f"{what} must be {expected}, got {got!r}")


@dataclass(frozen=True)
class Problem:
    """One mistake in a file.

    Attributes:
        where: Path of the key in the file, e.g. `tracks.left.grousers.count`.
        message: What is wrong there, e.g. `must be at least 1, got 0`.
    """

    where: str
    message: str


class VehicleFileError(SegtrackError):
    """A vehicle file with one or more mistakes, all of them listed."""

    def __init__(self, file: str, problems: Iterable[Problem]) -> None:
        """List every problem of the file, a line each."""
        self.file, self.problems = file, tuple(problems)
        super().__init__("\n".join(f"{file}: {p.where + ' ' if p.where else ''}{p.message}" for p in self.problems))


class FileAccessError(SegtrackError):
    """A file or folder that cannot be read or written."""

    def __init__(self, what: str, path: object, reason: str) -> None:
        """Say which file, and why it failed."""
        self.path, self.reason = path, reason
        super().__init__(f"cannot {what} {path}: {reason}")


class DivergedError(SegtrackError):
    """A simulation that left what is physically possible."""

    def __init__(self, body: str, time: float, reason: str) -> None:
        """Say which body diverged, when [s], and how."""
        self.body, self.time, self.reason = body, time, reason
        super().__init__(f"simulation diverged: {body} at t = {time:.4f} s: {reason}")


class DisconnectedError(SegtrackError):
    """A physics client that is no longer connected."""

    def __init__(self, what: str) -> None:
        """Say what was attempted."""
        super().__init__(f"{what}: the physics client is disconnected")


def finite(what: str, value: float) -> float:
    """The value as a float.

    Raises:
        InvalidValueError: It is not a finite number.
    """
    if isinstance(value, bool) or not isinstance(value, SupportsFloat) or not math.isfinite(float(value)):
        raise InvalidValueError(what, "a finite number", value)
    return float(value)
