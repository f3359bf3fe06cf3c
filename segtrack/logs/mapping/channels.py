"""Parts of a log that a mapping takes: channels that it names, cared for, and the rows of each trial.

Channels are looked up in the log; each that does not fit is a problem. A log has several trials where the
mapping splits it by windows of time or by a channel that numbers them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from segtrack.description import Spec, VehicleDescription
from segtrack.errors import InvalidValueError, Phrase, Problem
from segtrack.logs.log import Channel, Log
from segtrack.logs.mapping.mapping_file import LogMapping
from segtrack.logs.mapping.quantities import (
    SPEED,
    TURNING,
    BeltSpeed,
    Orientation,
    Position,
    Quantities,
    Reference,
    SeveralChannels,
    SideChannels,
    standard_unit,
    unit_problem,
)
from segtrack.logs.reading import read_log

Array = NDArray[np.float64]
_SIGMA = 1.4826
"""Standard deviation of normal numbers over their median absolute deviation."""
_STILL, _LONG, _FEW = 0.01, 0.4, 0.01
"""Steps over a period: a counter stands up to the first, is too fast beyond the second; share that may be."""


def care_for(reference: Reference, path: str, values: Array, notes: list[str]) -> tuple[Array, str | None]:
    """Return a channel's numbers as the mapping's care for them leaves them, NaN where one is none.

    Beside them is what is wrong of the counter's period; None if nothing is.

    Marks of none go first, then spikes, then turns of counters are added up: neither of them makes a spike.

    Args:
        reference: Entry of the mapping file.
        path: Path of the quantity, with the key of the channel, for notes.
        values: Numbers (n,) or (n, k).
        notes: List to which it is added how many are left out, or how often a counter started again.
    """
    wrap = reference.wrap if isinstance(reference, BeltSpeed) else None
    if not reference.missing and reference.despike is None and wrap is None:
        return values, None
    found = np.array(values)
    if reference.missing:
        marks = np.isin(found, reference.missing)
        found[marks] = np.nan
        if marks.any():
            listed = ", ".join(f"{mark:g}" for mark in reference.missing)
            notes.append(f"{path}: {marks.sum()} of {found.size} numbers mean none ({listed})")
    if reference.despike is not None:
        window, limit = reference.despike.window, reference.despike.limit
        spikes = np.stack([find_spikes(c, window, limit) for c in np.atleast_2d(found.T)]).T.reshape(
            found.shape
        )
        found[spikes] = np.nan
        if spikes.any():
            rule = f"beyond {limit:g} deviations of {window} numbers"
            notes.append(f"{path}: {spikes.sum()} of {found.size} numbers are spikes, {rule}: left out")
    if wrap is None:
        return found, None
    problem = _period_problem(found, wrap)
    return (_unwrapped(found, wrap, path, notes) if problem is None else found), problem


def find_spikes(values: Array, window: int, limit: float) -> NDArray[np.bool_]:
    """Return which numbers are spikes (n,): Hampel's rule.

    A number is one if it is farther from the median of the window around it than `limit` times their
    deviation, 1.4826 times the median absolute one. Windows at the ends are what is there of them.

    Args:
        values: Numbers (n,); those that are NaN are none, and counted nowhere.
        window: Length of the window, odd, at most 1001.
        limit: Largest deviation over that of the window.
    """
    there = np.isfinite(values)
    numbers, half = values[there], window // 2
    padded = np.concatenate([np.full(half, np.nan), numbers, np.full(half, np.nan)])
    found = np.zeros(len(numbers), dtype=bool)
    block = _BLOCK // window
    for first in range(0, len(numbers), block):
        last = min(first + block, len(numbers))
        around = np.lib.stride_tricks.sliding_window_view(padded[first : last + 2 * half], window)
        is_whole = not np.isnan(around[[0, -1]]).any()
        median = np.median if is_whole else np.nanmedian
        middle = median(around, axis=1)
        spread = _SIGMA * median(abs(around - middle[:, None]), axis=1)
        found[first:last] = abs(numbers[first:last] - middle) > limit * spread
    spikes = np.zeros(len(values), dtype=bool)
    spikes[there] = found
    return spikes


_BLOCK = 2_000_000
"""Numbers of all windows at a time."""


def _period_problem(values: Array, period: float) -> str | None:
    """Describe steps from row to row that are near half of a period, of which nobody knows the way.

    Single ones are let pass: rows may be missing there.
    """
    steps = np.diff(values)
    part = np.abs(np.remainder(steps[np.isfinite(steps)] / period + 0.5, 1.0) - 0.5)
    moves, beyond = int(np.count_nonzero(part > _STILL)), int(np.count_nonzero(part > _LONG))
    if beyond <= _FEW * moves:
        return None
    rule = "must be more than twice what a counter moves from row to row, in its unit"
    return f"{rule}, got {period:g}: {100 * _LONG:g} % of it are exceeded by {beyond} of {moves} steps"


def _unwrapped(values: Array, period: float, path: str, notes: list[str]) -> Array:
    """Numbers of a counter that starts again after a period, added up; steps are shorter than half of it."""
    found, there = np.array(values), np.isfinite(values)
    found[there] = np.unwrap(values[there], period=period)
    rounds = np.rint((found[there] - values[there]) / period)
    if count := int(np.count_nonzero(np.diff(rounds))):
        share = 100 * np.abs(np.diff(found[there])).max() / period
        notes.append(
            f"{path}: starts again {count} times, at {period:g}; steps are at most {share:.2g} % of that"
        )
    return found


_PART = re.compile(r"^(?P<name>.+)(?:\.(?P<axis>[xyzw])|\[(?P<index>\d+)\])$")
_LISTED = 12


@dataclass(frozen=True, eq=False)
class ChannelColumn:
    """Channel of a log, or one component of it.

    Attributes:
        channel: Channel.
        values: Numbers, one at a time (n,), or several (n, k).
    """

    channel: Channel
    values: NDArray[np.float64]

    @property
    def width(self) -> int:
        """Numbers at a time."""
        return 1 if self.values.ndim == 1 else self.values.shape[1]


@dataclass(frozen=True, eq=False)
class MappedQuantity:
    """Quantity of a mapping with its channels; sides from two sources are two of these.

    Attributes:
        path: Path in the mapping file.
        key: Quantity, with the name of a flipper: `pitch`, `flipper_angle.front_left`.
        reference: Entry of the mapping file.
        columns: Channels by the mapping's key (`left`, `channels[0]`).
        unit: Unit of the channels; empty for quantities without one.
        source: Source whose times they have.
    """

    path: str
    key: str
    reference: Reference
    columns: Mapping[str, ChannelColumn]
    unit: str
    source: str

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the channels."""
        return tuple(column.channel.name for column in self.columns.values())

    def stacked(self) -> NDArray[np.float64]:
        """All numbers side by side (n, k)."""
        return np.column_stack([column.values for column in self.columns.values()])


def add_files(log: Log, files: Sequence[str]) -> Log:
    """The log with channels, and damage, of further files; each is called `FILE: CHANNEL`.

    Raises:
        FileAccessError: A file cannot be read.
        LogFileError: A file is no log.
    """
    channels, damage = dict(log.channels), list(log.damage)
    for path in files:
        file, other = Path(path).name, read_log(path)
        damage += [f"{file}: {text}" for text in other.damage]
        for name, channel in other.channels.items():
            source = channel.source if channel.source == file else f"{file}: {channel.source}"
            channels[f"{file}: {name}"] = replace(channel, name=f"{file}: {name}", source=source)
    return replace(log, channels=channels, damage=tuple(damage))


def find_column(log: Log, name: str) -> ChannelColumn | None:
    """The channel of a name; or one number of a channel with several: `/odom.pose.position.x`, `data[3]`."""
    if (channel := log.channels.get(name)) is not None:
        return ChannelColumn(channel, channel.values)
    part = _PART.match(name)
    channel = None if part is None else log.channels.get(part["name"])
    if part is None or channel is None or channel.values.ndim == 1:
        return None
    index = "xyzw".index(part["axis"]) if part["axis"] else int(part["index"])
    return ChannelColumn(channel, channel.values[:, index]) if index < channel.values.shape[1] else None


def describe_missing_channel(log: Log, name: str) -> str:
    """Describe a name that no channel has, with the nearest one or a list."""
    told = f"is no channel of {log.path.name}, got {name!r}"
    if close := get_close_matches(name, log.channels, n=1):
        return f"{told}; did you mean {close[0]}?"
    there = list(log.channels)
    more = f" and {len(there) - _LISTED} more" if len(there) > _LISTED else ""
    return f"{told}; there are: {', '.join(there[:_LISTED]) or 'none'}{more}"


def find_all(
    log: Log, vehicle: VehicleDescription | None, quantities: Quantities, at: str, notes: list[str]
) -> Iterator[MappedQuantity | Problem]:
    """Yield all quantities of a mapping with their channels, and problems of those that do not fit.

    Args:
        log: Log with the channels.
        vehicle: Vehicle with the flippers, if it is known.
        quantities: Entries to look up; those with mistakes of their own are looked up as far as they go.
        at: Path of the quantities in the mapping file.
        notes: List to which assumptions are added.
    """
    for path, reference in quantities.references():
        yield from _find(log, f"{at}.{path}", path, reference, notes)
        flipper = path.partition(".")[2]
        if vehicle is not None and flipper and flipper not in vehicle.flippers:
            there = ", ".join(vehicle.flippers) or "none"
            yield Problem(f"{at}.{path}", f"is no flipper of {vehicle.name}; there are: {there}")


def _find(
    log: Log, where: str, path: str, reference: Reference, notes: list[str]
) -> Iterator[MappedQuantity | Problem]:
    problems: list[Problem] = []
    columns: dict[str, ChannelColumn] = {}
    for key, name in reference.channel_names():
        if (column := find_column(log, name)) is None:
            problems.append(Problem(f"{where}.{key}", describe_missing_channel(log, name)))
        else:
            columns[key] = column
    is_right = _is_right(reference)
    if is_right and not problems:
        problems += [Problem(f"{where}{key}", text) for key, text in _width_problems(reference, columns)]
    if problems or not is_right:
        yield from problems
        return
    for source, part in _by_source(columns).items():
        unit, complaints = _unit(reference, part, where, notes)
        yield from complaints
        if not complaints:
            cared = {key: _care_for(reference, path, key, column, notes) for key, column in part.items()}
            wraps = [
                Problem(f"{where}.wrap", problem) for _, problem in cared.values() if problem is not None
            ]
            yield from wraps
            if not wraps:
                part = {key: column for key, (column, _) in cared.items()}
                yield MappedQuantity(where, path, reference, part, unit, source)


def _is_right(part: Spec) -> bool:
    """Return True if nothing is wrong of a part of the file, or of the parts in it."""
    inner = (value for value in vars(part).values() if isinstance(value, Spec))
    return part.is_whole and not part.own_problems() and all(map(_is_right, inner))


def _care_for(
    reference: Reference, path: str, key: str, column: ChannelColumn, notes: list[str]
) -> tuple[ChannelColumn, str | None]:
    """A column with its care, and the problem of the wrap with it."""
    where = f"{path}.{key}" if isinstance(reference, SideChannels) else path
    values, problem = care_for(reference, where, column.values, notes)
    return replace(column, values=values), None if problem is None else f"{problem} of {column.channel.name}"


def _width_problems(reference: Reference, columns: Mapping[str, ChannelColumn]) -> Iterator[tuple[str, str]]:
    """Yield keys, with their dots, and problems with their numbers at a time, or their sources."""
    if isinstance(reference, SeveralChannels) and not _is_geodetic(reference):
        count = sum(column.width for column in columns.values())
        widths = {Orientation: (4, 9, 12), Position: (2, 3, 12)}.get(type(reference), (3,))
        if count not in widths:
            *others, last = map(str, widths)
            listed = f"{', '.join(others)} or {last}" if others else last
            yield ".channels", f"must have {listed} numbers at a time, got {count}"
    else:
        for key, column in columns.items():
            if column.width > 1:
                name, width = column.channel.name, column.width
                hint = f"say which, as in {name}.x" if width < 5 else f"say which, as in {name}[0]"
                yield f".{key}", f"must be one number at a time, {name} has {width}: {hint}"
    sources = _by_source(columns)
    if len(sources) > 1 and not has_sides(reference):
        yield "", f"must be of one source, got {' and '.join(sources)}"


def _is_geodetic(reference: Reference) -> bool:
    return isinstance(reference, Position) and reference.channels is None


def has_sides(reference: Reference) -> bool:
    """Return True for a quantity of single sides, which a twist is not."""
    is_twist = isinstance(reference, BeltSpeed) and reference.is_twist
    return isinstance(reference, SideChannels) and not is_twist


def _by_source(columns: Mapping[str, ChannelColumn]) -> dict[str, dict[str, ChannelColumn]]:
    found: dict[str, dict[str, ChannelColumn]] = {}
    for key, column in columns.items():
        found.setdefault(column.channel.source, {})[key] = column
    return found


def _unit(
    reference: Reference, columns: Mapping[str, ChannelColumn], where: str, notes: list[str]
) -> tuple[str, list[Problem]]:
    """Unit of the channels, the mapping's or else the log's own, and problems with it."""
    said = getattr(reference, "unit", None)
    own = list(dict.fromkeys(column.channel.unit for column in columns.values() if column.channel.unit))
    has_table = isinstance(reference, BeltSpeed) and reference.table is not None
    if not reference.units or has_table or _is_geodetic(reference):
        return "", []
    if isinstance(reference, BeltSpeed) and reference.is_twist:
        problems = []
        for (key, column), units in zip(columns.items(), (SPEED, TURNING), strict=True):
            problem = unit_problem(column.channel.unit, units) if column.channel.unit else None
            if problem is not None:
                problems.append(Problem(f"{where}.{key}", f"has the wrong unit in the log: it {problem}"))
        return "", problems
    if said is not None:
        if own and standard_unit(own[0]) != said:
            notes.append(f"{where}: taken as {said}, as the mapping says, where the log says {own[0]}")
        return said, []
    if not own:
        message = f"is missing, and the log says none; it can be {', '.join(reference.units)}"
        return "", [Problem(f"{where}.unit", message)]
    if (problem := unit_problem(own[0], reference.units)) is not None:
        return "", [Problem(f"{where}.unit", f"is missing, and the log's {problem}")]
    unit = standard_unit(own[0])
    more = list(reference.unit_problems(unit)) if isinstance(reference, BeltSpeed) else []
    return unit, [problem.below(where) for problem in more]


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
