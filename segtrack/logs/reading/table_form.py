"""Form of a table: encoding, kinds of cells, delimiter, names and units of its columns, first row."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from segtrack.errors import LogFileError
from segtrack.logs.reading.headers import is_unit, unit_of

MISSING = frozenset(("", "NA", "N/A", "na", "null", "NULL", "None", "none", "-", "--"))
"""Cells that say that there is no value."""
_DATE = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)[T ](?P<time>\d\d:\d\d:\d\d(?:\.\d{1,9})?)\d*"
    r"(?:Z|(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d))?"
)


def number_of(cell: str) -> float:
    """Read the number in a cell; NaN if the cell is empty.

    Raises:
        ValueError: The cell holds something else.
    """
    if cell in MISSING:
        return float("nan")
    if "_" in cell:  # Python's own digits.
        raise ValueError(cell)
    return float(cell)


def is_number(cell: str) -> bool:
    """Return True if a cell holds a number."""
    return _holds(cell, number_of)


def _holds(cell: str, read: Callable[[str], float]) -> bool:
    try:
        read(cell)
    except ValueError:
        return False
    return cell not in MISSING


def seconds_of_date(cell: str) -> float:
    """Seconds since 1970 of a date and time, ISO 8601, in UTC if it says nothing else [s].

    Raises:
        ValueError: The cell holds something else.
    """
    if cell in MISSING:
        return float("nan")
    found = _DATE.fullmatch(cell)
    if found is None:
        raise ValueError(cell)
    since = int(np.datetime64(f"{found['day']}T{found['time']}", "ns").astype(np.int64))
    if found["sign"]:
        ahead = (int(found["hours"]) * 60 + int(found["minutes"])) * 60
        since -= (-ahead if found["sign"] == "-" else ahead) * 10**9
    return since // 10**9 + since % 10**9 / 1e9


def is_date(cell: str) -> bool:
    """Return True if a cell holds a date and time."""
    return _holds(cell, seconds_of_date)


Kind = Literal["number", "date", "text"]

_SAMPLE = 60
"""Lines that the form is told from."""
_AGREEING = 0.5
"""Fraction of them of which more must have equally many of what separates columns."""
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")


class TableForm(NamedTuple):
    """Form of a table.

    Attributes:
        delimiter: Text between columns; None for blanks, any number of them.
        names: Names of the columns.
        units: Units of the columns, empty where the file gives none.
        kinds: Kinds of content of the columns.
        first: Index of the line with the first row.
        titles: Lines before these that are neither rows nor comments.
    """

    delimiter: str | None
    names: tuple[str, ...]
    units: tuple[str, ...]
    kinds: tuple[Kind, ...]
    first: int
    titles: int


def find_form(lines: Sequence[str], file: str) -> TableForm:
    """Find out the form of a table from its first lines.

    Raises:
        LogFileError: They have no rows of numbers, or numbers with decimal commas.
    """
    content = [
        (i, line.split("#")[0]) for i, line in enumerate(lines) if line.strip() and not is_comment(line)
    ]
    sample = [line for _, line in content[:_SAMPLE]]
    delimiter = _delimiter(sample)
    cells = [split(line, delimiter) for line in sample]
    if not cells:
        raise LogFileError(file, "has no rows")
    width = Counter(map(len, cells)).most_common(1)[0][0]
    starts = [i for i, row in enumerate(cells) if len(row) == width]
    below = [cells[i] for i in starts[1:]] or [cells[starts[0]]]
    kinds = tuple(_kind([row[column] for row in below]) for column in range(width))
    first, *others = starts
    names, units = cells[first], [""] * width
    if _is_header(names, kinds):
        first, *others = others or [first + 1]
        if first < len(cells) and _is_units(cells[first], width):
            units = [cell.strip().strip("[]()") for cell in cells[first]]
            first, *others = others or [first + 1]
    else:
        names = _named_by_comment(lines[: content[first][0]], delimiter, width) or [""] * width
    _check_commas(cells[first:], content[first:], delimiter, file)
    if first >= len(cells) or "number" not in kinds:
        raise LogFileError(file, "has no rows of numbers")
    units = [unit or unit_of(name) for unit, name in zip(units, names, strict=True)]
    return TableForm(delimiter, _distinct(names), tuple(units), kinds, content[first][0], starts[0])


def is_comment(line: str) -> bool:
    """Return True for a line that is a comment."""
    return line.lstrip().startswith(("#", "%"))


def split(line: str, delimiter: str | None) -> list[str]:
    """Split a line into cells."""
    if delimiter is not None:
        line = line.replace("\0", "\N{REPLACEMENT CHARACTER}")  # Which csv refuses up to Python 3.10.
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), [])]
    cells: list[str] = []
    for part in line.split():
        if cells and part.startswith(("[", "(")):  # The unit of the name before.
            cells[-1] += f" {part}"
        else:
            cells.append(part)
    return cells


def _delimiter(lines: Sequence[str]) -> str | None:
    for delimiter in (";", "\t", ","):
        counts = Counter(line.count(delimiter) for line in lines)
        count, agreeing = counts.most_common(1)[0] if counts else (0, 0)
        if count and agreeing > _AGREEING * len(lines):
            return delimiter
    return None


def _kind(cells: Sequence[str]) -> Kind:
    said = [cell for cell in cells if cell not in MISSING]
    if 2 * sum(map(is_number, said)) >= len(said):
        return "number"
    return "date" if all(map(is_date, said)) else "text"


def _is_header(cells: Sequence[str], kinds: Sequence[Kind]) -> bool:
    """Return True if a line holds names: words where there are numbers below."""
    words = [cell for cell, kind in zip(cells, kinds, strict=True) if kind != "text" and cell not in MISSING]
    return any(not is_number(cell) and not is_date(cell) for cell in words)


def _is_units(cells: Sequence[str], width: int) -> bool:
    said = [cell for cell in cells if cell.strip()]
    return len(cells) == width and bool(said) and all(map(is_unit, said))


def _named_by_comment(lines: Sequence[str], delimiter: str | None, width: int) -> list[str] | None:
    """The names in the last comment before the rows, if it has as many as there are columns."""
    comments = [line.strip().lstrip("#%").strip() for line in lines if is_comment(line)]
    cells = split(comments[-1], delimiter) if comments else []
    if len(cells) == width and not any(map(is_number, cells)):
        return cells
    return None


def _check_commas(
    cells: Sequence[Sequence[str]], content: Sequence[tuple[int, str]], delimiter: str | None, file: str
) -> None:
    for row, (line, _) in zip(cells, content[: len(cells)], strict=True):
        for cell in row:
            if delimiter != "," and _DECIMAL_COMMA.fullmatch(cell):
                problem = (
                    f"numbers must have decimal points, got {cell!r}: export it with points, or replace "
                    "all commas if they stand for nothing else"
                )
                raise LogFileError(f"{file}:{line + 1}", problem)


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """The names, those that are missing or there already with a number."""
    found: list[str] = []
    for i, name in enumerate(names):
        own = name.strip() or f"column {i + 1}"
        count = 2
        while own in found:
            own = f"{name.strip()} ({count})"
            count += 1
        found.append(own)
    return tuple(found)


HEAD = 2**18
"""Bytes of the beginning that the form is told from."""
_CONTROL = bytes(byte for byte in range(32) if chr(byte) not in "\0\t\n\r") + b"\x7f"
_FEW_CONTROL, _FEW_ZEROS = 0.08, 0.5
"""Fractions of bytes, more of which no text has: a damaged one may have zeros, but few of the others."""


def is_text(data: bytes) -> bool:
    """Return True if bytes are those of a text, some of which may be damaged."""
    sample = data[:HEAD].rstrip(b"\0")
    control = len(sample) - len(sample.translate(None, _CONTROL))
    return control <= _FEW_CONTROL * len(sample) and sample.count(b"\0") <= _FEW_ZEROS * len(sample)


def normalize(data: bytes) -> tuple[bytes, str]:
    """Return the text with newlines alone at the ends of lines, and its encoding."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        data = data.decode("utf-16", "replace").encode()
    data = data.removeprefix(b"\xef\xbb\xbf")
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        data[:HEAD].decode()
    except UnicodeDecodeError as error:
        if error.start < min(len(data), HEAD) - 4:  # Else a character that the cut divides.
            return data, "latin-1"
    return data, "utf-8"
