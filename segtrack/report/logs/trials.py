"""Logged climbs and steady turns beside simulated ones, as tables and figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from rich.table import Table

from segtrack.logs.compare import COVERAGE, OUTCOMES, ClimbsResult, Condition, Confusion, Limit, Rate
from segtrack.logs.fit import Spread, SteadyComparison
from segtrack.report.side_view import SEGMENT_COLOURS, label_axes, new_figure


def climbs_tables(result: ClimbsResult) -> list[Table]:
    """Each trial, with what is remarkable of them; how often predictions are right; step limits."""
    return [_trials(result), _confusion(result), *([_limits(result)] if result.limits else [])]


def _trials(result: ClimbsResult) -> Table:
    title = result.table.title or "Trials at steps"
    has_published = result.published_confusion is not None
    others = [result.table.simulation] if has_published else []
    caption = "\n".join(f"Note: {note}." for note in result.notes) or None
    columns = "step [mm]", "driven with", "robot", "here", *others, "undecided by"
    table = Table(*columns, title=title, caption=caption, caption_justify="left")
    for trial in result.trials:
        published = [trial.trial.simulation or ""] if has_published else []
        table.add_row(
            f"{1e3 * trial.trial.height:.0f}",
            trial.condition.words,
            trial.trial.outcome,
            trial.nominal if trial.predicted != "undecided" else f"undecided ({trial.nominal})",
            *published,
            ", ".join(trial.flips).replace("_", " "),
        )
    return table


def _confusion(result: ClimbsResult) -> Table:
    stds = ", ".join(f"{name} {std:g}" for name, std in result.uncertain.items()).replace("_", " ")
    title = f"Predicted, where {COVERAGE:g} standard deviations flip nothing: {stds or 'none are given'}"
    table = Table("", "climbed", "failed", "undecided", "right, Wilson 95 %", title=title)
    for words, confusion in _confusions(result):
        for outcome in OUTCOMES:
            counts = [str(confusion.counts[outcome, p]) for p in ("climbed", "failed", "undecided")]
            rate = confusion.climbed if outcome == "climbed" else confusion.failed
            table.add_row(f"robot {outcome}; {words}", *counts, _rate(rate))
        table.add_row(f"all; {words}", "", "", str(confusion.undecided), _rate(confusion.agreement))
        table.add_section()
    return table


def _confusions(result: ClimbsResult) -> Iterator[tuple[str, Confusion]]:
    yield "here", result.confusion
    yield "here, nothing uncertain", result.nominal_confusion
    if result.published_confusion is not None:
        yield result.table.simulation, result.published_confusion


def _rate(rate: Rate) -> str:
    if rate.interval is None:
        return "none decided"
    low, high = rate.interval
    return f"{rate.hits} of {rate.trials}: {low:.0%} to {high:.0%}"


def _limits(result: ClimbsResult) -> Table:
    table = Table(
        "driven with", "robot [mm]", "here [mm]", "moved by [mm]", "intervals", title="Highest step climbed"
    )
    for limit in result.limits:
        moved = (
            f"{name.replace('_', ' ')} {'open' if by is None else f'{1e3 * by:.0f}'}"
            for name, by in limit.by.items()
        )
        table.add_row(
            limit.condition.words,
            f"{_limit(limit.robot)}, {limit.robot.method}",
            _limit(limit.simulated),
            ", ".join(moved),
            "overlap" if limit.agrees else "do not overlap",
        )
    return table


def _limit(limit: Limit) -> str:
    if limit.high is None:
        return f"at least {1e3 * limit.low:.0f}"
    interval = f"{1e3 * limit.low:.0f} to {1e3 * limit.high:.0f}"
    return interval if limit.height is None else f"{1e3 * limit.height:.0f} ({interval})"


_COLOURS = {"climbed": SEGMENT_COLOURS[0], "failed": SEGMENT_COLOURS[1], "undecided": "white"}
"""Marker by what is predicted."""
_MARKS = {"climbed": "o", "failed": "X"}
"""Colour by how the robot's trial ended."""
_ROBOT, _HERE = "#7f7f7f", SEGMENT_COLOURS[2]
_ASIDE, _WIDE = 0.22, 0.12
_REPEAT = 0.03
"""Repeats stand so far beside each other."""


def draw_climbs(result: ClimbsResult) -> Figure:
    """Draw each trial at its height, and the limits as bands, by what the trials were driven with."""
    groups = sorted(
        dict.fromkeys(trial.condition for trial in result.trials),
        key=lambda c: (c.vehicle, c.front_flippers_deg or 0.0, c.rear_flippers_deg or 0.0, c.speed),
    )
    figure = new_figure(3.5 + 2.0 * max(len(groups), 2), 6.0)
    axes = figure.add_subplot()
    top = 1.15 * max((1e3 * trial.trial.height for trial in result.trials), default=100.0)
    highs = [high for limit in result.limits for high in (limit.robot.high, limit.simulated.high) if high]
    top = max([top, *(1.05 * (1e3 * high) for high in highs)])
    for limit in result.limits:
        at = groups.index(limit.condition)
        _band(axes, at - _ASIDE, limit.robot, _ROBOT, top)
        _band(axes, at + _ASIDE, limit.simulated, _HERE, top)
    seen: Counter[tuple[Condition, float]] = Counter()
    for trial in result.trials:
        place = trial.condition, trial.trial.height
        seen[place] += 1
        repeat = seen[place] // 2 * (1 if seen[place] % 2 else -1)
        axes.plot(
            groups.index(trial.condition) + _REPEAT * repeat,
            1e3 * trial.trial.height,
            marker=_MARKS[trial.trial.outcome],
            markerfacecolor=_COLOURS[trial.predicted],
            markeredgecolor=_COLOURS[trial.simulated],
            markersize=11,
            markeredgewidth=1.8,
            zorder=3,
        )
    axes.set_xticks(range(len(groups)), [_label(group, groups) for group in groups])
    axes.set_xlim(-0.6, max(len(groups), 1) - 0.4)
    axes.set_ylim(0.0, top)
    axes.set_ylabel("height of the step [mm]")
    axes.grid(axis="y", alpha=0.25)
    axes.set_title(result.table.title or "Trials at steps", loc="left")
    figure.legend(handles=_handles(), loc="outside right upper", fontsize=9, frameon=False)
    return figure


def _band(axes: Axes, at: float, limit: Limit, colour: str, top: float) -> None:
    """An interval as a bar, its best estimate as a line; an open one fades out upwards."""
    low, high = 1e3 * limit.low, top if limit.high is None else 1e3 * limit.high
    axes.bar(at, high - low, 2 * _WIDE, bottom=low, color=colour, alpha=0.3, zorder=1)
    if limit.high is None:
        axes.annotate("", (at, top), (at, low), arrowprops={"arrowstyle": "->", "color": colour})
    if limit.height is not None:
        ends = at - _WIDE, at + _WIDE
        axes.plot(ends, [1e3 * limit.height] * 2, color=colour, linewidth=2, zorder=2)


def _label(group: Condition, groups: list[Condition]) -> str:
    """Differences of a condition from others, the flippers' angle in any case."""
    front = group.front_flippers_deg
    words = ["front flippers\nas they are" if front is None else f"front flippers\n{front:g} deg"]
    for name, unit in (("rear_flippers_deg", "deg"), ("speed", "m/s"), ("friction", "")):
        if len({getattr(other, name) for other in groups}) > 1:
            value = getattr(group, name)
            written = "as it is" if value is None else f"{value:g} {unit}"
            words.append(f"{name.removesuffix('_deg').replace('_', ' ')} {written}")
    if len({other.vehicle for other in groups}) > 1:
        words.append(group.vehicle)
    return "\n".join(words)


def _handles() -> list[Line2D | Patch]:
    def mark(marker: str, face: str, edge: str, label: str) -> Line2D:
        return Line2D(
            [], [], marker=marker, linestyle="", markerfacecolor=face, markeredgecolor=edge, label=label,
            markersize=9, markeredgewidth=1.8,
        )  # fmt: skip

    grey = "#7f7f7f"
    return [
        mark("o", grey, grey, "robot climbed"),
        mark("X", grey, grey, "robot failed"),
        mark("s", _COLOURS["climbed"], _COLOURS["climbed"], "simulation climbs"),
        mark("s", _COLOURS["failed"], _COLOURS["failed"], "simulation fails"),
        mark("s", "white", grey, "undecided; edge: nominal"),
        Patch(color=_ROBOT, alpha=0.3, label="robot's limit"),
        Patch(color=_HERE, alpha=0.3, label="simulation's limit"),
    ]


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
            _median(group.ratio, interval=True),
            ", ".join(slips) or "-",
            end_section=i == 0,
        )
    return table


def _median(spread: Spread | None, interval: bool = False) -> str:
    if spread is None:
        return "-"
    ends = f" ({spread.interval[0]:.2f} to {spread.interval[1]:.2f})" if interval else ""
    return f"{spread.median:.2f}{ends}"


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
    axes.set_yticks(places, [f"{group.name} ({len(group.rows)})" for group in groups], fontsize=8)
    title = "quartiles (thin), 95 % of the median (thick)"
    label_axes(axes, "measured / simulated yaw rate [-]", "", title, size=9)
