"""Results of a class: operators and the exercises of a syllabus, as a page that prints, and a table (CSV)."""

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
    """Progress of an operator.

    Attributes:
        operator: Name of the operator.
        progress: Progress in each exercise, in their order.
        trials: Number of trials, those of no exercise included.
        problems: Number of lines of the record that could not be read.
    """

    operator: str
    progress: tuple[ExerciseProgress, ...]
    trials: int
    problems: int

    @property
    def passed(self) -> int:
        """Number of exercises that are passed."""
        return sum(each.passed is not None for each in self.progress)


def class_rows(records: Records, syllabus: Syllabus) -> tuple[ClassRow, ...]:
    """Return the progress of all operators that have a record, by name.

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
    """Return the page of a class.

    Args:
        rows: Progress of the operators.
        syllabus: Exercises.
        written: Date of the page.
        live: Values of the template: `people` (name, role, place in the queue), `driver`, `trial`, and the
            links `report`, to which an operator's name is added, and `table`, to which `.csv` is.
        language: Language of its words.

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
    """Return the progress as a table, a line for each operator and exercise."""
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
