"""What is in a log as tables for the terminal."""

from __future__ import annotations

from rich.markup import escape
from rich.table import Table

from segtrack.logs.reading.inspection import ChannelView, ClockView, Inspection, SourceView

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
        return (
            "" if not source.is_timed else f"{source.span:.3f}",
            "no times" if not source.is_timed else "",
            "",
            "",
            "",
        )
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
        if source.clock is not None and not _is_reception(source.clock):
            said.append(f"{source.name}: {clock_in_words(source.clock)}")
    return said


def _is_reception(clock: ClockView) -> bool:
    """Whether stamps are the times of reception."""
    return max(abs(clock.offset), abs(clock.skew), clock.scatter) < _SAME


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
