"""Figure and tables of an event: snapshots at the obstacle, acceleration and limits over time."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from rich.markup import escape
from rich.table import Table

from segtrack.experiments import LIMITS, UNDECIDED, UNITS, EventResult, Found, SearchTrial, UpwardSearch
from segtrack.geometry import GRAVITY
from segtrack.report.chain_figure import pose_at_sample
from segtrack.report.side_view import SEGMENT_COLOURS, label_axes, new_figure, paint, paint_ground, side_view

_SNAPSHOTS = 4
"""Poses of the vehicle in the side view."""
_MARGIN = 0.6
"""Ground in the side view before and behind the vehicle, over its length [-]."""


def event_table(result: EventResult) -> Table:
    """Return outcome, limits, peaks and absorbed power of an event."""
    ridden, shares = result.ridden, result.shares
    title = escape(f"{result.vehicle.name} at a {result.setup.obstacle.title}")
    table = Table(title=title, show_header=False)
    held = ", ".join(result.limited_by) or "nothing that is looked for"
    found = ", ".join(f"{name} {share:.0%}" for name, share in shares.items() if share > 0) or "none"
    x, y, z = result.driver.position
    limits, step = result.setup.assumptions, f"{ridden.time_step * 1000:g} ms"
    touching = ", ".join(result.peak_with) or "none"
    arrival = "" if result.approach_speed is None else f"{result.approach_speed:.3g} on arrival, "
    rows = {
        "outcome": f"[bold]{result.outcome}[/bold]" + (f": {escape(result.reason)}" if result.reason else ""),
        "limited by": "" if result.passed or result.outcome in UNDECIDED else held,
        "limits found in the last second": found,
        "driver's place": f"{x:.3f}, {y:.3f}, {z:.3f} m ({result.driver.source})",
        "peak": f"{ridden.peak:.2f} g, limit {limits.peak_limit:g} g; with {touching}",
        f"peak below {ridden.low_pass:g} Hz": f"{ridden.filtered_peak:.2f} g",
        "absorbed power": f"{ridden.absorbed_power:.2f} W, limit {limits.power_limit:g} W",
        "speed": f"{result.speed:.3g} m/s commanded, {arrival}{result.passage_speed:.3g} over the obstacle",
        "pitch": f"{math.degrees(result.min_pitch):.1f} to {math.degrees(result.max_pitch):.1f} deg",
        "simulated": f"{result.duration:.2f} s of {result.time_limit:.1f} s at {step}",
        "real-time factor": f"{result.real_time_factor:.2f}",
    }
    for name, value in rows.items():
        if value:
            table.add_row(name, value)
    return table


def search_table(
    search: UpwardSearch, trials: Sequence[SearchTrial], found: Found, what: str, title: str
) -> Table:
    """Return the trials of a search, a row each, with the search's result below.

    Args:
        search: Search, upwards until a value fails.
        trials: Trials of the search.
        found: Result of the search.
        what: Name of the raised quantity, with its unit.
        title: Title of the table.
    """
    value = "none" if found.value is None else f"{found.value:.4g}"
    caption = escape(f"limit: {value} ({found.reason})")
    table = Table(what, "passed", title=escape(title), caption=caption, min_width=60)
    if search.criterion != "passed":
        table.add_column(f"{search.criterion} [{UNITS[search.criterion]}]")
    for trial in trials:
        cells = [f"{trial.tried:g}", "yes" if trial.passed else "no" if trial.decided else "undecided"]
        table.add_row(*cells, *([f"{trial.measure:.3f}"] if search.criterion != "passed" else []))
    return table


def draw_search(search: UpwardSearch, trials: Sequence[SearchTrial], found: Found, what: str) -> Figure:
    """Draw the trials of a search: the criterion's value, or whether it was passed, and the limit found.

    Args:
        search: Search, upwards until a value fails.
        trials: Trials of the search.
        found: Result of the search.
        what: Name of the raised quantity, with its unit.
    """
    figure = new_figure(7.0, 4.5)
    axes = figure.add_subplot()
    trials = [trial for trial in trials if trial.decided]
    tried = [trial.tried for trial in trials]
    if search.criterion == "passed":
        axes.plot(tried, [float(trial.passed) for trial in trials], "o", color=SEGMENT_COLOURS[0])
        axes.set_yticks([0.0, 1.0], ["not passed", "passed"])
        axes.set_ylim(-0.2, 1.2)
        label_axes(axes, what, "", found.reason)
    else:
        axes.plot(tried, [trial.measure for trial in trials], "o-", color=SEGMENT_COLOURS[0])
        axes.axhline(search.limit, color="black", linewidth=0.8, linestyle=":")
        label_axes(axes, what, f"{search.criterion} [{UNITS[search.criterion]}]", found.reason)
    if found.value is not None:
        axes.axvline(found.value, color=SEGMENT_COLOURS[1], linewidth=1.0)
    return figure


def draw_event(result: EventResult) -> Figure:
    """Draw an event: four snapshots, then acceleration, pitch and speed, and limits over time."""
    figure = new_figure(12.0, 10.0)
    rows = figure.add_gridspec(4, 1, height_ratios=[1.7, 1.0, 1.0, 1.0])
    driven = f"{result.track_model}, {result.speed:.3g} m/s"
    figure.suptitle(f"{result.vehicle.name} at a {result.setup.obstacle.title}, {driven}: {result.outcome}")
    side, shaken, moved, limits = (figure.add_subplot(rows[i]) for i in range(4))
    indices = _snapshots(result)
    _draw_side(side, result, indices)
    ridden = result.ridden
    shaken.plot(
        ridden.times, ridden.acceleration / GRAVITY, color="#b0b7bd", linewidth=0.7, label="every step"
    )
    shaken.plot(
        ridden.times,
        ridden.filtered / GRAVITY,
        color=SEGMENT_COLOURS[1],
        linewidth=1.0,
        label=f"below {ridden.low_pass:g} Hz",
    )
    limit = result.setup.assumptions.peak_limit
    for sign in (-1, 1):
        shaken.axhline(sign * limit, color="black", linewidth=0.8, linestyle=":")
    label_axes(shaken, "", "vertical, driver [g]")
    shaken.legend(loc="upper left", fontsize=8)
    motion = result.motion
    moved.plot(motion.times, np.degrees(motion["pitch"]), color=SEGMENT_COLOURS[0])
    label_axes(moved, "", "pitch, nose up [deg]")
    moved.yaxis.label.set_color(SEGMENT_COLOURS[0])
    speed = moved.twinx()
    speed.plot(motion.times, np.gradient(motion["position"][:, 0], motion.times), color=SEGMENT_COLOURS[2])
    speed.set_ylabel("speed [m/s]", color=SEGMENT_COLOURS[2])
    _draw_limits(limits, result)
    for axes in (shaken, moved, limits):
        axes.set_xlim(ridden.window[1] - ridden.duration, float(motion.times[-1]))
        axes.axvspan(*ridden.window, color="black", alpha=0.05, linewidth=0)
        for time in motion.times[indices]:
            axes.axvline(float(time), color="black", alpha=0.25, linewidth=1)
    limits.set_xlabel("time [s]; grey lines are the side views, shaded the passage")
    return figure


def _snapshots(result: EventResult) -> NDArray[np.intp]:
    """Indices of samples evenly spaced along the path from the obstacle's beginning, with the last one.

    Where the way is short there are fewer, so that vehicles hardly overlap.
    """
    motion = result.motion
    x = motion["position"][:, 0]
    first = min(int(np.searchsorted(motion.times, result.ridden.window[0])), len(x) - 1)
    length = 2 * _reach(result)
    count = min(max(1 + int(abs(x[-1] - x[first]) / length), 1), _SNAPSHOTS)
    places = np.linspace(x[-1], x[first], count)
    found = [first + int(np.argmin(np.abs(x[first:] - place))) for place in places[1:]]
    return np.array([*found[::-1], len(x) - 1])


def _reach(result: EventResult) -> float:
    """Largest distance of any part of the vehicle from its body frame's origin in the side view [m]."""
    return max(float(np.abs(polygon.points).max()) for polygon in side_view(result.vehicle))


def _draw_side(axes: Axes, result: EventResult, indices: NDArray[np.intp]) -> None:
    """Draw snapshots of the vehicle at samples of its path."""
    reach = _reach(result)
    places = result.motion["position"][indices]
    left, right = places[:, 0].min() - (1 + _MARGIN) * reach, places[:, 0].max() + (1 + _MARGIN) * reach
    lowest = min(0.0, float(places[:, 2].min()) - reach)
    paint_ground(axes, result.terrain, left, right, lowest - 0.1 * reach)
    for layer, index in enumerate(indices):
        pose = pose_at_sample(result.motion, int(index))
        paint(axes, side_view(result.vehicle, pose, result.track_model), zorder=2.0 + layer)
    axes.set_xlim(left, right)
    axes.set_ylim(lowest - 0.1 * reach, float(places[:, 2].max()) + 1.2 * reach)
    axes.set_aspect("equal")
    label_axes(axes, "x [m]", "z [m]")


def _draw_limits(axes: Axes, result: EventResult) -> None:
    """Draw a bar over the times at which each limit holds the vehicle."""
    history = result.limits
    for row in range(len(LIMITS)):
        found = history.found[:, row]
        axes.fill_between(
            history.times,
            row - 0.35,
            row + 0.35,
            where=found.tolist(),
            step="post",
            color=SEGMENT_COLOURS[row],
            linewidth=0,
        )
    axes.set_ylim(len(LIMITS) - 0.5, -0.5)
    axes.set_yticks(range(len(LIMITS)), LIMITS, fontsize=8)
    label_axes(axes, "", "limits")
