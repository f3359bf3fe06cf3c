"""A report on a log as one HTML page that needs nothing else, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from matplotlib.figure import Figure

from segtrack.html import inline_svg, render_page
from segtrack.report.logs.content import ErrorRow, ReportContent, Run, Verdict
from segtrack.report.logs.error_figure import draw_errors
from segtrack.report.logs.maturity import LEVELS, SOURCE
from segtrack.report.logs.series_figure import draw_series
from segtrack.report.logs.side_figure import draw_side_views

VERDICTS: dict[Verdict, str] = {"within": "within", "beyond": "beyond", "unknown": "u_val not known"}


class _Picture(NamedTuple):
    """A figure of the page.

    Attributes:
        title: Above it.
        svg: As part of the page.
        caption: How to read it.
    """

    title: str
    svg: str
    caption: str


def report_html(content: ReportContent, written: str) -> str:
    """Return the page.

    Args:
        content: What it says.
        written: Date of the report.

    Raises:
        MissingPackageError: Jinja2 is not installed.
    """
    runs: list[Run] = list(dict.fromkeys(row.run for row in content.rows))
    values = {
        "content": content,
        "written": written,
        "pictures": list(_pictures(content)),
        "tables": {run: [_cells(row) for row in content.rows if row.run == run] for run in runs},
        "levels": LEVELS,
        "source": SOURCE,
    }
    return render_page("segtrack.report.logs", "report.html", values, extra="logs")


def report_summary(content: ReportContent, written: str) -> dict[str, Any]:
    """Everything but what is sampled, as plain values with the names that JSON has."""
    return {
        "written": written,
        "log": content.logged.name,
        "vehicle": content.vehicle.name,
        "maturity": content.maturity.summary(),
        "errors": [
            {
                "run": row.run,
                "phase": row.phase,
                "quantity": row.quantity,
                "unit": row.unit,
                "logged": row.logged,
                "simulated": row.simulated,
                "error": row.error,
                "uncertainty": row.uncertainty,
                "interval": None if row.interval is None else list(row.interval),
                "verdict": row.verdict,
            }
            for row in content.rows
        ],
        "phases": [phase._asdict() for phase in content.phases],
        "instants": [instant._asdict() for instant in content.instants],
        "inputs": [each._asdict() for each in content.inputs],
        "settings": dict(content.settings),
        "versions": dict(content.versions),
        "notes": list(content.notes),
    }


def _pictures(content: ReportContent) -> Iterator[_Picture]:
    logged, simulated = content.logged, content.simulated
    series = draw_series(logged, simulated, content.phases)
    sides = draw_side_views(content.vehicle, content.terrains, logged, simulated, content.instants)
    found: list[tuple[Figure | None, str, str]] = [
        (series, "Over time", "Shaded: phases, and what the noise of a signal makes uncertain."),
        (
            sides,
            "Side by side",
            "Painted: the robot as logged. Line: as simulated, at the same instant. Terrain along y = 0.",
        ),
        (
            draw_errors(content.rows),
            "Errors by phase",
            "E = S - D with u_val to both sides; filled where it is within.",
        ),
    ]
    for figure, title, caption in found:
        if figure is not None:
            yield _Picture(title, inline_svg(figure, f"{title}. {caption}"), caption)


def _cells(row: ErrorRow) -> dict[str, str]:
    """A row as the page shows it."""
    low, high = row.interval if row.interval is not None else (None, None)
    return {
        "phase": row.phase,
        "quantity": row.quantity,
        "unit": row.unit,
        "logged": _number(row.logged),
        "simulated": _number(row.simulated),
        "error": _number(row.error, "+"),
        "uncertainty": _number(row.uncertainty),
        "interval": "" if row.interval is None else f"{_number(low, '+')} to {_number(high, '+')}",
        "verdict": VERDICTS[row.verdict],
        "shade": {"within": "good", "beyond": "bad"}.get(row.verdict, ""),
    }


def _number(value: float | None, sign: str = "") -> str:
    """Three digits, without exponents where they help nobody."""
    if value is None:
        return ""
    digits = 1 if abs(value) >= 100 else 2 if abs(value) >= 10 else 3 if abs(value) >= 0.1 else 4
    return f"{value:{sign}.{digits}f}" if abs(value) >= 1e-3 or value == 0 else f"{value:{sign}.2g}"
