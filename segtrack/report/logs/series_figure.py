"""Figure of logged and simulated signals over time, one over the other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from segtrack.logs import Signal
from segtrack.logs.compare import Phase
from segtrack.report.logs.panels import BAND_STDS, LINE_STYLES, LOGGED_COLOUR, Panel, label_of
from segtrack.report.side_view import new_figure

SHADE = "#7f7f7f"
_COLUMNS = 500
"""A line has at most two points in each: there is no more room for them."""


def draw_panels(panels: Sequence[Panel], phases: Sequence[Phase]) -> Figure | None:
    """Draw the panels that are compared, phases shaded; None if there are none."""
    panels = [panel for panel in panels if panel.is_compared]
    if not panels:
        return None
    rows = math.ceil(len(panels) / 2)
    figure = new_figure(12.0, 0.8 + 1.9 * rows)
    grid = figure.subplots(rows, 2, sharex=True, squeeze=False)
    for axes, panel in zip(grid.flat, panels, strict=False):
        _draw(axes, panel, phases)
    for axes in grid.flat[len(panels) :]:
        axes.remove()
    for axes in grid.flat[max(len(panels) - 2, 0) : len(panels)]:
        axes.tick_params(labelbottom=True)
        axes.set_xlabel("time [s]")
    for axes in grid[0, : len(panels)]:
        _name(axes, phases)
    drawn = {name for panel in panels for name in panel.lines}
    figure.legend(handles=list(_handles(drawn)), loc="outside upper center", ncols=5, frameon=False)
    return figure


def _draw(axes: Axes, panel: Panel, phases: Sequence[Phase]) -> None:
    for number, phase in enumerate(phases):
        shade = 0.16 if number % 2 else 0.05
        axes.axvspan(phase.begin, phase.end, color=SHADE, alpha=shade, linewidth=0)
    for name, signal in panel.lines.items():
        colour, style, width = LINE_STYLES[name]
        times, low, high = envelope(signal)
        if signal.std is not None:
            margin = BAND_STDS * signal.std
            face = SHADE if colour == LOGGED_COLOUR else colour
            axes.fill_between(times, low - margin, high + margin, color=face, alpha=0.3, linewidth=0)
        line = np.stack([low, high], axis=1).ravel() if low is not high else low
        when = times if low is high else np.repeat(times, 2)
        axes.plot(when, line, color=colour, linestyle=style, linewidth=width)
    axes.set_ylabel(panel.label)
    axes.grid(alpha=0.25)


def envelope(signal: Signal) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Times, and the least and greatest values about each of them, as many as can be seen.

    Returns:
        Three arrays of one length; the latter two are one and the same where nothing was left out.
    """
    count = len(signal.times)
    if count <= 2 * _COLUMNS:
        return signal.times, signal.values, signal.values
    edges = np.linspace(signal.times[0], signal.times[-1], _COLUMNS + 1)
    starts = np.unique(np.searchsorted(signal.times, edges[:-1]))
    low = np.minimum.reduceat(signal.values, starts)
    return signal.times[starts], low, np.maximum.reduceat(signal.values, starts)


def _name(axes: Axes, phases: Sequence[Phase]) -> None:
    """Write the phases above a panel, in two heights so that short ones have room."""
    for number, phase in enumerate(phases):
        middle = (phase.begin + phase.end) / 2
        axes.annotate(
            phase.name, (middle, 1.0), (0, 3 + 11 * (number % 2)), fontsize=8, ha="center",
            xycoords=("data", "axes fraction"), textcoords="offset points",
        )  # fmt: skip


def _handles(drawn: set[str]) -> Iterator[Line2D | Patch]:
    for name, (colour, style, width) in LINE_STYLES.items():
        if name in drawn:
            yield Line2D([], [], color=colour, linestyle=style, linewidth=width, label=label_of(name))
    yield Patch(color=SHADE, alpha=0.3, label=f"{BAND_STDS:g} standard deviations of noise")
