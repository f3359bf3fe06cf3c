"""Logged motions, climbs and steady turns beside simulated ones, as tables and figures."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from rich.markup import escape
from rich.table import Table

from segtrack.logs.compare import (
    CLIMB_PHASES,
    COVERAGE,
    OUTCOMES,
    AreaRow,
    ClimbsResult,
    Comparison,
    Condition,
    Confusion,
    ErrorRow,
    Limit,
    Rate,
    RunComparison,
)
from segtrack.logs.fit import Spread, SteadyComparison
from segtrack.report.logs.views import LOGGED_COLOUR, RUN_COLOURS
from segtrack.report.side_view import SEGMENT_COLOURS, label_axes, new_figure

_SHOWN = {"rad": ("deg", math.degrees(1.0)), "m": ("mm", 1e3), "m/s": ("mm/s", 1e3)}
"""Unit and factor that numbers are shown with, by their unit."""


def compare_tables(comparison: Comparison) -> list[Table]:
    """Phases; each run's errors of the whole and by phase; actuator and contact error; currents."""
    tables = [_phases(comparison)]
    for run in comparison.runs.values():
        tables += [*_whole(run), *_by_phase(run)]
    if comparison.split:
        tables.append(_split(comparison))
    if any(run.currents for run in comparison.runs.values()):
        tables.append(_currents(comparison))
    return tables


def area_table(rows: Sequence[AreaRow]) -> Table:
    """Distributions of repeats: what was simulated against what was measured."""
    title = "Area between the distributions of simulated and logged numbers over repeats"
    table = Table("driven by", "phase", "quantity", "logged", "simulated", "area, 95 %", title=title)
    for row in rows:
        unit, factor = shown_unit(row.unit)
        means = (f"{_number(factor * sum(v) / len(v))}" for v in (row.logged, row.simulated))
        low, high = (_number(factor * end) for end in row.interval)
        area = f"{_number(factor * row.area)} ({low} to {high}) {unit}".rstrip(" -")
        table.add_row(row.run, row.phase, row.quantity, *means, area)
    return table


def shown_unit(unit: str) -> tuple[str, float]:
    """Unit that numbers are shown in, and their factor."""
    return _SHOWN.get(unit, (unit, 1.0))


def _phases(comparison: Comparison) -> Table:
    runs = list(comparison.runs.values())
    table = Table("phase", "log [s]", *(f"{run.run} [s]" for run in runs), title=f"{comparison.name}: phases")
    found = [runs[0].logged_phases, *(run.simulated_phases for run in runs)] if runs else []
    names = [name for name in (*CLIMB_PHASES, "drive") if any(phases.find(name) for phases in found)]
    for name in names:
        cells = []
        for phases in found:
            phase = phases.find(name)
            cells.append("-" if phase is None else f"{phase.begin:.2f} to {phase.end:.2f}")
        table.add_row(name, *cells)
    return table


_TELLS = "Tells: half, and one and a half if it can be, of this parameter would be seen."


def _whole(run: RunComparison) -> Iterator[Table]:
    """Errors of the whole drive, and what makes them uncertain; apart, since terminals are narrow."""
    title = f"Driven by {run.run} belts, whole: error (of the range), and {COVERAGE:g} standard uncertainties"
    columns = "", "log", "simulated", "error", f"{COVERAGE:g} u", "", "tells"
    errors = Table(*columns, title=title, caption=_TELLS, caption_justify="left")
    title = f"Driven by {run.run} belts, whole: interval of the error, and standard uncertainties"
    parts = Table("", "95 %", "u num", "u input", "u data", title=title)
    for row in run.rows:
        if row.phase == "whole":
            unit, factor = shown_unit(row.unit)
            quantity = escape(f"{row.quantity} [{unit}]")
            seen = ("" if v is None else _number(factor * v) for v in (row.logged, row.simulated))
            spread = None if row.uncertainty is None else COVERAGE * row.uncertainty
            share = "" if row.range_fraction is None else f" ({row.range_fraction:.1%})"
            error = _number(factor * row.error) + share
            verdict = f"[bold]{row.verdict}[/bold]" if row.verdict == "beyond" else row.verdict
            tells = ", ".join(row.tells) or "nothing"
            errors.add_row(quantity, *seen, error, _part(spread, factor), verdict, tells)
            parts.add_row(quantity, *_parts(row, factor))
    yield errors
    yield parts


def _parts(row: ErrorRow, factor: float) -> Iterator[str]:
    """Interval of an error, and its uncertainties by numerics, inputs and data."""
    parts = row.parts
    yield "" if row.interval is None else " to ".join(_number(factor * end) for end in row.interval)
    yield _part(parts.numerics and parts.numerics.value, factor) if parts.is_refined else "not tried"
    yield _part(parts.input_uncertainty, factor) if parts.inputs else "not given"
    yield _part(parts.data_uncertainty, factor)


def _by_phase(run: RunComparison) -> Iterator[Table]:
    names = [name for name in CLIMB_PHASES if run.logged_phases.find(name) is not None]
    if not names:
        return
    title = f"Driven by {run.run} belts, by phase: error +- {COVERAGE:g} standard uncertainties; * beyond"
    table = Table("", *names, title=title)
    quantities = dict.fromkeys((row.quantity, row.unit) for row in run.rows if row.phase in names)
    for quantity, unit in quantities:
        shown, factor = shown_unit(unit)
        rows = (run.find(quantity, name) for name in names)
        table.add_row(
            escape(f"{quantity} [{shown}]"), *("" if row is None else _cell(row, factor) for row in rows)
        )
    yield table


def _split(comparison: Comparison) -> Table:
    title = "Whole: what the actuators do (commanded against measured belts), and what the ground does"
    table = Table("", "commanded", "measured: contact", "difference: actuators", title=title)
    for row in comparison.split:
        if row.phase == "whole":
            unit, factor = shown_unit(row.unit)
            values = (row.commanded, row.measured, row.actuator)
            table.add_row(escape(f"{row.quantity} [{unit}]"), *(_number(factor * value) for value in values))
    return table


def _currents(comparison: Comparison) -> Table:
    table = Table(
        "driven by", "side", "force per current [N/A]", "correlation", "of so many independent samples",
        title="Simulated force of the drives over logged motor current: only the shape is compared",
    )  # fmt: skip
    for run in comparison.runs.values():
        for fit in run.currents:
            numbers = f"{fit.force_per_current:.3g}", f"{fit.correlation:.2f}", f"{fit.independent:.0f}"
            table.add_row(run.run, fit.side, *numbers)
    return table


def _number(value: float) -> str:
    return "0" if abs(value) < 5e-7 else f"{value:.3g}"


def _part(value: float | None, factor: float) -> str:
    return "unknown" if value is None else _number(factor * value)


def _cell(row: ErrorRow, factor: float) -> str:
    u = row.uncertainty
    spread = " +- ?" if u is None else f" +- {_number(COVERAGE * factor * u)}"
    return _number(factor * row.error) + spread + (" *" if row.verdict == "beyond" else "")


_SHADES = ("#f2f2f2", "#e3edf7", "#e2f1e7", "#f9e9d8", "#f2f2f2")
"""Colours of the phases, in their order."""
_PANELS = ("pitch RMSE", "position error (ATE)", "slip left RMSE", "peak pitch")
"""Errors that are drawn by phase, as far as there are."""


def draw_comparison(comparison: Comparison) -> Figure:
    """Pitch with phases, paths from the side and above, belt speed and slip over time, errors by phase."""
    figure = new_figure(14.0, 11.0)
    figure.suptitle(f"{comparison.name}: logged and simulated", fontsize=14)
    grid = figure.add_gridspec(4, 2, height_ratios=[1.3, 1.0, 1.0, 1.1])
    runs = list(comparison.runs.values())
    pitch = figure.add_subplot(grid[0, :])
    _over_time(pitch, runs, "pitch", "pitch, nose up [deg]", math.degrees(1.0))
    pitch.legend(loc="upper left", fontsize=9, ncols=3)
    _path(figure.add_subplot(grid[1, 0]), runs, 2, "z [m]")
    _path(figure.add_subplot(grid[1, 1]), runs, 1, "y [m]")
    _over_time(figure.add_subplot(grid[2, 0]), runs, "belt", "belt speed, left [m/s]")
    _over_time(figure.add_subplot(grid[2, 1]), runs, "slip", "slip, left [-]")
    names = [name for name in _PANELS if any(run.find(name) for run in runs)]
    row = grid[3, :].subgridspec(1, max(len(names), 1))
    for i, name in enumerate(names):
        _errors(figure.add_subplot(row[0, i]), name, runs)
    return figure


def _over_time(axes: Axes, runs: Sequence[RunComparison], what: str, label: str, factor: float = 1.0) -> None:
    _shade(axes, runs)
    lines = [("log", LOGGED_COLOUR, runs[0].logged)] if runs else []
    lines += [(f"by {run.run} belts", RUN_COLOURS[run.run], run.simulated) for run in runs]
    for name, colour, motion in lines:
        values = {"pitch": motion.pitch, "belt": motion.belt("left"), "slip": motion.slip("left")}[what]
        if values is not None:
            times = motion.middles if what == "slip" else motion.times
            axes.plot(times, factor * values, color=colour, linewidth=1.2, label=name)
    label_axes(axes, "time [s]", label)
    axes.margins(x=0)


def _shade(axes: Axes, runs: Sequence[RunComparison]) -> None:
    """The log's phases behind a plot over time, named at its top."""
    for phase in runs[0].logged_phases.phases if runs else ():
        if phase.name in CLIMB_PHASES:
            shade = _SHADES[CLIMB_PHASES.index(phase.name)]
            axes.axvspan(phase.begin, phase.end, color=shade, zorder=0)
            axes.axvline(phase.begin, color="black", alpha=0.2, linewidth=0.8)
            axes.text(
                phase.begin, 1.0, f" {phase.name}", transform=axes.get_xaxis_transform(), fontsize=8,
                va="bottom", rotation=25 if phase.name == "crest" else 0,
            )  # fmt: skip


def _path(axes: Axes, runs: Sequence[RunComparison], axis: int, label: str) -> None:
    lines = [(LOGGED_COLOUR, runs[0].logged)] if runs else []
    lines += [(RUN_COLOURS[run.run], run.simulated) for run in runs]
    for colour, motion in lines:
        if motion.position is not None:
            axes.plot(motion.position[:, 0], motion.position[:, axis], color=colour, linewidth=1.2)
    low, high = axes.get_ylim()
    if high - low < 0.05:
        axes.set_ylim((low + high) / 2 - 0.025, (low + high) / 2 + 0.025)
    label_axes(axes, "x [m]", label)


def _errors(axes: Axes, quantity: str, runs: Sequence[RunComparison]) -> None:
    """E +- u by phase; filled within, open beyond or unknown."""
    phases = [name for name in ("whole", *CLIMB_PHASES) if any(run.find(quantity, name) for run in runs)]
    unit, factor = "", 1.0
    marks = [
        (place + 0.2 * (i - (len(runs) - 1) / 2), row)
        for i, run in enumerate(runs)
        for place, name in enumerate(phases)
        if (row := run.find(quantity, name)) is not None
    ]
    if marks:
        unit, factor = shown_unit(marks[0][1].unit)
        mark_errors(axes, marks, factor)
    axes.axhline(0.0, color="black", linewidth=0.8)
    axes.set_xticks(np.arange(len(phases)), phases, rotation=40, fontsize=8, ha="right")
    axes.set_xlim(-0.5, max(len(phases), 1) - 0.5)
    shown = "" if unit == "-" else f" [{unit}]"
    axes.set_title(f"{quantity}{shown} +- {COVERAGE:g} u", loc="left", fontsize=9)
    axes.grid(axis="y", alpha=0.25)


_FAR = 3.0
"""Bars longer than so many times the others, or the farthest error, are cut."""


def mark_errors(axes: Axes, marks: Sequence[tuple[float, ErrorRow]], factor: float) -> None:
    """Draw E +- u at places along x, filled within the uncertainty, else open.

    Bars of a root mean square end at 0. A bar that would leave no room for the others is cut at an arrow.
    """
    spreads = [COVERAGE * factor * row.uncertainty for _, row in marks if row.uncertainty is not None]
    errors = [abs(factor * row.error) for _, row in marks]
    reach = _FAR * max([*errors, float(np.median(spreads)) if spreads else 0.0], default=0.0)
    for place, row in marks:
        colour, error = RUN_COLOURS[row.run], factor * row.error
        if row.uncertainty is not None:
            spread = COVERAGE * factor * row.uncertainty
            least = 0.0 if row.logged is None else -reach
            ends = max(error - spread, least), min(error + spread, reach)
            axes.errorbar(
                place, error, [[error - ends[0]], [ends[1] - error]], color=colour, capsize=3, linewidth=1.2
            )
            for end, marker in zip(ends, "v^", strict=True):
                if abs(end) == reach and spread > 0:
                    axes.plot(place, end, marker, color=colour, markersize=7)
        face = colour if row.verdict == "within" else "none"
        axes.plot(place, error, "o", markerfacecolor=face, markeredgecolor=colour, markersize=6)


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
