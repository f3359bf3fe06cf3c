"""An operator's record as one HTML page that needs nothing else, and as a table (CSV)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from segtrack.html import render_page
from segtrack.scoring.charts import rate_chart, repetition_chart
from segtrack.scoring.records import Book, Records
from segtrack.scoring.result import Comparison, Result, compare
from segtrack.scoring.settings import SOURCES, ScoringSettings

_COLUMNS = (
    "begun",
    "operator",
    "vehicle",
    "course",
    "setting",
    "setting_unit",
    "outcome",
    "repetitions_at_most",
    "completed",
    "failed",
    "elapsed_s",
    "rate",
    "rate_unit",
    "reliability",
    "at_confidence",
    "confidence",
    "at_reliability",
    "fraction_of_expert",
    "repetition_times_s",
    "faults",
    "pauses",
    "conditions",
    "recording",
)


class _Trial(NamedTuple):
    """A trial in the report."""

    result: Result
    comparison: Comparison | None
    reliability: float
    confidence: float


class _EventGroup(NamedTuple):
    """All trials of one course, setting and vehicle."""

    latest: Result
    trials: list[_Trial]
    expert: Result | None
    rates: str
    times: str | None


def report_html(records: Records, operator: str, settings: ScoringSettings, written: str) -> str:
    """Return an operator's report.

    Args:
        records: Where the operator's record is, and the experts' are.
        operator: Name.
        settings: What is to be shown, and when an operator is as good as an expert.
        written: Date of the report.

    Returns:
        An HTML page, pictures included, that loads nothing.

    Raises:
        SegtrackError: There is no such record, a file cannot be read, or jinja2 is missing.
    """
    book = records.read(operator)
    values = {
        "book": book,
        "groups": _groups(records, book, settings),
        "settings": settings,
        "sources": [(name, _said(getattr(settings, name)), source) for name, source in SOURCES.items()],
        "written": written,
    }
    return render_page("segtrack.scoring", "report.html", values, extra="station")


def report_csv(records: Records, operator: str, settings: ScoringSettings) -> str:
    """Return an operator's trials as a table, a line each.

    Raises:
        SegtrackError: There is no such record, or a file cannot be read.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for result in records.read(operator).results:
        trial = _trial(result, records.expert_result(*result.event), settings)
        writer.writerow(_row(trial, settings))
    return buffer.getvalue()


def _row(trial: _Trial, settings: ScoringSettings) -> list[object]:
    result = trial.result
    return [
        result.begun,
        result.operator,
        result.vehicle,
        result.course,
        result.setting,
        result.setting_unit,
        result.outcome,
        result.repetitions,
        result.completed,
        result.failed,
        f"{result.elapsed:.2f}",
        f"{result.rate:.4f}",
        result.rate_unit,
        f"{trial.reliability:.4f}",
        settings.confidence,
        f"{trial.confidence:.4f}",
        settings.reliability,
        None if trial.comparison is None else f"{trial.comparison.fraction:.4f}",
        " ".join(f"{attempt.duration:.2f}" for attempt in result.attempts),
        "; ".join(f"{i}: {attempt.fault}" for i, attempt in enumerate(result.attempts, 1) if attempt.fault),
        result.pauses,
        "; ".join(f"{name}: {value}" for name, value in result.conditions.items()),
        result.recording,
    ]


def _groups(records: Records, book: Book, settings: ScoringSettings) -> Iterable[_EventGroup]:
    """The operator's trials by course, setting and vehicle."""

    def place(result: Result) -> tuple[str, float, str]:
        return result.course, -1.0 if result.setting is None else result.setting, result.vehicle

    for _, alike in groupby(sorted(book.results, key=place), key=place):
        results = list(alike)
        expert = records.expert_result(*results[0].event)
        yield _EventGroup(
            latest=results[-1],
            trials=[_trial(result, expert, settings) for result in reversed(results)],
            expert=expert,
            rates=rate_chart(results, None if expert is None else expert.rate, settings.pass_fraction),
            times=repetition_chart(results[-1]) if results[-1].attempts else None,
        )


def _trial(result: Result, expert: Result | None, settings: ScoringSettings) -> _Trial:
    comparison = None if expert is None else compare(result, expert, settings.pass_fraction)
    shown = result.reliability(settings.confidence), result.confidence(settings.reliability)
    return _Trial(result, comparison, *shown)


def _said(value: object) -> str:
    """A setting's value in words."""
    if isinstance(value, float):
        return f"{value:.4g}"
    return ", ".join(f"{failures} of {tried}" for tried, failures in dict(value).items())  # type: ignore[call-overload]
