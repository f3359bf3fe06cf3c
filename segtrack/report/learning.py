"""Tables and pictures of policies and their training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure
from rich.table import Table

from segtrack.envs.learning.benchmark import BatchSpeed, Speed
from segtrack.envs.learning.curve import COLUMNS, LearningCurve, success_column
from segtrack.envs.learning.evaluation import Evaluation, LevelResult
from segtrack.envs.learning.training import TrainingResult
from segtrack.envs.tasks import TASKS
from segtrack.report.side_view import SEGMENT_COLOURS, label_axes, new_figure


def evaluation_table(result: Evaluation) -> Table:
    """Return a table of success rates with their intervals, a column for each policy."""
    setup = result.setup
    title = f"{setup.task}, {setup.vehicle}: success, 95 % interval, of {setup.episodes} episodes"
    table = Table(result.difficulty, *_labels(setup.policies), title=title)
    found = {(at.policy, at.level): at for at in result.results}
    for level in setup.chosen_levels:
        cells = [_rate_cell(found.get((policy, level)), setup.episodes) for policy in setup.policies]
        table.add_row(f"{level:g}", *cells)
    return table


def _rate_cell(at: LevelResult | None, planned: int) -> str:
    """Success rate with its interval; an interrupted level says of how many episodes."""
    if at is None:
        return "not run"
    low, high = at.interval
    short = f" of {len(at.episodes)}" if len(at.episodes) < planned else ""
    return f"{at.rate:.1%} ({low:.1%} to {high:.1%}){short}"


def draw_evaluation(result: Evaluation) -> Figure:
    """Draw the success rate over the difficulty, with intervals."""
    figure = new_figure(8.0, 4.8)
    axes = figure.add_subplot()
    setup = result.setup
    width = min(np.diff(setup.chosen_levels), default=1.0)
    for i, (policy, label) in enumerate(zip(setup.policies, _labels(setup.policies), strict=True)):
        results = result.of(policy)
        if not results:
            continue
        # Beside each other, so that intervals at one level can be told apart.
        x = np.array([r.level for r in results]) + 0.06 * width * (i - (len(setup.policies) - 1) / 2)
        rates = np.array([r.rate for r in results])
        low, high = np.array([r.interval for r in results]).T
        errors = np.clip([rates - low, high - rates], 0.0, None)
        axes.errorbar(x, rates, errors, marker="o", capsize=3, color=f"C{i}", label=label)
    title = f"{setup.task}, {setup.vehicle}: {setup.episodes} episodes a point, Wilson 95 % intervals"
    label_axes(axes, result.difficulty, "success rate", title, size=12.0)
    axes.set_ylim(-0.04, 1.04)
    axes.legend()
    return figure


def benchmark_table(speeds: Sequence[Speed]) -> Table:
    """Return a table of control steps a second."""
    workers = f"{speeds[0].workers} workers"
    columns = "task", "one process", "x real time", workers, "gain", "reset [ms]", "slowest [ms]"
    table = Table(*columns, title="Control steps a second")
    for s in speeds:
        values = (f"{s.one:.0f}", f"{s.real_time_factor:.1f}", f"{s.all_cores:.0f}", f"{s.gain:.2f}")
        table.add_row(s.task, *values, f"{s.reset * 1000:.1f}", f"{s.slowest_reset * 1000:.0f}")
    return table


def batch_table(speeds: Sequence[BatchSpeed]) -> Table:
    """Return a table of control steps a second of vector environments, and what takes the time."""
    shares = "physics", "observation", "reward", "Python"
    columns = "task", "robots", "threads", "step [ms]", "steps/s", *shares, "reset of one [ms]", "memory [MB]"
    table = Table(*columns, title="Control steps a second of vector environments, and shares of the time")
    for s in speeds:
        times = (f"{s.physics:.1%}", f"{s.observation:.1%}", f"{s.reward:.1%}", f"{s.python:.1%}")
        rest = (f"{s.reset * 1000:.2f}", f"{s.memory / 1e6:.0f}")
        of = (s.task, str(s.num_envs), str(s.threads), f"{s.time_step * 1000:g}", f"{s.rate:.0f}")
        table.add_row(*of, *times, *rest)
    return table


def draw_benchmark(speeds: Sequence[Speed]) -> Figure:
    """Draw control steps a second as bars."""
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
    """Return the progress of a training."""
    table = Table(title=f"{result.settings.task}, {result.settings.vehicle}: PPO", show_header=False)
    again = f"go on with: segtrack train {result.settings.task} --resume --out {result.folder}"
    rows = {
        "control steps": f"{result.steps} of {result.settings.steps}",
        "time": f"{result.minutes:.1f} min",
        "success at the curriculum's difficulties": f"{result.success_rate:.0%}",
        "state": "finished" if result.finished else again,
    }
    for name, value in rows.items():
        table.add_row(name, value)
    return table


def draw_curve(result: TrainingResult) -> Figure:
    """Draw success and return over the control steps; where there are levels, these and success by level."""
    settings, rows = result.settings, LearningCurve(result.curve, result.settings.levels).rows
    label, levels = TASKS[settings.task].difficulty_label(), settings.levels
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
        for level, shade in zip(
            levels, colormaps["viridis"](np.linspace(0.0, 0.9, len(levels))), strict=True
        ):
            axes.plot(*_column(rows, success_column(level)), color=shade, marker=".", label=f"{level:g}")
        axes.legend(title=label, fontsize=8, title_fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    panels[-1].set_xlabel("control steps")
    return figure


def _column(rows: Sequence[Mapping[str, float]], name: str) -> tuple[list[float], list[float]]:
    """Return control steps and a column of a learning curve, where it has a number."""
    there = [row for row in rows if not np.isnan(row[name])]
    return [row["steps"] for row in there], [row[name] for row in there]


def _labels(policies: Sequence[str]) -> list[str]:
    """Return policies' or their files' names, with the folder where files are named alike."""
    short = [Path(policy).stem for policy in policies]
    return [p if short.count(name) > 1 else name for p, name in zip(policies, short, strict=True)]
