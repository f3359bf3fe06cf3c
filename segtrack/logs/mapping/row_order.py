"""Rows of sources put in order of their times."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from segtrack.logs.log import Channel, Log, format_count
from segtrack.logs.mapping.mapping_file import MappingFile
from segtrack.logs.mapping.source_clocks import find_times


def sort_rows(log: Log, file: MappingFile, notes: list[str]) -> Log:
    """Return a log, the rows of sources that the mapping says so of in order of the times that are used.

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
        if late.any():
            notes.append(f"{name}: {format_count(int(late.sum()), 'row')} late: put in order of time")
            order = np.argsort(times, kind="stable")
            channels |= {channel.name: _in_order(channel, order) for channel in own}
    return replace(log, channels=channels)


def _in_order(channel: Channel, order: np.ndarray) -> Channel:
    stamps = None if channel.stamps is None else channel.stamps[order]
    return replace(channel, times=channel.times[order], values=channel.values[order], stamps=stamps)
