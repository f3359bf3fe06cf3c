"""Times of a source's rows, whether they ascend, and rows put in order of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import Problem
from segtrack.logs.log import Channel, Log, format_count
from segtrack.logs.mapping.channels import find_column
from segtrack.logs.mapping.mapping_file import MappingFile, SourceClock
from segtrack.logs.mapping.references import TIME
from segtrack.logs.reading import GAP, restarts_of


def sort_rows(log: Log, file: MappingFile, notes: list[str]) -> Log:
    """Return a log, the rows of sources that the mapping says so of in order of the times that are used.

    Sources whose clock starts again stay as they are: their drives would be mixed.

    Args:
        log: Log, with the channels of further files.
        file: Mapping file.
        notes: List to which it is added how many rows came late.
    """
    channels = dict(log.channels)
    for name, clock in file.sources.items():
        own = log.sources.get(name, ())
        if not clock.sort or not own:
            continue
        times = find_times(log, name, clock, own[0])[0]
        late = times < np.fmax.accumulate(times)
        if late.any() and _find_restart(times[np.isfinite(times)]) is None:
            notes.append(f"{name}: {format_count(int(late.sum()), 'row')} late: put in order of time")
            order = np.argsort(times, kind="stable")
            channels |= {channel.name: _in_order(channel, order) for channel in own}
    return replace(log, channels=channels)


def _in_order(channel: Channel, order: np.ndarray) -> Channel:
    stamps = None if channel.stamps is None else channel.stamps[order]
    return replace(channel, times=channel.times[order], values=channel.values[order], stamps=stamps)


def find_times(
    log: Log, name: str, clock: SourceClock, channel: Channel
) -> tuple[NDArray[np.float64], str, Problem | None]:
    """Return times, the name of their clock, and the problem of the mapping's choice."""
    if clock.time is not None and (column := find_column(log, clock.time)) is not None:
        if column.channel.source != name or column.width > 1:
            message = f"must be a channel of {name} with one number at a time, got {clock.time!r}"
            return channel.times, "", Problem(f"sources.{name}.time", message)
        return column.values * TIME[clock.unit], clock.time, None
    if clock.clock == "header" and channel.stamps is None:
        message = "must be receive: its messages have no stamps"
        return channel.times, "", Problem(f"sources.{name}.clock", message)
    if channel.stamps is not None and clock.clock != "receive":
        return channel.stamps, "header", None
    return channel.times, "receive", None


def describe_disorder(times: NDArray[np.float64]) -> str | None:
    """Describe how times run backwards; None if they ascend."""
    if not len(times):
        return "are none"
    steps = np.diff(times)
    back = np.flatnonzero(steps < 0)
    if not len(back):
        return None
    first = int(back[0])
    more = "" if len(back) == 1 else f", and {len(back) - 1} more times, at most by {-steps.min():.4g} s"
    return f"run backwards: by {-steps[first]:.4g} s at row {first + 1}, from {times[first]:.10g} s{more}"


def describe_order_remedy(times: NDArray[np.float64]) -> str:
    """Describe what a mapping can say of times that run backwards, as the end of a message."""
    if not len(times):
        return ""
    if (row := _find_restart(times)) is None:
        return "; with sort: true its rows are put in order"
    again = f"the clock starts again at row {row}, as with a second drive"
    return f"; {again}: take drives apart with split by a channel, or as files of their own"


def _find_restart(times: NDArray[np.float64]) -> int | None:
    """Return the first row at which the clock starts again; None if all rows merely come late.

    Rows that come late fill a hole that the rows before them have left. Those of a second drive are among
    these, or far before them all.
    """
    falls, steps = restarts_of(times) + 1, np.diff(times)
    gap = GAP * np.median(steps[steps > 0]) if len(falls) else 0.0
    earliest, latest = np.minimum.accumulate(times), np.maximum.accumulate(times)
    for row, end in pairwise([*falls.tolist(), len(times)]):
        before, after = times[:row], times[row:end]
        late = after[after < latest[row - 1]]
        low, high = late.min(), late.max()
        among = np.count_nonzero((low <= before) & (before <= high))
        is_far = high < earliest[row - 1] - gap
        if is_far or 2 * among > min(len(late), len(before)):
            return row
    return None
