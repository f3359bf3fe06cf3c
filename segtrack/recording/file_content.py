"""Records of a recording's file, as far as they are whole."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from mcap.exceptions import McapError
from mcap.records import Attachment, Channel, Footer, McapRecord, Message, Metadata
from mcap.stream_reader import CRCValidationError, StreamReader
from numpy.typing import NDArray
from rosbags.serde import SerdeError

from segtrack.errors import RecordingFileError, SegtrackError
from segtrack.recording import messages
from segtrack.recording.setup import FORMAT, FORMAT_VERSION, Command

_FOREIGN = "must be a recording of a drive by segtrack"


class RecordedInput(NamedTuple):
    """Input of a driver.

    Attributes:
        tick: First tick that it acts on.
        command: Command; None puts the vehicle back to the start.
    """

    tick: int
    command: Command | None


class RecordedEvent(NamedTuple):
    """Event of a drive.

    Attributes:
        tick: Tick at which it happened.
        kind: Kind of event.
        details: Details given to the recorder.
    """

    tick: int
    kind: str
    details: Mapping[str, Any]


@dataclass
class RecordingContent:
    """Content of a file, as far as it has been read.

    Attributes:
        file: Name of the file, for messages.
        metadata: Values by key, by name of the record.
        attachments: Bytes by name.
        topics: Topics by number of the channel.
        inputs: Commands and restarts in their order.
        events: Events in their order.
        poses: The messages, by tick.
        readings: The messages, by tick.
        walls: Wall clock at each pose [ns].
    """

    file: str
    metadata: dict[str, dict[str, Any]] = field(default_factory=dict)
    attachments: dict[str, bytes] = field(default_factory=dict)
    topics: dict[int, str] = field(default_factory=dict)
    inputs: list[RecordedInput] = field(default_factory=list)
    events: list[RecordedEvent] = field(default_factory=list)
    poses: dict[int, bytes] = field(default_factory=dict)
    readings: dict[int, bytes] = field(default_factory=dict)
    walls: list[int] = field(default_factory=list)

    def read(self, reader: StreamReader) -> str | None:
        """Read all records; returns the damage of the file's end, in words."""
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
                self.inputs.append(RecordedInput(tick, messages.read_command(record.data)))
            elif topic == messages.EVENTS:
                details = messages.read_event(record.data)
                self.events.append(RecordedEvent(tick, kind := details.pop("kind"), details))
                if kind == "restart":
                    self.inputs.append(RecordedInput(tick, None))
            elif topic == messages.POSE:
                self.poses[tick] = record.data
                self.walls.append(record.publish_time)
            elif topic == messages.READINGS:
                self.readings[tick] = record.data
        except (ValueError, SerdeError, SegtrackError) as error:
            raise RecordingFileError(self.file, f"{topic} at tick {tick}: {error}") from None

    def states(self, damage: str | None) -> list[int]:
        """Return the ticks whose states are whole, at least one.

        Args:
            damage: Damage of the file's end.

        Raises:
            RecordingFileError: There is none, or the file is no recording.
        """
        if "segtrack" not in self.metadata:
            raise RecordingFileError(self.file, _FOREIGN)
        ticks = [tick for tick in self.poses if tick in self.readings]
        if not ticks:
            raise RecordingFileError(self.file, f"has no drive in it: {damage or 'no state is recorded'}")
        return ticks

    def numbers(
        self, label: str, rows: Mapping[int, bytes], ticks: list[int], count: int
    ) -> NDArray[np.float64]:
        """Return the rows of `poses` or `readings` at ticks (T, count).

        Raises:
            RecordingFileError: A row has another length, or a number that is not finite.
        """
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
