"""Tables and figures of training and of environment speed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure
from rich.table import Table

from segtrack.envs.learning import (
    COLUMNS,
    LearningCurve,
    Speed,
    TaskSpeeds,
    TrainingResult,
    level_column,
    success_column,
)
from segtrack.report.side_view import SEGMENT_COLOURS, new_figure


def benchmark_table(speeds: Sequence[Speed]) -> Table:
    """Return a table of control steps per second."""
    workers = f"{speeds[0].workers} workers"
    columns = "task", "one process", "x real time", workers, "gain", "reset [ms]", "slowest [ms]"
    table = Table(*columns, title="Control steps a second")
    for s in speeds:
        values = (f"{s.one:.0f}", f"{s.real_time_factor:.1f}", f"{s.all_cores:.0f}", f"{s.gain:.2f}")
        table.add_row(s.task, *values, f"{s.reset * 1000:.1f}", f"{s.slowest_reset * 1000:.0f}")
    return table


def batch_table(speeds: Sequence[TaskSpeeds]) -> Table:
    """Return a table of environments' control steps per second, and the shares of a vector step's time."""
    shares = "physics", "observation", "reward", "Python"
    columns = [
        "task",
        "robots",
        "threads",
        "step [ms]",
        "steps/s",
        *shares,
        "reset of one [ms]",
        "memory [MB]",
    ]
    against = speeds[0].over_pybullet(0.0) is not None
    table = Table(*columns, title="Control steps a second, all robots together, and shares of the time")
    if against:
        table.add_column("x PyBullet")
    for at in speeds:
        rows: list[tuple[float, list[str]]] = []
        for one in at.singles:
            of = [at.task, f"single, {one.engine}", "1", f"{one.time_step * 1000:g}", f"{one.rate:.0f}"]
            rows.append((one.rate, of + [""] * 6))
        for s in at.batches:
            of = [at.task, str(s.num_envs), str(s.threads), f"{s.time_step * 1000:g}", f"{s.rate:.0f}"]
            times = [f"{share:.1%}" for share in (s.physics, s.observation, s.reward, s.python)]
            rows.append((s.rate, [*of, *times, f"{s.reset * 1000:.2f}", f"{s.memory / 1e6:.0f}"]))
        for rate, cells in rows:
            table.add_row(*cells, *([f"{at.over_pybullet(rate):.1f}"] if against else []))
        table.add_section()
    return table


def draw_benchmark(speeds: Sequence[Speed]) -> Figure:
    """Draw control steps per second as bars."""
    figure = new_figure(8.0, 4.5)
    axes = figure.add_subplot()
    places = np.arange(len(speeds))
    one, all_cores = [s.one for s in speeds], [s.all_cores for s in speeds]
    bars_of = {"one process": one, f"{speeds[0].workers} workers": all_cores}
    for i, (label, values) in enumerate(bars_of.items()):
        bars = axes.bar(places + 0.4 * i - 0.2, values, 0.4, color=SEGMENT_COLOURS[i], label=label)
        axes.bar_label(bars, fmt="%.0f", fontsize=9)
    axes.set_xticks(places, [s.task for s in speeds])
    axes.set_ylabel("control steps a second")
    axes.legend()
    return figure


def training_table(result: TrainingResult) -> Table:
    """Return the progress of a training run."""
    table = Table(title=f"{result.settings.task}, {result.settings.vehicle}: PPO", show_header=False)
    again = f"go on with: segtrack train {result.settings.task} --resume --out {result.folder}"
    rate = f"{result.success_rate:.0%}" if result.success_rate >= 0 else "no episode has ended"
    rows = {
        "control steps": f"{result.steps} of {result.settings.steps}",
        "time": f"{result.minutes:.1f} min",
        "success at the curriculum's difficulties": rate,
        "state": "finished" if result.finished else again,
    }
    for name, value in rows.items():
        table.add_row(name, value)
    return table


def draw_curve(result: TrainingResult) -> Figure:
    """Draw success and return over control steps; with a curriculum also levels and success by level."""
    settings = result.settings
    levels, strands = settings.levels, settings.strands
    rows, label = LearningCurve(result.curve, levels, strands).rows, settings.graded_task.difficulty_label()
    shades = colormaps["viridis"](np.linspace(0.0, 0.9, max(len(levels), len(strands), 1)))
    names = {"success_rate": "success, sampled actions", "mean_return": "return"}
    if levels:
        names |= {"level": f"level of {label}", "mean action": "success, mean action"}
    figure = new_figure(8.0, 0.5 + 2.0 * len(names))
    figure.suptitle(f"PPO at {settings.task}, {settings.vehicle}: {result.minutes:.0f} min")
    panels = figure.subplots(len(names), 1, sharex=True)
    for i, (axes, (name, text)) in enumerate(zip(panels, names.items(), strict=True)):
        axes.set_ylabel(text)
        axes.grid(alpha=0.25)
        if name in COLUMNS:
            axes.plot(*_column(rows, name), color=SEGMENT_COLOURS[i])
            continue
        if name == "level":
            lines = {level_column(strand): ", ".join(strand.values()) for strand in strands}
        else:
            lines = {success_column(level): f"{level:g}" for level in levels}
        for (column, words), shade in zip(lines.items(), shades, strict=False):
            axes.plot(*_column(rows, column), color=shade, marker=".", label=words)
        if any(lines.values()):
            title = "" if name == "level" else label
            axes.legend(title=title, fontsize=8, title_fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    panels[-1].set_xlabel("control steps")
    return figure


def _column(rows: Sequence[Mapping[str, float]], name: str) -> tuple[list[float], list[float]]:
    """Return control steps and values of a learning curve's column, where it has numbers."""
    there = [row for row in rows if not np.isnan(row[name])]
    return [row["steps"] for row in there], [row[name] for row in there]
