"""The reproduced tables as pictures."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from segtrack.experiments.okada.published import TABLE_2_REAL_TIME_FACTOR, TABLE_4
from segtrack.experiments.okada.step_map import Table4Map
from segtrack.experiments.okada.table_2 import Table2
from segtrack.experiments.okada.table_4 import Table4
from segtrack.experiments.speed import SpeedTable
from segtrack.report.climb_figure import draw_snapshot
from segtrack.report.style import SEGMENT_COLOURS, new_figure


def draw_table_2(table: Table2) -> Figure:
    """Real-time factors as bars, the paper's beside them, on a logarithmic scale."""
    figure = new_figure(10.0, 5.0)
    axes = figure.add_subplot()
    factors = table.real_time_factor
    places = np.arange(len(factors))
    ours = axes.bar(places - 0.2, list(factors.values()), 0.4, color=SEGMENT_COLOURS[0], label="segtrack")
    axes.bar_label(ours, fmt="%.2f", fontsize=9)
    known = [i for i, model in enumerate(factors) if model in TABLE_2_REAL_TIME_FACTOR]
    values = [TABLE_2_REAL_TIME_FACTOR[model] for model in factors if model in TABLE_2_REAL_TIME_FACTOR]
    theirs = axes.bar(
        np.array(known) + 0.2, values, 0.4, color=SEGMENT_COLOURS[4], label="Okada et al. 2020, ODE"
    )
    axes.bar_label(theirs, fmt="%.2f", fontsize=9)
    axes.axhline(1.0, color="black", linewidth=0.8, linestyle=":")
    axes.set_yscale("log")
    axes.set_ylabel("real-time factor (above 1: faster than real time)")
    axes.set_xticks(places, [name.replace("_", " ") for name in factors])
    axes.set_title("PackBot, flat ground, 0.3 m/s, 1 ms; another machine than the paper's", loc="left")
    axes.legend()
    return figure


def draw_speed(table: SpeedTable) -> Figure:
    """Real-time factors as bars, a group for each scene, on a logarithmic scale."""
    figure = new_figure(9.0, 4.5)
    axes = figure.add_subplot()
    racers = list(next(iter(table.factors.values())))
    width = 0.8 / len(racers)
    places = np.arange(len(table.factors))
    for i, racer in enumerate(racers):
        medians = [table.median(scene, racer) for scene in table.factors]
        left = places + (i - (len(racers) - 1) / 2) * width
        bars = axes.bar(left, medians, width, color=SEGMENT_COLOURS[i], label=racer)
        axes.bar_label(bars, fmt="%.1f", fontsize=9)
    axes.axhline(1.0, color="black", linewidth=0.8, linestyle=":")
    axes.set_yscale("log")
    axes.set_ylabel("real-time factor (above 1: faster than real time)")
    axes.set_xticks(places, ["onto a 240 mm step", "turning on the spot"])
    axes.set_title(
        "Quince, one core; segments: Bullet, exact; compliant in PyBullet: 5 ms, grousers 1 ms", loc="left"
    )
    axes.legend()
    return figure


def draw_table_4(table: Table4) -> Figure:
    """How each of the six cases ended, seen from the side."""
    figure = new_figure(14.0, 8.5)
    figure.suptitle(
        f"Table IV, {table.track_model}, preset {table.preset}: {table.matches} of {len(table.cases)} match",
        fontsize=15,
    )
    cells = figure.add_gridspec(2, 3)
    for i, case in enumerate(table.cases):
        axes = figure.add_subplot(cells[i // 3, i % 3])
        draw_snapshot(axes, case.climb, len(case.climb.trajectory.time) - 1)
        line = case.published
        real = "climbed" if line.real else "failed"
        setting = f"{line.front_sub_track_deg:.0f} deg, {line.step * 1000:.0f} mm"
        axes.set_title(f"{setting}: {case.climb.outcome} (robot: {real})", loc="left", fontsize=11)
    return figure


def draw_map(table: Table4Map) -> Figure:
    """How many of the six cases match, a panel for each contact stiffness."""
    grid = table.grid
    shape = (len(grid.stiffness), len(grid.rear_sub_track_deg), len(grid.center_of_mass_x))
    matches = np.array([point.matches for point in table.points]).reshape(shape)
    figure = new_figure(4.5 * shape[0] + 1.5, 0.7 * shape[1] + 2.2)
    settings = f"{table.track_model}, preset {table.preset or 'default'}"
    figure.suptitle(f"Cases of Table IV that match, of {len(TABLE_4)} ({settings})", fontsize=13)
    panels = np.atleast_1d(figure.subplots(1, shape[0], sharey=True))
    for axes, stiffness, panel in zip(panels, grid.stiffness, matches, strict=True):
        image = axes.imshow(panel, cmap="RdYlGn", vmin=0, vmax=len(TABLE_4), origin="lower", aspect="auto")
        for (row, column), value in np.ndenumerate(panel):
            axes.text(column, row, str(value), ha="center", va="center", fontweight="bold")
        axes.set_title("rigid contact" if stiffness is None else f"{stiffness:.0e} N/m a point", fontsize=11)
        axes.set_xlabel("body's centre of mass x [m]")
        axes.set_xticks(range(shape[2]), [f"{x:g}" for x in grid.center_of_mass_x])
        axes.set_yticks(range(shape[1]), [f"{angle:g}" for angle in grid.rear_sub_track_deg])
    panels[0].set_ylabel("rear sub-tracks raised by [deg]")
    figure.colorbar(image, ax=list(panels), label="matches")
    return figure
