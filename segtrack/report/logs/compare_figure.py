"""A simulated log beside the measured one, as a picture."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from segtrack.logs.compare import CLIMB_PHASES, COVERAGE, Comparison, ErrorRow, RunComparison
from segtrack.report.logs.compare_table import shown_unit
from segtrack.report.logs.series_figure import LOGGED_COLOUR, RUN_COLOURS
from segtrack.report.style import new_figure

_SHADES = ("#f2f2f2", "#e3edf7", "#e2f1e7", "#f9e9d8", "#f2f2f2")
"""Of the phases, in their order."""
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
    axes.set_ylabel(label)
    axes.set_xlabel("time [s]")
    axes.margins(x=0)
    axes.grid(alpha=0.25)


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
    axes.set_xlabel("x [m]")
    axes.set_ylabel(label)
    axes.grid(alpha=0.25)


def _errors(axes: Axes, quantity: str, runs: Sequence[RunComparison]) -> None:
    """E +- u by phase; filled within, open beyond or unknown."""
    phases = [name for name in ("whole", *CLIMB_PHASES) if any(run.find(quantity, name) for run in runs)]
    unit, factor = "", 1.0
    for i, run in enumerate(runs):
        for place, name in enumerate(phases):
            row = run.find(quantity, name)
            if row is not None:
                unit, factor = shown_unit(row.unit)
                _mark(axes, place + 0.2 * (i - (len(runs) - 1) / 2), row, factor)
    axes.axhline(0.0, color="black", linewidth=0.8)
    axes.set_xticks(np.arange(len(phases)), phases, rotation=40, fontsize=8, ha="right")
    shown = "" if unit == "-" else f" [{unit}]"
    axes.set_title(f"{quantity}{shown} +- {COVERAGE:g} u", loc="left", fontsize=9)
    axes.grid(axis="y", alpha=0.25)


def _mark(axes: Axes, place: float, row: ErrorRow, factor: float) -> None:
    colour = RUN_COLOURS[row.run]
    if row.uncertainty is not None:
        spread = COVERAGE * factor * row.uncertainty
        axes.errorbar(place, factor * row.error, spread, color=colour, capsize=3, linewidth=1.2)
    face = colour if row.verdict == "within" else "none"
    axes.plot(place, factor * row.error, "o", markerfacecolor=face, markeredgecolor=colour, markersize=6)
