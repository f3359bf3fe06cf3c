"""Mapping files: quantities, mountings of sensors and clocks of sources, every mistake reported at once."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationInfo, WithJsonSchema

from segtrack.courses import bundled_courses
from segtrack.description import (
    Angle,
    Checks,
    ExistingFile,
    NonNegative,
    Number,
    Positive,
    Spec,
    UnknownPartError,
    Vector,
    YamlFile,
    bundled_vehicles,
    check,
    check_content,
    exactly_one,
    expanded,
    known,
    parse_yaml,
    read_text,
)
from segtrack.errors import FileAccessError, MappingFileError, Problem, suggest
from segtrack.logs.mapping.quantities import Numbers, Quantities, Text
from segtrack.logs.mapping.views import Seen


class Sensor(Spec):
    """Position and orientation of a sensor."""

    xyz: Vector = (0.0, 0.0, 0.0)
    """Its place in the body frame [m]."""
    rpy: tuple[Angle, Angle, Angle] = (0.0, 0.0, 0.0)
    """Its frame in the body frame: roll, pitch (nose down positive, as in vehicle files) and yaw [rad]."""
    world_rpy: tuple[Angle, Angle, Angle] = (0.0, 0.0, 0.0)
    """The frame that its positions and orientations are in, in one whose z is up, likewise: [3.1416, 0, 0]
    for one whose z is down, [1.5708, 0, 0] for one whose y is up."""


class Split(Spec):
    """Trials of one log, each mapped by itself."""

    windows: Annotated[tuple[tuple[NonNegative, Positive], ...], Field(min_length=1)] | None = None
    """Begin and end of each, from the beginning of the log [s]."""
    channel: Text | None = None
    """Channel that numbers them, instead: rows that follow each other with one number are a trial."""
    missing: Numbers = ()
    """Numbers of that channel that mean none: rows between trials."""

    @check
    def _one_way(self) -> Checks:
        yield from exactly_one(self, ("windows", "channel"))
        if self.windows is not None and self.missing:
            yield Problem("missing", "must be left out beside windows")

    @check
    def _windows_ascend(self) -> Checks:
        edges = [edge for window in self.windows or () for edge in window]
        if any(low > high for low, high in zip(edges, edges[1:], strict=False)) or any(
            begin == end for begin, end in self.windows or ()
        ):
            yield Problem(
                "windows", f"must ascend and not overlap, got {[list(w) for w in self.windows or ()]}"
            )


class SourceClock(Spec):
    """Times of a source, and their alignment with the log's clock."""

    clock: Literal["header", "receive"] | None = None
    """Stamps in messages' headers, put on the clock of receiving, or times of receiving; stamps if there."""
    time: Text | None = None
    """A channel of the source with its times, instead of both."""
    unit: Literal["s", "ms", "us", "ns", "d"] = "s"
    """Unit of that channel."""
    sort: Annotated[bool, Field(strict=True)] = False
    """Put its rows in order of their times, those of one time as they come."""
    align: Text | None = None
    """Source on whose clock it is put, by what both see."""
    by: Seen | None = None
    """Motion that both measure; the most informative one if not given."""
    sees: Quantities | None = None
    """Further quantities that the source measures, used for its clock alone."""
    offset: Number | None = None
    """Offset added to its times [s], instead of align."""
    skew: Number = 0.0
    """Rate by which its clock runs slow, as a ratio; added, times the time since its start."""
    skew_std: Positive | None = None
    """Standard deviation of that rate, beside align: 1e-4 for clocks of quartz."""

    @check
    def _one_way(self) -> Checks:
        if self.align is not None and (self.offset is not None or self.skew != 0):
            yield Problem("align", "must not be given beside offset or skew")
        if self.align is None and self.by is not None:
            yield Problem("by", "must be left out without align")
        if self.align is None and self.skew_std is not None:
            yield Problem("skew_std", "must be left out without align")
        if self.time is not None and self.clock is not None:
            yield Problem("time", "must not be given beside clock")

    @check
    def _sees_channels(self) -> Checks:
        for path, _ in () if self.sees is None else self.sees.constants():
            yield Problem(f"sees.{path}", "must be a channel: a constant shows nothing of a clock")


FINDINGS = (
    "sample times",
    "missing value",
    "wrapped counter",
    "counter starts again",
    "two sources",
    "spikes",
    "jump",
    "frozen",
    "held",
    "belts against drives",
    "belts against commands",
    "belts against path",
    "wheel odometry",
    "time shift",
    "belts against yaw rate",
    "attitude",
    "pitch beyond a turn",
    "roll beyond a turn",
    "gyroscope against attitude",
    "gyroscope against pitch",
    "gyroscope against yaw",
    "accelerometer against gravity",
    "accelerometer against attitude",
    "heading against path",
    "pitch against slope",
    "heights against terrain",
    "velocity against path",
    "velocity against body",
    "flippers against stops",
    "flippers against ground",
    "marker's lever",
    "forces against drives",
)
"""Names of findings, as mappings accept them."""


def _known(name: str) -> str:
    if name not in FINDINGS:
        raise ValueError(f"must be the name of a finding, got {name!r}; {suggest(name, FINDINGS)}")
    return name


class Accepted(Spec):
    """A finding of the plausibility checks that the user knows the reason of."""

    finding: Annotated[Text, AfterValidator(_known)]
    """Its name, as `map` prints it."""
    reason: Text
    """Why it may stand; it is told wherever the finding would be."""


FIRST_TOUCH = "first touch"
STEADY = ("belt_speed", "belt_speed_command", "slip_velocity", "yaw_rate", "current")
"""Quantities that a table of steady turns can have."""


def _found_in(bundled: Callable[[], Collection[str]]) -> AfterValidator:
    """A check that leaves a bundled name as it is, and makes the path of a file absolute."""

    def found(given: str, info: ValidationInfo) -> str:
        if given in bundled():
            return given
        path = Path((info.context or {}).get("folder", "."), expanded(given)).resolve()
        if not os.path.isfile(path):
            message = f"must be a bundled name or an existing file, got {given!r} (looked for {path})"
            raise ValueError(f"{message}; there are: {', '.join(bundled())}")
        return str(path)

    return AfterValidator(found)


def _event(given: Any) -> str | float:
    if given == FIRST_TOUCH:
        return FIRST_TOUCH
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        raise ValueError(f"must be {FIRST_TOUCH}, or a time [s], got {given!r}")
    return float(given)


_EVENT = WithJsonSchema({"anyOf": [{"const": FIRST_TOUCH}, {"type": "number"}]})


class MappingFile(Spec):
    """A mapping file."""

    vehicle: Annotated[str, Field(strict=True), _found_in(bundled_vehicles)] | None = None
    """Bundled vehicle, or path of a vehicle file."""
    terrain: Annotated[str, Field(strict=True), _found_in(bundled_courses)] | None = None
    """Bundled course, or path of a file with a terrain."""
    setting: Number | None = None
    """Value of the course's setting, in its unit; the course's own if not given."""
    event: Annotated[Any, AfterValidator(_event), _EVENT] = FIRST_TOUCH
    """Event that aligns log and simulation: `first touch`, or a time [s]."""
    frame: Literal["log", "terrain"] = "log"
    """Frame of its positions and headings: one of the log's own, or the terrain's, where nothing is moved."""
    recorded: Literal["physical robot", "simulation"] | None = None
    """Origin of the log; if not given, a report claims no maturity level."""
    code: Text | None = None
    """Code that simulated it, with its version."""
    start: NonNegative | None = None
    """Begin of the used piece, from the beginning of the log [s]."""
    end: Positive | None = None
    """End of the used piece, from the beginning of the log [s]."""
    split: Split | None = None
    """Trials that the log has one after the other."""
    max_gap: Positive = 0.5
    """Time without a value that may be bridged [s]."""
    rows: Literal["times", "steady"] = "times"
    """Meaning of rows: moments, or steady turns, each by itself."""
    files: tuple[ExistingFile, ...] = ()
    """Further files of the same drive; their channels are called `FILE: CHANNEL`."""
    sources: dict[Text, SourceClock] = {}
    """Clocks by topic, or by file for logs without topics."""
    sensors: dict[Text, Sensor] = {}
    """Sensors, by names of your own."""
    accepted: tuple[Accepted, ...] = ()
    """Contradictions that may stand, each with the reason."""
    quantities: Quantities

    def all_quantities(self) -> Iterator[tuple[str, Quantities]]:
        """Yield the quantities, and those that sources see besides, each with its path."""
        if (quantities := known(self, "quantities", None)) is not None:
            yield "quantities", quantities
        for name, clock in known(self, "sources", {}).items():
            if (sees := known(clock, "sees", None)) is not None:
                yield f"sources.{name}.sees", sees

    @check
    def _any_quantity(self) -> Checks:
        quantities = self.quantities
        given = [value for name in type(quantities).model_fields if (value := getattr(quantities, name))]
        count = len(list(quantities.references()))
        if not given or 0 < count == len(list(quantities.constants())):
            yield Problem("quantities", "must have at least one with a channel")

    @check
    def _accepted_once(self) -> Checks:
        names = [known(entry, "finding", "") for entry in self.accepted]
        for i, name in enumerate(names):
            if name in names[:i]:
                yield Problem(f"accepted[{i}].finding", f"must be given once, got {name!r} again")

    @check
    def _code_of_a_simulation(self) -> Checks:
        if self.code is not None and self.recorded != "simulation":
            yield Problem("code", "must be left out unless recorded is simulation")

    @check
    def _setting_of_a_terrain(self) -> Checks:
        if self.setting is not None and self.terrain is None:
            yield Problem("setting", "must be left out without terrain")

    @check
    def _terrain_frame_needs_no_event(self) -> Checks:
        if self.frame == "log":
            return
        if self.event != FIRST_TOUCH:
            yield Problem(
                "event", f"must be left out where frame is terrain: nothing is moved, got {self.event:g}"
            )
        quantities = known(self, "quantities", None)
        if quantities is not None and known(quantities, "position", None) is None:
            yield Problem("frame", "must be log where quantities have no position, got 'terrain'")

    @check
    def _ends_after_start(self) -> Checks:
        if self.start is not None and self.end is not None and self.end <= self.start:
            yield Problem("end", f"must be greater than start {self.start:g}, got {self.end:g}")

    @check
    def _windows_are_the_used_pieces(self) -> Checks:
        for key in ("start", "end") if self.split is not None and self.split.windows is not None else ():
            if getattr(self, key) is not None:
                yield Problem(key, "must be left out beside windows of split")
        if self.split is not None and self.split.windows is not None and self.event != FIRST_TOUCH:
            yield Problem("event", f"must be {FIRST_TOUCH} beside windows of split, got {self.event:g}")

    @check
    def _no_circle_of_clocks(self) -> Checks:
        sources = known(self, "sources", {})
        for name in sources:
            path, none = [name], SourceClock()
            while (onto := known(sources.get(path[-1], none), "align", None)) not in (None, *path):
                path.append(onto)
            if onto == name and len(path) == 1:
                yield Problem(f"sources.{name}.align", "must be another source")
            elif onto == name:
                message = f"must not lead back to its source, got {' to '.join([*path, name])}"
                yield Problem(f"sources.{name}.align", message)

    @check
    def _sensors_exist(self) -> Checks:
        sensors = known(self, "sensors", {})
        for at, quantities in self.all_quantities():
            for path, reference in quantities.references():
                name = known(reference, "sensor", None) if "sensor" in type(reference).model_fields else None
                if name is not None and name not in sensors:
                    there = ", ".join(sensors) or "none"
                    message = f"is none of sensors, got {name!r}; there are: {there}"
                    yield Problem(f"{at}.{path}.sensor", message)

    @check
    def _turned_whole(self) -> Checks:
        """Angles of a sensor that is turned can be turned back together alone."""
        for at, quantities in self.all_quantities():
            with suppress(UnknownPartError):
                yield from self._turned_in_parts(at, quantities)

    def _turned_in_parts(self, at: str, quantities: Quantities) -> Checks:
        angles = {name: getattr(quantities, name) for name in ("roll", "pitch", "yaw")}
        for name, angle in angles.items():
            sensor = None if angle is None else self.sensors.get(angle.sensor or "")
            if sensor is None or not any((*sensor.rpy, *sensor.world_rpy)):
                continue
            if any(other is None or other.sensor != angle.sensor for other in angles.values()):
                message = "must be a sensor that is not turned, unless roll, pitch and yaw are all its"
                yield Problem(f"{at}.{name}.sensor", f"{message}, got {angle.sensor!r}")

    @check
    def _files_have_names_of_their_own(self) -> Checks:
        names = [Path(file).name for file in self.files]
        if len(set(names)) < len(names):
            yield Problem("files", f"must have names of their own, got {', '.join(names)}")

    @check
    def _steady_rows_have_no_time(self) -> Checks:
        if self.rows != "steady":
            return
        for path, _ in self.quantities.references():
            if path.split(".")[0] not in STEADY:
                yield Problem(
                    f"quantities.{path}", f"must be one of {', '.join(STEADY)} where rows are steady"
                )
        for path, reference in self.quantities.references():
            if known(reference, "despike", None) is not None:
                yield Problem(f"quantities.{path}.despike", "must be left out where rows are steady")
        for path, _ in self.quantities.constants():
            yield Problem(f"quantities.{path}.value", "must be a channel where rows are steady")
        for key in ("start", "end", "split"):
            if getattr(self, key) is not None:
                yield Problem(key, "must be left out where rows are steady")
        if self.frame == "terrain":
            yield Problem("frame", "must be left out where rows are steady")
        for key in ("sources", "files"):
            if getattr(self, key):
                yield Problem(key, "must be left out where rows are steady")


@dataclass(frozen=True, eq=False)
class LogMapping:
    """Mapping of a log's channels to quantities.

    Attributes:
        name: Name of the file, for messages.
        text: Text of the file.
        file: Content of the file; vehicle and terrain are bundled names or absolute paths.
        stated: Paths of constants that were stated beside the file.
    """

    name: str
    text: str
    file: MappingFile
    _content: YamlFile = field(repr=False)
    stated: tuple[str, ...] = ()

    def with_vehicle(self, vehicle: str | None) -> LogMapping:
        """Return the mapping for another vehicle (bundled name or path), if one is given."""
        if vehicle is None:
            return self
        return replace(self, file=self.file.model_copy(update={"vehicle": vehicle}))

    def refusal(self, problems: Iterable[Problem]) -> MappingFileError:
        """Return the error that lists problems, with their lines."""
        return MappingFileError(self.name, self._content.locate(problems))


ProblemFinder = Callable[[MappingFile], Iterable[Problem]]
"""Function that finds the problems of a mapping file with a log; invalid keys of the file are missing."""


def load_mapping(path: str | Path, misfits: ProblemFinder = lambda file: ()) -> LogMapping:
    """Read and check a mapping file.

    Args:
        path: Path of the file.
        misfits: Finder of problems that are listed beside the file's mistakes, if it has any.

    Raises:
        FileAccessError: The file cannot be read.
        MappingFileError: The file has mistakes; all of them are listed, with their lines.
    """
    path = expanded(path)
    if os.path.isdir(path):
        raise FileAccessError("read", path, "is a folder, not a mapping file")
    return parse_mapping(read_text(path), path.name, path.parent, misfits)


def parse_mapping(
    text: str, name: str = "mapping", folder: Path = Path("."), misfits: ProblemFinder = lambda file: ()
) -> LogMapping:
    """Read and check the text of a mapping file.

    Args:
        text: Text of the file, YAML.
        name: Name of the file, for messages.
        folder: Folder that paths in it are relative to.
        misfits: Finder of problems that are listed beside the text's mistakes, if it has any.

    Raises:
        MappingFileError: The text has mistakes; all of them are listed, with their lines.
    """
    content = parse_yaml(text, name, MappingFileError)
    file = check_content(MappingFile, content, name, folder, MappingFileError, misfits)
    return LogMapping(name, text, file, content)
