"""Steady turns beside simulated ones, as a picture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from segtrack.logs.steady.compare import SteadyComparison
from segtrack.report.style import SEGMENT_COLOURS, new_figure


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
            axes.plot(
                measured, simulated, "o", color=colour, markersize=3, alpha=0.5, label=_model(comparison)
            )
        unit = "rad/s" if key == "yaw_rate" else "m/s"
        axes.set_xlabel(f"measured {key} [{unit}]")
        axes.set_ylabel(f"simulated [{unit}]")
        axes.grid(alpha=0.25)
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


def _model(comparison: SteadyComparison) -> str:
    return comparison.simulated.name.removeprefix(f"{comparison.measured.name}, ")
