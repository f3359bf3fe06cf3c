"""The errors that segtrack raises for what a user gave.

Every message says what, where, expected and got. Classes take values, so that mistakes always read alike.
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, SupportsFloat, SupportsIndex


class _ErrorType(type):
    """Hands an error back that is made of an error: so does gymnasium with those of its workers."""

    def __call__(cls, *args: Any, **named: Any) -> Any:
        if len(args) == 1 and not named and isinstance(args[0], cls):
            return args[0]
        return super().__call__(*args, **named)


class SegtrackError(Exception, metaclass=_ErrorType):
    """Base of every error that a user of segtrack can cause."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel between processes whole: by its message and attributes, not by its class's arguments."""
        return _restored, (type(self), self.args, vars(self))


def _restored(kind: type[SegtrackError], args: tuple[Any, ...], attributes: dict[str, Any]) -> SegtrackError:
    error = kind.__new__(kind, *args)
    vars(error).update(attributes)
    return error


class UnknownNameError(SegtrackError, KeyError):
    """A name that is none of those there are."""

    __str__ = Exception.__str__
    """The message; that of `KeyError` is quoted."""

    def __init__(self, kind: str, name: object, known: Iterable[str]) -> None:
        """Say which name of which kind is unknown, and list the alternatives."""
        self.kind, self.name, self.known = kind, name, tuple(known)
        super().__init__(f"no {kind} {name!r}; there are: {', '.join(self.known) or 'none'}")


class UnexpectedKeywordError(UnknownNameError, TypeError):
    """A keyword that is neither an option nor a parameter."""

    def __init__(self, owner: str, name: object = None, known: Iterable[str] | None = None) -> None:
        """Say whose keyword is unknown, as Python says it, and list the alternatives.

        A message alone is kept: gymnasium raises a `TypeError` of a constructor anew, with more words.
        """
        if known is None:
            Exception.__init__(self, owner)
            return
        super().__init__(f"keyword of {owner}", name, known)
        told = f"{owner} got an unexpected keyword argument {name!r}; there are: {', '.join(self.known)}"
        self.args = (told,)


class Phrase(str):
    """Description of what was found: a message shows it as it is, where it quotes a user's text."""

    def __repr__(self) -> str:
        """Return the words, without quotes."""
        return str(self)


class InvalidValueError(SegtrackError, ValueError):
    """A value outside what `what` accepts."""

    def __init__(self, what: str, expected: str, got: object) -> None:
        """Say what must be how, and what was given."""
        self.what, self.expected, self.got = what, expected, got
        self.complaint = f"must be {expected}, got {got!r}"
        super().__init__(f"{what} {self.complaint}")


class KeywordError(SegtrackError, TypeError):
    """Keywords that a class does not take, or lacks."""

    def __init__(
        self, owner: str, unnamed: int, unknown: Sequence[str], missing: Sequence[str], known: Sequence[str]
    ) -> None:
        """Name the class, the keywords that are wrong, and all that there are."""
        self.owner, self.known = owner, tuple(known)
        self.unknown, self.missing = tuple(unknown), tuple(missing)
        complaints = []
        if unnamed:
            plural = "value" if unnamed == 1 else "values"
            complaints.append(f"takes keywords alone, got {unnamed} {plural} without one")
        complaints += [f"has no keyword {name!r}{_hint(name, known)}" for name in unknown]
        complaints += [f"needs the keyword {name!r}" for name in missing]
        super().__init__(f"{owner} {', '.join(complaints)}; its keywords are: {', '.join(known) or 'none'}")


def suggest(name: str, known: Sequence[str]) -> str:
    """Return the end of a message on an unknown name: the nearest one that is known, or all of them."""
    close = get_close_matches(name, known, n=1)
    return f"did you mean {close[0]}?" if close else f"there are: {', '.join(known)}"


def _hint(name: str, known: Sequence[str]) -> str:
    return "".join(f" (did you mean {close}?)" for close in get_close_matches(name, known, n=1))


@dataclass(frozen=True)
class Problem:
    """One mistake in a file.

    Attributes:
        where: Path of the key in the file, e.g. `tracks.left.grousers.count`.
        message: Mistake there, e.g. `must be at least 1, got 0`.
        line: Line of the file, from 1; None if it is not known.
    """

    where: str
    message: str
    line: int | None = None

    def below(self, part: str) -> Problem:
        """Return the mistake with its path below `part`."""
        return replace(self, where=".".join(filter(None, [part, self.where])))

    def __str__(self) -> str:
        """The path and the message."""
        return f"{self.where} {self.message}".lstrip()


class DescriptionFileError(SegtrackError):
    """A YAML file with one or more mistakes, all of them listed."""

    def __init__(self, file: str, problems: Iterable[Problem]) -> None:
        """List every problem of the file, a line each."""
        self.file, self.problems = file, tuple(problems)
        places = [file if problem.line is None else f"{file}:{problem.line}" for problem in self.problems]
        super().__init__("\n".join(map("{}: {}".format, places, self.problems)))


class VehicleFileError(DescriptionFileError):
    """A vehicle file with mistakes."""


class CourseFileError(DescriptionFileError):
    """A course file with mistakes."""


class SyllabusFileError(DescriptionFileError):
    """A file of exercises with mistakes."""


class TerrainFileError(DescriptionFileError):
    """A terrain file with mistakes."""


class MappingFileError(DescriptionFileError):
    """A mapping file with mistakes, or one that does not fit its log."""


class UncertaintyFileError(DescriptionFileError):
    """A file of standard deviations with mistakes."""


class ClimbsFileError(DescriptionFileError):
    """A table of climbs with mistakes."""


class FitFileError(DescriptionFileError):
    """A fit file with mistakes."""


class StudyFileError(DescriptionFileError):
    """A study file with mistakes, or one that does not fit its vehicle."""


class RobotFileError(DescriptionFileError):
    """A robot's URDF, xacro, SDF or MJCF file with mistakes, or one in which no tracks are found."""


class LogFileError(SegtrackError):
    """A log that cannot be read, or not what it is asked for."""

    def __init__(self, file: str, problem: str) -> None:
        """Say which file, and what is wrong with it."""
        self.file, self.problem = file, problem
        super().__init__(f"{file}: {problem}")


class ClockError(SegtrackError):
    """A clock that cannot be put on another one from what the log has."""

    def __init__(self, source: str, reference: str, problem: str) -> None:
        """Say whose clock on which, and why not."""
        self.source, self.reference, self.problem = source, reference, problem
        super().__init__(f"the clock of {source} cannot be put on that of {reference}: {problem}")


class RecordingFileError(SegtrackError):
    """A file that is no recording of a drive, or not one that can be read."""

    def __init__(self, file: str, problem: str) -> None:
        """Say which file, and what is wrong with it."""
        self.file, self.problem = file, problem
        super().__init__(f"{file}: {problem}")


class FileAccessError(SegtrackError):
    """A file or folder that cannot be read or written."""

    def __init__(self, what: str, path: object, reason: str) -> None:
        """Say which file, and why it failed."""
        self.path, self.reason = path, reason
        super().__init__(f"cannot {what} {path}: {reason}")


class MessageError(SegtrackError, ValueError):
    """A message that the station cannot take."""

    def __init__(self, where: str, complaint: str) -> None:
        """Say which part of the message is wrong, and how."""
        self.where, self.complaint = where, complaint
        super().__init__(f"message refused: {f'{where}: ' if where else ''}{complaint}")


class DivergedError(SegtrackError):
    """A simulation that left what is physically possible."""

    def __init__(self, body: str, time: float | None, reason: str) -> None:
        """Say which body diverged, when [s] if that is known, and how."""
        self.body, self.time, self.reason = body, time, reason
        when = "" if time is None else f" at t = {time:.4f} s"
        super().__init__(f"simulation diverged: {body}{when}: {reason}")


class DisconnectedError(SegtrackError):
    """A physics client that is no longer connected, or a world or batch that has been closed."""

    def __init__(self, what: str, reason: str = "the physics client is disconnected") -> None:
        """Say what was attempted, and why it cannot be."""
        super().__init__(f"{what}: {reason}")


class MissingPyBulletError(SegtrackError, ImportError):
    """PyBullet is asked for, and not installed."""

    def __init__(self) -> None:
        """Say what to install, under which Python, and what works without it."""
        here = ".".join(map(str, sys.version_info[:2]))
        super().__init__(
            f"PyBullet is not installed: pip install pybullet for Python 3.10 and 3.11, or its fork "
            f"pybullet-arm64 for 3.12 and 3.13 (this is {here}); engine native works without it"
        )


class MissingPackageError(SegtrackError, ImportError):
    """A package of an extra is asked for, and not installed."""

    def __init__(self, what: str, package: str, extra: str) -> None:
        """Say what needs it, and what to install."""
        self.what, self.package, self.extra = what, package, extra
        super().__init__(f'{what} needs {package}, which is not installed: pip install "segtrack[{extra}]"')


class UntestedVersionError(SegtrackError, ImportError):
    """A version of a library whose inner classes segtrack uses, and with which it was not run."""

    def __init__(self, package: str, version: str, tested: str, variable: str) -> None:
        """Say which version is installed, which were run, and what to do."""
        self.package, self.version = package, version
        super().__init__(
            f"{package} {version} is installed; segtrack uses its inner classes and was run with {tested}: "
            f"pip install '{package}{tested}', or try it all the same with {variable}=1 in the environment"
        )


class WorkerLostError(SegtrackError):
    """A worker process that ended before its job did."""

    def __init__(self) -> None:
        """Say what happened, and what is often the reason."""
        super().__init__("a worker process was killed, perhaps for want of memory: fewer --jobs need less")


class AddressError(SegtrackError):
    """A network address that cannot be listened on."""

    def __init__(self, host: str, port: int, reason: str) -> None:
        """Say which address, and why."""
        self.host, self.port, self.reason = host, port, reason
        super().__init__(f"cannot listen on {host}, port {port}: {reason}")


class RemovedError(SegtrackError):
    """A vehicle whose bodies are no longer in the physics client."""

    def __init__(self, what: str) -> None:
        """Say what was attempted."""
        super().__init__(f"{what}: its bodies are gone, by resetSimulation or removeBody; add it anew")


class NotReadyError(SegtrackError):
    """Something was asked of an environment that it cannot do now."""

    def __init__(self, what: str, reason: str) -> None:
        """Say what was asked, and why it cannot be."""
        self.what, self.reason = what, reason
        super().__init__(f"cannot {what}: {reason}")


def known_name(kind: str, name: Any, known: Iterable[str]) -> str:
    """The name, which is one of those there are.

    Raises:
        UnknownNameError: It is not.
    """
    names = tuple(known)
    if not isinstance(name, str) or name not in names:
        raise UnknownNameError(kind, name, names)
    return name


def finite_vector(what: str, values: Sequence[float], length: int, unit: str = "") -> tuple[float, ...]:
    """The values as floats; the message has their unit here if `what` has none.

    Raises:
        InvalidValueError: They are not `length` finite numbers.
    """
    try:
        if isinstance(values, Mapping | Set | bytes | bytearray):  # Not in order, or no numbers.
            raise TypeError
        return tuple(finite(what, value) for _, value in zip(range(length), values, strict=True))
    except (TypeError, ValueError):
        expected = f"{length} finite numbers" + (f" [{unit}]" if unit else "")
        raise InvalidValueError(what, expected, values) from None


def finite(what: str, value: float, *, least: float = -math.inf) -> float:
    """The value as a float.

    Raises:
        InvalidValueError: It is not a finite number, or smaller than the least.
    """
    if isinstance(value, float) and math.isfinite(value) and value >= least:
        return float(value)  # Nearly always, and ten times as fast as asking a protocol.
    number = math.nan
    # Beside numbers, NumPy's scalars and arrays without a dimension.
    if isinstance(value, SupportsFloat) and not _is_truth(value) and getattr(value, "ndim", 0) == 0:
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            number = float(value)
    if not math.isfinite(number):
        raise InvalidValueError(what, "a finite number", value)
    if number < least:
        raise InvalidValueError(what, f"at least {least:g}", value)
    return number


def truth(what: str, given: Any) -> bool:
    """A truth value of Python or NumPy, as no text, number or list is meant for one.

    Raises:
        InvalidValueError: Something else.
    """
    if not _is_truth(given) or getattr(given, "ndim", 0) != 0:
        raise InvalidValueError(what, "True or False", given)
    return bool(given)


def whole(what: str, given: Any, least: int = 1) -> int:
    """A whole number that is not too small.

    Raises:
        InvalidValueError: Not one.
    """
    is_whole = isinstance(given, SupportsIndex) and not _is_truth(given) and getattr(given, "ndim", 0) == 0
    if not is_whole or int(given) < least:
        raise InvalidValueError(what, f"a whole number from {least}", given)
    return int(given)


def whole_steps(seconds: float, time_step: float) -> int:
    """Number of steps nearest to a duration [s].

    Raises:
        InvalidValueError: The duration is negative or not finite, or so short that it is not a step: a loop
            of such durations would never advance.
    """
    count = round(finite("seconds", seconds, least=0.0) / time_step)
    if count == 0 and seconds > 0:
        raise InvalidValueError(
            "seconds", f"0, or more than half of the time step of {time_step:g} s", seconds
        )
    return count


def downwards(gravity: float) -> float:
    """The magnitude of a gravity that acts downwards [m/s^2].

    Raises:
        InvalidValueError: It is negative or not finite.
    """
    downwards = finite("gravity [m/s^2]", gravity)
    if downwards < 0:
        raise InvalidValueError("gravity [m/s^2]", "at least 0, as it is counted downwards", gravity)
    return downwards


def _is_truth(value: object) -> bool:
    """Return True for a truth value of Python or NumPy."""
    return isinstance(value, bool) or str(getattr(value, "dtype", "")) == "bool"
