"""Reports of trials: an operator's record and a class, as HTML pages and CSV tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, ScalarFormatter

from segtrack.courses.records import Book, Records
from segtrack.courses.result import RATE_UNITS, Attempt, ExpertComparison, Result, TrialOutcome, compare
from segtrack.courses.syllabus import ExerciseProgress, Syllabus
from segtrack.courses.trial import SOURCES, ScoringSettings
from segtrack.html import inline_svg, render_page
from segtrack.language import ENGLISH, Language

OUTCOME_COLOURS: dict[TrialOutcome, str] = {"passed": "#009e73", "failed": "#d55e00", "abandoned": "#7f7f7f"}
"""Colours that most eyes tell apart (Okabe and Ito)."""
_OUTCOME_WORDS: dict[TrialOutcome, str] = {
    "passed": "passed",
    "failed": "not passed",
    "abandoned": "abandoned",
}
_COMPLETED, _FAULT, _EXPERT = "#0072b2", "#d55e00", "#cc79a7"
_SIZE = (6.4, 2.4)
"""Width and height [inch]."""


def rate_chart(
    results: Sequence[Result], expert_rate: float | None, pass_fraction: float, t: Language = ENGLISH
) -> str:
    """Draw the rates of trials under equal conditions, in order.

    Args:
        results: Trials, at least one.
        expert_rate: Expert's rate, in the trials' unit; None if no expert is named.
        pass_fraction: Fraction of the expert's rate that passes.
        t: Language of the chart.

    Returns:
        The picture as an `svg` element.
    """
    figure = Figure(figsize=_SIZE, layout="constrained")
    axes = figure.add_subplot()
    rates = [result.rate for result in results]
    axes.plot(range(1, len(results) + 1), rates, color="#9aa3ab", linewidth=1, zorder=1)
    for outcome, colour in OUTCOME_COLOURS.items():
        mine = [(i, result.rate) for i, result in enumerate(results, 1) if result.outcome == outcome]
        if mine:
            axes.scatter(*zip(*mine, strict=True), color=colour, label=t(_OUTCOME_WORDS[outcome]), zorder=2)
    if expert_rate is not None:
        axes.axhline(expert_rate, color=_EXPERT, label=t("expert"))
        axes.axhline(
            pass_fraction * expert_rate,
            color=_EXPERT,
            linestyle="--",
            label=t("{share} of the expert", share=f"{pass_fraction:.0%}"),
        )
    axes.set(xlabel=t("trial"), ylabel=t("rate [{unit}]", unit=results[0].rate_unit))
    axes.set_xlim(0.5, len(results) + 0.5)
    axes.set_ylim(0, 1.1 * max(*rates, expert_rate or 0.0, 0.1))  # Nothing is half behind the frame.
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.yaxis.set_major_formatter(_Numbers(t))
    axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    return inline_svg(figure, t("Rate of each trial"))


def repetition_chart(result: Result, t: Language = ENGLISH) -> str:
    """Draw the duration of each repetition of a trial; returns an `svg` element."""
    figure = Figure(figsize=_SIZE, layout="constrained")
    axes = figure.add_subplot()
    for label, (colour, hatch) in _BARS.items():
        mine = [
            (number, attempt.duration)
            for number, attempt in enumerate(result.attempts, 1)
            if _kind(attempt) == label
        ]
        if mine:
            axes.bar(*zip(*mine, strict=True), color=colour, label=t(label), hatch=hatch)
    axes.set(xlabel=t("repetition"), ylabel=t("time [s]"), xlim=(0.4, max(10, len(result.attempts)) + 0.6))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.yaxis.set_major_formatter(_Numbers(t))
    axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    return inline_svg(figure, t("Time of each repetition of the latest trial"))


class _Numbers(ScalarFormatter):
    """Numbers beside an axis, as a language writes them."""

    def __init__(self, t: Language) -> None:
        super().__init__()
        self._t = t

    def __call__(self, x: float, pos: int | None = None) -> str:
        return self._t.decimal(super().__call__(x, pos))


_BARS = {"completed": (_COMPLETED, None), "not credited": (_FAULT, "//"), "void": ("#bbbbbb", "xx")}
"""Colour and hatching of a repetition's bar, by what became of it."""


def _kind(attempt: Attempt) -> str:
    if attempt.void:
        return "void"
    return "completed" if attempt.fault is None else "not credited"


class _Trial(NamedTuple):
    """Trial, as shown in the report."""

    result: Result
    comparison: ExpertComparison | None
    reliability: float
    confidence: float


_COLUMNS: Mapping[str, Callable[[_Trial, ScoringSettings], object]] = {
    "id": lambda trial, _: trial.result.id,
    "begun": lambda trial, _: trial.result.begun,
    "operator": lambda trial, _: trial.result.operator,
    "vehicle": lambda trial, _: trial.result.vehicle,
    "course": lambda trial, _: trial.result.course,
    "setting": lambda trial, _: trial.result.setting,
    "setting_unit": lambda trial, _: trial.result.setting_unit,
    "outcome": lambda trial, _: trial.result.outcome,
    "repetitions_at_most": lambda trial, _: trial.result.repetitions,
    "completed": lambda trial, _: trial.result.completed,
    "failed": lambda trial, _: trial.result.failed,
    "elapsed_s": lambda trial, _: f"{trial.result.elapsed:.2f}",
    "rate": lambda trial, _: f"{trial.result.rate:.4f}",
    "rate_unit": lambda trial, _: trial.result.rate_unit,
    "reliability": lambda trial, _: f"{trial.reliability:.4f}",
    "at_confidence": lambda _, settings: settings.confidence,
    "confidence": lambda trial, _: f"{trial.confidence:.4f}",
    "at_reliability": lambda _, settings: settings.reliability,
    "fraction_of_expert": lambda trial, _: trial.comparison and f"{trial.comparison.fraction:.4f}",
    "repetition_times_s": lambda trial, _: " ".join(f"{each.duration:.2f}" for each in trial.result.attempts),
    "faults": lambda trial, _: "; ".join(
        f"{i}: {attempt.fault}" for i, attempt in enumerate(trial.result.attempts, 1) if attempt.fault
    ),
    "void": lambda trial, _: trial.result.void,
    "real_time_factor": lambda trial, _: _format(trial.result.real_time_factor),
    "late_ticks": lambda trial, _: _format(trial.result.late),
    "delay_s": lambda trial, _: _format(trial.result.delay),
    "without_commands_s": lambda trial, _: _format(trial.result.uncommanded),
    "pauses": lambda trial, _: trial.result.pauses,
    "conditions": lambda trial, _: "; ".join(
        f"{name}: {value}" for name, value in trial.result.conditions.items()
    ),
    "recording": lambda trial, _: trial.result.recording,
}
"""Columns of the table, and their cells."""


def _format(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


class _EventGroup(NamedTuple):
    """Trials under equal conditions."""

    latest: Result
    trials: list[_Trial]
    expert: Result | None
    rates: str
    times: str | None


def report_html(
    records: Records, operator: str, settings: ScoringSettings, written: str, language: Language = ENGLISH
) -> str:
    """Return an operator's report as an HTML page.

    Args:
        records: Records of the operator and of experts.
        operator: Name of the operator.
        settings: Reliability, confidence and fraction of an expert's rate to show.
        written: Date of the report.
        language: Language of the page; texts by people and names of courses are not translated.

    Returns:
        An HTML page, pictures included, that loads nothing.

    Raises:
        SegtrackError: There is no such record, a file cannot be read, or jinja2 is missing.
    """
    book = records.read(operator)
    values = {
        "book": book,
        "groups": _groups(records, book, settings, language),
        "settings": settings,
        "outcomes": _OUTCOME_WORDS,
        "sources": [
            (name, _format_setting(getattr(settings, name), language), source)
            for name, source in SOURCES.items()
        ],
        "t": language,
        "written": written,
    }
    return render_page("segtrack.courses", "report.html", values, extra="station")


def reports_html(links: Sequence[tuple[str, str]], written: str, language: Language = ENGLISH) -> str:
    """Return an HTML page with the operators' names, linked to their reports.

    Raises:
        MissingPackageError: Jinja2 is not installed.
    """
    values = {"operators": links, "t": language, "written": written}
    return render_page("segtrack.courses", "reports.html", values, extra="station")


def report_csv(records: Records, operator: str, settings: ScoringSettings) -> str:
    """Return an operator's trials as CSV, one line each.

    Raises:
        SegtrackError: There is no such record, or a file cannot be read.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for result in records.read(operator).results:
        trial = _trial(result, records.expert_result(result.event), settings)
        writer.writerow(text_cell(cell(trial, settings)) for cell in _COLUMNS.values())
    return buffer.getvalue()


def text_cell(value: object) -> object:
    """Escape a value for a spreadsheet cell: text that looks like a formula gets an apostrophe."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULAS) else value


_FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def _groups(records: Records, book: Book, settings: ScoringSettings, t: Language) -> Iterable[_EventGroup]:
    """Yield the operator's trials, grouped by conditions."""

    def place(result: Result) -> tuple[str, float, str, tuple[tuple[str, str], ...]]:
        course, setting, vehicle, others = result.event
        return course, -1.0 if setting is None else setting, vehicle, others

    for _, alike in groupby(sorted(book.results, key=place), key=place):
        results = list(alike)
        expert = records.expert_result(results[0].event)
        yield _EventGroup(
            latest=results[-1],
            trials=[_trial(result, expert, settings) for result in reversed(results)],
            expert=expert,
            rates=rate_chart(results, None if expert is None else expert.rate, settings.pass_fraction, t),
            times=repetition_chart(results[-1], t) if results[-1].attempts else None,
        )


def _trial(result: Result, expert: Result | None, settings: ScoringSettings) -> _Trial:
    comparison = None if expert is None else compare(result, expert, settings.pass_fraction)
    shown = result.reliability(settings.confidence), result.confidence(settings.reliability)
    return _Trial(result, comparison, *shown)


def _format_setting(value: object, t: Language) -> str:
    """Format the value of a setting."""
    if isinstance(value, float):
        return f"{value:.4g}"
    allowed: Mapping[int, int] = dict(value)  # type: ignore[call-overload]
    return ", ".join(t("{passed} of {all}", passed=failed, all=tried) for tried, failed in allowed.items())


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
    return render_page("segtrack.courses", "class.html", values, extra="station")


_CLASS_COLUMNS = (
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
    writer.writerow(_CLASS_COLUMNS)
    for row in rows:
        for each in row.progress:
            exercise, passed = each.exercise, each.passed
            outcome = ("yes", passed.begun, passed.id) if passed else ("no", "", "")
            rates = f"{each.best:.4f}", exercise.rate or "", RATE_UNITS[exercise.kind]
            title = text_cell(exercise.title)
            writer.writerow((row.operator, exercise.name, title, *outcome, each.tries, *rates))
    return buffer.getvalue()
