"""Content of a log and of a mapped one, as tables and figures: sources, trials, findings, series."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from rich.markup import escape
from rich.table import Table

from segtrack.logs import Channel, Log, Motion, Signal, quantity_of
from segtrack.logs.mapping import Estimate, Finding, MappedLog, Plausibility
from segtrack.logs.reading import (
    GAP,
    ClockView,
    Inspection,
    Restart,
    SourceView,
    delays,
    gaps_of,
    restarts_of,
)
from segtrack.report.side_view import SEGMENT_COLOURS, colour_of, new_figure


def extreme_rows(values: NDArray[np.float64], bins: int) -> NDArray[np.intp]:
    """Rows of a series that show its extremes.

    Args:
        values: Finite values (n,).
        bins: Number of bins, each of equally many rows; the rows that are left over are all kept.

    Returns:
        Ascending rows: two of each bin; all of them where that would be no fewer than half.
    """
    rows = np.arange(len(values))
    if len(values) <= 4 * bins:
        return rows
    size = len(values) // bins
    table = values[: size * bins].reshape(bins, size)
    first = np.arange(bins) * size
    both = np.sort(np.stack([first + table.argmin(axis=1), first + table.argmax(axis=1)]), axis=0)
    return np.concatenate([both.T.ravel(), rows[size * bins :]])


Array = NDArray[np.float64]
MAX_VALUE = 1e150
"""Largest number that is drawn: the squares of larger ones overflow."""
_BINS = 800
"""Along a panel's time, of each of which the least and the greatest value are drawn."""
_MOST_NAMED = 4
"""Restarts that are named: more would be drawn over each other."""
_APART = GAP + 1
"""Steps between two parts: enough that they are drawn with a gap between them."""


class TimeAxis(NamedTuple):
    """Times along an axis.

    Attributes:
        times: Times as they are up to the first restart, later ones behind those before it (n,) [s].
        restarts: Places of the restarts along the axis, and the times around them [s].
    """

    times: Array
    restarts: tuple[tuple[float, Restart], ...]


def time_axis(times: Array) -> TimeAxis:
    """Put the parts of a clock that starts again one behind the other; other falls stay as they are."""
    rows = restarts_of(times)
    if not len(rows):
        return TimeAxis(times, ())
    steps = np.diff(times)
    apart = _APART * float(np.median(steps[steps > 0]))
    shown, restarts = times.copy(), []
    for row in rows:
        shown[row + 1 :] += shown[row] + apart - shown[row + 1]
        place = float(shown[row : row + 2].mean())
        restarts.append((place, Restart(*times[row : row + 2].tolist())))
    return TimeAxis(shown, tuple(restarts))


def mark_restarts(axes: Axes, axis: TimeAxis, start: float) -> None:
    """Draw a dashed line at each restart, on an axis that begins at `start` [s]."""
    for place, _ in axis.restarts:
        axes.axvline(place - start, color="black", linestyle="--", linewidth=0.9)


def name_restarts(axes: Axes, axis: TimeAxis, start: float, height: float) -> None:
    """Label each clock restart with the times before and after it; `height` is in data coordinates."""
    for place, (before, after) in axis.restarts[:_MOST_NAMED]:
        text = f" restarts: {before:.6g} s to {after:.6g} s"
        axes.text(place - start, height, text, fontsize=7, va="center", color="white")


def line_through(times: Array, values: Array) -> tuple[Array, Array]:
    """Return a line through all numbers but for gaps; of many the extremes of each of many bins."""
    there = abs(values) <= MAX_VALUE
    times, values = times[there], values[there]
    ends = gaps_of(times)
    rows = extreme_rows(values, _BINS)
    breaks = np.searchsorted(rows, ends, side="right")
    return np.insert(times[rows], breaks, np.nan), np.insert(values[rows], breaks, np.nan)


_PPM = 1e-3
"""Skews below it are in millionths."""
_SINCE_1970 = 1e9
_SAME = 1e-6
"""Stamps that differ by less from reception are it [s], as is their pace [-]."""


def inspect_tables(inspection: Inspection) -> list[Table]:
    """Sources, channels, what else there is, and what is wrong with the file."""
    log = inspection.log
    tables = [_sources(inspection), _channels(inspection)]
    if log.skipped:
        rest = Table("not read", "what it is")
        for name, what in log.skipped.items():
            rest.add_row(escape(name), escape(what))
        tables.append(rest)
    said = [("damaged", text) for text in log.damage] + [("noted", text) for text in log.notes]
    said += [("to look at", text) for text in _remarks(inspection)]
    if said:
        remarks = Table("", "remarks")
        for kind, text in said:
            remarks.add_row(kind, escape(text))
        tables.append(remarks)
    return tables


def _sources(inspection: Inspection) -> Table:
    log = inspection.log
    names = "source", "values", "span [s]", "rate [Hz]", "jitter [ms]", "longest gap [s]", "gaps"
    table = Table(*names, title=f"{escape(log.path.name)}: {log.kind}")
    for source in inspection.sources:
        name = escape(source.name) + (f"\n{source.type}" if source.type else "")
        table.add_row(name, str(source.count), *_timing(source))
    return table


def _timing(source: SourceView) -> tuple[str, ...]:
    if source.rate is None or source.jitter is None or source.largest_gap is None or source.gap_at is None:
        return (f"{source.span:.3f}", "", "", "", "") if source.is_timed else ("", "no times", "", "", "")
    gap = f"{source.largest_gap:.3f} at {source.gap_at - source.first:.2f}"
    return f"{source.span:.3f}", f"{source.rate:.2f}", f"{source.jitter * 1e3:.2f}", gap, str(source.gaps)


def _channels(inspection: Inspection) -> Table:
    table = Table("channel", "unit", "from", "to", "NaN")
    for channel in inspection.channels:
        width = f" ({channel.width} at a time)" if channel.width > 1 else ""
        low, high = ("" if value is None else f"{value:.6g}" for value in (channel.low, channel.high))
        missing = f"{channel.missing} rows, up to {channel.longest_run} in a row" if channel.missing else ""
        table.add_row(escape(channel.name) + width, escape(channel.unit), low, high, missing)
    return table


def _remarks(inspection: Inspection) -> list[str]:
    said = []
    for source in inspection.sources:
        if source.backwards:
            said.append(f"{source.name}: {source.backwards} times are before the one before them")
        if source.restarts:
            count, (before, after) = len(source.restarts), source.restarts[0]
            times = "restarts" if count == 1 else f"restarts {count} times, the first time"
            said.append(f"{source.name}: its clock {times} after {before:.6g} s, at {after:.6g} s")
        if source.repeated:
            said.append(f"{source.name}: {source.repeated} times are the same as the one before them")
        clock = source.clock
        if clock is not None and max(abs(clock.offset), abs(clock.skew), clock.scatter) >= _SAME:
            said.append(f"{source.name}: {clock_in_words(clock)}")
    return said


def clock_in_words(clock: ClockView) -> str:
    """A header's clock beside reception, in a sentence."""
    skew = abs(clock.skew)
    ratio = f"{skew * 1e6:.0f} ppm" if skew < _PPM else f"{100 * skew:.1f} %"
    pace = f"{ratio} {'slower' if clock.skew > 0 else 'faster'} than the receive times"
    low, high = (f"{100 * skew:.2g}" for skew in clock.skews)
    thirds = "" if low == high else f" ({low} to {high} % in thirds of the log)"
    if clock.first > _SINCE_1970:
        order = "before" if clock.offset > 0 else "after"
        where = f"says {abs(clock.offset):.3f} s {order} reception at the start"
    else:
        where = f"counts from elsewhere: {clock.first:.3f} s at the start"
    tick = "" if clock.tick is None else f", in ticks of {clock.tick * 1e3:.3f} ms"
    return f"header clock runs {pace}{thirds} and {where}{tick}; scatter {clock.scatter * 1e3:.2f} ms"


_COLUMNS = 3
_MOST_PANELS = 36
_MOST_LINES = 8
"""Largest number of series in a panel."""


def draw_log(inspection: Inspection) -> Figure:
    """A bar for each source over time, broken at gaps; then small plots of the channels that change."""
    log = inspection.log
    changing = [log.channels[channel.name] for channel in inspection.channels if channel.changes]
    shown = changing[:_MOST_PANELS]
    stamped = [source.name for source in inspection.sources if source.clock is not None]
    rows = -(-(len(shown) + bool(stamped)) // _COLUMNS)
    top, below = 0.9 + 0.32 * len(log.sources), 1.75 * rows
    figure = new_figure(14.0, top + below + 0.6)
    parts = figure.add_gridspec(2 if rows else 1, 1, height_ratios=[top, below] if rows else [1.0])
    constant, more = len(inspection.channels) - len(changing), len(changing) - len(shown)
    title = [f"{log.path.name}: {log.kind}, {len(inspection.channels)} channels"]
    title += [f"{constant} that never change are not drawn"] if constant else []
    title += [f"{more} more are not drawn"] if more else []
    title += ["damaged"] if log.damage else []
    figure.suptitle("; ".join(title), fontsize=12, x=0.01, ha="left")
    axes_of = [time_axis(channels[0].times) for channels in log.sources.values()]
    start = min(float(axis.times.min()) for axis in axes_of)
    end = max(float(axis.times.max()) for axis in axes_of)
    _draw_sources(figure.add_subplot(parts[0]), log, inspection.sources, start)
    if rows:
        cells = parts[1].subgridspec(rows, _COLUMNS)
        places = (divmod(i, _COLUMNS) for i in range(len(shown) + bool(stamped)))
        panels = [figure.add_subplot(cells[place]) for place in places]
        if stamped:
            _draw_clocks(panels.pop(0), [log.sources[name][0] for name in stamped], start)
        for axes, channel in zip(panels, shown, strict=True):
            _draw_channel(axes, channel, start)
        for axes in figure.axes[1:] if end > start else ():
            axes.set_xlim(-0.02 * (end - start), 1.02 * (end - start))
    return figure


def _draw_sources(axes: Axes, log: Log, sources: Sequence[SourceView], start: float) -> None:
    channels = log.sources
    for i, source in enumerate(sources):
        axis = time_axis(channels[source.name][0].times)
        times = np.sort(axis.times) - start
        edges = gaps_of(times)
        begins, ends = times[np.concatenate([[0], edges + 1])], times[np.concatenate([edges, [-1]])]
        spans = [(float(begin), float(end - begin)) for begin, end in zip(begins, ends, strict=True)]
        colour = colour_of(i)
        axes.broken_barh(spans, (i - 0.35, 0.7), color=colour, linewidth=0.8, edgecolor=colour)
        name_restarts(axes, axis, start, i)
    axes.set_yticks(range(len(sources)), [source.name for source in sources], fontsize=8)
    axes.invert_yaxis()
    label = "row" if not any(source.is_timed for source in sources) else f"time since {start:.3f} s [s]"
    going_on = "; a clock that restarts goes on behind" if any(source.restarts for source in sources) else ""
    axes.set_xlabel(f"{label}; breaks are gaps{going_on}", fontsize=9)
    axes.grid(alpha=0.25, axis="x")


def _draw_clocks(axes: Axes, channels: Sequence[Channel], start: float) -> None:
    """Delay of each message behind the first one, received less stamped: a slope is a skew."""
    for i, channel in enumerate(channels):
        assert channel.stamps is not None
        late = delays(channel.stamps, channel.times) * 1e3
        colour = colour_of(i)
        axes.plot(
            *line_through(time_axis(channel.times).times - start, late),
            color=colour,
            linewidth=0.9,
            label=channel.source,
        )
    axes.legend(fontsize=6)
    _label(axes, "reception less stamp, less that of the first [ms]")


def _draw_channel(axes: Axes, channel: Channel, start: float) -> None:
    columns = channel.values.reshape(len(channel), -1).T[:_MOST_LINES]
    axis = time_axis(channel.times)
    mark_restarts(axes, axis, start)
    for column, colour in zip(columns, SEGMENT_COLOURS, strict=False):
        axes.plot(*line_through(axis.times - start, column), color=colour, linewidth=0.9)
    named = f" [{channel.unit}]"
    unit = named if channel.unit and not channel.name.endswith(named) else ""
    more = channel.values.shape[1] - _MOST_LINES if channel.values.ndim == 2 else 0
    rest = f", first {_MOST_LINES}" if more > 0 else ""
    hidden = int((abs(columns[np.isfinite(columns)]) > MAX_VALUE).sum())
    rest += f", {hidden} beyond {MAX_VALUE:g} not drawn" if hidden else ""
    _label(axes, f"{channel.name}{unit}{rest}")


def _label(axes: Axes, title: str) -> None:
    axes.set_title(title, fontsize=8, loc="left")
    axes.tick_params(labelsize=7)
    axes.grid(alpha=0.25)


def map_tables(mapped: MappedLog) -> list[Table]:
    """Quantities with unit and noise; their times with clock, rate and gaps; clocks and mountings; notes."""
    title = f"{mapped.log.path.name}, mapped by {mapped.mapping.name}"
    table = Table("quantity", "from", "unit", "std", title=title)
    for key, origin in mapped.origins.items():
        unit, std = quantity_of(key).unit, mapped.motion.signals[key].std
        table.add_row(
            key,
            escape(", ".join(origin.channels)) or f"{origin.value}, constant",
            unit if origin.unit in ("", unit) else f"{origin.unit} -> {unit}",
            "not known" if std is None else f"{std:.3g}",
        )
    tables = [table, _time_table(mapped)]
    if mapped.clocks:
        tables.append(_clock_table(mapped))
    if mapped.notes:
        notes = Table("notes")
        for note in mapped.notes:
            notes.add_row(escape(note))
        tables.append(notes)
    return tables


def _time_table(mapped: MappedLog) -> Table:
    """Table of the times of values, a row for all quantities that have the same ones."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for key, origin in filter(lambda item: item[1].value is None, mapped.origins.items()):
        signal = mapped.motion.signals[key]
        steps = np.diff(signal.times)
        told: tuple[str, ...] = signal.source, f"{len(signal.times)} rows"
        if not mapped.is_steady:
            rate, gap = (f"{1 / np.median(steps):.1f}", f"{steps.max():.3f}") if len(steps) else ("", "")
            told = signal.source, origin.clock, rate, f"{signal.times[0]:.2f}-{signal.times[-1]:.2f}", gap
        rows.setdefault(told, []).append(key)
    timed = ("clock", "rate\n[Hz]", "span\n[s]", "longest\ngap [s]")
    table = Table("source", *(("rows",) if mapped.is_steady else timed), "quantities")
    for cells, keys in rows.items():
        table.add_row(*map(escape, cells), ", ".join(keys) if len(rows) > 1 else "all")
    return table


def _clock_table(mapped: MappedLog) -> Table:
    shown = "offset [s]", "skew [%]", "best known\n(std) [s]", "sensor: roll, pitch, yaw [deg]"
    table = Table("clock of", "on that of", "by", *shown)
    for fit in mapped.clocks:
        times = replace(fit.uncertainty, best=fit.uncertainty.best - mapped.begin)
        mountings = [f"{', '.join(map(_format, part.rpy))} ({part.by})" for part in fit.mountings]
        offset, skew = _format(fit.offset, 1.0, 4), _format(fit.skew, 100.0, 3)
        best = f"{times.least:.2g} at {times.best:.2f}"
        table.add_row(fit.source, fit.reference, fit.by, offset, skew, best, "\n".join(mountings))
    return table


def _format(estimate: Estimate | None, factor: float = 180 / math.pi, digits: int = 2) -> str:
    if estimate is None:
        return "not seen"
    return f"{factor * estimate.value:.{digits}f} +- {factor * estimate.margin:.{digits}f}"


def draw_motion(motion: Motion, *, is_steady: bool = False) -> Figure:
    """Draw all signals of a motion on one time axis, those of a quantity together; turns over their rows."""
    groups: dict[str, list[str]] = {}
    for key in motion.signals:
        groups.setdefault(key.partition(".")[0].removesuffix("_command"), []).append(key)
    figure = new_figure(11.0, 0.8 + 1.5 * len(groups))
    panels = figure.subplots(len(groups), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (name, keys) in zip(panels, groups.items(), strict=True):
        degrees = quantity_of(keys[0]).unit == "rad" or name == "orientation"
        colours = iter(SEGMENT_COLOURS * 2)
        for label, signal in (line for key in keys for line in _lines(motion, key)):
            style = "." if is_steady else ":" if label.endswith("command") else "-"
            values, colour = signal.values * (180 / math.pi if degrees else 1.0), next(colours)
            rows = np.s_[:] if is_steady else extreme_rows(values, _BINS)
            times, values = signal.times[rows], values[rows]
            axes.plot(times, values, style, color=colour, linewidth=1.0, markersize=3, label=label)
        axes.set_ylabel(f"{name.replace('_', ' ')}\n[{'deg' if degrees else quantity_of(keys[0]).unit}]")
        if any(text for text in axes.get_legend_handles_labels()[1]):
            axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8, frameon=False)
        axes.grid(alpha=0.3)
    panels[-1].set_xlabel("row" if is_steady else "time since the log began [s]")
    panels[0].set_title(motion.name, loc="left", fontsize=11)
    return figure


def _lines(motion: Motion, key: str) -> Iterator[tuple[str, Signal]]:
    """The lines that show a signal, with their labels: of an orientation its angles, else one a number."""
    signal = motion.signals[key]
    name, _, which = key.partition(".")
    if name == "orientation":
        for angle in ("roll", "pitch", "yaw"):
            if (found := motion.angle(angle) if angle not in motion.signals else None) is not None:
                yield angle, found
        return
    columns = signal.values.reshape(len(signal.times), -1).T
    for column, axis in zip(columns, "xyz" if len(columns) == 3 else [""], strict=True):
        parts = which, axis, "command" if name.endswith("_command") else ""
        yield " ".join(filter(None, parts)), Signal(signal.times, column)


def split_table(trials: Sequence[MappedLog]) -> Table:
    """Number, origin, begin on the log's clock, span, values and remarks of each trial of one log."""
    first = trials[0]
    title = f"{escape(first.log.path.name)}, split by {escape(first.mapping.name)}"
    table = Table("trial", "of", "begins [s]", "lasts [s]", "values", "notes", title=title)
    for mapped in trials:
        assert mapped.trial is not None
        logged = [mapped.motion.signals[key].times for key, o in mapped.origins.items() if o.value is None]
        begin, end = min(times[0] for times in logged), max(times[-1] for times in logged)
        table.add_row(
            str(mapped.trial.number),
            escape(mapped.trial.label),
            f"{mapped.begin + begin:.10g}",
            f"{end - begin:.4g}",
            str(max(map(len, logged))),
            "\n".join(map(escape, mapped.notes)),
        )
    return table


def findings_tables(found: Plausibility) -> list[Table]:
    """Return a table of what contradicts something, if anything does, and one of what was compared."""
    tables = []
    if found.notes:
        table = Table("finding", "what contradicts what", title=f"{escape(found.log)}: to look at")
        for finding in found.findings:
            table.add_row(escape(f"{finding.name}\n{weight_of(finding)}"), escape(str(finding)))
        for name in found.stale:
            table.add_row(escape(name), "accepted by the mapping, and not found")
        tables.append(table)
    consistent = [seen for seen in found.observations if not seen.contradiction]
    if consistent:
        table = Table("compared", "seen", title=f"{escape(found.log)}: contradicts nothing")
        for seen in consistent:
            table.add_row(escape(seen.name), escape(seen.state))
        tables.append(table)
    return tables


def weight_of(finding: Finding) -> str:
    """Say how much a finding weighs, in words."""
    if finding.reason is not None:
        return "accepted"
    return "beyond doubt" if finding.seen.certain else "doubtful"
