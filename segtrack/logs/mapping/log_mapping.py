"""Motions from logs and mapping files: channels found, converted, put on one clock and into one frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from segtrack.description import UnknownPartError, VehicleDescription, known, load_vehicle
from segtrack.errors import Problem, SegtrackError
from segtrack.logs.log import Log
from segtrack.logs.mapping.channels import (
    LogTrial,
    MappedQuantity,
    add_files,
    choose_trial,
    cut_rows,
    find_all,
    find_trials,
    has_sides,
)
from segtrack.logs.mapping.convert import (
    constant_notes,
    constant_signals,
    convert_signals,
    convert_steady_rows,
    unlogged_notes,
    with_constants,
)
from segtrack.logs.mapping.mapped_log import MappedLog, Origin, cut_piece, move_to_origin, turn_to_body
from segtrack.logs.mapping.mapping_file import LogMapping, MappingFile, load_mapping
from segtrack.logs.mapping.quantities import Quantities
from segtrack.logs.mapping.source_clocks import (
    SourceTimes,
    find_source_times,
    put_on_one_clock,
    sort_rows,
    unknown_source_problems,
)
from segtrack.logs.reading import read_log
from segtrack.robot import CONSTANT, Motion, Signal


def map_log(
    log: Log, mapping: LogMapping, trial: int | None = None, vehicle: VehicleDescription | None = None
) -> MappedLog:
    """Turn a log into a motion, as a mapping says.

    Rows without a number, or with the time of the row before, are left out and noted. More than the mapping's
    `max_gap` without a value is refused, but for commands, which hold.

    Args:
        log: Log.
        mapping: Mapping.
        trial: Number of the trial, from 1, where the mapping splits the log into some.
        vehicle: The mapping's vehicle, where it is loaded already.

    Raises:
        InvalidValueError: There is no such trial.
        MappingFileError: The mapping does not fit the log; all that does not is listed, with its lines.
        FileAccessError: A further file of the mapping cannot be read.
        LogFileError: Likewise.
        VehicleFileError: The mapping's vehicle has mistakes.
    """
    return _LogMapper(log, mapping, trial, vehicle).result()


def complete_log(log: Log, file: MappingFile, notes: list[str]) -> Log:
    """Return a log with the channels of further files, and rows in order where the mapping says so.

    Args:
        log: Log.
        file: Mapping file.
        notes: List to which it is added how many rows came late.

    Raises:
        FileAccessError: A further file cannot be read.
        LogFileError: Likewise.
    """
    return sort_rows(add_files(log, file.files), file, notes)


class _LogMapper:
    """Stages of mapping a log, with notes and problems so far; each ends with an error if there are any."""

    def __init__(
        self, log: Log, mapping: LogMapping, trial: int | None, vehicle: VehicleDescription | None
    ) -> None:
        self.mapping, self.file = mapping, mapping.file
        self.notes: list[str] = []
        whole = complete_log(log, self.file, self.notes)
        self.notes += (f"damaged: {text}" for text in whole.damage)
        self.trial = choose_trial(whole, mapping, trial)
        self.log = whole if self.trial is None else cut_rows(whole, self.trial)
        self.limits = self.file.start, self.file.end
        named = self.file.vehicle
        self.vehicle = vehicle if vehicle is not None or named is None else load_vehicle(named)
        self.sides = None if self.vehicle is None else self.vehicle.track_offsets
        self.problems: list[Problem] = []

    def result(self) -> MappedLog:
        if not any(map(len, self.log.channels.values())):
            self.problems.append(Problem("", f"cannot be used on {self.log.path.name}, which has no values"))
            self.stop_at_problems()
        if self.log.path.name in (Path(file).name for file in self.file.files):
            self.problems.append(Problem("files", f"must be called otherwise than {self.log.path.name}"))
        self.log = sort_rows(self.log, self.file, self.notes)
        found = self.find(self.file.quantities, "quantities")
        if self.file.rows == "steady":
            self.stop_at_problems()
            signals, self.problems = convert_steady_rows(found, self.sides, self.notes)
            self.stop_at_problems()
            return self.assemble(signals, found, {}, 0.0, ())
        sights = {
            name: self.find(clock.sees, f"sources.{name}.sees")
            for name, clock in self.file.sources.items()
            if clock.sees is not None
        }
        signals, sources, seen = self.collect(found, sights)
        self.stop_at_problems()
        clocks = put_on_one_clock(signals, seen, sources, self.file, self.notes)
        self.problems += clocks.problems
        self.stop_at_problems()
        begin, end = _span(clocks.signals)
        signals = {**clocks.signals, **constant_signals(self.file.quantities, begin, end)}
        signals, problems = move_to_origin(signals, self.file.quantities, self.file.sensors)
        self.problems += problems or _disjoint_sources(signals)
        self.stop_at_problems()
        begin, _ = _span(signals)
        if self.trial is not None:
            begin = self.limit(signals, begin, self.trial)
        clock = {id(times): times - begin for times in (signal.times for signal in signals.values())}
        signals = {key: replace(signal, times=clock[id(signal.times)]) for key, signal in signals.items()}
        signals = self.cut(signals, found)
        self.stop_at_problems()
        self.notes += constant_notes(self.mapping)
        self.notes += () if self.vehicle is None else unlogged_notes(self.vehicle, self.file.quantities)
        return self.assemble(signals, found, sources, begin, clocks.fits)

    def limit(self, signals: Mapping[str, Signal], begin: float, trial: LogTrial) -> float:
        """Limit the used piece to a trial; returns the log's time that its times count from [s]."""
        if trial.window is not None:
            self.limits = trial.window
            return begin
        own = {key: signal for key, signal in signals.items() if signal.source == trial.source}
        if not own:
            message = f"must be of a source of which a quantity is used, got one of {trial.source}"
            raise self.mapping.refusal([Problem("split.channel", message)])
        first, last = _span(own)
        start, end = self.limits
        length = last - first
        self.limits = (0.0 if start is None else start), (length if end is None else min(end, length))
        return first

    def stop_at_problems(self) -> None:
        """Raise all problems so far, if there are any, each with the name of the trial."""
        name = "" if self.trial is None else f" (trial {self.trial.number}, {self.trial.label})"
        if self.problems:
            raise self.mapping.refusal(replace(each, message=each.message + name) for each in self.problems)

    def find(self, quantities: Quantities, at: str) -> list[MappedQuantity]:
        """Quantities that the log has; a problem for each channel or flipper that is missing."""
        everything = list(find_all(self.log, self.vehicle, quantities, at, self.notes))
        self.problems += [part for part in everything if isinstance(part, Problem)]
        return [part for part in everything if isinstance(part, MappedQuantity)]

    def collect(
        self, found: Sequence[MappedQuantity], sights: Mapping[str, Sequence[MappedQuantity]]
    ) -> tuple[dict[str, Signal], dict[str, SourceTimes], dict[str, dict[str, Signal]]]:
        """Signals in the body frame by their own clocks, those clocks, and signals for clocks alone."""
        everything = [*found, *(part for parts in sights.values() for part in parts)]
        used = {part.source: next(iter(part.columns.values())).channel for part in everything}
        sources, problems = find_source_times(self.log, self.file, used, self.notes)
        self.problems += problems
        for name, parts in sights.items():
            for part in parts:
                if part.source != name:
                    message = f"must be of {name}, got a channel of {part.source}"
                    self.problems.append(Problem(part.path, message))
        seen = {
            name: self.convert(parts, sources, quantities)
            for name, parts in sights.items()
            if (quantities := self.file.sources[name].sees) is not None
        }
        return self.convert(found, sources, self.file.quantities), sources, seen

    def convert(
        self, found: Sequence[MappedQuantity], sources: Mapping[str, SourceTimes], quantities: Quantities
    ) -> dict[str, Signal]:
        """Signals in the body frame, of the sources whose times are sound."""
        signals: dict[str, Signal] = {}
        for part in found:
            if (source := sources.get(part.source)) is None:
                continue
            rows = source.times, source.kept
            own, problems = convert_signals(part, *rows, self.sides, self.file.max_gap, self.notes)
            signals |= own
            self.problems += problems
        return turn_to_body(signals, quantities, self.file.sensors)

    def cut(self, signals: Mapping[str, Signal], found: Sequence[MappedQuantity]) -> dict[str, Signal]:
        """Used parts of signals; a problem for each gap."""
        paths = {part.key: part.path for part in found}
        parts: dict[str, Signal] = {}
        complained = set()
        logged = {key: signal for key, signal in signals.items() if signal.source != CONSTANT}
        for key, signal in logged.items():
            path = paths[key if key in paths else key.rpartition(".")[0]]
            parts[key], problem = cut_piece(key, path, signal, self.limits, self.file.max_gap, self.notes)
            if problem is not None and path not in complained:
                complained.add(path)
                self.problems.append(problem)
        return parts | constant_signals(self.file.quantities, *_span(parts))

    def assemble(
        self,
        signals: Mapping[str, Signal],
        found: Sequence[MappedQuantity],
        sources: Mapping[str, SourceTimes],
        begin: float,
        fits: tuple,
    ) -> MappedLog:
        origins = {}
        for part in found:
            clock = sources[part.source].clock if part.source in sources else ""
            for key in signals:
                if key == part.key or key.rpartition(".")[0] == part.key:
                    side = part.columns.get(key.rpartition(".")[2])
                    if side is None and has_sides(part.reference):
                        continue
                    names = part.names if side is None else (side.channel.name,)
                    origins[key] = Origin(names, part.unit, clock)
        for key, constant in self.file.quantities.constants():
            origins[key] = Origin((), constant.unit_of_value, "", constant.value)
        name = self.log.path.name + ("" if self.trial is None else f", trial {self.trial.number}")
        motion, notes = Motion(name, signals), tuple(self.notes)
        return MappedLog(motion, self.mapping, self.log, begin, fits, origins, notes, self.trial)


def _span(signals: Mapping[str, Signal]) -> tuple[float, float]:
    """First and last time of all that was logged [s]."""
    logged = [signal.times for signal in signals.values() if signal.source != CONSTANT]
    return min(float(times[0]) for times in logged), max(float(times[-1]) for times in logged)


def _disjoint_sources(signals: Mapping[str, Signal]) -> list[Problem]:
    """Problem of sources that have no time in common, if they have none."""
    spans: dict[str, tuple[float, float]] = {}
    for signal in signals.values():
        first, last = spans.get(signal.source, (float("inf"), float("-inf")))
        spans[signal.source] = min(first, float(signal.times[0])), max(last, float(signal.times[-1]))
    if max(first for first, _ in spans.values()) <= min(last for _, last in spans.values()):
        return []
    listed = ", ".join(f"{name} from {first:.10g} to {last:.10g} s" for name, (first, last) in spans.items())
    return [Problem("sources", f"have no time in common: {listed}; see align and offset")]


def map_file(
    log: str | Path,
    mapping: str | Path,
    vehicle: str | None = None,
    constants: Sequence[str] = (),
    trial: int | None = None,
) -> MappedLog:
    """Read a log and a mapping file, and turn the log into a motion.

    Args:
        log: Path of the log.
        mapping: Path of the mapping file.
        vehicle: Bundled vehicle, or path of a vehicle file, instead of the mapping's.
        constants: Quantities that were the same all the time, over what the mapping says of them:
            `flipper_angle.front_left=45deg`, in segtrack's signs.
        trial: Number of the trial, from 1, where the mapping splits the log into some.

    Raises:
        InvalidValueError: A constant is not `NAME=VALUE` with a unit, or there is no such trial.
        MappingFileError: The mapping file has mistakes, or does not fit the log; all that is found is listed.
        SegtrackError: A file cannot be read, or the vehicle file has mistakes.
    """
    content, checked = _read(log, mapping, vehicle, constants)
    return map_log(content, checked, trial)


def map_trials(
    log: str | Path,
    mapping: str | Path,
    vehicle: str | None = None,
    constants: Sequence[str] = (),
    trial: int | None = None,
) -> tuple[MappedLog, ...]:
    """Read a log and a mapping file, and turn each trial of the log into a motion.

    Args:
        log: See `map_file`, as for the others.
        mapping: Path of the mapping file.
        vehicle: Vehicle instead of the mapping's.
        constants: Quantities that were the same all the time.
        trial: Number of the only trial that is asked for.

    Returns:
        The trials in their order; the whole log where the mapping does not split it.

    Raises:
        SegtrackError: See `map_file`.
    """
    content, checked = _read(log, mapping, vehicle, constants)
    trials = find_trials(complete_log(content, checked.file, []), checked) if trial is None else ()
    if not trials:
        return (map_log(content, checked, trial),)
    return tuple(map_log(content, checked, each.number) for each in trials)


def _read(
    log: str | Path, mapping: str | Path, vehicle: str | None, constants: Sequence[str]
) -> tuple[Log, LogMapping]:
    """A log and its mapping, with what is given beside its file."""
    content = read_log(log)
    checked = load_mapping(mapping, partial(_mapping_problems, content, vehicle))
    return content, with_constants(checked.with_vehicle(vehicle), constants)


def _mapping_problems(log: Log, vehicle: str | None, file: MappingFile) -> Iterator[Problem]:
    """Yield the names in a mapping file with mistakes that the log, or the vehicle, does not have."""
    try:
        log = add_files(log, file.files)
    except (UnknownPartError, SegtrackError):
        return  # What is missing may be in them.
    for name, clock in known(file, "sources", {}).items():
        yield from unknown_source_problems(log, name, clock)
    description, named = None, vehicle if vehicle is not None else known(file, "vehicle", None)
    with suppress(SegtrackError):  # What is wrong in its file is said when this one is right.
        description = None if named is None else load_vehicle(named)
    for at, quantities in file.all_quantities():
        parts = find_all(log, description, quantities, at, [])
        yield from (part for part in parts if isinstance(part, Problem))
