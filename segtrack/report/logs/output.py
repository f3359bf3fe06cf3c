"""A report on a log as one HTML page that needs nothing else, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from matplotlib.figure import Figure

from segtrack.html import inline_svg, render_page
from segtrack.logs.compare import COVERAGE, ErrorRow
from segtrack.logs.compare.comparison import Run
from segtrack.report.logs.compare import shown_unit
from segtrack.report.logs.content import LEVELS, SOURCE, ReportContent
from segtrack.report.logs.report_figures import draw_errors, draw_side_views
from segtrack.report.logs.series_figure import draw_series


class _Picture(NamedTuple):
    """A figure of the page: its title, an `svg` element, and how to read it."""

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
    rows = _differing(content)
    runs: list[Run] = list(dict.fromkeys(row.run for row in content.rows))
    values = {
        "content": content,
        "written": written,
        "pictures": list(_pictures(content)),
        "tables": {run: [_cells(row) for row in rows if row.run == run] for run in runs},
        "levels": LEVELS,
        "source": SOURCE,
        "coverage": f"{COVERAGE:g}",
    }
    return render_page("segtrack.report.logs", "report.html", values, extra="logs")


def report_summary(content: ReportContent, written: str) -> dict[str, Any]:
    """Everything but what is sampled, as plain values with the names that JSON has."""
    return {
        "written": written,
        "log": content.logged.name,
        "vehicle": content.vehicle.name,
        "maturity": content.maturity.summary(),
        "stated_uncertainties": list(content.stated),
        "errors": [row.summary() for row in content.rows],
        "phases": [vars(phase) for phase in content.phases],
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
            draw_errors(_differing(content)),
            "Errors by phase",
            f"E = S - D, {COVERAGE:g} u_val to both sides; filled where it is within them.",
        ),
    ]
    for figure, title, caption in found:
        if figure is not None:
            yield _Picture(title, inline_svg(figure, f"{title}. {caption}"), caption)


def _differing(content: ReportContent) -> list[ErrorRow]:
    """Errors without those that cannot be other than 0, as of flippers that never move."""
    return [row for row in content.rows if row.error or row.uncertainty]


def _cells(row: ErrorRow) -> dict[str, str]:
    """A row as the page shows it."""
    unit, factor = shown_unit(row.unit)
    parts = row.parts
    numerics = None if parts.numerics is None else parts.numerics.value
    return {
        "phase": row.phase,
        "quantity": f"{row.quantity} [{unit}]",
        "logged": _number(row.logged, factor),
        "simulated": _number(row.simulated, factor),
        "error": _number(row.error, factor, "+" if row.logged is not None else ""),
        "interval": "" if row.interval is None else " to ".join(_number(end, factor) for end in row.interval),
        "numerics": _part(numerics, factor) if parts.is_refined else "not tried",
        "inputs": _part(parts.input_uncertainty, factor) if parts.inputs else "not given",
        "data": _part(parts.data_uncertainty, factor),
        "uncertainty": _part(None if row.uncertainty is None else COVERAGE * row.uncertainty, factor),
        "verdict": row.verdict,
        "shade": {"within": "good", "beyond": "bad"}.get(row.verdict, ""),
    }


def _part(value: float | None, factor: float) -> str:
    return "unknown" if value is None else _number(value, factor)


def _number(value: float | None, factor: float, sign: str = "") -> str:
    """Three digits, without exponents where they help nobody; empty for none."""
    if value is None:
        return ""
    shown = factor * value
    digits = 0 if abs(shown) >= 100 else 1 if abs(shown) >= 10 else 2 if abs(shown) >= 1 else 3
    return f"{shown:{sign}.{digits}f}" if abs(shown) >= 1e-2 or shown == 0 else f"{shown:{sign}.2g}"
