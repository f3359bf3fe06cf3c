"""Rows of tables of text: blocks of sound lines at once, and damaged ones line by line."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from pydantic_core import from_json

from segtrack.logs.log import format_count, format_locations
from segtrack.logs.reading.cells import number_of, seconds_of_clock, seconds_of_date, seconds_of_day
from segtrack.logs.reading.table_form import COMMENTS_IN_BYTES, Kind, TableForm, cells_of, is_comment

Array = NDArray[np.float64]
_SECONDS: dict[Kind, Callable[[str], float]] = {
    "date": seconds_of_date,
    "day": seconds_of_day,
    "clock": seconds_of_clock,
}
_BLOCK = 2**16
"""Bytes of lines that are tried at once."""
_ENDS = 5
"""Lines whose last cells must have equally many decimals for that of a line that does not end to be whole."""


@dataclass
class TableRows:
    """Numbers of a table.

    Attributes:
        values: Numbers of the columns that are not text, NaN where one is missing (k, n).
        columns: Indices of these columns.
        damage: Sentences on unreadable lines and cells.
    """

    values: Array
    columns: list[int]
    damage: list[str]


@dataclass
class _Complaints:
    """Lines by what is wrong with them, from 1.

    Attributes:
        width: Lines with another number of cells than there are columns.
        words: Lines with a cell that is no number, by column.
        first_words: First cell that is no number, by column.
        cut: Last line, if its last cell may have been cut.
    """

    width: list[int] = field(default_factory=list)
    words: dict[int, list[int]] = field(default_factory=dict)
    first_words: dict[int, str] = field(default_factory=dict)
    cut: int | None = None


def read_rows(text: bytes, start: int, form: TableForm, encoding: str) -> TableRows:
    """Read the rows of a table from a place in its text on; all lines end by newlines alone."""
    columns = [i for i, kind in enumerate(form.kinds) if kind != "text"]
    complaints = _Complaints()
    reader = _RowReader(form, columns, encoding, complaints)
    values = np.empty((len(columns), text.count(b"\n", start) + 1))
    count = 0
    for table in reader.tables(text, start):
        values[:, count : count + len(table)] = table.T
        count += len(table)
    values = values[:, :count]
    silent = [i for i in range(len(columns)) if not np.isfinite(values[i]).any()]
    words = {columns[i] for i in silent} & set(complaints.words)
    kept = [i for i, column in enumerate(columns) if column not in words]
    damage = _format_damage({c: n for c, n in complaints.words.items() if c not in words}, complaints, form)
    return TableRows(values[kept] if words else values, [columns[i] for i in kept], damage)


class _RowReader:
    """Readings of a table's lines."""

    def __init__(self, form: TableForm, columns: list[int], encoding: str, complaints: _Complaints) -> None:
        self.form, self.columns, self.encoding, self.complaints = form, columns, encoding, complaints
        self.converters: dict[int, Callable[[str], float]] = {
            i: _SECONDS[form.kinds[i]] for i in columns if form.kinds[i] in _SECONDS
        }

    def tables(self, text: bytes, start: int) -> Iterator[Array]:
        """The rows of the lines from a place on, in blocks (n, k)."""
        end, number, counted, place = text.rfind(b"\n", start) + 1 or start, self.form.first + 1, start, start
        while place < end:
            until = min(text.find(b"\n", place + _BLOCK) + 1 or end, end)
            table = self.at_once(text[place:until])
            if table is None:
                number, counted = number + text.count(b"\n", counted, place), place
                table = self.by_line(text[place:until], number)
            yield table
            place = until
        if end < len(text):
            number += text.count(b"\n", counted, end)
            before = text[max(start, end - _ENDS * (len(text) - end + 80)) : end]
            yield self.last(before, text[end:], number)

    def at_once(self, text: bytes) -> Array | None:
        """The rows of sound lines (n, k); None if they are not all sound."""
        form = self.form
        everything = len(self.columns) == len(form.names)
        if b"#" in text:
            text = COMMENTS_IN_BYTES.sub(b"", text)
        if form.delimiter is not None:
            by = form.delimiter.encode()
            is_plain = everything and not self.converters
            found = _plain_numbers(text, by) if is_plain else None
            if found is None and (filled := _fill_empty_cells(text, by)) is not text:
                text, found = filled, _plain_numbers(filled, by) if is_plain else None
            if found is not None:
                return found if found.shape[1] == len(form.names) else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # That there are no rows.
            try:
                table: Array = np.loadtxt(  # type: ignore[call-overload]
                    io.BytesIO(text),
                    delimiter=form.delimiter,
                    comments=None,
                    quotechar='"' if b'"' in text else None,
                    usecols=None if everything else self.columns,
                    converters=self.converters or None,
                    encoding=self.encoding,
                    ndmin=2,
                )
            except (ValueError, UnicodeDecodeError):
                return None
        if not len(table):
            return np.empty((0, len(self.columns)))
        if table.shape[1] != len(self.columns):
            return None
        if not everything and _cells(text, form.delimiter) != len(table) * len(form.names):
            return None
        return table

    def by_line(self, text: bytes, number: int) -> Array:
        """The rows of lines of which some are not sound, from the line of a number on (n, k)."""
        rows = (self.row(line, number + i) for i, line in enumerate(text.split(b"\n")))
        return np.array([row for row in rows if row is not None]).reshape(-1, len(self.columns))

    def row(self, line: bytes, number: int) -> list[float] | None:
        """The numbers of a line; None if it has none."""
        text = line.decode(self.encoding, "replace")
        if not text.strip() or is_comment(text):
            return None
        try:
            cells = cells_of(text, self.form.delimiter, len(self.form.names))
        except ValueError:  # csv's own: a cell longer than any number is.
            cells = []
        if len(cells) != len(self.form.names):
            self.complaints.width.append(number)
            return None
        return [self.number(cells[column], column, number) for column in self.columns]

    def number(self, cell: str, column: int, line: int) -> float:
        """The number of a cell; NaN if it is none."""
        try:
            return self.converters.get(column, number_of)(cell)
        except ValueError:
            self.complaints.words.setdefault(column, []).append(line)
            self.complaints.first_words.setdefault(column, cell)
            return float("nan")

    def last(self, before: bytes, tail: bytes, number: int) -> Array:
        """The row of a line that does not end, without its last number if that may have been cut (1, k)."""
        row = self.row(tail, number)
        if row is None:
            return np.empty((0, len(self.columns)))
        endings = {_ending(line, self.form.delimiter) for line in before.split(b"\n")[-_ENDS - 1 : -1]}
        if self.columns[-1] == len(self.form.names) - 1 and endings != {_ending(tail, self.form.delimiter)}:
            self.complaints.cut = number
            row[-1] = float("nan")
        return np.array([row])


def _plain_numbers(text: bytes, delimiter: bytes) -> Array | None:
    """The numbers of lines that are JSON but for brackets (n, k); None for others.

    Most tables are, and a parser of JSON reads them in a third of loadtxt's time.
    """
    if b'"' in text or (delimiter != b"," and b"," in text):
        return None
    rows = text.removesuffix(b"\n").replace(delimiter, b",").replace(b"\n", b"],[")
    try:
        return np.array(from_json(b"[[%b]]" % rows), dtype=float, ndmin=2)
    except (ValueError, TypeError, OverflowError):
        return None


def _fill_empty_cells(text: bytes, by: bytes) -> bytes:
    """The text with a number in each empty cell between delimiters, NaN."""
    if by + by in text:
        text = text.replace(by + by, by + b"NaN" + by).replace(by + by, by + b"NaN" + by)
    if by + b"\n" in text:
        text = text.replace(by + b"\n", by + b"NaN\n")
    if b"\n" + by in text:
        text = text.replace(b"\n" + by, b"\nNaN" + by)
    return b"NaN" + text if text.startswith(by) else text


def _cells(text: bytes, delimiter: str | None) -> int:
    """Number of cells of a text in which no cell is quoted and no line empty."""
    if delimiter is None:
        return len(text.split())
    return text.count(delimiter.encode()) + text.count(b"\n")


def _ending(line: bytes, delimiter: str | None) -> tuple[bool, int]:
    """True and the number of decimals for a line's last number, or False and that of its digits."""
    cell = (line.split(delimiter.encode()) if delimiter else line.split() or [b""])[-1].strip()
    _, point, decimals = cell.partition(b".")
    return bool(point), len(decimals if point else cell)


def _format_damage(words: dict[int, list[int]], complaints: _Complaints, form: TableForm) -> list[str]:
    said = []
    if complaints.width:
        left_out, width = format_count(len(complaints.width), "line"), len(form.names)
        said.append(f"{left_out} left out: not {width} cells in {format_locations('line', complaints.width)}")
    for column, lines in words.items():
        name, cell = form.names[column], complaints.first_words[column][:30]
        said.append(f"column {name!r}: no number, but such as {cell!r}, in {format_locations('line', lines)}")
    if complaints.cut is not None:
        said.append(f"line {complaints.cut} is the last and does not end: its last number is left out")
    return said
