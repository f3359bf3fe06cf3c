"""Picture of the study: paths at steps, peaks at half-rounds, largest steps over the sprocket's place."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from segtrack.events import Assumptions
from segtrack.report import SEGMENT_COLOURS, colour_of, label_axes, new_figure
from segtrack.reproduce.korner.result import KornerResult
from segtrack.reproduce.korner.series import SeriesResult


def draw_korner(result: KornerResult) -> Figure:
    """Draw the study; a row of maps for each way of driving."""
    maps = result.maps()
    figure = new_figure(13.0, 4.8 * (1 + len(maps)))
    cells = figure.subplots(1 + len(maps), 2, squeeze=False)
    _draw_paths(cells[0, 0], result)
    _draw_peaks(cells[0, 1], result)
    for row, (name, runs) in zip(cells[1:], maps.items(), strict=True):
        _draw_map(figure, row[0], name, runs)
        _draw_trend(row[1], runs)
    return figure


def _draw_paths(axes: Axes, result: KornerResult) -> None:
    for i, each in enumerate(result.steps):
        for trial in each.trials[-2:]:
            x, z = np.array(trial.path).T
            label = f"{each.series.name}: {trial.tried:.2f} m" if trial.passed else None
            axes.plot(x, z, "-" if trial.passed else ":", color=colour_of(i), label=label, linewidth=1.3)
    label_axes(axes, "x [m]", "height [m]", "Middle between the sprockets; dotted: failed")
    axes.set_xlim(-1.0, 5.0)
    axes.set_ylim(0.0, 6.0)
    if result.steps:
        axes.legend(fontsize=7)


def _draw_peaks(axes: Axes, result: KornerResult) -> None:
    for i, each in enumerate(result.half_rounds):
        speeds = [trial.tried for trial in each.trials]
        axes.plot(speeds, [trial.peak for trial in each.trials], "o-", color=colour_of(i), markersize=3,
                  label=each.series.name)  # fmt: skip
        axes.plot(speeds, [trial.filtered_peak for trial in each.trials], "--", color=colour_of(i))
    axes.axhline(Assumptions.peak_limit, color="black", linewidth=0.8)
    axes.set_ylim(0.0, 3 * Assumptions.peak_limit)
    label_axes(axes, "speed [m/s]", "largest acceleration [g]", "Driver; dashed: low-passed at 30 Hz")
    if result.half_rounds:
        axes.legend(fontsize=8)


def _draw_map(figure: Figure, axes: Axes, name: str, runs: tuple[SeriesResult, ...]) -> None:
    found = {each.series.place: each.limit for each in runs if each.series.place is not None}
    across, up = (sorted({place[axis] for place in found}) for axis in (0, 1))
    grid = np.full((len(up), len(across)), np.nan)
    for (x, z), height in found.items():
        grid[up.index(z), across.index(x)] = np.nan if height is None else height
    axes.set_facecolor("#dddddd")
    image = axes.pcolormesh(across, up, np.ma.masked_invalid(grid), shading="nearest", cmap="viridis")
    figure.colorbar(image, ax=axes, label=_measure(runs))
    for (row, column), height in np.ndenumerate(grid):
        if np.isfinite(height):
            colour = "white" if height < np.nanmean(grid) else "black"
            axes.text(across[column], up[row], f"{height:.2f}", ha="center", va="center", color=colour)
    label_axes(axes, "sprocket forward [m]", "sprocket up [m]", f"{name}; grey: none")
    axes.grid(visible=False)


def _draw_trend(axes: Axes, runs: tuple[SeriesResult, ...]) -> None:
    for i, x in enumerate(sorted({each.series.place.x for each in runs if each.series.place})):
        line = [
            (each.series.place.z, each.limit)
            for each in runs
            if each.series.place and each.series.place.x == x and each.limit is not None
        ]
        if line:
            axes.plot(*np.array(sorted(line)).T, "o-", color=colour_of(i % len(SEGMENT_COLOURS)),
                      label=f"forward {x:+.2f} m")  # fmt: skip
    label_axes(axes, "sprocket up [m]", _measure(runs), "The same over the sprocket's height")
    if axes.lines:
        axes.legend(fontsize=8)


def _measure(runs: tuple[SeriesResult, ...]) -> str:
    """Words and unit of the limit of some runs."""
    launched = any(each.series.driving == "launch" for each in runs)
    return f"speed at {Assumptions.peak_limit:g} g [m/s]" if launched else "largest step [m]"
