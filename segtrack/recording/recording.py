"""Recorded drive, read from its file as far as that is intact."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from mcap.records import McapRecord
from numpy.typing import ArrayLike, NDArray

from segtrack.courses import Course, parse_course
from segtrack.errors import FileAccessError, RecordingFileError, SegtrackError
from segtrack.files import check_regular
from segtrack.recording.messages import RecordedEvent, RecordedInput, RecordingContent
from segtrack.recording.setup import TICK, Command, DriveSetup, VehicleFiles
from segtrack.recording.storage import Numbers, read_records, rounding
from segtrack.rendering import VehicleLook


@dataclass(frozen=True, eq=False)
class Recording:
    """Recorded drive; times and ticks are counted from its beginning.

    Attributes:
        path: Path of the file.
        setup: Vehicle, course and simulation.
        versions: Versions of the software that simulated it, by name.
        vehicle_files: Vehicle file, with the files named in it.
        course_name: Name of the course.
        course_text: Text of the course file.
        look: Look of the vehicle.
        reading_names: Names of the readings, with units.
        inputs: Commands and restarts, in order.
        events: Events, in order.
        ticks: Ticks of the states, ascending (T,).
        poses: Flat poses at the ticks, see `VehicleLook.pose` (T, n).
        readings: Readings at the ticks (T, m).
        began: Wall clock at the first state, seconds since 1970 [s].
        ended: Wall clock at the last state, seconds since 1970 [s].
        damaged: Damage at the file's end, in words; None if it is intact.
        format_version: Version of the file's format.
    """

    path: Path
    setup: DriveSetup
    versions: Mapping[str, str]
    vehicle_files: VehicleFiles
    course_name: str
    course_text: str
    look: VehicleLook
    reading_names: tuple[str, ...]
    inputs: tuple[RecordedInput, ...]
    events: tuple[RecordedEvent, ...]
    ticks: NDArray[np.int64]
    poses: NDArray[np.float64]
    readings: NDArray[np.float64]
    began: float
    ended: float
    damaged: str | None
    format_version: int

    @classmethod
    def open(cls, path: str | Path, on_progress: Callable[[float], object] = lambda share: None) -> Recording:
        """Read a recording from its file.

        Args:
            path: Path of the file.
            on_progress: Function called with the fraction of the file read so far.

        Raises:
            FileAccessError: There is none, or it cannot be read.
            RecordingFileError: It is no recording, of another version, or has no state that is whole.
        """
        path = Path(path)
        try:
            check_regular(path)
            size = path.stat().st_size
            with path.open("rb") as file:
                content = RecordingContent(path.name)
                damage = content.read(_followed(file, size, on_progress))
                if damage is not None:
                    damage = f"{damage} at byte {file.tell()} of {size}"
        except OSError as error:
            raise FileAccessError("read", path, error.strerror or str(error)) from None
        ticks = content.states(damage)
        try:
            return cls._assembled(path, content, ticks, damage)
        except RecordingFileError:
            raise
        except (KeyError, TypeError, ValueError, SegtrackError) as error:
            raise RecordingFileError(path.name, f"is not whole before its first state: {error}") from None

    @classmethod
    def _assembled(
        cls, path: Path, content: RecordingContent, ticks: list[int], damage: str | None
    ) -> Recording:
        names, attached = content.metadata["names"], content.attachments
        look = VehicleLook.from_json(json.loads(attached["look.json"]))
        vehicle = {
            name.removeprefix("vehicle/"): data
            for name, data in attached.items()
            if name.startswith("vehicle/")
        }
        return cls(
            path=path,
            setup=DriveSetup.from_json(content.metadata["setup"]),
            versions=content.metadata["versions"],
            vehicle_files=VehicleFiles(names["vehicle_file"], vehicle),
            course_name=names["course"],
            course_text=attached["course.yaml"].decode(),
            look=look,
            reading_names=tuple(names["readings"]),
            inputs=tuple(item for item in content.inputs if item.tick <= ticks[-1]),
            events=tuple(item for item in content.events if item.tick <= ticks[-1]),
            ticks=np.array(ticks),
            poses=content.numbers("pose", content.poses, ticks, look.size),
            readings=content.numbers("readings", content.readings, ticks, len(names["readings"])),
            began=content.walls[0] / 1e9,
            ended=content.walls[len(ticks) - 1] / 1e9,
            damaged=damage,
            format_version=content.metadata["segtrack"]["version"],
        )

    def stored(self, pose: Numbers, readings: Numbers) -> tuple[Numbers, Numbers]:
        """Round a flat pose (..., n) and readings (..., m) as the file stores them."""
        if self.format_version == 1:
            return pose, readings
        return rounding(self.look, self.reading_names)(pose, readings)

    @property
    def times(self) -> NDArray[np.float64]:
        """Times of the states (T,) [s]."""
        return self.ticks * np.float64(TICK)

    @property
    def duration(self) -> float:
        """Simulated time from the first state to the last [s]."""
        return float(self.ticks[-1] - self.ticks[0]) * TICK

    @property
    def commands(self) -> tuple[tuple[int, Command], ...]:
        """Commands with the ticks from which they act; a restart counts as a command to hold."""
        return tuple((tick, command or Command()) for tick, command in self.inputs)

    def poses_at(self, times: ArrayLike) -> NDArray[np.float64]:
        """Return the flat poses (..., n) of the states nearest to times (...) [s]; clamped to the ends."""
        at = np.asarray(times, dtype=float) / TICK
        after = np.clip(np.searchsorted(self.ticks, at), 1, max(len(self.ticks) - 1, 1))
        after = np.minimum(after, len(self.ticks) - 1)
        before = np.maximum(after - 1, 0)
        nearer = np.where(self.ticks[after] - at < at - self.ticks[before], after, before)
        return self.poses[nearer]

    @property
    def flippers(self) -> tuple[str, ...]:
        """Names of the vehicle's flippers in the recorded commands."""
        return next((tuple(item.command.flipper_speeds) for item in self.inputs if item.command), ())

    def summary(self) -> dict[str, Any]:
        """Return setup, versions, times and events as a JSON-serialisable dict."""
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
        """Return the course as recorded.

        Raises:
            SegtrackError: Its text is none that is read today.
        """
        setup = self.setup
        course = parse_course(self.course_text, self.course_name, setup.setting)
        return course.with_ground(setup.friction, setup.soil)

    @contextmanager
    def unpacked(self) -> Iterator[DriveSetup]:
        """Write recorded vehicle and course files to a temporary folder, and yield their setup."""
        with tempfile.TemporaryDirectory(prefix="segtrack-") as folder:
            vehicle = self.vehicle_files.write(Path(folder, "vehicle"))
            course = Path(folder, "course.yaml")
            course.write_text(self.course_text, encoding="utf-8")
            yield replace(self.setup, vehicle=str(vehicle), course=str(course))


def _followed(file: BinaryIO, size: int, on_progress: Callable[[float], object]) -> Iterator[McapRecord]:
    """Yield the records of a file, and report the progress."""
    at = 0
    for record in read_records(file):
        if file.tell() != at:
            at = file.tell()
            on_progress(at / size)
        yield record
