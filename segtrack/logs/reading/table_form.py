"""Forms of tables of text: delimiter, names, units and kinds of columns, and where the rows begin."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from segtrack.errors import LogFileError
from segtrack.logs.reading.cells import MISSING, is_clock, is_date, is_day, is_number
from segtrack.logs.reading.headers import find_stamp, is_time, is_unit, unit_of

_COMMENT = r"(?m:^)[ \t]*#[^\n]*|[ \t]+#(?![ \t]*(?:[,;\t\n]|\Z))[^\n]*"
"""Comment: it begins its line, or stands behind a blank and not at the end of a cell, as in `Sample #`."""
_COMMENTS, COMMENTS_IN_BYTES = re.compile(_COMMENT), re.compile(_COMMENT.encode())
_SEPARATOR = re.compile(r"sep=.")
"""First line of a table by which Excel is told its delimiter."""

Kind = Literal["number", "date", "day", "clock", "text"]
"""Content of a column: a date with its time, or each of these alone."""

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
    content = [(i, line) for i, line in enumerate(lines) if line.strip() and not is_comment(line)]
    sample = [line for _, line in content[:_SAMPLE]]
    if not sample:
        raise LogFileError(file, "has no rows")
    bare = [without_comment(line) for line in sample]
    delimiter = _delimiter(bare) or _delimiter(sample)
    # That of rows without comments, or with what may be none where the first line has as many.
    widths = [
        Counter(len(split(line, delimiter)) for line in each).most_common(1)[0][0] for each in (bare, sample)
    ]
    width = widths[1] if len(split(sample[0], delimiter)) == widths[1] else widths[0]
    cells = [cells_of(line, delimiter, width) for line in sample]
    starts = [i for i, row in enumerate(cells) if len(row) == width]
    if starts[0] > 0 and delimiter is not None and any(map(is_number, cells[starts[0]])):
        before = starts[0] - 1
        fitted = _fitted(cells[before], cells[starts[0] :], width, f"{file}:{content[before][0] + 1}")
        if fitted is not None:
            cells[before] = fitted
            starts.insert(0, before)
    below = [cells[i] for i in starts[1:]] or [cells[starts[0]]]
    kinds = tuple(_kind([row[column] for row in below]) for column in range(width))
    first, *others = starts
    names, units = cells[first], [""] * width
    if _is_header(names, kinds):
        first, *others = others or [first + 1]
        if first < len(cells) and _is_units(cells[first], width):
            units = [unit_of(f"[{cell.strip().strip('[]()')}]") for cell in cells[first]]
            first, *others = others or [first + 1]
    else:
        names = _named_by_comment(lines[: content[first][0]], delimiter, width) or [""] * width
    _check_commas(cells[first:], content[first:], delimiter, file)
    if first >= len(cells) or "number" not in kinds:
        raise LogFileError(file, "has no rows of numbers")
    units = [unit or unit_of(name) for unit, name in zip(units, names, strict=True)]
    kinds = _with_one_time(kinds, names)
    return TableForm(delimiter, _distinct(names), tuple(units), kinds, content[first][0], starts[0])


def is_comment(line: str) -> bool:
    """Return True for a line that is a comment, or tells Excel a table's delimiter."""
    return line.lstrip().startswith(("#", "%")) or _SEPARATOR.fullmatch(line.strip()) is not None


def without_comment(line: str) -> str:
    """Return a line without its comment."""
    return _COMMENTS.sub("", line)


def cells_of(line: str, delimiter: str | None, width: int) -> list[str]:
    """Cells of a line without its comment, or with what looks like one, if only so they fit the columns."""
    cells = split(without_comment(line), delimiter)
    if len(cells) != width and "#" in line and len(whole := split(line, delimiter)) == width:
        return whole
    return cells


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
    kinds: tuple[tuple[Kind, Callable[[str], bool]], ...] = (
        ("date", is_date),
        ("day", is_day),
        ("clock", is_clock),
    )
    return next((kind for kind, is_one in kinds if all(map(is_one, said))), "text")


def _with_one_time(kinds: Sequence[Kind], names: Sequence[str]) -> tuple[Kind, ...]:
    """Kinds without dates and times of day but for the first ones that are needed as the times of a table."""
    has_other = "date" in kinds or any(
        kind == "number" and is_time(name) for kind, name in zip(kinds, names, strict=True)
    )
    is_needed = "clock" in kinds and not has_other and find_stamp(names) is None
    first = {kinds.index(kind) for kind in ("day", "clock") if is_needed and kind in kinds}
    return tuple(
        "text" if kind in ("day", "clock") and i not in first else kind for i, kind in enumerate(kinds)
    )


def _fitted(names: list[str], rows: Sequence[Sequence[str]], width: int, place: str) -> list[str] | None:
    """A header without, or with, the empty cell by which its line and its rows differ; None for a title.

    Raises:
        LogFileError: It has one name more than rows have cells.
    """
    if (
        abs(len(names) - width) != 1
        or len(names) < 2
        or any(not name or is_number(name) for name in names[:-1])
    ):
        return None
    if len(names) < width:
        return [*names, ""] if all(not row[-1] for row in rows if len(row) == width) else None
    if names[-1]:
        raise LogFileError(
            place, f"must have as many names as its rows have cells, {width}, got {len(names)}"
        )
    return names[:-1]


def _is_header(cells: Sequence[str], kinds: Sequence[Kind]) -> bool:
    """Return True if a line holds names: words where there are numbers below."""
    words = [cell for cell, kind in zip(cells, kinds, strict=True) if kind != "text" and cell not in MISSING]
    return not all(any(is_one(cell) for is_one in (is_number, is_date, is_day, is_clock)) for cell in words)


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
