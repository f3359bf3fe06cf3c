"""Base class of the parts of a vehicle file: frozen, strict about numbers, unknown keys refused."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from inspect import isfunction
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar
from unicodedata import category
from xml.etree import ElementTree

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, model_validator

from segtrack.errors import InvalidValueError, Problem

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Positive = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]
NonNegative = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
Fraction = Annotated[float, Field(strict=True, ge=0, le=1, allow_inf_nan=False)]
Count = Annotated[int, Field(strict=True, ge=1)]
Copies = Annotated[int, Field(strict=True, ge=1, le=10_000)]
"""Number of equal parts, each of which is built."""
Vector = tuple[Number, Number, Number]


def _in_radians(angle: float) -> float:
    if abs(angle) > 2 * math.pi:
        raise ValueError(f"must be in radians, {in_radians(angle)}")
    return angle


def in_radians(angle: float) -> str:
    """Return the advice for an angle that looks like degrees: its value in radians."""
    return f"got {angle:g}, which in degrees would be {math.radians(angle):.4g} rad"


Angle = Annotated[Number, AfterValidator(_in_radians)]
"""Angle of at most a turn [rad]."""
Name = Annotated[str, Field(strict=True, pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]

_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Unicode's categories of what is not seen: controls, directions of writing, halves of pairs, separators."""
_MUST_BE_SEEN = "without characters that are not seen"


def _is_seen(text: str) -> bool:
    return not any(category(each) in _HIDDEN and each not in "\t\n" for each in text)


def _seen(text: str) -> str:
    if not _is_seen(text):
        raise ValueError(f"must be {_MUST_BE_SEEN}, got {text[:MAX_TEXT]!r}")
    return text


MAX_TEXT = 1000
"""Longest text for people in a file, in characters."""
Text = Annotated[str, Field(strict=True, min_length=1, max_length=MAX_TEXT), AfterValidator(_seen)]
"""Text for people."""


def check_seen(what: str, text: str) -> str:
    """Return a name for display, or refuse one with characters that are invisible.

    Args:
        what: Thing that the name belongs to, for the message.
        text: Name.

    Raises:
        InvalidValueError: A character of it is not seen, or turns the direction of writing.
    """
    if not _is_seen(text):
        raise InvalidValueError(what, _MUST_BE_SEEN, text[:MAX_TEXT])
    return text


def expanded(name: str | Path) -> Path:
    """Path with `~` replaced by the home folder, if there is one."""
    return Path(os.path.expanduser(name))


def shown(path: Path) -> str:
    """Text of a path; bytes that are not UTF-8 are escaped, since messages that pass pydantic have none."""
    return os.fsencode(path).decode(errors="backslashreplace")


def _resolve(file: str, info: ValidationInfo) -> str:
    """Make a path absolute, from the vehicle file's folder, and refuse one without a file."""
    path = Path((info.context or {}).get("folder", "."), expanded(file)).resolve()
    if not os.path.isfile(path):  # A path's own raises on names that are too long for the system.
        raise ValueError(f"must be an existing file, got {file!r} (looked for {shown(path)})")
    return str(path)


ExistingFile = Annotated[str, Field(strict=True), AfterValidator(_resolve)]


def _beside(given: str, info: ValidationInfo) -> str:
    """Make a path beside the file absolute if something is there; else keep it as a bundled name."""
    path = Path((info.context or {}).get("folder", "."), expanded(given)).resolve()
    return str(path) if os.path.exists(path) else given


Beside = Annotated[str, Field(strict=True, min_length=1), AfterValidator(_beside)]
"""Path of something beside a file, or the name of something bundled."""


XML_ERRORS = ElementTree.ParseError, LookupError, ValueError
"""What parsing raises of text that is not XML; the last two of its encoding."""


class UnknownPartError(Exception):
    """Raised when a check asks for a key that is missing, or wrong in the file."""


class MistakesError(ValueError):
    """Inconsistencies between a part's keys, each with its path from that part."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        """Keep the mistakes, and join them to a message."""
        self.problems = tuple(problems)
        super().__init__("; ".join(map(str, self.problems)))


Checks = Iterator[Problem]
Check = TypeVar("Check", bound=Callable[[Any], Checks])
_CHECKS: set[Any] = set()


def check(method: Check) -> Check:
    """Mark a method of a `Spec` as a check: it yields inconsistencies between keys, with their paths.

    It may raise `UnknownPartError`: then something that it needs is wrong, and has been said.
    """
    _CHECKS.add(method)
    return method


class Spec(BaseModel):
    """Base class of a part of a YAML file, with its keys as fields.

    A part with mistakes has no instance; to run its checks on the valid keys, `known_parts` makes one
    that lacks the rest, and raises `UnknownPartError` where that is asked for.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)
    _checks: ClassVar[tuple[Callable[[Any], Checks], ...]] = ()

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """Collect the checks of the class and its bases, in the order of their definition."""
        members = {name: value for base in reversed(cls.__mro__) for name, value in vars(base).items()}
        cls._checks = tuple(value for value in members.values() if isfunction(value) and value in _CHECKS)

    def own_problems(self) -> list[Problem]:
        """List the inconsistencies between the part's keys, as far as these are valid."""
        problems = []
        for method in self._checks:
            with suppress(UnknownPartError):
                for problem in method(self):
                    problems.append(problem)
        return problems

    @property
    def is_whole(self) -> bool:
        """True if every key of the part is valid by itself."""
        return all(name in self.__dict__ for name in type(self).model_fields)

    @model_validator(mode="after")
    def _consistent(self) -> Spec:
        problems = self.own_problems()
        if problems:
            raise MistakesError(problems)
        return self

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Raise `UnknownPartError` for a key that is wrong in the file."""
            if name in type(self).model_fields:
                raise UnknownPartError(name)
            return super().__getattr__(name)


def known(part: Spec, path: str, otherwise: Any) -> Any:
    """Return the value at a path of attributes, or `otherwise` if it is wrong in the file."""
    try:
        return attrgetter(path)(part)
    except UnknownPartError:
        return otherwise


def not_zero(value: float) -> float:
    """Return the value, or refuse zero.

    Raises:
        ValueError: It is zero (pydantic reports it with its path).
    """
    if value == 0:
        raise ValueError(f"must not be 0, got {value!r}")
    return value


def exactly_one(spec: Spec, names: tuple[str, ...]) -> Checks:
    """Yield a mistake unless exactly one of `names` is given."""
    given = [name for name in names if getattr(spec, name) is not None]
    if len(given) != 1:
        message = f"must have exactly one of {', '.join(names)}, got {', '.join(given) or 'none'}"
        yield Problem("", message)


def given_one(spec: Spec, names: tuple[str, ...]) -> Any:
    """Return the value of the only one of `names` that the part gives.

    Raises:
        UnknownPartError: None or several of them are given.
    """
    given = [value for name in names if (value := getattr(spec, name)) is not None]
    if len(given) != 1:
        raise UnknownPartError(names)
    return given[0]
