"""Times of a log's sources, each by its own clock, and whether they ascend."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.description.base import known
from segtrack.errors import ClockError, Problem
from segtrack.logs.clocks import ClockFit, fit_to_receive_times
from segtrack.logs.log import Channel, Log
from segtrack.logs.mapping.channels import find_column, missing_channel
from segtrack.logs.mapping.file.mapping_file import MappingFile, SourceClock
from segtrack.logs.mapping.file.units import TIME

_UNEVEN = 0.02
"""A header's clock that leaves an even one by more is noted [s]."""


@dataclass(frozen=True, eq=False)
class SourceTimes:
    """When a source's values were measured.

    Attributes:
        times: On the clock of receiving, or the only one that the source has (n,) [s].
        kept: Which rows have a time of their own (n,).
        clock: `header`, `receive`, or the channel that has the times.
        fit: Of the header's clock to receive times, if it is used.
    """

    times: NDArray[np.float64]
    kept: NDArray[np.bool_]
    clock: str
    fit: ClockFit | None = None


def source_times(
    log: Log, file: MappingFile, used: Mapping[str, Channel], notes: list[str]
) -> tuple[dict[str, SourceTimes], list[Problem]]:
    """Times of all sources that are used, and what is wrong with them.

    Args:
        log: With further files.
        file: The mapping.
        used: A channel of each, by the source's name.
        notes: Where what is taken for granted is noted.
    """
    problems = [
        problem for name, clock in file.sources.items() for problem in _strange(log, name, clock, used)
    ]
    found: dict[str, SourceTimes] = {}
    for name, channel in used.items():
        clock = file.sources.get(name, SourceClock())
        times, kind, problem = _own_times(log, name, clock, channel)
        if problem is not None:
            problems.append(problem)
            continue
        is_known = np.isfinite(times)
        complaint = _complaint(times[is_known])
        if complaint is not None and kind == "header" and clock.clock is None:
            notes.append(f"{name}: times of receiving are used, since those of its headers {complaint}")
            times, kind = channel.times, "receive"
            is_known, complaint = np.isfinite(times), _complaint(times[np.isfinite(times)])
        if complaint is not None:
            hint = "; the clock of receiving may not" if kind == "header" else ""
            problems.append(Problem(f"sources.{name}", f"has times that {complaint}{hint}"))
            continue
        kept = is_known.copy()
        kept[is_known] = np.concatenate([[True], np.diff(times[is_known]) > 0])
        if not kept.all():
            notes.append(
                f"{name}: {int((~kept).sum())} rows have the time of the row before, or none: left out"
            )
        source = SourceTimes(times, kept, kind)
        if kind == "header":
            source, problem = _on_receive_times(name, source, channel, clock, notes)
            problems += [] if problem is None else [problem]
        found[name] = source
    return found, problems


def unknown_sources(log: Log, name: str, clock: SourceClock) -> Iterator[Problem]:
    """Names of sources in the mapping, and of channels with their times, that the log has none of."""
    there = log.sources
    for key, source in (("", name), (".align", known(clock, "align", None))):
        if source is not None and source not in there:
            message = (
                f"is no source of {log.path.name}, got {source!r}; there are: {', '.join(there) or 'none'}"
            )
            yield Problem(f"sources.{name}{key}", message)
    time = known(clock, "time", None)
    if time is not None and find_column(log, time) is None:
        yield Problem(f"sources.{name}.time", missing_channel(log, time))


def _strange(log: Log, name: str, clock: SourceClock, used: Iterable[str]) -> Iterator[Problem]:
    """What is wrong with what the mapping says of a source."""
    yield from unknown_sources(log, name, clock)
    if clock.align is not None and clock.align in log.sources and clock.align not in used:
        yield Problem(
            f"sources.{name}.align", f"must be a source of which a quantity is used, got {clock.align!r}"
        )


def _own_times(
    log: Log, name: str, clock: SourceClock, channel: Channel
) -> tuple[NDArray[np.float64], str, Problem | None]:
    """Times, what they are, and what is wrong with the mapping's choice."""
    if clock.time is not None and (column := find_column(log, clock.time)) is not None:
        if column.channel.source != name or column.width > 1:
            message = f"must be a channel of {name} with one number at a time, got {clock.time!r}"
            return channel.times, "", Problem(f"sources.{name}.time", message)
        return column.values * TIME[clock.unit], clock.time, None
    if clock.clock == "header" and channel.stamps is None:
        return (
            channel.times,
            "",
            Problem(f"sources.{name}.clock", "must be receive: its messages have no stamps"),
        )
    if channel.stamps is not None and clock.clock != "receive":
        return channel.stamps, "header", None
    return channel.times, "receive", None


def _complaint(times: NDArray[np.float64]) -> str | None:
    """How times run backwards, if they do."""
    if not len(times):
        return "are none"
    steps = np.diff(times)
    back = np.flatnonzero(steps < 0)
    if not len(back):
        return None
    first = int(back[0])
    more = "" if len(back) == 1 else f", and {len(back) - 1} more times, at most by {-steps.min():.4g} s"
    return f"run backwards: by {-steps[first]:.4g} s at row {first + 1}, from {times[first]:.10g} s{more}"


def _on_receive_times(
    name: str, source: SourceTimes, channel: Channel, clock: SourceClock, notes: list[str]
) -> tuple[SourceTimes, Problem | None]:
    """The times of headers put on the clock of receiving."""
    try:
        fit = fit_to_receive_times(name, source.times[source.kept], channel.times[source.kept])
    except ClockError as error:
        if clock.clock is None:
            notes.append(f"{name}: times of receiving are used, since {error}")
            return SourceTimes(channel.times, np.isfinite(channel.times) & source.kept, "receive"), None
        return source, Problem(f"sources.{name}.clock", f"must be receive: {error}")
    if fit.unevenness > _UNEVEN:
        notes.append(
            f"{name}: its header's clock is not even: it leaves a straight line by {fit.unevenness:.3g} s"
        )
    return SourceTimes(fit.times(source.times), source.kept, "header", fit), None
