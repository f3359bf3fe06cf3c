"""What is in a log as a picture: when each source has values, and the values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from segtrack.logs.log import Channel, Log
from segtrack.logs.reading.inspection import Inspection, SourceView, delays, gaps_of
from segtrack.report.style import SEGMENT_COLOURS, new_figure

_COLUMNS = 3
_MOST_PANELS = 36
_MOST_LINES = 8
"""In a panel."""
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
    figure.suptitle(_title(inspection, len(shown), len(changing)), fontsize=12, x=0.01, ha="left")
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
        for axes in figure.axes[1:]:
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
    axes.set_yticks(range(len(sources)), [source.name for source in sources], fontsize=8)
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
    axes.legend(fontsize=6)
    _label(axes, "reception less stamp, less that of the first [ms]")


def _draw_channel(axes: Axes, channel: Channel, start: float) -> None:
    columns = channel.values.reshape(len(channel), -1).T[:_MOST_LINES]
    for column, colour in zip(columns, SEGMENT_COLOURS, strict=False):
        axes.plot(*_line(channel.times - start, column), color=colour, linewidth=0.9)
    unit = f" [{channel.unit}]" if channel.unit else ""
    more = channel.values.shape[1] - _MOST_LINES if channel.values.ndim == 2 else 0
    rest = f", first {_MOST_LINES}" if more > 0 else ""
    _label(axes, f"{channel.name}{unit}{rest}")


def _label(axes: Axes, title: str) -> None:
    axes.set_title(title, fontsize=8, loc="left")
    axes.tick_params(labelsize=7)
    axes.grid(alpha=0.25)


def _line(
    times: NDArray[np.float64], values: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A line through all numbers but for gaps; of many the least and the greatest in each of many bins."""
    there = np.isfinite(values)
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
