"""Records of trials in a folder: one file per operator, one line per trial, append-only."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

from pydantic import TypeAdapter, ValidationError

from segtrack.courses.result import Result, TrialConditions
from segtrack.errors import FileAccessError, InvalidValueError, SegtrackError, UnknownNameError
from segtrack.files import replacing, write_text

_SUFFIX = ".jsonl"
_NAME = re.compile(r"[^\W_][\w .'-]*")
"""Name without its combining marks, which are parts of letters."""
_MAX_NAME = 40
_EXPECTED_NAME = (
    "up to 40 letters, digits, spaces, dots, dashes and apostrophes, beginning with a letter or digit"
)
_MAX_FILE_NAME = 200
_UNFINISHED = "unfinished"


class _Expert(NamedTuple):
    """Expert named for some conditions."""

    course: str
    setting: float | None
    vehicle: str
    operator: str
    others: tuple[tuple[str, str], ...] = ()

    @property
    def event(self) -> TrialConditions:
        return TrialConditions(self.course, self.setting, self.vehicle, self.others)


_EXPERTS = TypeAdapter(list[_Expert])


class Book(NamedTuple):
    """Record of an operator: all trials.

    Attributes:
        operator: Name of the operator.
        results: Results in the order in which the trials ended.
        problems: Unreadable lines of the file, in words; they stay in the file.
    """

    operator: str
    results: tuple[Result, ...]
    problems: tuple[str, ...]


def check_operator(name: str, what: str = "operator") -> str:
    """Check an operator's name, and return it without blanks around; `what` is its name in messages.

    Raises:
        InvalidValueError: No name that a file can be named after.
    """
    stripped = unicodedata.normalize("NFC", name.strip())
    letters = stripped[:1] + "".join(each for each in stripped[1:] if unicodedata.category(each)[0] != "M")
    if (
        len(stripped) > _MAX_NAME
        or not _NAME.fullmatch(letters)
        or len(_file_name(stripped)) > _MAX_FILE_NAME
    ):
        raise InvalidValueError(what, _EXPECTED_NAME, name)
    return stripped


class Records:
    """Records of trials in a folder.

    `OPERATOR.jsonl` holds a JSON object a trial, `experts.json` who the experts are, `unfinished/ID.json` a
    trial that is under way as it would be if it ended now. A line that was cut off when the power went is
    reported and left as it is; the next one begins on a line of its own.

    Attributes:
        folder: Path of the folder, made when the first result is added.
    """

    def __init__(self, folder: str | Path) -> None:
        """Open a folder, which need not exist."""
        self.folder = Path(folder)

    def operators(self) -> tuple[str, ...]:
        """Return the names of all operators with a record, sorted."""
        return tuple(sorted(unquote(path.stem) for path in self.folder.glob(f"*{_SUFFIX}")))

    def __contains__(self, operator: str) -> bool:
        """Return whether an operator has a record, in any Unicode form of the name."""
        return self._stored(operator) is not None

    def add(self, result: Result) -> None:
        """Add a result to its operator's record; it is on the disk when this returns.

        Raises:
            InvalidValueError: The operator's name is none.
            FileAccessError: The file cannot be written.
        """
        name = check_operator(result.operator)
        path = self._path(self._stored(result.operator) or name)
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
        with suppress(OSError):  # It is found again, and known to be in the record.
            self._unfinished(result.id).unlink(missing_ok=True)

    def note_unfinished(self, result: Result) -> None:
        """Save an unfinished trial as if it ended now, in place of its earlier save.

        It survives the end of this process, however it comes, but not that of the machine.

        Raises:
            FileAccessError: The file cannot be written; the one before stays.
        """
        write_text(self._unfinished(result.id), result.model_dump_json())

    def recover(self) -> tuple[tuple[Result, ...], tuple[str, ...]]:
        """Add trials left unfinished by dead processes to their operators' records.

        Returns:
            The results that were added, and problems in words; what has one stays where it is.
        """
        added, problems = [], []
        for path in sorted((self.folder / _UNFINISHED).glob("*.json")):
            try:
                result = Result.model_validate_json(path.read_bytes())
                known = self.read(result.operator).results if result.operator in self else ()
                if result.id in {other.id for other in known}:
                    path.unlink()
                    continue
                self.add(result)
                added.append(result)
            except (OSError, SegtrackError) as error:
                problems.append(f"{path.name}: {error}")
            except ValidationError as error:
                problems.append(f"{path.name}: {_first(error)}")
        return tuple(added), tuple(problems)

    def _unfinished(self, trial: str) -> Path:
        return self.folder / _UNFINISHED / f"{trial}.json"

    def read(self, operator: str) -> Book:
        """Return an operator's record, under its stored name.

        Raises:
            InvalidValueError: The operator's name is none.
            UnknownNameError: There is no record of the operator.
            FileAccessError: The file cannot be read.
        """
        name = check_operator(operator)
        operator = self._stored(operator) or name
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
                result = Result.model_validate_json(line)
            except ValidationError as error:
                problems.append(f"{path.name}:{number}: {_first(error)}")
                continue
            lasting = result.id or sha256(line).hexdigest()[:12]  # Older ones have none.
            results.append(result.model_copy(update={"id": lasting}))
        return Book(operator, tuple(results), tuple(problems))

    def name_expert(self, operator: str, event: TrialConditions) -> None:
        """Name an operator the expert under some conditions, in place of any other.

        Raises:
            UnknownNameError: There is no record of the operator.
            InvalidValueError: The operator has passed no trial under them.
            FileAccessError: The file cannot be read or written.
        """
        book = self.read(operator)
        named = _Expert(*event[:3], book.operator, event.others)
        if _best(book.results, event) is None:
            raise InvalidValueError("an expert", f"one who passed {event}", operator)
        experts = [expert for expert in self._experts() if expert.event != named.event]
        with replacing(self.folder / "experts.json") as temporary:
            temporary.write_bytes(_EXPERTS.dump_json([*experts, named], indent=2))

    def expert_result(self, event: TrialConditions) -> Result | None:
        """Return the fastest passed trial of the expert named for some conditions; None without one.

        Raises:
            FileAccessError: A file cannot be read.
        """
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

    def _stored(self, operator: str) -> str | None:
        """Return the stored name of a record, equal exactly or in another Unicode form."""
        names, name = self.operators(), operator.strip()
        same = (
            each for each in names if unicodedata.normalize("NFC", each) == unicodedata.normalize("NFC", name)
        )
        return name if name in names else next(same, None)

    def _path(self, operator: str) -> Path:
        return self.folder / (_file_name(operator) + _SUFFIX)


def _file_name(operator: str) -> str:
    return quote(operator, safe=" '")


def _best(results: Iterable[Result], event: TrialConditions) -> Result | None:
    passed = (result for result in results if result.outcome == "passed" and result.event == event)
    return max(passed, key=lambda result: result.rate, default=None)


def _first(error: ValidationError) -> str:
    """Return the first mistake, in words."""
    mistake = error.errors()[0]
    where = ".".join(map(str, mistake["loc"]))
    return f"{where} {mistake['msg']}".lstrip()
