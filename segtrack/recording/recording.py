"""A recorded drive, read from its file as far as that is whole."""

from __future__ import annotations

import json
import struct
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from mcap.exceptions import McapError
from mcap.records import Attachment, Channel, Footer, McapRecord, Message, Metadata
from mcap.stream_reader import CRCValidationError, StreamReader
from numpy.typing import ArrayLike, NDArray
from rosbags.serde import SerdeError

from segtrack.courses import Course, parse_course
from segtrack.errors import FileAccessError, RecordingFileError, SegtrackError
from segtrack.recording import messages
from segtrack.recording.setup import TICK, Command, DriveSetup
from segtrack.recording.vehicle_files import VehicleFiles
from segtrack.recording.versions import FORMAT, FORMAT_VERSION
from segtrack.rendering import VehicleLook

_MAX_RECORD = 2**30
"""Larger records are damage [bytes]."""
_FOREIGN = "must be a recording of a drive by segtrack"


class Input(NamedTuple):
    """What a driver did.

    Attributes:
        tick: From which on it acts.
        command: What is applied; None puts the vehicle back to the start.
    """

    tick: int
    command: Command | None


class Event(NamedTuple):
    """Something that happened.

    Attributes:
        tick: When.
        kind: What.
        details: As the recorder was given them.
    """

    tick: int
    kind: str
    details: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Recording:
    """A recorded drive; times and ticks count from its beginning.

    Attributes:
        path: Of the file.
        setup: What was driven, and where.
        versions: What it was simulated with, by name.
        vehicle_files: The vehicle file, and what it names.
        course_name: Of the course.
        course_text: The course file.
        look: What the vehicle looks like.
        reading_names: What each reading is, with its unit.
        inputs: Commands and restarts, in their order.
        events: In their order.
        ticks: At which states were recorded, ascending (T,).
        poses: Flat poses there, see `VehicleLook.pose` (T, n).
        readings: Readings there (T, m).
        began: Wall clock at the first state, seconds since 1970 [s].
        ended: Wall clock at the last one [s].
        damaged: What is wrong with the file's end; None if it is whole.
    """

    path: Path
    setup: DriveSetup
    versions: Mapping[str, str]
    vehicle_files: VehicleFiles
    course_name: str
    course_text: str
    look: VehicleLook
    reading_names: tuple[str, ...]
    inputs: tuple[Input, ...]
    events: tuple[Event, ...]
    ticks: NDArray[np.int64]
    poses: NDArray[np.float64]
    readings: NDArray[np.float64]
    began: float
    ended: float
    damaged: str | None

    @classmethod
    def open(cls, path: str | Path) -> Recording:
        """Read a file.

        Raises:
            FileAccessError: There is none, or it cannot be read.
            RecordingFileError: It is no recording, of another version, or has no state that is whole.
        """
        path = Path(path)
        try:
            size = path.stat().st_size
            with path.open("rb") as file:
                content = _Content(path.name)
                damage = content.read(StreamReader(file, record_size_limit=_MAX_RECORD, validate_crcs=True))
                if damage is not None:
                    damage = f"{damage} at byte {file.tell()} of {size}"
        except OSError as error:
            raise FileAccessError("read", path, error.strerror or str(error)) from None
        return content.recording(path, damage)

    @property
    def times(self) -> NDArray[np.float64]:
        """Of the states (T,) [s]."""
        return self.ticks * np.float64(TICK)

    @property
    def duration(self) -> float:
        """Simulated time from the first state to the last [s]."""
        return float(self.ticks[-1] - self.ticks[0]) * TICK

    @property
    def commands(self) -> tuple[tuple[int, Command], ...]:
        """Commands and the ticks from which on they act; a restart is one to hold."""
        return tuple((tick, command or Command()) for tick, command in self.inputs)

    def poses_at(self, times: ArrayLike) -> NDArray[np.float64]:
        """Flat poses at times of any shape [s] (..., n): of the state that is nearest, the ends held."""
        at = np.asarray(times, dtype=float) / TICK
        after = np.clip(np.searchsorted(self.ticks, at), 1, max(len(self.ticks) - 1, 1))
        after = np.minimum(after, len(self.ticks) - 1)
        before = np.maximum(after - 1, 0)
        nearer = np.where(self.ticks[after] - at < at - self.ticks[before], after, before)
        return self.poses[nearer]

    @property
    def flippers(self) -> tuple[str, ...]:
        """Names of the vehicle's flippers, as far as they were commanded: a command has all of them."""
        return next((tuple(item.command.flipper_speeds) for item in self.inputs if item.command), ())

    def summary(self) -> dict[str, Any]:
        """What was driven and what happened, as JSON can hold it."""
        return {
            "file": str(self.path),
            "setup": self.setup.as_json(),
            "versions": dict(self.versions),
            "began": self.began,
            "ended": self.ended,
            "duration": self.duration,
            "states": len(self.ticks),
            "damaged": self.damaged,
            "events": [
                {"time": event.tick * TICK, "kind": event.kind, "details": dict(event.details)}
                for event in self.events
            ],
        }

    def course(self) -> Course:
        """The course as it was recorded.

        Raises:
            SegtrackError: Its text is none that is read today.
        """
        setup = self.setup
        course = parse_course(self.course_text, self.course_name, setup.setting)
        return course.with_ground(setup.friction, setup.soil)

    @contextmanager
    def unpacked(self) -> Iterator[DriveSetup]:
        """The setup, its vehicle and course as they were recorded, in a folder that goes at the end."""
        with tempfile.TemporaryDirectory(prefix="segtrack-") as folder:
            vehicle = self.vehicle_files.write(Path(folder, "vehicle"))
            course = Path(folder, f"{self.course_name}.yaml")
            course.write_text(self.course_text, encoding="utf-8")
            yield replace(self.setup, vehicle=str(vehicle), course=str(course))


@dataclass
class _Content:
    """What of a file has been read."""

    file: str
    metadata: dict[str, dict[str, Any]] = field(default_factory=dict)
    attachments: dict[str, bytes] = field(default_factory=dict)
    topics: dict[int, str] = field(default_factory=dict)
    inputs: list[Input] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    poses: dict[int, bytes] = field(default_factory=dict)
    readings: dict[int, bytes] = field(default_factory=dict)
    walls: list[int] = field(default_factory=list)

    def read(self, reader: StreamReader) -> str | None:
        """Read all records; returns what is wrong with the file's end."""
        ended = False
        try:
            for record in reader.records:
                self._take(record)
                ended = ended or isinstance(record, Footer)
        except CRCValidationError:
            return "its checksum does not match its content"
        except (McapError, EOFError, struct.error, UnicodeDecodeError, MemoryError, OverflowError):
            return None if ended else "it ends in the middle of a record"
        return None

    def _take(self, record: McapRecord) -> None:
        match record:
            case Metadata(name=name, metadata=texts):
                self._check(name, texts)
            case Attachment(name=name, data=data):
                self.attachments[name] = data
            case Channel(id=number, topic=topic):
                self.topics[number] = topic
            case Message():
                self._take_message(record)

    def _check(self, name: str, texts: Mapping[str, str]) -> None:
        try:
            values = {key: json.loads(text) for key, text in texts.items()}
        except ValueError:
            raise RecordingFileError(self.file, f"metadata {name} must be JSON") from None
        self.metadata[name] = values
        if name != "segtrack" and "segtrack" not in self.metadata:
            raise RecordingFileError(self.file, _FOREIGN)
        if name == "segtrack" and values.get("format") != FORMAT:
            got = values.get("format")
            raise RecordingFileError(self.file, f"must be of format {FORMAT!r}, got {got!r}")
        if name == "segtrack" and values.get("version") != FORMAT_VERSION:
            got = values.get("version")
            raise RecordingFileError(self.file, f"must be of version {FORMAT_VERSION}, got {got!r}")

    def _take_message(self, record: Message) -> None:
        topic, tick = self.topics.get(record.channel_id), record.log_time // messages.TICK_NANOSECONDS
        if "segtrack" not in self.metadata:
            raise RecordingFileError(self.file, _FOREIGN)
        try:
            if topic == messages.COMMAND:
                self.inputs.append(Input(tick, messages.read_command(record.data)))
            elif topic == messages.EVENTS:
                details = messages.read_event(record.data)
                self.events.append(Event(tick, kind := details.pop("kind"), details))
                if kind == "restart":
                    self.inputs.append(Input(tick, None))
            elif topic == messages.POSE:
                self.poses[tick] = record.data
                self.walls.append(record.publish_time)
            elif topic == messages.READINGS:
                self.readings[tick] = record.data
        except (ValueError, SerdeError, SegtrackError) as error:
            raise RecordingFileError(self.file, f"{topic} at tick {tick}: {error}") from None

    def recording(self, path: Path, damage: str | None) -> Recording:
        """The recording, of all ticks whose states are whole."""
        ticks = [tick for tick in self.poses if tick in self.readings]
        if "segtrack" not in self.metadata:
            raise RecordingFileError(self.file, _FOREIGN)
        if not ticks:
            raise RecordingFileError(self.file, f"has no drive in it: {damage or 'no state is recorded'}")
        try:
            return self._recording(path, ticks, damage)
        except (KeyError, TypeError, ValueError, SegtrackError) as error:
            if isinstance(error, RecordingFileError):
                raise
            raise RecordingFileError(self.file, f"is not whole before its first state: {error}") from None

    def _recording(self, path: Path, ticks: list[int], damage: str | None) -> Recording:
        names, look = self.metadata["names"], VehicleLook.from_json(json.loads(self.attachments["look.json"]))
        contents = {
            name.removeprefix("vehicle/"): data
            for name, data in self.attachments.items()
            if name.startswith("vehicle/")
        }
        reading_names = tuple(names["readings"])
        return Recording(
            path,
            DriveSetup.from_json(self._setup()),
            self.metadata["versions"],
            VehicleFiles(names["vehicle_file"], contents),
            names["course"],
            self.attachments["course.yaml"].decode(),
            look,
            reading_names,
            tuple(item for item in self.inputs if item.tick <= ticks[-1]),
            tuple(item for item in self.events if item.tick <= ticks[-1]),
            np.array(ticks),
            self._rows("pose", self.poses, ticks, look.size),
            self._rows("readings", self.readings, ticks, len(reading_names)),
            self.walls[0] / 1e9,
            self.walls[len(ticks) - 1] / 1e9,
            damage,
        )

    def _setup(self) -> dict[str, Any]:
        setup = self.metadata["setup"]
        position = setup.get("payload_position")
        return setup | {"payload_position": None if position is None else tuple(position)}

    def _rows(
        self, label: str, rows: Mapping[int, bytes], ticks: list[int], count: int
    ) -> NDArray[np.float64]:
        first = rows[ticks[0]]
        size = len(first) if messages.array_length(first) == count else -1
        wrong = next((tick for tick in ticks if len(rows[tick]) != size), None)
        if wrong is not None:
            raise RecordingFileError(self.file, f"{label} at tick {wrong} must be {count} numbers")
        table = np.array([messages.read_array(rows[tick], count) for tick in ticks])
        finite = np.isfinite(table).all(axis=1)
        if not finite.all():
            tick = ticks[int(np.argmin(finite))]
            raise RecordingFileError(self.file, f"{label} at tick {tick} must be of finite numbers")
        return table
