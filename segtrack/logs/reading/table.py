"""Tables of text, CSV, TSV and TUM, as logs: their form, then rows at once or, damaged, line by line."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import InvalidValueError, LogFileError
from segtrack.logs.log import Channel, Log, abbreviate, format_count, format_locations
from segtrack.logs.reading.headers import find_stamp, has_time, is_time, is_unit, seconds_of, unit_of

MISSING = frozenset(("", "NA", "N/A", "na", "null", "NULL", "None", "none", "-", "--"))
"""Cells that say that there is no value."""
_TRUTHS = {"true": 1.0, "false": 0.0}
_NO_NUMBER = re.compile(r"[+-]?1\.#(?P<kind>QNAN|SNAN|IND|INF)\d*", re.IGNORECASE)
"""What Windows' C library wrote for numbers that are none: 1.#QNAN, -1.#IND00, 1.#INF."""
_COMMENT = r"(?m:^)[ \t]*#[^\n]*|[ \t]+#(?![ \t]*(?:[,;\t\n]|\Z))[^\n]*"
"""Comment: it begins its line, or stands behind a blank and not at the end of a cell, as in `Sample #`."""
_COMMENTS, _COMMENTS_IN_BYTES = re.compile(_COMMENT), re.compile(_COMMENT.encode())
_SEPARATOR = re.compile(r"sep=.")
"""First line of a table by which Excel is told its delimiter."""
_DATE = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)[T ](?P<time>\d\d:\d\d:\d\d(?:\.\d{1,9})?)\d*"
    r"(?:Z|(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d))?"
)
_OTHER_DATE = re.compile(
    r"(?P<one>\d{1,2})(?P<by>[./])(?P<two>\d{1,2})(?P=by)(?P<year>\d{4}),? (?P<hour>\d{1,2})"
    r"(?P<rest>:\d\d:\d\d(?:\.\d+)?)(?: (?P<half>[AaPp][Mm]))?"
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
    if (truth := _TRUTHS.get(cell.lower())) is not None:
        return truth
    if "#" in cell and (found := _NO_NUMBER.fullmatch(cell)):
        infinite = float("-inf" if cell.startswith("-") else "inf")
        return infinite if found["kind"].upper() == "INF" else float("nan")
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
    """Seconds since 1970 of a date and time, in UTC if it says nothing else [s].

    Dates are ISO 8601, German (31.12.2026 23:59:59) or US American (12/31/2026 11:59:59 PM).

    Raises:
        ValueError: The cell holds something else.
    """
    if cell in MISSING:
        return float("nan")
    cell = _turned_about(cell)
    found = _DATE.fullmatch(cell)
    if found is None:
        raise ValueError(cell)
    since = int(np.datetime64(f"{found['day']}T{found['time']}", "ns").astype(np.int64))
    if found["sign"]:
        ahead = (int(found["hours"]) * 60 + int(found["minutes"])) * 60
        since -= (-ahead if found["sign"] == "-" else ahead) * 10**9
    return since // 10**9 + since % 10**9 / 1e9


def _turned_about(cell: str) -> str:
    """Return a German or US American date and time as ISO 8601, any other cell as it is."""
    found = _OTHER_DATE.fullmatch(cell)
    if found is None:
        return cell
    hour = int(found["hour"])
    if half := (found["half"] or "").upper():
        hour = hour % 12 + (12 if half == "PM" else 0)
    day, month = (found["one"], found["two"]) if found["by"] == "." else (found["two"], found["one"])
    return f"{found['year']}-{int(month):02}-{int(day):02}T{hour:02}{found['rest']}"


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
    return "date" if all(map(is_date, said)) else "text"


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


Array = NDArray[np.float64]
_TUM_NORM = 0.01
"""Largest deviation of the median length of a trajectory's quaternions from 1."""


def read_table(path: Path, data: bytes) -> Log:
    """Read a CSV, TSV or TUM file.

    Columns separated by blanks, eight of them, the last four a unit quaternion, are a trajectory as the
    tools of TUM's benchmark write it: time, position, orientation (x, y, z, w).

    Raises:
        LogFileError: The file has no rows of numbers, or decimal commas.
    """
    text, encoding = normalize(data)
    lines = text[:HEAD].decode(encoding, "replace").split("\n")
    form = find_form(lines, path.name)
    start = 0
    for _ in range(form.first):
        start = text.index(b"\n", start) + 1
    rows = read_rows(text[start:], form, encoding)
    if not len(rows.values) or not rows.columns:
        raise LogFileError(path.name, "has no rows of numbers")
    if path.name.lower().removesuffix(".gz").endswith(".tum") or _is_tum(form, rows):
        return _trajectory(path, form, rows)
    return _columns(path, form, rows)


def _columns(path: Path, form: TableForm, rows: TableRows) -> Log:
    title = f"{format_count(form.titles, 'line')} taken for a title: before the first row"
    notes = [title] if form.titles else []
    damage = list(rows.damage)
    values = rows.values
    names = [form.names[column] for column in rows.columns]
    units = [form.units[column] for column in rows.columns]
    found = [i for i, column in enumerate(rows.columns) if form.kinds[column] == "date" or is_time(names[i])]
    for i, (name, column) in enumerate(zip(names, values.T, strict=True)):
        if i not in found[:1] and len(infinite := np.flatnonzero(np.isinf(column))):
            rows_of_it = format_locations("row", (infinite + 1).tolist())
            damage.append(f"column {name!r}: infinite, taken as missing, in {rows_of_it}")
            column[infinite] = np.nan
    times = np.arange(len(values), dtype=float)
    if found:
        i = found[0]
        is_date = form.kinds[rows.columns[i]] == "date"
        units[i] = "s" if is_date else units[i]
        values = _timed(values, i, damage, path.name)
        try:
            times, unit = seconds_of(values[:, i], units[i], names[i])
        except InvalidValueError as error:
            raise LogFileError(path.name, str(error)) from None
        if not units[i]:
            notes.append(f"times are column {names[i]!r}, whose header has no unit: taken as {unit}")
    elif stamp := find_stamp(names):
        whole, part = values[:, stamp].T
        timed = _timed(np.column_stack((values, whole + part / 1e9)), len(names), damage, path.name)
        values, times = timed[:, :-1], timed[:, -1]
        notes.append(f"times are columns {names[stamp[0]]!r} and {names[stamp[1]]!r}")
    else:
        notes.append("no column is called a time: times are the numbers of the rows, from 0")
    skipped = {name: "text" for i, name in enumerate(form.names) if i not in rows.columns}
    channels = {
        name: Channel(name, times, np.ascontiguousarray(values[:, i]), units[i], path.name)
        for i, name in enumerate(names)
    }
    return Log(path, "csv", channels, abbreviate(damage), notes=tuple(notes), skipped=skipped)


def _timed(values: Array, column: int, damage: list[str], file: str) -> Array:
    """Return the rows that have a time in a column; the number of the others is added to the damage."""
    timed = has_time(values[:, column])
    if not timed.any():
        raise LogFileError(file, "has no row with a time")
    if not timed.all():
        damage.append(f"{format_count(int((~timed).sum()), 'row')} left out: without a time")
    return values[timed]


def _is_tum(form: TableForm, rows: TableRows) -> bool:
    if form.delimiter is not None or len(form.names) != 8 or set(form.kinds) != {"number"}:
        return False
    with np.errstate(over="ignore"):
        norms = np.linalg.norm(rows.values[:, 4:], axis=1) if rows.values.shape[1] == 8 else np.empty(0)
    norms = norms[np.isfinite(norms)]
    return bool(len(norms)) and abs(float(np.median(norms)) - 1) <= _TUM_NORM


def _trajectory(path: Path, form: TableForm, rows: TableRows) -> Log:
    if rows.values.shape[1] != 8:
        problem = f"a TUM trajectory must have 8 columns (t x y z qx qy qz qw), got {len(form.names)}"
        raise LogFileError(path.name, problem)
    damage = list(rows.damage)
    values = _timed(rows.values, 0, damage, path.name)
    times = np.ascontiguousarray(values[:, 0])
    channels = {
        name: Channel(name, times, np.ascontiguousarray(values[:, part]), unit, path.name)
        for name, part, unit in (("position", np.s_[1:4], "m"), ("orientation", np.s_[4:8], "-"))
    }
    return Log(path, "tum", channels, abbreviate(damage))


_BLOCK = 20_000
"""Lines that are tried at once where not all are sound."""
_ENDS = 5
"""Lines whose last cells must have equally many decimals for that of a line that does not end to be whole."""


@dataclass
class TableRows:
    """Numbers of a table.

    Attributes:
        values: Numbers of the columns that are not text, NaN where one is missing (n, k).
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


def read_rows(body: bytes, form: TableForm, encoding: str) -> TableRows:
    """Read the rows of a table from its first one on; all lines end by newlines alone."""
    columns = [i for i, kind in enumerate(form.kinds) if kind != "text"]
    complaints = _Complaints()
    whole, tail = body, b""
    if not body.endswith(b"\n"):
        at = body.rfind(b"\n") + 1
        whole, tail = body[:at], body[at:]
    reader = _RowReader(form, columns, encoding, complaints)
    found = reader.at_once(whole)
    blocks = [found] if found is not None else list(reader.by_line(whole))
    if tail:
        blocks.append(reader.last(whole, tail))
    values = np.concatenate(blocks) if blocks else np.empty((0, len(columns)))
    silent = [i for i in range(len(columns)) if not np.isfinite(values[:, i]).any()]
    words = {columns[i] for i in silent} & set(complaints.words)
    kept = [i for i, column in enumerate(columns) if column not in words]
    damage = _format_damage({c: n for c, n in complaints.words.items() if c not in words}, complaints, form)
    return TableRows(values[:, kept], [columns[i] for i in kept], damage)


class _RowReader:
    """Readings of a table's lines."""

    def __init__(self, form: TableForm, columns: list[int], encoding: str, complaints: _Complaints) -> None:
        self.form, self.columns, self.encoding, self.complaints = form, columns, encoding, complaints
        self.converters: dict[int, Callable[[str], float]] = {
            i: seconds_of_date for i in columns if form.kinds[i] == "date"
        }

    def at_once(self, text: bytes) -> Array | None:
        """The rows of sound lines (n, k); None if they are not all sound."""
        form = self.form
        everything = len(self.columns) == len(form.names)
        if b"#" in text:
            text = _COMMENTS_IN_BYTES.sub(b"", text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # That there are no rows.
            try:
                table: Array = np.loadtxt(  # type: ignore[call-overload]
                    io.BytesIO(_fill_empty_cells(text, form.delimiter)),
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

    def by_line(self, text: bytes) -> Iterator[Array]:
        """The rows of lines of which some are not sound, in blocks."""
        lines = text.split(b"\n")
        for start in range(0, len(lines), _BLOCK):
            block = lines[start : start + _BLOCK]
            table = self.at_once(b"\n".join(block) + b"\n")
            if table is None:
                rows = (self.row(line, self.form.first + start + i + 1) for i, line in enumerate(block))
                table = np.array([row for row in rows if row is not None]).reshape(-1, len(self.columns))
            yield table

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

    def last(self, whole: bytes, tail: bytes) -> Array:
        """The row of a line that does not end, without its last number if that may have been cut."""
        number = self.form.first + whole.count(b"\n") + 1
        row = self.row(tail, number)
        if row is None:
            return np.empty((0, len(self.columns)))
        before = whole[-_ENDS * (len(tail) + 80) :].split(b"\n")[-_ENDS - 1 : -1]
        endings = {_ending(line, self.form.delimiter) for line in before}
        if self.columns[-1] == len(self.form.names) - 1 and endings != {_ending(tail, self.form.delimiter)}:
            self.complaints.cut = number
            row[-1] = float("nan")
        return np.array([row])


def _fill_empty_cells(text: bytes, delimiter: str | None) -> bytes:
    """The text with a number in each empty cell, NaN."""
    if delimiter is None:
        return text
    by = delimiter.encode()
    if by + by in text:
        text = text.replace(by + by, by + b"nan" + by).replace(by + by, by + b"nan" + by)
    if by + b"\n" in text:
        text = text.replace(by + b"\n", by + b"nan\n")
    if b"\n" + by in text:
        text = text.replace(b"\n" + by, b"\nnan" + by)
    return b"nan" + text if text.startswith(by) else text


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
