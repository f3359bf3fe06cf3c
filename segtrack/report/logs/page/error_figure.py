"""Errors by phase, a panel for each quantity, each beside its uncertainty."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from segtrack.logs.compare import COVERAGE, ErrorRow
from segtrack.logs.compare.comparison import Run
from segtrack.report.logs.compare_table import shown_unit
from segtrack.report.logs.series_figure import RUN_COLOURS
from segtrack.report.style import new_figure

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
        _draw(axes, [row for row in rows if row.quantity == quantity])
        axes.set_title(f"{quantity} [{unit}]", loc="left", fontsize=10)
    for axes in grid.flat[len(names) :]:
        axes.remove()
    figure.legend(handles=_handles(), loc="outside upper center", ncols=4, frameon=False)
    return figure


def _draw(axes: Axes, rows: list[ErrorRow]) -> None:
    phases = list(dict.fromkeys(row.phase for row in rows))
    for row in rows:
        colour, factor = RUN_COLOURS[row.run], shown_unit(row.unit)[1]
        place = phases.index(row.phase) + (-0.12 if row.run == "commanded" else 0.12)
        if row.uncertainty is not None:
            spread = COVERAGE * factor * row.uncertainty
            axes.errorbar(place, factor * row.error, spread, color=colour, capsize=3, linewidth=1.2)
        face = colour if row.verdict == "within" else "none"
        axes.plot(place, factor * row.error, "o", markerfacecolor=face, markeredgecolor=colour, markersize=6)
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
