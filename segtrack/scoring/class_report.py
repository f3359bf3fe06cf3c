"""Results of a class: operators by exercises of a syllabus, as a printable page and a CSV table."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from segtrack.html import render_page
from segtrack.language import ENGLISH, Language
from segtrack.scoring.records import Records
from segtrack.scoring.report import text_cell
from segtrack.scoring.result import RATE_UNITS
from segtrack.scoring.syllabus import ExerciseProgress, Syllabus


class ClassRow(NamedTuple):
    """Progress of one operator.

    Attributes:
        operator: Name of the operator.
        progress: Progress in each exercise, in syllabus order.
        trials: Number of trials, including those outside of exercises.
        problems: Number of unreadable lines in the record.
    """

    operator: str
    progress: tuple[ExerciseProgress, ...]
    trials: int
    problems: int

    @property
    def passed(self) -> int:
        """Number of passed exercises."""
        return sum(each.passed is not None for each in self.progress)


def class_rows(records: Records, syllabus: Syllabus) -> tuple[ClassRow, ...]:
    """Return the progress of all operators with a record, by name.

    Raises:
        FileAccessError: A record cannot be read.
    """
    books = [records.read(operator) for operator in records.operators()]
    return tuple(
        ClassRow(book.operator, syllabus.progress(book.results), len(book.results), len(book.problems))
        for book in books
    )


def class_html(
    rows: Sequence[ClassRow],
    syllabus: Syllabus,
    written: str,
    live: Mapping[str, Any],
    language: Language = ENGLISH,
) -> str:
    """Return the class's results as an HTML page.

    Args:
        rows: Progress of the operators.
        syllabus: Exercises.
        written: Date of the page.
        live: Values of the template: `people` (name, role, place in the queue), `driver`, `trial`, and the
            links `report` (an operator's name is appended) and `table` (`.csv` is appended).
        language: Language of the page.

    Raises:
        MissingPackageError: Jinja2 is not installed.
    """
    values = {"rows": rows, "syllabus": syllabus, "written": written, "t": language, **live}
    return render_page("segtrack.scoring", "class.html", values, extra="station")


_COLUMNS = (
    "operator",
    "exercise",
    "title",
    "passed",
    "passed_at",
    "trial",
    "tries",
    "best_rate",
    "least_rate",
    "rate_unit",
)


def class_csv(rows: Sequence[ClassRow]) -> str:
    """Return the progress as CSV, one line for each operator and exercise."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in rows:
        for each in row.progress:
            exercise, passed = each.exercise, each.passed
            outcome = ("yes", passed.begun, passed.id) if passed else ("no", "", "")
            rates = f"{each.best:.4f}", exercise.rate or "", RATE_UNITS[exercise.kind]
            title = text_cell(exercise.title)
            writer.writerow((row.operator, exercise.name, title, *outcome, each.tries, *rates))
    return buffer.getvalue()
