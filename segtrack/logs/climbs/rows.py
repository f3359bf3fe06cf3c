"""A table of trials as lines of text: a header, then a line a trial, between commas, semicolons or tabs."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from segtrack.description.file.check import check_content
from segtrack.description.file.yaml_file import YamlFile
from segtrack.errors import ClimbsFileError, Problem
from segtrack.logs.climbs.table import ClimbTable, Trial

_HEADER, _ROW = "the header", "the row"


class _Row(NamedTuple):
    """Cells of a line of the file, from 1."""

    line: int
    cells: tuple[str, ...]


def parse_rows(text: str, file: str) -> ClimbTable:
    """Read and check the text of a table; a line that begins with `#` is a comment, an empty cell is none.

    Args:
        text: Of the file.
        file: Its name, for messages.

    Raises:
        ClimbsFileError: The text has mistakes; all of them are listed.
    """
    rows = _rows(text)
    if len(rows) < 2:
        raise ClimbsFileError(file, [Problem("", "has no trials" if rows else "has no header")])
    header, trials = rows[0], rows[1:]
    problems = [replace(problem, line=header.line) for problem in _header_problems(header.cells)]
    problems += _lengths(header, trials)
    content = YamlFile({"trials": [_trial(header, row) for row in trials]}, tuple(problems))
    try:
        return check_content(ClimbTable, content, file, Path("."), ClimbsFileError)
    except ClimbsFileError as error:
        told = [problem for problem in error.problems if problem in problems]
        told += _placed(error.problems, header, trials)
        raise ClimbsFileError(file, sorted(told, key=lambda problem: problem.line or 0)) from None


def _rows(text: str) -> list[_Row]:
    written = text.removeprefix("\ufeff").splitlines()
    lines = [(i, line) for i, line in enumerate(written, 1) if line.strip() and not line.startswith("#")]
    if not lines:
        return []
    mark = max(",;\t", key=lines[0][1].count)
    cells = (next(csv.reader(io.StringIO(line), delimiter=mark)) for _, line in lines)
    return [_Row(i, tuple(c.strip() for c in row)) for (i, _), row in zip(lines, cells, strict=True)]


def _trial(header: _Row, row: _Row) -> dict[str, Any]:
    pairs = zip(header.cells, row.cells, strict=False)
    return {name: _value(cell) for name, cell in pairs if cell and name in Trial.model_fields}


def _value(cell: str) -> float | str:
    """A cell as a number, or as its text."""
    try:
        number = float(cell)
    except ValueError:
        return cell
    return number if math.isfinite(number) else cell


def _header_problems(header: Sequence[str]) -> Iterator[Problem]:
    known = tuple(Trial.model_fields)
    meant = set()
    for i, name in enumerate(header):
        if name not in known:
            close = get_close_matches(name, known, n=1)
            meant |= set(close)
            hint = f"did you mean {close[0]}?" if close else f"there are: {', '.join(known)}"
            yield Problem(_HEADER, f"has a column {name!r} that segtrack does not know; {hint}")
        elif name in header[:i]:
            yield Problem(_HEADER, f"has a column {name!r} twice")
    for name, field in Trial.model_fields.items():
        if field.is_required() and name not in header and name not in meant:
            yield Problem(_HEADER, f"must have a column {name}")


def _lengths(header: _Row, trials: Sequence[_Row]) -> Iterator[Problem]:
    for row in trials:
        if len(row.cells) != len(header.cells):
            message = f"has {len(row.cells)} cells where the header has {len(header.cells)}"
            yield Problem(_ROW, message, row.line)


def _placed(problems: Sequence[Problem], header: _Row, trials: Sequence[_Row]) -> Iterator[Problem]:
    """The problems of cells, with their lines; what is missing for want of a column or a cell is left out."""
    for problem in problems:
        at = re.fullmatch(r"trials\[(\d+)\]\.(.*)", problem.where)
        if at is None:
            continue
        row, name = trials[int(at[1])], at[2]
        has_cell = name in header.cells and len(row.cells) == len(header.cells)
        if problem.message != "is missing" or has_cell:
            yield Problem(name, problem.message, row.line)
