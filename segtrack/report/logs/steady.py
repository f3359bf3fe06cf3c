"""Steady turns of a log beside simulated ones, as a table and a figure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich.table import Table

from segtrack.logs.steady.compare import Spread, SteadyComparison
from segtrack.report.style import SEGMENT_COLOURS, label_axes, new_figure

_SLIPS = ("slip_velocity.left", "slip_velocity.right")


def turns_table(comparison: SteadyComparison) -> Table:
    """Measured over simulated yaw rates and errors of slip, for all turns and by class."""
    table = Table(
        "turns",
        "n",
        "yaw rate / no slip,\nmeasured, simulated",
        "measured /\nsimulated, 95 %",
        "slip, simulated - measured [mm/s]\nleft, right: median (rms)",
        title=comparison.simulated.name,
    )
    for i, group in enumerate(comparison.groups):
        slips = [
            f"{1e3 * group.difference[key].median:+.1f} ({1e3 * group.rmse[key]:.1f})"
            for key in _SLIPS
            if key in group.difference
        ]
        table.add_row(
            group.name,
            str(len(group.rows)),
            f"{_median(group.measured_ratio)}, {_median(group.simulated_ratio)}",
            _with_interval(group.ratio),
            ", ".join(slips) or "-",
            end_section=i == 0,
        )
    return table


def _median(spread: Spread | None) -> str:
    return "-" if spread is None else f"{spread.median:.2f}"


def _with_interval(spread: Spread | None) -> str:
    if spread is None:
        return "-"
    return f"{spread.median:.2f} ({spread.interval[0]:.2f} to {spread.interval[1]:.2f})"


def draw_turns(comparisons: Sequence[SteadyComparison]) -> Figure:
    """Each response, simulated over measured; and yaw rates, measured over simulated, by class of turns."""
    keys = list(comparisons[0].measured.responses)
    figure = new_figure(4.2 * (len(keys) + 1), 4.4)
    grid = figure.subplots(1, len(keys) + 1, width_ratios=[1.0] * len(keys) + [1.4])
    for axes, key in zip(grid, keys, strict=False):
        measured = comparisons[0].measured.responses[key]
        ends = [float(measured.min()), float(measured.max())]
        axes.plot(ends, ends, color="black", linewidth=0.8, linestyle=":")
        for comparison, colour in zip(comparisons, SEGMENT_COLOURS, strict=False):
            simulated = comparison.simulated.responses[key]
            model = comparison.simulated.name.removeprefix(f"{comparison.measured.name}, ")
            axes.plot(measured, simulated, "o", color=colour, markersize=3, alpha=0.5, label=model)
        unit = "rad/s" if key == "yaw_rate" else "m/s"
        label_axes(axes, f"measured {key} [{unit}]", f"simulated [{unit}]")
    grid[0].legend(fontsize=9)
    _draw_classes(grid[-1], comparisons)
    return figure


def _draw_classes(axes: Axes, comparisons: Sequence[SteadyComparison]) -> None:
    groups = [group for group in comparisons[0].groups if group.ratio is not None]
    places = -np.arange(len(groups))
    for k, (comparison, colour) in enumerate(zip(comparisons, SEGMENT_COLOURS, strict=False)):
        spreads = [group.ratio for group in comparison.groups if group.ratio is not None]
        aside = places + 0.16 * ((len(comparisons) - 1) / 2 - k)
        medians = np.array([spread.median for spread in spreads])
        quartiles = np.array([[spread.low, spread.high] for spread in spreads]).T
        intervals = np.array([spread.interval for spread in spreads]).T
        axes.hlines(aside, *quartiles, color=colour, linewidth=1.0)
        axes.hlines(aside, *intervals, color=colour, linewidth=4.0)
        axes.plot(medians, aside, "o", color=colour, markersize=5)
    axes.axvline(1.0, color="black", linewidth=0.8, linestyle=":")
    labels = [f"{group.name} ({len(group.rows)})" for group in groups]
    axes.set_yticks(places, labels, fontsize=8)
    axes.set_xlabel("measured / simulated yaw rate [-]")
    axes.set_title("quartiles (thin), 95 % of the median (thick)", loc="left", fontsize=9)
    axes.grid(alpha=0.25)
