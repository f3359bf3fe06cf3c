"""Trials at steps beside their simulations, as a picture: heights, outcomes and limits."""

from __future__ import annotations

from collections import Counter

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from segtrack.logs.climbs import ClimbsResult, Limit
from segtrack.logs.climbs.simulation import Condition
from segtrack.report.style import SEGMENT_COLOURS, new_figure

_COLOURS = {"climbed": SEGMENT_COLOURS[0], "failed": SEGMENT_COLOURS[1], "undecided": "white"}
"""Of a mark, by what is predicted."""
_MARKS = {"climbed": "o", "failed": "X"}
"""By how the robot's trial ended."""
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
    tops = [
        1e3 * high for limit in result.limits for high in (limit.robot.high, limit.simulated.high) if high
    ]
    top = max([top, *(1.05 * high for high in tops)])
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
    """What of a condition differs from others', the flippers' angle in any case."""
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
