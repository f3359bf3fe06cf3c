"""From a log to a motion: channels found, turned into quantities, put on one clock and into one frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from segtrack.description import VehicleDescription, load_vehicle
from segtrack.errors import Problem
from segtrack.logs.log import Log
from segtrack.logs.mapping.channels import Found, find_all, has_sides, with_files
from segtrack.logs.mapping.convert import signals_of
from segtrack.logs.mapping.file import Mapping as MappingOf
from segtrack.logs.mapping.file.quantities import Quantities
from segtrack.logs.mapping.frames import moved_to_origin, turned_to_body
from segtrack.logs.mapping.gaps import used_piece
from segtrack.logs.mapping.mapped_log import MappedLog, Origin
from segtrack.logs.mapping.sources import SourceTimes, source_times
from segtrack.logs.mapping.steady import steady_rows
from segtrack.logs.mapping.synchrony import put_on_one_clock
from segtrack.logs.motion import Motion, Signal


def map_log(log: Log, mapping: MappingOf) -> MappedLog:
    """Turn a log into a motion, as a mapping says.

    Rows without a number, or with the time of the row before, are left out and noted. More than the mapping's
    `max_gap` without a value is refused, but for commands, which hold.

    Raises:
        MappingFileError: The mapping does not fit the log; all that does not is listed, with its lines.
        FileAccessError: A further file of the mapping cannot be read.
        LogFileError: Likewise.
        VehicleFileError: The mapping's vehicle has mistakes.
    """
    return _Work(log, mapping).result()


def gauge_of(vehicle: VehicleDescription | None) -> float | None:
    """Distance of the middles of a vehicle's outermost main tracks [m]; None without them on both sides."""
    if vehicle is None:
        return None
    places = [track.y for track in vehicle.mounted_tracks()]
    return max(places) - min(places) if places and min(places) < 0 < max(places) else None


class _Work:
    """What has been found out so far; each stage ends with an error if there are problems."""

    def __init__(self, log: Log, mapping: MappingOf) -> None:
        self.mapping, self.file = mapping, mapping.file
        self.log = with_files(log, self.file.files)
        self.vehicle = None if mapping.vehicle is None else load_vehicle(mapping.vehicle)
        self.notes: list[str] = []
        self.problems: list[Problem] = []

    def result(self) -> MappedLog:
        if not any(map(len, self.log.channels.values())):
            self.problems.append(Problem("", f"cannot be used on {self.log.path.name}, which has no values"))
            self.stop_at_problems()
        if self.log.path.name in (Path(file).name for file in self.file.files):
            self.problems.append(Problem("files", f"must be called otherwise than {self.log.path.name}"))
        found = self.found(self.file.quantities, "quantities")
        if self.file.rows == "steady":
            self.stop_at_problems()
            signals, self.problems = steady_rows(found, gauge_of(self.vehicle), self.notes)
            self.stop_at_problems()
            return self.mapped(signals, found, {}, 0.0, ())
        sights = {
            name: self.found(clock.sees, f"sources.{name}.sees")
            for name, clock in self.file.sources.items()
            if clock.sees is not None
        }
        signals, sources, seen = self.signals(found, sights)
        self.stop_at_problems()
        clocks = put_on_one_clock(signals, seen, sources, self.file, self.notes)
        self.problems += clocks.problems
        self.stop_at_problems()
        signals, problems = moved_to_origin(clocks.signals, self.file.quantities, self.file.sensors)
        self.problems += problems or _apart(signals)
        self.stop_at_problems()
        begin = min(float(signal.times[0]) for signal in signals.values())
        signals = self.pieces(
            {key: replace(signal, times=signal.times - begin) for key, signal in signals.items()}, found
        )
        self.stop_at_problems()
        return self.mapped(signals, found, sources, begin, clocks.fits)

    def stop_at_problems(self) -> None:
        """Raise all problems so far, if there are any."""
        if self.problems:
            raise self.mapping.refusal(self.problems)

    def found(self, quantities: Quantities, at: str) -> list[Found]:
        """What the log has of quantities; what it lacks is a problem, as are flippers the vehicle lacks."""
        everything = list(find_all(self.log, self.vehicle, quantities, at, self.notes))
        self.problems += [part for part in everything if isinstance(part, Problem)]
        return [part for part in everything if isinstance(part, Found)]

    def signals(
        self, found: Sequence[Found], sights: Mapping[str, Sequence[Found]]
    ) -> tuple[dict[str, Signal], dict[str, SourceTimes], dict[str, dict[str, Signal]]]:
        """Signals in the body frame by their own clocks, those clocks, and what else shows them."""
        everything = [*found, *(part for parts in sights.values() for part in parts)]
        used = {part.source: next(iter(part.columns.values())).channel for part in everything}
        sources, problems = source_times(self.log, self.file, used, self.notes)
        self.problems += problems
        for name, parts in sights.items():
            for part in parts:
                if part.source != name:
                    self.problems.append(
                        Problem(part.path, f"must be of {name}, got a channel of {part.source}")
                    )
        seen = {}
        for name, parts in sights.items():
            quantities = self.file.sources[name].sees
            if quantities is not None:
                seen[name] = turned_to_body(self.converted(parts, sources), quantities, self.file.sensors)
        signals = turned_to_body(self.converted(found, sources), self.file.quantities, self.file.sensors)
        return signals, sources, seen

    def converted(self, found: Sequence[Found], sources: Mapping[str, SourceTimes]) -> dict[str, Signal]:
        """Signals of the sources whose times are sound."""
        signals: dict[str, Signal] = {}
        for part in found:
            if (source := sources.get(part.source)) is None:
                continue
            own, problems = signals_of(
                part, source.times, source.kept, gauge_of(self.vehicle), self.file.max_gap, self.notes
            )
            signals |= own
            self.problems += problems
        return signals

    def pieces(self, signals: Mapping[str, Signal], found: Sequence[Found]) -> dict[str, Signal]:
        """The parts of signals that are used; what is wrong with them are problems."""
        paths = {part.key: part.path for part in found}
        parts: dict[str, Signal] = {}
        complained = set()
        for key, signal in signals.items():
            path = paths[key if key in paths else key.rpartition(".")[0]]
            limits = self.file.start, self.file.end
            parts[key], problem = used_piece(key, path, signal, limits, self.file.max_gap, self.notes)
            if problem is not None and path not in complained:
                complained.add(path)
                self.problems.append(problem)
        return parts

    def mapped(
        self,
        signals: Mapping[str, Signal],
        found: Sequence[Found],
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
        motion = Motion(self.log.path.name, signals)
        return MappedLog(motion, self.mapping, self.log, begin, fits, origins, tuple(self.notes))


def _apart(signals: Mapping[str, Signal]) -> list[Problem]:
    """The problem of signals that have no time in common, if they have none."""
    spans: dict[str, tuple[float, float]] = {}
    for signal in signals.values():
        first, last = spans.get(signal.source, (float("inf"), float("-inf")))
        spans[signal.source] = min(first, float(signal.times[0])), max(last, float(signal.times[-1]))
    if max(first for first, _ in spans.values()) <= min(last for _, last in spans.values()):
        return []
    listed = ", ".join(f"{name} from {first:.10g} to {last:.10g} s" for name, (first, last) in spans.items())
    return [Problem("sources", f"have no time in common: {listed}; see align and offset")]
