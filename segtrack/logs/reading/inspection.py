"""Inspection of a log: rates, gaps, clocks and ranges of its sources and channels; nothing is corrected."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from segtrack.logs.log import Channel, Log

Array = NDArray[np.float64]
GAP = 5.0
"""Intervals of so many median ones are gaps."""
_STAYS = 3
"""Rows after a fall of the time that all must be earlier, for a restart of the clock."""
_FEWEST, _MOST = 10, 400
"""Least and largest number of messages for comparing clocks."""
_TICK = 0.01
"""Largest deviation of intervals from multiples of a tick, as a fraction of it."""


@dataclass(frozen=True)
class ClockView:
    """Clock of a source's headers against its receive times.

    Attributes:
        offset: Time of reception less stamp at the first message [s].
        skew: Rate by which the header's clock runs slow (positive) or fast (negative) [-].
        skews: Least and greatest skew in thirds of the log [-].
        scatter: Median distance of the messages from the line of offset and skew [s].
        tick: Interval of which all differences between stamps are multiples [s]; None if there is none.
        first: Stamp of the first message [s].
    """

    offset: float
    skew: float
    skews: tuple[float, float]
    scatter: float
    tick: float | None
    first: float


class Restart(NamedTuple):
    """Restart of a clock: the last time before it, and the first one after [s]."""

    before: float
    after: float


@dataclass(frozen=True)
class SourceView:
    """Times of a source.

    Attributes:
        name: Name of the source.
        type: Message type; empty without messages.
        count: Number of times.
        first: First time [s].
        span: Latest time less earliest [s].
        is_timed: True for times, False for numbers of rows.
        rate: Inverse of the median interval [Hz]; None without times, with fewer than two, or for
            intervals of nearly nothing.
        jitter: Deviation from the median interval that 95 % of the intervals stay below [s]; None as above.
        largest_gap: Longest interval [s]; None as above.
        gap_at: Time at which the longest interval begins [s]; None as above.
        gaps: Number of intervals longer than `GAP` median ones.
        backwards: Number of times that are earlier than their predecessor.
        restarts: Restarts of the clock.
        repeated: Number of times that equal their predecessor.
        clock: Clock of the headers; None without stamps, or with too few.
    """

    name: str
    type: str
    count: int
    first: float
    span: float
    is_timed: bool
    rate: float | None
    jitter: float | None
    largest_gap: float | None
    gap_at: float | None
    gaps: int
    backwards: int
    restarts: tuple[Restart, ...]
    repeated: int
    clock: ClockView | None


@dataclass(frozen=True)
class ChannelView:
    """Values of a channel.

    Attributes:
        name: Name of the channel.
        source: Source whose times it has.
        unit: Unit as the file gives it.
        width: Numbers at a time.
        low: Least number; None without numbers.
        high: Greatest number; None as above.
        missing: Number of rows with NaN.
        missing_runs: Number of runs of such rows.
        longest_run: Rows of the longest run.
        changes: True unless all rows are equal.
    """

    name: str
    source: str
    unit: str
    width: int
    low: float | None
    high: float | None
    missing: int
    missing_runs: int
    longest_run: int
    changes: bool


@dataclass(frozen=True, eq=False)
class Inspection:
    """Sources and channels of a log.

    Attributes:
        log: Log as it was read.
        sources: Sources in the order of the file.
        channels: Channels in the order of the file.
    """

    log: Log
    sources: tuple[SourceView, ...]
    channels: tuple[ChannelView, ...]

    def summary(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict."""
        log = self.log
        return {
            "file": str(log.path),
            "kind": log.kind,
            "sha256": log.sha256,
            "damage": list(log.damage),
            "notes": list(log.notes),
            "sources": [asdict(source) for source in self.sources],
            "channels": [asdict(channel) for channel in self.channels],
            "skipped": dict(log.skipped),
        }


def inspect_log(log: Log) -> Inspection:
    """Inspect all sources and channels of a log."""
    sources = [
        _source(name, log.types.get(name.split("[")[0], ""), channels[0])
        for name, channels in log.sources.items()
    ]
    return Inspection(log, tuple(sources), tuple(map(_channel, log.channels.values())))


def gaps_of(times: Array) -> NDArray[np.intp]:
    """Return the rows after which there is a gap."""
    steps = np.diff(times)
    ahead = steps[steps > 0]
    return np.flatnonzero(steps > GAP * np.median(ahead)) if len(ahead) else np.empty(0, np.intp)


def restarts_of(times: Array) -> NDArray[np.intp]:
    """Return the rows after which the clock starts again: by more than a gap earlier, for several rows."""
    steps = np.diff(times)
    ahead = steps[steps > 0]
    if not len(ahead):
        return np.empty(0, np.intp)
    falls = np.flatnonzero(-steps > GAP * np.median(ahead))
    return np.array([row for row in falls if (times[row + 1 :][:_STAYS] < times[row]).all()], np.intp)


def _source(name: str, kind: str, channel: Channel) -> SourceView:
    times = channel.times
    steps = np.diff(times)
    is_timed = not np.array_equal(times, np.arange(len(times)))
    ahead = steps[steps > 0]
    known = is_timed and len(ahead) > 0
    median = float(np.median(ahead)) if known else 0.0
    longest = int(np.argmax(steps)) if known else 0
    rate = 1 / median if median > 0 else np.inf
    return SourceView(
        name=name,
        type=kind,
        count=len(times),
        first=float(times[0]),
        span=float(times.max() - times.min()),
        is_timed=is_timed,
        rate=float(rate) if np.isfinite(rate) else None,
        jitter=float(np.quantile(abs(steps - median), 0.95)) if known else None,
        largest_gap=float(steps[longest]) if known else None,
        gap_at=float(times[longest]) if known else None,
        gaps=len(gaps_of(times)) if known else 0,
        backwards=int((steps < 0).sum()),
        restarts=tuple(Restart(*times[row : row + 2].tolist()) for row in restarts_of(times)),
        repeated=int((steps == 0).sum()),
        clock=None if channel.stamps is None else _clock(channel.stamps, times),
    )


def _clock(stamps: Array, times: Array) -> ClockView | None:
    if len(stamps) < _FEWEST or stamps.max() == stamps.min():
        return None
    rows = np.unique(np.linspace(0, len(stamps) - 1, min(_MOST, len(stamps))).astype(int))
    since, late = stamps[rows] - stamps[0], delays(stamps, times)[rows]
    slope, intercept, *_ = scipy.stats.theilslopes(late, since)
    parts = [
        _slope(part_late, part)
        for part, part_late in zip(np.array_split(since, 3), np.array_split(late, 3), strict=True)
    ]
    return ClockView(
        offset=float(times[0] - stamps[0] + intercept),
        skew=float(slope),
        skews=(min(parts), max(parts)),
        scatter=float(np.median(abs(late - intercept - slope * since))),
        tick=_tick(stamps),
        first=float(stamps[0]),
    )


def delays(stamps: Array, times: Array) -> Array:
    """Delay of each message's reception beyond that of the first, by its stamp [s]."""
    return (times - times[0]) - (stamps - stamps[0])


def _slope(values: Array, at: Array) -> float:
    return float(scipy.stats.theilslopes(values, at)[0]) if at.max() > at.min() else 0.0


def _tick(stamps: Array) -> float | None:
    steps = np.diff(stamps)
    ahead = steps[steps > 0]
    if not len(ahead):
        return None
    tick = float(np.median(ahead))
    off = abs(ahead / tick - np.rint(ahead / tick))
    return tick if (off < _TICK).all() else None


def _channel(channel: Channel) -> ChannelView:
    values = channel.values
    missing = np.isnan(values) if values.ndim == 1 else np.isnan(values).any(axis=1)
    edges = np.diff(np.concatenate([[False], missing, [False]]).astype(np.int8))
    runs = np.flatnonzero(edges < 0) - np.flatnonzero(edges > 0)
    finite = values[np.isfinite(values)]
    return ChannelView(
        name=channel.name,
        source=channel.source,
        unit=channel.unit,
        width=1 if values.ndim == 1 else values.shape[1],
        low=float(finite.min()) if len(finite) else None,
        high=float(finite.max()) if len(finite) else None,
        missing=int(missing.sum()),
        missing_runs=len(runs),
        longest_run=int(runs.max()) if len(runs) else 0,
        changes=bool((values != values[:1]).any()) if len(values) else False,
    )
