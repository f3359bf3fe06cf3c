"""Content of a log, as tables and a figure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from rich.markup import escape
from rich.table import Table

from segtrack.logs.log import Channel, Log
from segtrack.logs.reading.inspection import ChannelView, ClockView, Inspection, SourceView, delays, gaps_of
from segtrack.report.style import SEGMENT_COLOURS, new_figure

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
    title = f"{escape(log.path.name)}: {log.kind}"
    table = Table(
        "source", "values", "span [s]", "rate [Hz]", "jitter [ms]", "longest gap [s]", "gaps", title=title
    )
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
        table.add_row(escape(channel.name) + width, escape(channel.unit), low, high, _missing(channel))
    return table


def _missing(channel: ChannelView) -> str:
    if not channel.missing:
        return ""
    return f"{channel.missing} rows, up to {channel.longest_run} in a row"


def _remarks(inspection: Inspection) -> list[str]:
    said = []
    for source in inspection.sources:
        if source.backwards:
            said.append(f"{source.name}: {source.backwards} times are before the one before them")
        if source.repeated:
            said.append(f"{source.name}: {source.repeated} times are the same as the one before them")
        clock = source.clock
        if clock is not None and max(abs(clock.offset), abs(clock.skew), clock.scatter) >= _SAME:
            said.append(f"{source.name}: {clock_in_words(clock)}")
    return said


def clock_in_words(clock: ClockView) -> str:
    """A header's clock beside reception, in a sentence."""
    pace = f"{_share(abs(clock.skew))} {'slower' if clock.skew > 0 else 'faster'} than the receive times"
    low, high = (f"{100 * skew:.2g}" for skew in clock.skews)
    thirds = "" if low == high else f" ({low} to {high} % in thirds of the log)"
    if clock.first > _SINCE_1970:
        order = "before" if clock.offset > 0 else "after"
        where = f"says {abs(clock.offset):.3f} s {order} reception at the start"
    else:
        where = f"counts from elsewhere: {clock.first:.3f} s at the start"
    tick = "" if clock.tick is None else f", in ticks of {clock.tick * 1e3:.3f} ms"
    return f"header clock runs {pace}{thirds} and {where}{tick}; scatter {clock.scatter * 1e3:.2f} ms"


def _share(ratio: float) -> str:
    return f"{ratio * 1e6:.0f} ppm" if ratio < _PPM else f"{100 * ratio:.1f} %"


_COLUMNS = 3
_MOST_PANELS = 36
_MOST_LINES = 8
"""Largest number of series in a panel."""
_MAX_VALUE = 1e150
"""Largest number that is drawn: the squares of larger ones overflow."""
_BINS = 800
"""Along a panel's time, of each of which the least and the greatest value are drawn."""


def draw_log(inspection: Inspection) -> Figure:
    """A bar for each source over time, broken at gaps; then small plots of the channels that change."""
    log = inspection.log
    changing = [log.channels[channel.name] for channel in inspection.channels if channel.changes]
    shown = changing[:_MOST_PANELS]
    stamped = [source.name for source in inspection.sources if source.clock is not None]
    rows = -(-(len(shown) + bool(stamped)) // _COLUMNS)
    bars = len(log.sources)
    top, below = 0.9 + 0.32 * bars, 1.75 * rows
    figure = new_figure(14.0, top + below + 0.6)
    parts = figure.add_gridspec(2 if rows else 1, 1, height_ratios=[top, below] if rows else [1.0])
    title = _title(inspection, len(shown), len(changing))
    figure.suptitle(title, fontsize=12, x=0.01, ha="left", parse_math=False)
    start = min(float(channel.times.min()) for channel in log.channels.values())
    end = max(float(channel.times.max()) for channel in log.channels.values())
    _draw_sources(figure.add_subplot(parts[0]), log, inspection.sources, start)
    if rows:
        cells = parts[1].subgridspec(rows, _COLUMNS)
        panels = [
            figure.add_subplot(cells[i // _COLUMNS, i % _COLUMNS]) for i in range(len(shown) + bool(stamped))
        ]
        if stamped:
            _draw_clocks(panels.pop(0), [log.sources[name][0] for name in stamped], start)
        for axes, channel in zip(panels, shown, strict=True):
            _draw_channel(axes, channel, start)
        for axes in figure.axes[1:] if end > start else ():
            axes.set_xlim(-0.02 * (end - start), 1.02 * (end - start))
    return figure


def _title(inspection: Inspection, shown: int, changing: int) -> str:
    constant = len(inspection.channels) - changing
    parts = [f"{inspection.log.path.name}: {inspection.log.kind}, {len(inspection.channels)} channels"]
    parts += [f"{constant} that never change are not drawn"] if constant else []
    parts += [f"{changing - shown} more are not drawn"] if changing > shown else []
    parts += ["damaged"] if inspection.log.damage else []
    return "; ".join(parts)


def _draw_sources(axes: Axes, log: Log, sources: Sequence[SourceView], start: float) -> None:
    channels = log.sources
    for i, source in enumerate(sources):
        times = np.sort(channels[source.name][0].times) - start
        edges = gaps_of(times)
        begins, ends = times[np.concatenate([[0], edges + 1])], times[np.concatenate([edges, [-1]])]
        spans = [(float(begin), float(end - begin)) for begin, end in zip(begins, ends, strict=True)]
        colour = SEGMENT_COLOURS[i % len(SEGMENT_COLOURS)]
        axes.broken_barh(spans, (i - 0.35, 0.7), color=colour, linewidth=0.8, edgecolor=colour)
    axes.set_yticks(range(len(sources)), [source.name for source in sources], fontsize=8, parse_math=False)
    axes.invert_yaxis()
    label = "row" if not any(source.is_timed for source in sources) else f"time since {start:.3f} s [s]"
    axes.set_xlabel(f"{label}; breaks are gaps", fontsize=9)
    axes.grid(alpha=0.25, axis="x")


def _draw_clocks(axes: Axes, channels: Sequence[Channel], start: float) -> None:
    """By how much later each message was received than the first, by its stamp: a slope is a skew."""
    for i, channel in enumerate(channels):
        assert channel.stamps is not None
        late = delays(channel.stamps, channel.times) * 1e3
        colour = SEGMENT_COLOURS[i % len(SEGMENT_COLOURS)]
        axes.plot(*_line(channel.times - start, late), color=colour, linewidth=0.9, label=channel.source)
    for text in axes.legend(fontsize=6).get_texts():
        text.set_parse_math(False)
    _label(axes, "reception less stamp, less that of the first [ms]")


def _draw_channel(axes: Axes, channel: Channel, start: float) -> None:
    columns = channel.values.reshape(len(channel), -1).T[:_MOST_LINES]
    for column, colour in zip(columns, SEGMENT_COLOURS, strict=False):
        axes.plot(*_line(channel.times - start, column), color=colour, linewidth=0.9)
    unit = f" [{channel.unit}]" if channel.unit else ""
    more = channel.values.shape[1] - _MOST_LINES if channel.values.ndim == 2 else 0
    rest = f", first {_MOST_LINES}" if more > 0 else ""
    hidden = int((abs(columns[np.isfinite(columns)]) > _MAX_VALUE).sum())
    rest += f", {hidden} beyond {_MAX_VALUE:g} not drawn" if hidden else ""
    _label(axes, f"{channel.name}{unit}{rest}")


def _label(axes: Axes, title: str) -> None:
    axes.set_title(title, fontsize=8, loc="left", parse_math=False)
    axes.tick_params(labelsize=7)
    axes.grid(alpha=0.25)


def _line(
    times: NDArray[np.float64], values: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A line through all numbers but for gaps; of many the least and the greatest in each of many bins."""
    there = abs(values) <= _MAX_VALUE
    times, values = times[there], values[there]
    ends = gaps_of(times)
    rows = np.arange(len(values))
    if len(values) > 4 * _BINS:
        size = len(values) // _BINS
        table = values[: size * _BINS].reshape(_BINS, size)
        first = np.arange(_BINS) * size
        both = np.sort(np.stack([first + table.argmin(axis=1), first + table.argmax(axis=1)]), axis=0)
        rows = np.concatenate([both.T.ravel(), rows[size * _BINS :]])
    breaks = np.searchsorted(rows, ends, side="right")
    return np.insert(times[rows], breaks, np.nan), np.insert(values[rows], breaks, np.nan)
