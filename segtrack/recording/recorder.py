"""Recorder that writes a drive to a file while it is simulated."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from mcap.writer import CompressionType, IndexType, Writer

from segtrack.errors import FileAccessError, InvalidValueError, Phrase, SegtrackError
from segtrack.recording import messages
from segtrack.recording.setup import FORMAT, FORMAT_VERSION, TICK, Command, versions
from segtrack.recording.storage import rounding
from segtrack.rendering import look_of

if TYPE_CHECKING:
    from segtrack.recording.session import DriveSession

_ODOMETRY_TICKS = 10
"""Ticks between messages that ROS tools show: 10 a second."""


class Recorder:
    """Writer of a recording, in the format of docs/topics/recording.md.

    Each tick is in the file, as far as the operating system is concerned, before the next one is simulated:
    a process that is killed loses the tick that it was writing.

    Attributes:
        path: Path of the file.
    """

    def __init__(self, path: Path, session: DriveSession) -> None:
        """Begin a file with everything that the drive depends on; called by `DriveSession.record`.

        Args:
            path: Path of the new file.
            session: Drive at its start.

        Raises:
            FileAccessError: The file exists, or cannot be written.
        """
        self.path, self._session = path, session
        self._first_tick, self._held = session.tick, Command()
        self._before = session.pose().links[0]
        self._timed, self._wall = -1, 0
        self._look = look_of(session.robot)
        self._round = rounding(self._look, session.reading_names)
        self._flippers, self._tracks = tuple(session.robot.flippers), tuple(session.robot.tracks)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("xb")
        except OSError as error:
            raise FileAccessError("write to", path, error.strerror or str(error)) from None
        self._writer = Writer(
            self._file,
            use_chunking=False,
            compression=CompressionType.NONE,
            index_types=IndexType.ATTACHMENT | IndexType.METADATA,
            enable_data_crcs=True,
        )
        try:
            with self._writing():
                self._write_head()
            self.state()
        except SegtrackError:  # The disk is full: no empty file stays behind.
            with suppress(OSError):
                self._file.close()
            path.unlink(missing_ok=True)
            raise

    @property
    def closed(self) -> bool:
        """True if the file is closed."""
        return self._file.closed

    def command(self, command: Command) -> None:
        """Record a command from the present tick on, unless it equals the held one bit for bit."""
        if command != self._held or self._bits(command) != self._bits(self._held):
            self._held = command
            self._write(messages.COMMAND, messages.command_message(self._tick, command, self._flippers))

    def restart(self) -> None:
        """Record a restart: the vehicle is back at the start, and holds."""
        self._held = Command()
        self.event("restart")

    def event(self, kind: str, **details: Any) -> None:
        """Record an event at the present tick; `details` are JSON-serialisable."""
        self._write(messages.EVENTS, messages.event_message({"kind": kind, **details}))

    def state(self) -> None:
        """Record the present pose and readings.

        Raises:
            InvalidValueError: A number is not finite.
        """
        pose, readings, tick = self._session.pose(), self._session.readings(), self._tick
        flat, body = pose.flat(), pose.links[0]
        if not (np.isfinite(flat).all() and np.isfinite(readings).all()):
            raise InvalidValueError(f"state at tick {tick}", "of finite numbers", Phrase("one that is not"))
        stored_pose, stored_readings = self._round(flat, readings)
        written = {
            messages.POSE: messages.array_message("pose", stored_pose),
            messages.READINGS: messages.array_message("readings", stored_readings),
        }
        if tick % _ODOMETRY_TICKS == 0:
            span = _ODOMETRY_TICKS * TICK
            angles = [flipper.angle for flipper in self._session.robot.flippers.values()]
            travels = self._look.pose(stored_pose).travels
            names, positions = (*self._flippers, *self._tracks), np.concatenate([angles, travels])
            written[messages.ODOMETRY] = messages.odometry_message(tick, body, self._before, span)
            written[messages.JOINTS] = messages.joints_message(tick, names, positions)
            self._before = body
        for topic, data in written.items():
            self._write(topic, data)
        with self._writing():
            self._file.flush()

    def close(self) -> None:
        """Finish the file with its summary; may be called again."""
        if not self.closed:
            with self._writing(), self._file:
                self._writer.finish()

    def _bits(self, command: Command) -> bytes:
        """Return a command's numbers as bytes, which tell -0.0 from 0.0."""
        return messages.command_values(command, self._flippers).tobytes()

    @property
    def _tick(self) -> int:
        return self._session.tick - self._first_tick

    def _write(self, topic: str, data: bytes) -> None:
        """Write a message of the present tick to a topic."""
        tick = self._tick
        if tick != self._timed:
            self._timed, self._wall = tick, time.time_ns()
        with self._writing():
            self._writer.add_message(
                self._channels[topic],
                log_time=tick * messages.TICK_NANOSECONDS,
                data=data,
                publish_time=self._wall,
            )

    def _write_head(self) -> None:
        session, writer = self._session, self._writer
        writer.start(profile="ros2", library=f"segtrack {versions()['segtrack']}")
        texts: dict[str, Mapping[str, Any]] = {
            "segtrack": {"format": FORMAT, "version": FORMAT_VERSION, "tick": TICK},
            "setup": session.setup.named().as_json(),
            "versions": versions(),
            "names": {
                "vehicle_file": session.vehicle_files.main,
                "course": session.course.name,
                "readings": session.reading_names,
            },
        }
        for name, values in texts.items():
            writer.add_metadata(name, {key: json.dumps(value) for key, value in values.items()})
        attached = {
            "course.yaml": session.course.source.encode(),
            "look.json": json.dumps(self._look.as_json()).encode(),
        }
        attached |= {f"vehicle/{name}": data for name, data in session.vehicle_files.contents.items()}
        now = time.time_ns()
        for name, data in attached.items():
            writer.add_attachment(now, 0, name, "application/octet-stream", data)
        schemas = {
            kind: writer.register_schema(kind, "ros2msg", messages.definition(kind))
            for kind in dict.fromkeys(messages.TYPES.values())
        }
        self._channels = {
            topic: writer.register_channel(topic, "cdr", schemas[kind])
            for topic, kind in messages.TYPES.items()
        }

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise FileAccessError("write to", self.path, error.strerror or str(error)) from None
