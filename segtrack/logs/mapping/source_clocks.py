"""Times of a log's sources: whether they ascend, rows put in order of them, and their synchronisation."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.description import known
from segtrack.errors import ClockError, Problem
from segtrack.geometry import rpy_of
from segtrack.logs.log import Channel, Log, format_count
from segtrack.logs.mapping.channels import describe_missing_channel, find_column
from segtrack.logs.mapping.clock_fit import ClockFit, Estimate, fit_to_receive_times
from segtrack.logs.mapping.mapped_log import rotation_from_rpy
from segtrack.logs.mapping.mapping_file import MappingFile, Sensor, SourceClock
from segtrack.logs.mapping.motion_fit import fit_clock
from segtrack.logs.mapping.overlay import SKEW_UNKNOWN
from segtrack.logs.mapping.quantities import TIME, AngularVelocity
from segtrack.logs.mapping.trembling import find_trembling
from segtrack.logs.reading import GAP, restarts_of, seconds_of
from segtrack.robot import Motion, Signal


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
        named = clock.time if clock.unit == "s" else f"{clock.time}, in {clock.unit}"
        if clock.unit == "d":  # As Excel or MATLAB count them, or since the log's begin.
            return seconds_of(column.values, "d", clock.time)[0], named, None
        return column.values * TIME[clock.unit], named, None
    if clock.clock == "header" and channel.stamps is None:
        message = "must be receive: its messages have no stamps"
        return channel.times, "", Problem(f"sources.{name}.clock", message)
    if channel.stamps is not None and clock.clock != "receive":
        return channel.stamps, "header", None
    is_topic = name in log.types or name.rpartition(": ")[2].startswith("/")
    return channel.times, "receive" if is_topic or channel.stamps is not None else "file", None


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


_NOTED_SKEW = 1e-3
"""A skew beyond is noted [-]: ten times what clocks of quartz differ by."""
_LEAST_SKEW_STD = 1e-6
"""Least standard deviation of a skew by receive times [-]."""
_UNEVEN = 0.02
"""A header's clock that leaves an even one by more is noted [s]."""
_TURNED = np.radians(0.5)
"""A sensor that is turned from the mapping's frame by more is noted [rad]: none is mounted more precisely."""


@dataclass(frozen=True, eq=False)
class SourceTimes:
    """Measurement times of a source's values.

    Attributes:
        times: Times on the receiver's clock, or the only one that the source has (n,) [s].
        kept: Mask of the rows that have a time of their own (n,).
        clock: `header`, `receive`, `file` where there is no other, or the channel that has the times.
        fit: Fit of the header's clock to receive times, if it is used.
    """

    times: NDArray[np.float64]
    kept: NDArray[np.bool_]
    clock: str
    fit: ClockFit | None = None


def find_source_times(
    log: Log, file: MappingFile, used: Mapping[str, Channel], notes: list[str]
) -> tuple[dict[str, SourceTimes], list[Problem]]:
    """Return the times of all used sources, and problems with them.

    Args:
        log: Log, with the channels of further files.
        file: Mapping file.
        used: One channel of each used source, by the source's name.
        notes: List to which assumptions are added.
    """
    problems = [p for name, clock in file.sources.items() for p in _source_problems(log, name, clock, used)]
    found: dict[str, SourceTimes] = {}
    for name, channel in used.items():
        clock = file.sources.get(name, SourceClock())
        times, kind, problem = find_times(log, name, clock, channel)
        if problem is not None:
            problems.append(problem)
            continue
        if clock.time is not None and clock.unit != "s":
            notes.append(f"{name}: its times are {kind}")
        is_known = np.isfinite(times)
        complaint = describe_disorder(times[is_known])
        if complaint is not None and kind == "header" and clock.clock is None:
            notes.append(f"{name}: times of receiving are used, since those of its headers {complaint}")
            times, kind = channel.times, "receive"
            is_known, complaint = np.isfinite(times), describe_disorder(times[np.isfinite(times)])
        if complaint is not None:
            hint = "; the clock of receiving may not" if kind == "header" else ""
            hint += describe_order_remedy(times[is_known])
            problems.append(Problem(f"sources.{name}", f"has times that {complaint}{hint}"))
            continue
        kept = is_known.copy()
        kept[is_known] = np.concatenate([[True], np.diff(times[is_known]) > 0])
        if not kept.all():
            count = int((~kept).sum())
            notes.append(f"{name}: {count} rows have the time of the row before, or none: left out")
        source = SourceTimes(times, kept, kind)
        if kind == "header":
            source, problem = _on_receive_times(name, source, channel, clock, notes)
            problems += [] if problem is None else [problem]
        found[name] = source
    return found, problems


def unknown_source_problems(log: Log, name: str, clock: SourceClock) -> Iterator[Problem]:
    """Yield a problem for each source, and channel with its times, that the log does not have."""
    there = log.sources
    for key, source in (("", name), (".align", known(clock, "align", None))):
        if source is not None and source not in there:
            message = f"is no source of {log.path.name}, got {source!r}"
            yield Problem(f"sources.{name}{key}", f"{message}; there are: {', '.join(there) or 'none'}")
    time = known(clock, "time", None)
    if time is not None and find_column(log, time) is None:
        yield Problem(f"sources.{name}.time", describe_missing_channel(log, time))


def _source_problems(log: Log, name: str, clock: SourceClock, used: Iterable[str]) -> Iterator[Problem]:
    """Yield the problems of a source's entry in the mapping."""
    yield from unknown_source_problems(log, name, clock)
    if clock.align is not None and clock.align in log.sources and clock.align not in used:
        message = f"must be a source of which a quantity is used, got {clock.align!r}"
        yield Problem(f"sources.{name}.align", message)


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
        leaves = f"it leaves a straight line by {fit.unevenness:.3g} s"
        notes.append(f"{name}: its header's clock is not even: {leaves}")
    return SourceTimes(fit.times(source.times), source.kept, "header", fit), None


ClockSignals = Mapping[str, Mapping[str, Signal]]
"""Signals by key that are used for a source's clock alone, by the source's name."""


class Clocks(NamedTuple):
    """Signals on one clock.

    Attributes:
        signals: Signals by key; those without a standard deviation get that of the fit.
        fits: Fits of headers' clocks to receive times, and of sources to others.
        problems: Problems of clocks that cannot be fitted.
    """

    signals: dict[str, Signal]
    fits: tuple[ClockFit, ...]
    problems: list[Problem]


def put_on_one_clock(
    signals: Mapping[str, Signal],
    seen_besides: ClockSignals,
    sources: Mapping[str, SourceTimes],
    file: MappingFile,
    notes: list[str],
) -> Clocks:
    """Put signals in the body frame, by the clocks of their sources, on that of the log.

    A source is fitted to another one when that has been put on the log's clock.
    """
    found = dict(signals)
    seen = {name: dict(seen_besides.get(name, {})) for name in file.sources}
    fits = [source.fit for source in sources.values() if source.fit is not None]
    problems: list[Problem] = []
    for name in _sort_sources(file):
        clock = file.sources[name]
        own = {key: signal for key, signal in found.items() if signal.source == name}
        motion = Motion(name, {**seen[name], **own})
        if not motion.signals:
            continue
        if clock.align is None:
            start = min(float(signal.times[0]) for signal in motion.signals.values())
            found |= _shift(own, clock, start)
            seen[name] = _shift(seen[name], clock, start)
            continue
        reference = {key: signal for key, signal in found.items() if signal.source == clock.align}
        pair = Motion(clock.align, {**seen.get(clock.align, {}), **reference}), motion
        ours, theirs = (_find_sensor(each.name, found, file) for each in pair)
        try:
            mounted = rotation_from_rpy(theirs.rpy), rotation_from_rpy(ours.rpy)
            fit = fit_clock(*pair, clock.by, *mounted, _skew_std(name, sources, file))
        except ClockError as error:
            problems.append(Problem(f"sources.{name}.align", f"cannot be done: {error}"))
            continue
        fits.append(fit)
        if abs(fit.skew.value) > _NOTED_SKEW:
            notes.append(_describe_skew(fit))
        _note_sensor(fit, (ours, theirs), _find_reference(fit.biased, "angular_velocity", found, file), notes)
        found |= _apply_fit(own, fit)
        seen[name] = _apply_fit(seen[name], fit)
        for motion, noise in zip(pair, fit.noises, strict=True):
            found |= _add_noise(found, motion, fit, noise, notes)
            _note_trembling(motion, notes)
    return Clocks(found, tuple(fits), problems)


def _skew_std(name: str, sources: Mapping[str, SourceTimes], file: MappingFile) -> float:
    """Standard deviation of a source's skew before it is aligned: what the mapping says, or receive times.

    Stamps of both sources that are on the clock of receiving have as much of it as their fits leave.
    """
    clock = file.sources[name]
    stds = [SKEW_UNKNOWN if clock.skew_std is None else clock.skew_std]
    pair = [(sources.get(key), file.sources.get(key, SourceClock())) for key in (name, clock.align or "")]
    fits = [each.fit for each, _ in pair if each is not None and each.fit is not None]
    is_unmoved = pair[1][1].align is None and pair[1][1].offset is None and pair[1][1].skew == 0
    if len(fits) == 2 and is_unmoved and all(fit.unevenness <= _UNEVEN for fit in fits):
        stds.append(max(math.hypot(*(fit.skew.std for fit in fits)), _LEAST_SKEW_STD))
    return min(stds)


def _describe_skew(fit: ClockFit) -> str:
    pace = "slow" if fit.skew.value > 0 else "fast"
    size = f"{100 * abs(fit.skew.value):.2g} +- {100 * fit.skew.margin:.2g} %"
    return (
        f"{fit.source}: its clock would run {size} {pace} on that of {fit.reference}, where clocks of quartz "
        f"differ by 0.01 %; with skew_std: 1e-4 it is taken for one of these"
    )


def _note_trembling(motion: Motion, notes: list[str]) -> None:
    """Say once of a gyroscope that it trembles faster than it resolves."""
    rates = motion.signals.get("angular_velocity")
    trembling = None if rates is None else find_trembling(rates)
    if trembling is not None and (note := f"{motion.name}: {trembling}") not in notes:
        notes.append(note)


def _sort_sources(file: MappingFile) -> list[str]:
    """Names of the file's sources, each after the one that it is aligned to."""
    aligned = {name: filter(None, [clock.align]) for name, clock in file.sources.items()}
    return [name for name in TopologicalSorter(aligned).static_order() if name in file.sources]


def _shift(signals: Mapping[str, Signal], clock: SourceClock, start: float) -> dict[str, Signal]:
    """Signals with the offset and skew that the mapping says; the skew counts from a start [s]."""
    offset = clock.offset or 0.0
    return {
        key: replace(signal, times=signal.times + offset + clock.skew * (signal.times - start))
        for key, signal in signals.items()
    }


def _apply_fit(signals: Mapping[str, Signal], fit: ClockFit) -> dict[str, Signal]:
    """Signals by the clock that a fit puts them on."""
    return {key: replace(signal, times=fit.times(signal.times)) for key, signal in signals.items()}


def _find_reference(source: str, key: str, signals: Mapping[str, Signal], file: MappingFile) -> Any:
    """Entry of the mapping for a quantity that a source sees; None if there is none."""
    if key in signals and signals[key].source == source:
        return getattr(file.quantities, key)
    return getattr(file.sources.get(source, SourceClock()).sees, key, None)


def _find_sensor(source: str, signals: Mapping[str, Signal], file: MappingFile) -> Sensor:
    """The sensor that measures a source's turning."""
    for key in ("angular_velocity", "orientation", "yaw"):
        if (reference := _find_reference(source, key, signals, file)) is not None:
            return file.sensors.get(reference.sensor or "", Sensor())
    return Sensor()


def _note_sensor(
    fit: ClockFit, sensors: tuple[Sensor, Sensor], rates: AngularVelocity | None, notes: list[str]
) -> None:
    """Say what is otherwise than the mapping has it: of two sensors, and of rates that are biased.

    Both show one motion, so that either may be turned: M' a = R b is M a = (M M'^-1 R) b as well.

    Args:
        fit: Fit of the source's clock.
        sensors: Those of the reference and of the source, as mapped.
        rates: Rates of which the fit has a bias.
        notes: List to which it is added.
    """
    reference, mapped = (rotation_from_rpy(sensor.rpy) for sensor in sensors)
    for mounting in fit.mountings:
        nearest = mounting.nearest(mapped)
        apart = (nearest * mapped.inv()).magnitude()
        if not mounting.holds(mapped) and apart > _TURNED:
            own, other = (
                ", ".join(f"{angle + 0.0:.4f}" for angle in rpy_of(turned.as_matrix()))
                for turned in (nearest, mapped * nearest.inv() * reference)
            )
            what = f"by {mounting.by} they are turned against each other by {np.degrees(apart):.3g} deg"
            lines = f"rpy: [{own}] of {fit.source}'s sensor, or rpy: [{other}] of {fit.reference}'s"
            notes.append(f"{fit.source} and {fit.reference}: {what}: {lines}")
    if len(fit.bias) == 3 and not all(part.holds(0.0) for part in fit.bias):
        offset = (0.0, 0.0, 0.0) if rates is None else rates.bias
        numbers = ", ".join(f"{part.value + known:.5f}" for part, known in zip(fit.bias, offset, strict=True))
        notes.append(f"{fit.biased}: its rates have a bias: bias: [{numbers}]")


def _add_noise(
    signals: Mapping[str, Signal], motion: Motion, fit: ClockFit, noise: Estimate, notes: list[str]
) -> dict[str, Signal]:
    """The signal that a fit found the noise of, with it, if the mapping says none."""
    is_source = motion.name == fit.source
    order = ("angular_velocity", "orientation") if is_source else ("orientation", "angular_velocity")
    keys = {"turning": order, "pitch": ("pitch",), "yaw": ("yaw",)}.get(fit.by, ())
    key = next((key for key in keys if key in motion.signals), None)
    if key is None or key not in signals or signals[key].source != motion.name:
        return {}
    if signals[key].std is not None or not np.isfinite(noise.value) or noise.low <= 0:
        return {}
    interval = f"{noise.low:.3g} to {noise.high:.3g}"
    notes.append(f"{key}: std {noise.value:.3g} ({interval}), as the clocks' fit has it")
    return {key: replace(signals[key], std=noise.value)}
