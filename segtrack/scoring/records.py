"""Results of trials in a folder: one file an operator, a line a trial, only ever added to."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

from pydantic import TypeAdapter, ValidationError

from segtrack.errors import FileAccessError, InvalidValueError, UnknownNameError
from segtrack.files import replacing
from segtrack.scoring.result import Result

_SUFFIX = ".jsonl"
_NAME = re.compile(r"[^\W_][\w .'-]{0,39}")
_EXPECTED_NAME = (
    "up to 40 letters, digits, spaces, dots, dashes and apostrophes, beginning with a letter or digit"
)
_MAX_FILE_NAME = 200


class _Expert(NamedTuple):
    """Expert for a course, setting and vehicle."""

    course: str
    setting: float | None
    vehicle: str
    operator: str

    @property
    def event(self) -> tuple[str, float | None, str]:
        return self.course, self.setting, self.vehicle


_EXPERTS = TypeAdapter(list[_Expert])


class Book(NamedTuple):
    """Record of an operator: all trials.

    Attributes:
        operator: Name of the operator.
        results: Results in the order in which the trials ended.
        problems: Lines of the file that could not be read, in words; they stay in the file.
    """

    operator: str
    results: tuple[Result, ...]
    problems: tuple[str, ...]


def check_operator(name: str) -> str:
    """Return an operator's name without blanks around it.

    Raises:
        InvalidValueError: No name that a file can be named after.
    """
    stripped = name.strip()
    if not _NAME.fullmatch(stripped) or len(_file_name(stripped)) > _MAX_FILE_NAME:
        raise InvalidValueError("operator", _EXPECTED_NAME, name)
    return stripped


class Records:
    """Results of trials in a folder.

    `OPERATOR.jsonl` holds a JSON object a trial, `experts.json` who the experts are. A line that was cut off
    when the power went is reported and left as it is; the next one begins on a line of its own.

    Attributes:
        folder: Path of the folder, made when the first result is added.
    """

    def __init__(self, folder: str | Path) -> None:
        """Open a folder, which need not exist."""
        self.folder = Path(folder)

    def operators(self) -> tuple[str, ...]:
        """Return the names of all operators with a record, sorted."""
        return tuple(sorted(unquote(path.stem) for path in self.folder.glob(f"*{_SUFFIX}")))

    def add(self, result: Result) -> None:
        """Add a result to its operator's record; it is on the disk when this returns.

        Raises:
            InvalidValueError: The operator's name is none.
            FileAccessError: The file cannot be written.
        """
        path = self._path(check_operator(result.operator))
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with path.open("ab+") as file:
                if file.tell() > 0:
                    file.seek(-1, os.SEEK_END)
                    if file.read(1) != b"\n":
                        file.write(b"\n")
                file.write(result.model_dump_json().encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise FileAccessError("write to", path, error.strerror or str(error)) from None

    def read(self, operator: str) -> Book:
        """Return an operator's record.

        Raises:
            InvalidValueError: The operator's name is none.
            UnknownNameError: There is no record of the operator.
            FileAccessError: The file cannot be read.
        """
        operator = check_operator(operator)
        path = self._path(operator)
        try:
            lines = path.read_bytes().split(b"\n")
        except FileNotFoundError:
            raise UnknownNameError("operator", operator, self.operators()) from None
        except OSError as error:
            raise FileAccessError("read", path, error.strerror or str(error)) from None
        results, problems = [], []
        for number, line in enumerate(lines, 1):
            if not line:
                continue
            try:
                results.append(Result.model_validate_json(line))
            except ValidationError as error:
                problems.append(f"{path.name}:{number}: {_first(error)}")
        return Book(operator, tuple(results), tuple(problems))

    def name_expert(self, operator: str, course: str, setting: float | None, vehicle: str) -> None:
        """Make an operator the expert for a course, a setting and a vehicle, in place of another.

        Raises:
            UnknownNameError: There is no record of the operator.
            InvalidValueError: The operator has passed no trial there.
            FileAccessError: The file cannot be read or written.
        """
        named = _Expert(course, setting, vehicle, check_operator(operator))
        if _best(self.read(named.operator).results, named.event) is None:
            expected = f"one who passed {course} at {setting} with {vehicle}"
            raise InvalidValueError("an expert", expected, operator)
        experts = [expert for expert in self._experts() if expert.event != named.event]
        with replacing(self.folder / "experts.json") as temporary:
            temporary.write_bytes(_EXPERTS.dump_json([*experts, named], indent=2))

    def expert_result(self, course: str, setting: float | None, vehicle: str) -> Result | None:
        """Return the fastest trial that the expert for a course, setting and vehicle passed, if one is named.

        Raises:
            FileAccessError: A file cannot be read.
        """
        event = (course, setting, vehicle)
        for expert in self._experts():
            if expert.event == event:
                return _best(self.read(expert.operator).results, event)
        return None

    def _experts(self) -> list[_Expert]:
        path = self.folder / "experts.json"
        try:
            return _EXPERTS.validate_json(path.read_bytes())
        except FileNotFoundError:
            return []
        except OSError as error:
            raise FileAccessError("read", path, error.strerror or str(error)) from None
        except ValidationError as error:
            raise FileAccessError("read", path, _first(error)) from None

    def _path(self, operator: str) -> Path:
        return self.folder / (_file_name(operator) + _SUFFIX)


def _file_name(operator: str) -> str:
    return quote(operator, safe=" '")


def _best(results: Iterable[Result], event: tuple[str, float | None, str]) -> Result | None:
    passed = (result for result in results if result.outcome == "passed" and result.event == event)
    return max(passed, key=lambda result: result.rate, default=None)


def _first(error: ValidationError) -> str:
    """Return the first mistake, in words."""
    mistake = error.errors()[0]
    where = ".".join(map(str, mistake["loc"]))
    return f"{where} {mistake['msg']}".lstrip()
