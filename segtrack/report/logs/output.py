"""HTML pages that need nothing else: a report on a log, and a list of the reports in a folder.

A report has its figures, traces over time and paths in 3-D as the numbers that the page draws when it is
looked into, and a summary as JSON.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray
from rich.markup import escape
from rich.table import Table

from segtrack.errors import InvalidValueError, Phrase
from segtrack.html import inline_svg, render_page, script_hash
from segtrack.logs import Signal
from segtrack.logs.compare import COVERAGE, ErrorRow, Phase, Run
from segtrack.report.logs.compare import mark_errors, shown_unit
from segtrack.report.logs.content import ReportContent
from segtrack.report.logs.inspect import extreme_rows
from segtrack.report.logs.maturity import LEVELS, SOURCE
from segtrack.report.logs.views import (
    BAND_STDS,
    LINE_STYLES,
    LOGGED_COLOUR,
    RUN_COLOURS,
    Panel,
    PathView,
    draw_panels,
    draw_path,
    draw_side_views,
    label_of,
    panels_of,
    path_view,
    residuals_of,
)
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
        "estimated_uncertainties": list(content.estimated),
        "assumed_uncertainties": list(content.assumed),
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
        "tells": ", ".join(row.tells) or "nothing",
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
    places = [phases.index(row.phase) + (-0.12 if row.run == "commanded" else 0.12) for row in rows]
    mark_errors(axes, list(zip(places, rows, strict=True)), shown_unit(rows[0].unit)[1])
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


_BINS = 5_000
MOST_SAMPLES = 4 * _BINS
"""Samples of a trace that a page holds whole; longer ones are thinned to the extremes of bins."""
_DIGITS = 6
"""Significant digits of a trace's largest value."""
_TIME_DIGITS = 6
"""Decimals of times [s]."""
Numbers = list[float | None]


def traces_json(
    panels: Sequence[Panel], residuals: Sequence[Panel], phases: Sequence[Phase], path: PathView | None
) -> str:
    """Return the numbers as JSON that can stand in a page's script.

    | name | what |
    |---|---|
    | `styles` | label, short label, colour (null: the text's) and dashes by whose a line is |
    | `phases` | name, begin and end [s] |
    | `times` | lists of times [s], which lines name by their place |
    | `views` | panels over time, and of simulations less the log: name, unit, `compared`, lines |
    | `path` | `PathView` as lists, or null |

    A line has `of` (whose it is), `times`, `values`, `margin` (two standard deviations of noise, or null) and
    `samples`, the number of samples before it was thinned. A number that is not finite is null.
    """
    times = _Times()
    data = {
        "styles": {
            who: {
                "label": label_of(who),
                "short": f"by {who} belts" if who in RUN_COLOURS else who,
                "colour": None if style.colour == LOGGED_COLOUR else style.colour,
                "dash": {"-": [], "--": [6, 3], ":": [2, 3]}[style.dashes],
            }
            for who, style in LINE_STYLES.items()
        },
        "phases": [vars(phase) for phase in phases],
        "times": times.lists,
        "views": {
            "over time": [_panel(panel, times) for panel in panels],
            "simulation less log": [_panel(panel, times) for panel in residuals],
        },
        "path": None if path is None else _path(path),
    }
    return json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def thinned_note(panels: Iterable[Panel]) -> str:
    """Return a sentence on traces too long to be held whole; empty if there are none."""
    longest = max((len(line.times) for panel in panels for line in panel.lines.values()), default=0)
    if longest <= MOST_SAMPLES:
        return ""
    return (
        f"Traces of more than {MOST_SAMPLES} samples (the longest has {longest}) are thinned: of each of "
        f"{_BINS} stretches the page holds the least and the greatest sample, at their own times."
    )


def script() -> str:
    """Return the page's program: uPlot with its licence, and the page's own."""
    own = files("segtrack.report.logs")
    licence, *code = (
        own.joinpath(*name).read_text("utf-8")
        for name in (("uplot", "LICENSE"), ("uplot", "uPlot.iife.min.js"), ("path.js",), ("traces.js",))
    )
    return "\n".join([f"/*\n{licence}\n*/", *code])


def plot_style() -> str:
    """Return uPlot's style sheet."""
    return files("segtrack.report.logs").joinpath("uplot", "uPlot.min.css").read_text("utf-8")


class _Times:
    """Lists of times, each held once."""

    def __init__(self) -> None:
        self.lists: list[Numbers] = []
        self._places: dict[bytes, int] = {}

    def place_of(self, times: NDArray[np.float64]) -> int:
        """Return the place of a list of times, which is added if it is new."""
        key = times.tobytes()
        if key not in self._places:
            self._places[key] = len(self.lists)
            self.lists.append(_numbers(times, _TIME_DIGITS))
        return self._places[key]


def _panel(panel: Panel, times: _Times) -> dict[str, Any]:
    lines = [_line(who, signal, times) for who, signal in panel.lines.items()]
    return {"name": panel.name, "unit": panel.unit, "compared": panel.is_compared, "lines": lines}


def _line(who: str, signal: Signal, times: _Times) -> dict[str, Any]:
    rows = extreme_rows(signal.values, _BINS)
    values = signal.values[rows]
    return {
        "of": who,
        "times": times.place_of(signal.times[rows]),
        "values": _numbers(values, _decimals(values)),
        "margin": None if signal.std is None else float(f"{BAND_STDS * signal.std:.3g}"),
        "samples": len(signal.times),
    }


def _decimals(values: NDArray[np.float64]) -> int:
    """Decimals that give the largest of values its significant digits."""
    largest = float(np.max(np.abs(values), initial=0.0, where=np.isfinite(values)))
    return _DIGITS - math.ceil(math.log10(largest)) if largest > 0 else 0


def _numbers(values: NDArray[np.float64], decimals: int) -> Numbers:
    rounded = np.round(values, decimals)
    return [value if math.isfinite(value) else None for value in rounded.tolist()]


def _path(path: PathView) -> dict[str, Any]:
    def lists(rows: NDArray[np.float64]) -> list[Numbers]:
        return [_numbers(row, 4) for row in rows]

    return {
        "lines": [
            {"of": who, "times": _numbers(line.times, _TIME_DIGITS), "points": lists(line.points)}
            for who, line in path.lines.items()
        ],
        "x": _numbers(path.x, 4),
        "y": _numbers(path.y, 4),
        "z": lists(path.z),
    }


SUMMARY, PAGE = "report.json", "report.html"
"""Names of a report's files."""


class ReportEntry(NamedTuple):
    """A report, in short.

    Attributes:
        page: Path of its page, from the folder that is listed.
        log: Name of the log.
        vehicle: Name of the vehicle.
        terrain: Name of the terrain, with its setting.
        written: Date of the report.
        level: Maturity level that is earned; None if none is.
        agreement: Number of the whole drive's errors by run and verdict: within, beyond, unknown.
    """

    page: str
    log: str
    vehicle: str
    terrain: str
    written: str
    level: int | None
    agreement: Mapping[str, Mapping[str, int]]

    def counts(self, run: str) -> str:
        """Errors of a run within, beyond and of unknown uncertainty, in words; empty for no such run."""
        found = self.agreement.get(run, {})
        return ", ".join(
            f"{found[name]} {name}" for name in ("within", "beyond", "unknown") if found.get(name)
        )


def find_reports(folder: Path) -> tuple[list[ReportEntry], list[str]]:
    """Return the reports in a folder and those below it, and sentences on files that are none.

    Raises:
        InvalidValueError: There is no report.
    """
    entries, notes = [], []
    for path in sorted(folder.rglob(SUMMARY)):
        try:
            entries.append(_entry(folder, path))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            notes.append(f"{path} is no report of a log, and is left out")
    if not entries:
        raise InvalidValueError(
            "FOLDER", f"one with reports of logs ({SUMMARY})", Phrase(f"{folder} with none")
        )
    return entries, notes


def _entry(folder: Path, path: Path) -> ReportEntry:
    found = json.loads(path.read_text("utf-8"))
    counts: dict[str, Counter[str]] = {}
    for error in found["errors"]:
        if error["phase"] == "whole":
            counts.setdefault(error["run"], Counter())[error["verdict"]] += 1
    (terrain,) = (each["name"] for each in found["inputs"] if each["role"] == "terrain")
    page = path.with_name(PAGE).relative_to(folder).as_posix()
    level = found["maturity"]["level"]
    return ReportEntry(page, found["log"], found["vehicle"], terrain, found["written"], level, counts)


def listing_table(entries: Sequence[ReportEntry]) -> Table:
    """Table of reports."""
    table = Table("log", "vehicle", "terrain", "level", "by commanded belts", "by measured belts", "page")
    for entry in entries:
        level = "none" if entry.level is None else str(entry.level)
        told = entry.log, entry.vehicle, entry.terrain, level
        table.add_row(*map(escape, (*told, entry.counts("commanded"), entry.counts("measured"), entry.page)))
    return table


def listing_html(entries: Sequence[ReportEntry]) -> str:
    """Return a page with a row and a link for each report.

    Raises:
        MissingPackageError: Jinja2 is not installed.
    """
    return render_page("segtrack.report.logs", "listing.html", {"entries": entries}, extra="logs")


def listing_summary(entries: Sequence[ReportEntry]) -> dict[str, Any]:
    """Return the entries as a JSON-serialisable dict."""
    return {"reports": [entry._asdict() for entry in entries]}
