"""Results of a class: operators and the exercises of a syllabus, as an HTML page, a table (CSV) and a PDF."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

import matplotlib

from segtrack.errors import MissingPackageError
from segtrack.html import render_page
from segtrack.language import ENGLISH, Language
from segtrack.scoring.records import Records
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
            writer.writerow((row.operator, exercise.name, exercise.title, *outcome, each.tries, *rates))
    return buffer.getvalue()


def class_pdf(rows: Sequence[ClassRow], syllabus: Syllabus, written: str, t: Language = ENGLISH) -> bytes:
    """Return the progress as a PDF of A4 pages across, a row an operator.

    Names are set in DejaVu Sans, or in a Japanese, Chinese or Korean font that the reader of the PDF brings.

    Args:
        rows: Progress of the operators.
        syllabus: Exercises.
        written: Date of the document.
        t: Language of its words.

    Raises:
        MissingPackageError: ReportLab is not installed.
    """
    if find_spec("reportlab") is None:
        raise MissingPackageError("a PDF", "reportlab", "station")
    from reportlab.lib import colors
    from reportlab.lib.pagesizes import A4, landscape
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.lib.units import mm
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont
    from reportlab.pdfbase.ttfonts import TTFont
    from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

    fonts = Path(matplotlib.get_data_path(), "fonts", "ttf")
    pdfmetrics.registerFont(TTFont(_LATIN, fonts / "DejaVuSans.ttf"))
    for asian in _ASIAN:
        pdfmetrics.registerFont(UnicodeCIDFont(asian))

    def text(words: str, size: int = 8) -> Any:
        font = _font(words)
        style = ParagraphStyle(font, fontName=font, fontSize=size, leading=1.25 * size)
        return Paragraph(escape(words), style)

    titles = [text(exercise.title) for exercise in syllabus.exercises]
    head = [text(t("operator")), *titles, text(t("passed"))]
    body = [
        [
            text(row.operator),
            *(text(_cell(each, t)) for each in row.progress),
            text(t("{passed} of {all}", passed=row.passed, all=len(row.progress))),
        ]
        for row in rows
    ]
    shades = [
        ("BACKGROUND", (column, line), (column, line), colors.HexColor("#d5efe3"))
        for line, row in enumerate(rows, 1)
        for column, each in enumerate(row.progress, 1)
        if each.passed
    ]
    grid = [("GRID", (0, 0), (-1, -1), 0.4, colors.grey), ("VALIGN", (0, 0), (-1, -1), "TOP")]
    table = Table([head, *body], repeatRows=1, style=TableStyle([*grid, *shades]))
    buffer = io.BytesIO()
    margin = 15 * mm
    document = SimpleDocTemplate(
        buffer,
        pagesize=landscape(A4),
        title=syllabus.title,
        leftMargin=margin,
        rightMargin=margin,
        topMargin=margin,
        bottomMargin=margin,
    )
    below = text(t("Results of the class, written {written}", written=written))
    document.build([text(syllabus.title, 14), below, Spacer(1, 4 * mm), table])
    return buffer.getvalue()


_LATIN = "DejaVuSans"
_ASIAN = {"HeiseiKakuGo-W5": "shift_jis", "STSong-Light": "gbk", "HYGothic-Medium": "euc_kr"}
"""Fonts that a reader of PDFs brings, and the encodings of what they have."""
_FIRST_ASIAN = "\u2e80"


def _font(words: str) -> str:
    """Return the font for a text."""
    if all(letter < _FIRST_ASIAN for letter in words):
        return _LATIN
    for font, encoding in _ASIAN.items():
        try:
            words.encode(encoding)
        except UnicodeEncodeError:
            continue
        return font
    return "STSong-Light"


def _cell(each: ExerciseProgress, t: Language) -> str:
    """Return the progress in an exercise in words."""
    if each.passed is not None:
        return t("passed {date}", date=each.passed.begun[:10])
    if each.tries:
        return t("not yet, {tries} tried", tries=each.tries)
    return "–" if each.is_open else t("closed")
