"""A report on a log as one HTML page that needs nothing else, with its figures, and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from segtrack.html import inline_svg, render_page, script_hash
from segtrack.logs.compare import COVERAGE, ErrorRow, Run
from segtrack.report.logs.compare import mark_error, shown_unit
from segtrack.report.logs.content import LEVELS, SOURCE, ReportContent
from segtrack.report.logs.panels import BAND_STDS, RUN_COLOURS, Panel, draw_panels, panels_of, residuals_of
from segtrack.report.logs.traces import plot_style, script, thinned_note, traces_json
from segtrack.report.logs.views import PathView, draw_path, draw_side_views, path_view
from segtrack.report.side_view import new_figure


class _Picture(NamedTuple):
    """A figure of the page.

    Attributes:
        title: Title.
        svg: The `svg` element.
        caption: Reading of the figure.
        live: What replaces it on a screen where scripts run: `plots`, or a switch `in plots`, or `path`.
    """

    title: str
    svg: str
    caption: str
    live: Literal["", "plots", "in plots", "path"] = ""


def report_html(content: ReportContent, written: str) -> str:
    """Return the page.

    Args:
        content: Content of the report.
        written: Date of the report.

    Raises:
        MissingPackageError: Jinja2 is not installed.
    """
    rows = _differing(content)
    panels = panels_of(content.logged, content.simulated)
    residuals = residuals_of(panels)
    has_plots = any(panel.is_compared for panel in panels)
    path = path_view(content.terrains, content.logged, content.simulated) if has_plots else None
    program = script()
    runs: list[Run] = list(dict.fromkeys(row.run for row in content.rows))
    values = {
        "content": content,
        "written": written,
        "pictures": list(_pictures(content, panels, residuals, path)),
        "has_plots": has_plots,
        "traces": traces_json(panels, residuals, content.phases, path),
        "thinned": thinned_note(panels),
        "stds": f"{BAND_STDS:g}",
        "program": program,
        "program_hash": script_hash(program),
        "plot_style": plot_style(),
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
        "findings": [finding.record() for finding in content.findings],
        "stated_uncertainties": list(content.stated),
        "errors": [row.summary() for row in content.rows],
        "phases": [vars(phase) for phase in content.phases],
        "instants": [instant._asdict() for instant in content.instants],
        "inputs": [each._asdict() for each in content.inputs],
        "settings": dict(content.settings),
        "versions": dict(content.versions),
        "notes": list(content.notes),
    }


def _pictures(
    content: ReportContent, panels: Sequence[Panel], residuals: Sequence[Panel], path: PathView | None
) -> Iterator[_Picture]:
    logged, simulated = content.logged, content.simulated
    shaded = "Shaded: phases, and what the noise of a signal makes uncertain."
    sides = draw_side_views(content.vehicle, content.terrains, logged, simulated, content.instants)
    found: list[tuple[Figure | None, str, str, Literal["", "plots", "in plots", "path"]]] = [
        (draw_panels(panels, content.phases), "Over time", shaded, "plots"),
        (draw_panels(residuals, content.phases), "Simulation less log", shaded, "in plots"),
        (
            None if path is None else draw_path(path),
            "Path",
            "Positions of the body frame; the terrain around them is cut along x and y.",
            "path",
        ),
        (
            sides,
            "Side by side",
            "Painted: the robot as logged. Line: as simulated, at the same instant. Terrain along y = 0.",
            "",
        ),
        (
            draw_errors(_differing(content)),
            "Errors by phase",
            f"E = S - D, {COVERAGE:g} u_val to both sides; filled where it is within them.",
            "",
        ),
    ]
    for figure, title, caption, live in found:
        if figure is not None:
            yield _Picture(title, inline_svg(figure, f"{title}. {caption}"), caption, live)


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


_WIDE = 3
_MOST = 12
"""Panels: the page's tables have all quantities."""


def draw_errors(rows: Sequence[ErrorRow]) -> Figure | None:
    """Draw E and its uncertainty; filled where it is within, open where it is beyond or that is not known."""
    names = list(dict.fromkeys((row.quantity, shown_unit(row.unit)[0]) for row in rows))[:_MOST]
    if not names:
        return None
    lines = math.ceil(len(names) / _WIDE)
    figure = new_figure(12.0, 0.6 + 2.4 * lines)
    grid = figure.subplots(lines, _WIDE, squeeze=False)
    for axes, (quantity, unit) in zip(grid.flat, names, strict=False):
        _draw_errors(axes, [row for row in rows if row.quantity == quantity])
        axes.set_title(f"{quantity} [{unit}]", loc="left", fontsize=10)
    for axes in grid.flat[len(names) :]:
        axes.remove()
    figure.legend(handles=_handles(), loc="outside upper center", ncols=4, frameon=False)
    return figure


def _draw_errors(axes: Axes, rows: list[ErrorRow]) -> None:
    phases = list(dict.fromkeys(row.phase for row in rows))
    for row in rows:
        place = phases.index(row.phase) + (-0.12 if row.run == "commanded" else 0.12)
        mark_error(axes, place, row, shown_unit(row.unit)[1])
    axes.axhline(0.0, color="black", linewidth=0.8)
    axes.set_xticks(range(len(phases)), phases, fontsize=8, rotation=20 if len(phases) > 3 else 0)
    axes.set_xlim(-0.5, len(phases) - 0.5)
    axes.grid(axis="y", alpha=0.25)


def _handles() -> list[Line2D]:
    def mark(colour: str, face: str, label: str) -> Line2D:
        return Line2D(
            [], [], marker="o", linestyle="", markeredgecolor=colour, markerfacecolor=face, label=label
        )

    runs: tuple[Run, ...] = ("commanded", "measured")
    return [
        *(mark(RUN_COLOURS[run], RUN_COLOURS[run], f"by {run} belts") for run in runs),
        mark("#7f7f7f", "#7f7f7f", "within its uncertainty"),
        mark("#7f7f7f", "none", "beyond, or not known"),
    ]
