"""A report on a log as one HTML page that needs nothing else, with its figures, and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from segtrack.description import VehicleDescription
from segtrack.html import inline_svg, render_page
from segtrack.logs import Motion
from segtrack.logs.compare import COVERAGE, ErrorRow
from segtrack.logs.compare.comparison import Run
from segtrack.report.logs.compare import mark_error, shown_unit
from segtrack.report.logs.content import LEVELS, SOURCE, Instant, ReportContent
from segtrack.report.logs.series_figure import RUN_COLOURS, draw_series
from segtrack.report.side_view import GROUND, GROUND_EDGE, Polygon, SidePose, new_figure, paint, side_view
from segtrack.terrain import Terrain, profile


class _Picture(NamedTuple):
    """A figure of the page: its title, an `svg` element, and how to read it."""

    title: str
    svg: str
    caption: str


def report_html(content: ReportContent, written: str) -> str:
    """Return the page.

    Args:
        content: Content of the report.
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


_BELOW = 0.06
_LEVEL = 1e-6
_SKY = "#f2f5f7"
"""Behind the robots, on light and dark pages alike: their belts are dark."""
_BODY_AND_BELTS = ("body", "belt", "flipper belt")


class _View(NamedTuple):
    """Both robots at an instant, as polygons in the world's x and z [m]."""

    logged: list[Polygon]
    simulated: list[Polygon]

    @property
    def corners(self) -> NDArray[np.float64]:
        """Return the points of all polygons (n, 2) [m]."""
        return np.concatenate([polygon.points for polygon in (*self.logged, *self.simulated)])


def draw_side_views(
    vehicle: VehicleDescription,
    terrains: Sequence[Terrain],
    logged: Motion,
    simulated: Mapping[Run, Motion],
    instants: Sequence[Instant],
) -> Figure | None:
    """Draw a row for each simulation and a column for each instant.

    Belts are drawn without grousers: no log says where those are.

    Returns:
        The figure; None if the log has no position or no pitch, or there is no instant.
    """
    runs = [run for run, motion in simulated.items() if pose_at(motion, 0.0) is not None]
    if not instants or not runs or pose_at(logged, 0.0) is None:
        return None
    views = [[_view(vehicle, logged, simulated[run], instant.time) for instant in instants] for run in runs]
    corners = np.concatenate([view.corners for row in views for view in row])
    low, high = corners[:, 1].min() - _BELOW, corners[:, 1].max() + _BELOW
    reach = 1.1 * max(float(np.abs(polygon.points).max()) for polygon in side_view(vehicle))
    figure = new_figure(3.1 * len(instants), len(runs) * (0.6 + 3.1 * (high - low) / (2 * reach)))
    grid = figure.subplots(len(runs), len(instants), squeeze=False, sharey=True)
    for line, row, run in zip(grid, views, runs, strict=True):
        for axes, view, instant in zip(line, row, instants, strict=True):
            middle = (view.corners[:, 0].min() + view.corners[:, 0].max()) / 2
            window = (middle - reach, middle + reach, low, high)
            _draw(axes, view, terrains, window, RUN_COLOURS[run])
            axes.set_title(f"{instant.name}, {instant.time:.2f} s", loc="left", fontsize=10)
        line[0].set_ylabel(f"by {run} belts\nz [m]")
    for axes in grid[-1]:
        axes.set_xlabel("x [m]")
    return figure


def pose_at(motion: Motion, time: float) -> SidePose | None:
    """Return a robot's pose at a time [s], belts at no travel; None without a position or a pitch."""
    position, pitch = motion.signals.get("position"), motion.angle("pitch")
    if position is None or pitch is None:
        return None
    x, _, z = position.at(time)
    keys = {name: (f"flipper_angle.{name}", f"flipper_angle_command.{name}") for name in motion.flippers}
    signals = {
        name: next(motion.signals[key] for key in both if key in motion.signals)
        for name, both in keys.items()
    }
    flippers = {name: float(signal.at(time)) for name, signal in signals.items()}
    return SidePose(float(x), float(z), float(pitch.at(time)), flippers, {})


def _view(vehicle: VehicleDescription, logged: Motion, simulated: Motion, time: float) -> _View:
    painted, outlined = (_outlines(vehicle, motion, time) for motion in (logged, simulated))
    return _View(painted, [polygon for polygon in outlined if polygon.role in _BODY_AND_BELTS])


def _draw(
    axes: Axes,
    view: _View,
    terrains: Sequence[Terrain],
    window: tuple[float, float, float, float],
    colour: str,
) -> None:
    left, right, low, high = window
    axes.add_patch(Rectangle((left, low), right - left, high - low, facecolor=_SKY, zorder=0.5))
    for terrain in terrains:
        outline = profile(terrain, left, right)
        axes.fill_between(
            outline.x, low, outline.z, where=np.isfinite(outline.z), color=GROUND, linewidth=0, zorder=1
        )
        highest = np.max([other.height_at(outline.x) for other in terrains], axis=0)
        seen = np.where(outline.z >= highest - _LEVEL, outline.z, np.nan)
        axes.plot(outline.x, seen, color=GROUND_EDGE, linewidth=1.0, zorder=1.5)
    paint(axes, view.logged)
    edges = [polygon.points for polygon in view.simulated]
    lines = PolyCollection(edges, facecolors="none", edgecolors=colour, linewidths=1.0)
    lines.set_zorder(4)
    axes.add_collection(lines)
    axes.set(xlim=(left, right), ylim=(low, high), aspect="equal")
    axes.tick_params(labelsize=8)


def _outlines(vehicle: VehicleDescription, motion: Motion, time: float) -> list[Polygon]:
    pose = pose_at(motion, time)
    assert pose is not None
    known = {name: angle for name, angle in pose.flippers.items() if name in vehicle.flippers}
    return side_view(vehicle, SidePose(pose.x, pose.z, pose.pitch, known, {}), "smooth")
