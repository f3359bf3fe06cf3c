"""A mapped log as tables and as a picture: each quantity, where it is from, and the clocks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from matplotlib.figure import Figure
from rich.markup import escape
from rich.table import Table

from segtrack.logs import Motion, Signal, quantity_of
from segtrack.logs.clocks import ClockFit, Estimate
from segtrack.logs.mapping import MappedLog
from segtrack.report.style import SEGMENT_COLOURS, new_figure


def map_tables(mapped: MappedLog) -> list[Table]:
    """Quantities with unit and noise; their times with clock, rate and gaps; clocks and mountings; notes."""
    table = Table(title=f"{mapped.log.path.name}, mapped by {mapped.mapping.name}")
    for header in ("quantity", "from", "unit", "std"):
        table.add_column(header)
    for key, origin in mapped.origins.items():
        unit, std = quantity_of(key).unit, mapped.motion.signals[key].std
        table.add_row(
            key,
            escape(", ".join(origin.channels)),
            unit if origin.unit in ("", unit) else f"{origin.unit} -> {unit}",
            "not known" if std is None else f"{std:.3g}",
        )
    tables = [table, _time_table(mapped)]
    if mapped.clocks:
        tables.append(_clock_table(mapped.clocks))
    if mapped.notes:
        notes = Table("notes")
        for note in mapped.notes:
            notes.add_row(escape(note))
        tables.append(notes)
    return tables


def _time_table(mapped: MappedLog) -> Table:
    """When there are values, a row for all quantities of which that is the same."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for key, origin in mapped.origins.items():
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


def _clock_table(fits: Sequence[ClockFit]) -> Table:
    table = Table("clock of", "on that of", "by", "offset [s]", "skew [%]", "sensor: roll, pitch, yaw [deg]")
    for fit in fits:
        mountings = [f"{', '.join(map(_angle, part.rpy))} ({part.by})" for part in fit.mountings]
        offset, skew = _format(fit.offset, 1.0, 4), _format(fit.skew, 100.0, 3)
        table.add_row(fit.source, fit.reference, fit.by, offset, skew, "\n".join(mountings))
    return table


def _angle(angle: Estimate | None) -> str:
    return "not seen" if angle is None else _format(angle, 180 / math.pi, 2)


def _format(estimate: Estimate, factor: float, digits: int) -> str:
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
            values = signal.values * (180 / math.pi if degrees else 1.0)
            axes.plot(
                signal.times, values, style, color=next(colours), linewidth=1.0, markersize=3, label=label
            )
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
