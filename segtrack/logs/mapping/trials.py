"""Trials of one log, which a mapping splits by windows of time or by a channel that numbers them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from segtrack.errors import InvalidValueError, Phrase, Problem
from segtrack.logs.log import Log
from segtrack.logs.mapping.channels import describe_missing_channel, find_column
from segtrack.logs.mapping.mapping_file import LogMapping

_MOST = 500
"""Trials of a log; a channel with more runs of one number does not number trials."""
_FEWEST = 3
"""Rows of a trial; shorter runs are mistakes of the channel, or of the order of rows."""


@dataclass(frozen=True)
class LogTrial:
    """A trial of a log.

    Attributes:
        number: Number of the trial, from 1.
        label: Window, or number of the channel that it was split by, for people.
        window: Begin and end from the beginning of the log [s]; None if it was split by a channel.
        source: Source of that channel; empty if it was split by windows.
        rows: First row of the source, and the row after the last one.
    """

    number: int
    label: str
    window: tuple[float, float] | None = None
    source: str = ""
    rows: tuple[int, int] = (0, 0)


def find_trials(log: Log, mapping: LogMapping) -> tuple[LogTrial, ...]:
    """Return the trials of a log, in order; none where the mapping does not split it.

    Args:
        log: Log, with the channels of further files.
        mapping: Mapping.

    Raises:
        MappingFileError: The log does not have the channel, or it does not number trials.
    """
    split = mapping.file.split
    if split is None:
        return ()
    if split.windows is not None:
        return tuple(
            LogTrial(i, f"{begin:g} to {end:g} s", (begin, end))
            for i, (begin, end) in enumerate(split.windows, 1)
        )
    assert split.channel is not None
    column = find_column(log, split.channel)
    if column is None:
        kind = log.skipped.get(split.channel)
        missing = describe_missing_channel(log, split.channel)
        message = missing if kind is None else f"must be a channel of numbers, {split.channel} is {kind}"
        raise mapping.refusal([Problem("split.channel", message)])
    if column.width > 1:
        message = f"must be one number at a time, {column.channel.name} has {column.width}"
        raise mapping.refusal([Problem("split.channel", message)])
    runs = list(_runs(column.values, split.missing))
    if not 0 < len(runs) <= _MOST:
        message = (
            f"must have from 1 to {_MOST} runs of one number, got {len(runs)} in {len(column.values)} rows"
        )
        raise mapping.refusal([Problem("split.channel", message)])
    short = [
        f"{last - first} of {split.channel} {number:g} from row {first} on"
        for number, first, last in runs
        if last - first < _FEWEST
    ]
    if short:
        more = f" and {len(short) - 1} more" if len(short) > 1 else ""
        hint = "see missing, and sort where rows come late"
        message = f"must have at least {_FEWEST} rows a run, got {short[0]}{more}: {hint}"
        raise mapping.refusal([Problem("split.channel", message)])
    return tuple(
        LogTrial(i, f"{split.channel} {number:g}", None, column.channel.source, (first, last))
        for i, (number, first, last) in enumerate(runs, 1)
    )


def _runs(values: np.ndarray, missing: tuple[float, ...]) -> Iterator[tuple[float, int, int]]:
    """Yield the number of each run of rows that have one, its first row, and the row after its last one."""
    numbers = np.where(np.isfinite(values) & ~np.isin(values, missing), values, np.inf)
    edges = np.concatenate([[0], np.flatnonzero(numbers[1:] != numbers[:-1]) + 1, [len(numbers)]])
    for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        if first < last and np.isfinite(numbers[first]):
            yield float(numbers[first]), first, last


def choose_trial(log: Log, mapping: LogMapping, number: int | None) -> LogTrial | None:
    """Return the trial of a number; None where the mapping does not split the log and none is given.

    Raises:
        InvalidValueError: There is no such trial, or none is given where there are some.
        MappingFileError: See `find_trials`.
    """
    trials = find_trials(log, mapping)
    if number is None and not trials:
        return None
    if not trials:
        raise InvalidValueError("trial", f"left out: {mapping.name} does not split its log", number)
    if number is None or not 1 <= number <= len(trials):
        there = f"1 to {len(trials)}, as {mapping.name} splits {log.path.name}"
        raise InvalidValueError("trial", there, Phrase("none") if number is None else number)
    return trials[number - 1]


def cut_rows(log: Log, trial: LogTrial) -> Log:
    """Return a log with the rows of a trial alone, of the source that it was split by."""
    rows = slice(*trial.rows)
    channels = dict(log.channels)
    for channel in log.sources.get(trial.source, ()):
        stamps = None if channel.stamps is None else channel.stamps[rows]
        cut = replace(channel, times=channel.times[rows], values=channel.values[rows], stamps=stamps)
        channels[channel.name] = cut
    return replace(log, channels=channels)
