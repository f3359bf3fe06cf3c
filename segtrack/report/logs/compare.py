"""Comparison of a log with its simulations, as tables and a figure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich.markup import escape
from rich.table import Table

from segtrack.logs.compare import CLIMB_PHASES, COVERAGE, AreaRow, Comparison, ErrorRow, RunComparison
from segtrack.report.logs.panels import LOGGED_COLOUR, RUN_COLOURS
from segtrack.report.side_view import label_axes, new_figure

_SHOWN = {"rad": ("deg", math.degrees(1.0)), "m": ("mm", 1e3), "m/s": ("mm/s", 1e3)}
"""Unit and factor that numbers are shown with, by their unit."""


def compare_tables(comparison: Comparison) -> list[Table]:
    """Phases; each run's errors of the whole and by phase; actuator and contact error; currents."""
    tables = [_phases(comparison)]
    for run in comparison.runs.values():
        tables += [*_whole(run), *_by_phase(run)]
    if comparison.split:
        tables.append(_split(comparison))
    if any(run.currents for run in comparison.runs.values()):
        tables.append(_currents(comparison))
    return tables


def area_table(rows: Sequence[AreaRow]) -> Table:
    """Distributions of repeats: what was simulated against what was measured."""
    title = "Area between the distributions of simulated and logged numbers over repeats"
    table = Table("driven by", "phase", "quantity", "logged", "simulated", "area, 95 %", title=title)
    for row in rows:
        unit, factor = shown_unit(row.unit)
        means = (f"{_number(factor * sum(v) / len(v))}" for v in (row.logged, row.simulated))
        low, high = (_number(factor * end) for end in row.interval)
        area = f"{_number(factor * row.area)} ({low} to {high}) {unit}".rstrip(" -")
        table.add_row(row.run, row.phase, row.quantity, *means, area)
    return table


def shown_unit(unit: str) -> tuple[str, float]:
    """Unit that numbers are shown in, and their factor."""
    return _SHOWN.get(unit, (unit, 1.0))


def _phases(comparison: Comparison) -> Table:
    runs = list(comparison.runs.values())
    table = Table("phase", "log [s]", *(f"{run.run} [s]" for run in runs), title=f"{comparison.name}: phases")
    found = [runs[0].logged_phases, *(run.simulated_phases for run in runs)] if runs else []
    names = [name for name in (*CLIMB_PHASES, "drive") if any(phases.find(name) for phases in found)]
    for name in names:
        cells = []
        for phases in found:
            phase = phases.find(name)
            cells.append("-" if phase is None else f"{phase.begin:.2f} to {phase.end:.2f}")
        table.add_row(name, *cells)
    return table


def _whole(run: RunComparison) -> Iterator[Table]:
    """Errors of the whole drive, and what makes them uncertain; apart, since terminals are narrow."""
    title = f"Driven by {run.run} belts, whole: error (of the range), and {COVERAGE:g} standard uncertainties"
    errors = Table("", "log", "simulated", "error", f"{COVERAGE:g} u", "", title=title)
    title = f"Driven by {run.run} belts, whole: interval of the error, and standard uncertainties"
    parts = Table("", "95 %", "u num", "u input", "u data", title=title)
    for row in run.rows:
        if row.phase == "whole":
            unit, factor = shown_unit(row.unit)
            quantity = escape(f"{row.quantity} [{unit}]")
            seen = ("" if v is None else _number(factor * v) for v in (row.logged, row.simulated))
            spread = None if row.uncertainty is None else COVERAGE * row.uncertainty
            share = "" if row.range_fraction is None else f" ({row.range_fraction:.1%})"
            error = _number(factor * row.error) + share
            verdict = f"[bold]{row.verdict}[/bold]" if row.verdict == "beyond" else row.verdict
            errors.add_row(quantity, *seen, error, _part(spread, factor), verdict)
            parts.add_row(quantity, *_parts(row, factor))
    yield errors
    yield parts


def _parts(row: ErrorRow, factor: float) -> Iterator[str]:
    """Interval of an error, and its uncertainties by numerics, inputs and data."""
    parts = row.parts
    yield "" if row.interval is None else " to ".join(_number(factor * end) for end in row.interval)
    yield _part(parts.numerics and parts.numerics.value, factor) if parts.is_refined else "not tried"
    yield _part(parts.input_uncertainty, factor) if parts.inputs else "not given"
    yield _part(parts.data_uncertainty, factor)


def _by_phase(run: RunComparison) -> Iterator[Table]:
    names = [name for name in CLIMB_PHASES if run.logged_phases.find(name) is not None]
    if not names:
        return
    title = f"Driven by {run.run} belts, by phase: error +- {COVERAGE:g} standard uncertainties; * beyond"
    table = Table("", *names, title=title)
    quantities = dict.fromkeys((row.quantity, row.unit) for row in run.rows if row.phase in names)
    for quantity, unit in quantities:
        shown, factor = shown_unit(unit)
        rows = (run.find(quantity, name) for name in names)
        table.add_row(
            escape(f"{quantity} [{shown}]"), *("" if row is None else _cell(row, factor) for row in rows)
        )
    yield table


def _split(comparison: Comparison) -> Table:
    title = "Whole: what the actuators do (commanded against measured belts), and what the ground does"
    table = Table("", "commanded", "measured: contact", "difference: actuators", title=title)
    for row in comparison.split:
        if row.phase == "whole":
            unit, factor = shown_unit(row.unit)
            values = (row.commanded, row.measured, row.actuator)
            table.add_row(escape(f"{row.quantity} [{unit}]"), *(_number(factor * value) for value in values))
    return table


def _currents(comparison: Comparison) -> Table:
    table = Table(
        "driven by", "side", "force per current [N/A]", "correlation", "of so many independent samples",
        title="Simulated force of the drives over logged motor current: only the shape is compared",
    )  # fmt: skip
    for run in comparison.runs.values():
        for fit in run.currents:
            numbers = f"{fit.force_per_current:.3g}", f"{fit.correlation:.2f}", f"{fit.independent:.0f}"
            table.add_row(run.run, fit.side, *numbers)
    return table


def _number(value: float) -> str:
    return "0" if abs(value) < 5e-7 else f"{value:.3g}"


def _part(value: float | None, factor: float) -> str:
    return "unknown" if value is None else _number(factor * value)


def _cell(row: ErrorRow, factor: float) -> str:
    u = row.uncertainty
    spread = " +- ?" if u is None else f" +- {_number(COVERAGE * factor * u)}"
    return _number(factor * row.error) + spread + (" *" if row.verdict == "beyond" else "")


_SHADES = ("#f2f2f2", "#e3edf7", "#e2f1e7", "#f9e9d8", "#f2f2f2")
"""Colours of the phases, in their order."""
_PANELS = ("pitch RMSE", "position error (ATE)", "slip left RMSE", "peak pitch")
"""Errors that are drawn by phase, as far as there are."""


def draw_comparison(comparison: Comparison) -> Figure:
    """Pitch with phases, paths from the side and above, belt speed and slip over time, errors by phase."""
    figure = new_figure(14.0, 11.0)
    figure.suptitle(f"{comparison.name}: logged and simulated", fontsize=14)
    grid = figure.add_gridspec(4, 2, height_ratios=[1.3, 1.0, 1.0, 1.1])
    runs = list(comparison.runs.values())
    pitch = figure.add_subplot(grid[0, :])
    _over_time(pitch, runs, "pitch", "pitch, nose up [deg]", math.degrees(1.0))
    pitch.legend(loc="upper left", fontsize=9, ncols=3)
    _path(figure.add_subplot(grid[1, 0]), runs, 2, "z [m]")
    _path(figure.add_subplot(grid[1, 1]), runs, 1, "y [m]")
    _over_time(figure.add_subplot(grid[2, 0]), runs, "belt", "belt speed, left [m/s]")
    _over_time(figure.add_subplot(grid[2, 1]), runs, "slip", "slip, left [-]")
    names = [name for name in _PANELS if any(run.find(name) for run in runs)]
    row = grid[3, :].subgridspec(1, max(len(names), 1))
    for i, name in enumerate(names):
        _errors(figure.add_subplot(row[0, i]), name, runs)
    return figure


def _over_time(axes: Axes, runs: Sequence[RunComparison], what: str, label: str, factor: float = 1.0) -> None:
    _shade(axes, runs)
    lines = [("log", LOGGED_COLOUR, runs[0].logged)] if runs else []
    lines += [(f"by {run.run} belts", RUN_COLOURS[run.run], run.simulated) for run in runs]
    for name, colour, motion in lines:
        values = {"pitch": motion.pitch, "belt": motion.belt("left"), "slip": motion.slip("left")}[what]
        if values is not None:
            times = motion.middles if what == "slip" else motion.times
            axes.plot(times, factor * values, color=colour, linewidth=1.2, label=name)
    label_axes(axes, "time [s]", label)
    axes.margins(x=0)


def _shade(axes: Axes, runs: Sequence[RunComparison]) -> None:
    """The log's phases behind a plot over time, named at its top."""
    for phase in runs[0].logged_phases.phases if runs else ():
        if phase.name in CLIMB_PHASES:
            shade = _SHADES[CLIMB_PHASES.index(phase.name)]
            axes.axvspan(phase.begin, phase.end, color=shade, zorder=0)
            axes.axvline(phase.begin, color="black", alpha=0.2, linewidth=0.8)
            axes.text(
                phase.begin, 1.0, f" {phase.name}", transform=axes.get_xaxis_transform(), fontsize=8,
                va="bottom", rotation=25 if phase.name == "crest" else 0,
            )  # fmt: skip


def _path(axes: Axes, runs: Sequence[RunComparison], axis: int, label: str) -> None:
    lines = [(LOGGED_COLOUR, runs[0].logged)] if runs else []
    lines += [(RUN_COLOURS[run.run], run.simulated) for run in runs]
    for colour, motion in lines:
        if motion.position is not None:
            axes.plot(motion.position[:, 0], motion.position[:, axis], color=colour, linewidth=1.2)
    low, high = axes.get_ylim()
    if high - low < 0.05:
        axes.set_ylim((low + high) / 2 - 0.025, (low + high) / 2 + 0.025)
    label_axes(axes, "x [m]", label)


def _errors(axes: Axes, quantity: str, runs: Sequence[RunComparison]) -> None:
    """E +- u by phase; filled within, open beyond or unknown."""
    phases = [name for name in ("whole", *CLIMB_PHASES) if any(run.find(quantity, name) for run in runs)]
    unit, factor = "", 1.0
    for i, run in enumerate(runs):
        for place, name in enumerate(phases):
            row = run.find(quantity, name)
            if row is not None:
                unit, factor = shown_unit(row.unit)
                mark_error(axes, place + 0.2 * (i - (len(runs) - 1) / 2), row, factor)
    axes.axhline(0.0, color="black", linewidth=0.8)
    axes.set_xticks(np.arange(len(phases)), phases, rotation=40, fontsize=8, ha="right")
    shown = "" if unit == "-" else f" [{unit}]"
    axes.set_title(f"{quantity}{shown} +- {COVERAGE:g} u", loc="left", fontsize=9)
    axes.grid(axis="y", alpha=0.25)


def mark_error(axes: Axes, place: float, row: ErrorRow, factor: float) -> None:
    """Draw E +- u at a place, filled within the uncertainty, else open."""
    colour = RUN_COLOURS[row.run]
    if row.uncertainty is not None:
        spread = COVERAGE * factor * row.uncertainty
        axes.errorbar(place, factor * row.error, spread, color=colour, capsize=3, linewidth=1.2)
    face = colour if row.verdict == "within" else "none"
    axes.plot(place, factor * row.error, "o", markerfacecolor=face, markeredgecolor=colour, markersize=6)
