"""Vehicles, courses, recordings and records by name, so that clients never give paths."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from urllib.parse import quote

from segtrack.courses import (
    FIRST_SYLLABUS,
    Course,
    Exercise,
    Result,
    bundled_courses,
    load_course,
    load_syllabus,
)
from segtrack.description import VehicleDescription, bundled_vehicles, load_vehicle
from segtrack.engine import installed_engines, track_model_names
from segtrack.errors import FileAccessError, InvalidValueError, NotReadyError, SegtrackError, UnknownNameError
from segtrack.files import check_writable
from segtrack.recording import DriveSetup, compact_gently, is_uncompressed
from segtrack.station.folder import StationFolder
from segtrack.station.protocol import CourseOption, Options, Setup
from segtrack.terrain import published_soils

REPORTS = "/station/report"
MAX_LISTED = 100
"""Number of recordings that the page lists: each change of the station's status carries their names."""

_DAY = 86400.0
_LOG = logging.getLogger(__name__)


def default_folder() -> Path:
    """Return the default folder of a station."""
    return Path.home() / ".local" / "share" / "segtrack"


class Library:
    """Recordings and records in the station's folder.

    Attributes:
        folder: Folder of the station.
        records: Records of operators.
    """

    def __init__(self, folder: Path) -> None:
        """Create the folder if missing, and read its list of recordings.

        Raises:
            FileAccessError: It cannot be made or written to.
        """
        self.folder = StationFolder(folder.absolute())
        self.records = self.folder.records
        self._compacting = ThreadPoolExecutor(1, "segtrack-compress")
        self._written: str | None = None
        self._clock_ahead = time.time() - _time_since_boot()
        self._clock_doubted = False
        for part in (self.folder.recordings, self.records.folder):
            check_writable(part)
            part.mkdir(parents=True, exist_ok=True)
        self._tidy()
        self.refresh()

    def _tidy(self) -> None:
        """Delete empty recordings (from a full disk), and compress any left uncompressed."""
        for path in self._files():
            with suppress(OSError):
                if path.stat().st_size == 0:
                    path.unlink()
                elif is_uncompressed(path):
                    self._compacting.submit(_compact, path)

    def _files(self) -> list[Path]:
        """Return the files of recordings, newest first."""
        return sorted(self.folder.recordings.glob("[!.]*.mcap"), reverse=True)

    def refresh(self) -> None:
        """Update the list of recordings."""
        self._recordings = {path.stem: path for path in self._files()}

    def recordings(self) -> tuple[str, ...]:
        """Return the names of the newest recordings, newest first; an older one is opened by its name."""
        return tuple(self._recordings)[:MAX_LISTED]

    def recording(self, name: str) -> Path:
        """Return the file of a recording, however old.

        Raises:
            UnknownNameError: There is none.
        """
        if name not in self._recordings:
            self.refresh()  # It is being written.
        if name not in self._recordings:
            raise UnknownNameError("recording", name, self.recordings())
        return self._recordings[name]

    def note_recording(self, name: str, closed: bool) -> None:
        """Update the list for a recording that was begun or closed.

        Closed ones are compressed, one at a time, in a process that gives way to others.
        """
        self._written = None if closed else name
        if closed:
            self._compacting.submit(_compact, self.folder.recordings / f"{name}.mcap")
        self.refresh()

    def delete(self, name: str) -> None:
        """Delete a recording.

        Raises:
            UnknownNameError: It is not among them.
            NotReadyError: It is being written.
            FileAccessError: It cannot be deleted.
        """
        path = self.recording(name)
        if name == self._written:
            raise NotReadyError("delete the recording", "it is being written")
        try:
            path.unlink()
        except OSError as error:
            raise FileAccessError("delete", path, error.strerror or str(error)) from None
        self.refresh()

    def delete_old(self, days: float) -> int:
        """Delete recordings last written more than `days` ago; return their number.

        Once the clock jumped by more than a day, or a recording is stamped more than a day ahead of it,
        nothing is deleted until the next start, as the log says.
        """
        now, stamps, deleted = time.time(), {}, 0
        for path in self._files():
            with suppress(OSError):
                stamps[path] = now if path.stem == self._written else path.stat().st_mtime
        doubted = self._doubt_clock(now, stamps)
        for path, stamp in stamps.items():
            if not doubted and now - stamp > days * _DAY:
                with suppress(OSError):
                    path.unlink()
                    deleted += 1
        self.refresh()
        return deleted

    def _doubt_clock(self, now: float, stamps: dict[Path, float]) -> bool:
        """Return whether the clock has been wrong since the start; warns once."""
        if self._clock_doubted:
            return True
        jump = now - _time_since_boot() - self._clock_ahead
        newest = max(stamps, key=stamps.__getitem__, default=None)
        if abs(jump) > _DAY:
            doubt = f"the clock jumped by {jump / _DAY:+.1f} days"
        elif newest is not None and stamps[newest] - now > _DAY:
            ahead = (stamps[newest] - now) / _DAY
            doubt = f"{ascii(newest.stem)[1:-1]} is stamped {ahead:.1f} days ahead of the clock"
        else:
            return False
        _LOG.warning("no old recordings are deleted until the next start: %s", doubt)
        self._clock_doubted = True
        return True

    def close(self) -> None:
        """Wait for the recording being compressed; others stay uncompressed."""
        self._compacting.shutdown(cancel_futures=True)

    def keep(self, result: Result) -> str:
        """Add a result to its operator's record, and return the outcome as a message."""
        try:
            self.records.add(result)
        except SegtrackError as error:
            _LOG.error("%s", error)
            return str(error)
        return f"{result.operator}: {result.outcome}"

    def recover(self) -> str:
        """Save the results of trials left unfinished by a dead process; return them in words."""
        self._written = None
        added, problems = self.records.recover()
        for problem in problems:
            _LOG.error("a trial was not recovered: %s", problem)
        words = [f"{result.operator}: recovered, {result.completed} completed" for result in added]
        return "; ".join([*words, *problems])

    def hide_folder(self, text: str) -> str:
        """Remove the data folder's path from a message before it is sent to a client."""
        return text.replace(f"{self.folder.path}/", "")

    def report_link(self, operator: str | None) -> str:
        """Return the permanent link of an operator's report, or of the list of all operators."""
        known = operator is not None and operator in self.records
        return f"{REPORTS}/{quote(operator or '', safe='')}" if known else REPORTS


def _time_since_boot() -> float:
    """Return a time that no clock setting changes and that runs on in sleep, where there is one [s]."""
    if hasattr(time, "CLOCK_BOOTTIME"):  # Linux, whose monotonic clock stands meanwhile.
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


def _compact(path: Path) -> None:

    process = get_context("spawn").Process(target=compact_gently, args=(path,), daemon=True)
    process.start()
    process.join()


FIRST_COURSE = "okada-step"
"""Default course."""


class Catalogue:
    """Vehicles and courses on offer: bundled ones, and files given at the start.

    Attributes:
        first: Setup of the first run.
        syllabus: Exercises.
        options: Choices that the page offers.
    """

    def __init__(
        self, vehicle: str | None = None, course: str | None = None, syllabus: str = FIRST_SYLLABUS
    ) -> None:
        """Offer everything bundled, and a vehicle, a course and exercises by name or file.

        Raises:
            SegtrackError: There is no such vehicle, course or syllabus, or its file has mistakes.
        """
        self._vehicles = {name: str(path) for name, path in bundled_vehicles().items()}
        self._courses = {name: name for name in bundled_courses()}
        first = FIRST_COURSE if course is None else _offer(course, self._courses, load_course)
        suggested = self.course(first).vehicle or "quince"
        chosen = suggested if vehicle is None else _offer(vehicle, self._vehicles, load_vehicle)
        self.first = Setup(vehicle=chosen, course=first)
        self.syllabus = load_syllabus(syllabus)
        self._exercises = {each.name: self._exercise_setup(each) for each in self.syllabus.exercises}
        self.options = self._options()

    def course(self, name: str, setting: float | None = None) -> Course:
        """Return a course on offer by name.

        Raises:
            UnknownNameError: It is not on offer.
        """
        return load_course(_named("course", name, self._courses), setting)

    def vehicle(self, name: str) -> VehicleDescription:
        """Return a vehicle on offer by name.

        Raises:
            UnknownNameError: It is not on offer.
        """
        return load_vehicle(_named("vehicle", name, self._vehicles))

    def drive_setup(self, setup: Setup) -> DriveSetup:
        """Return the simulation's setup for a client's, with names replaced by files.

        Raises:
            SegtrackError: A name that is not on offer, or values that do not go together.
        """
        values = setup.model_dump()
        values["vehicle"] = _named("vehicle", setup.vehicle, self._vehicles)
        values["course"] = _named("course", setup.course, self._courses)
        if setup.soil is not None:
            _named("soil", setup.soil, dict.fromkeys(published_soils(), ""))
        return DriveSetup(**values).resolved()

    def exercise_setup(self, exercise: Exercise) -> Setup:
        """Return the setup of a syllabus exercise."""
        return self._exercises[exercise.name]

    def _exercise_setup(self, exercise: Exercise) -> Setup:
        return Setup(
            vehicle=_offer(exercise.vehicle, self._vehicles, load_vehicle),
            course=_offer(exercise.course, self._courses, load_course),
            setting=exercise.setting,
            friction=exercise.friction,
            soil=exercise.soil,
            payload=exercise.payload,
            cameras=exercise.cameras,
            light=exercise.light,
            visibility=exercise.visibility,
        )

    def _options(self) -> Options:
        """Choices that the page offers."""
        engines = installed_engines()
        models = dict.fromkeys(model for engine in engines for model in track_model_names(engine))
        models.pop("wheels:N", None)  # Any number of wheels: nothing to choose from.
        courses = [self.course(name) for name in self._courses]
        return Options(
            vehicles=tuple(self._vehicles),
            track_models=tuple(models),
            engines=tuple(engines),
            courses=tuple(_option(course) for course in courses),
            soils=tuple(published_soils()),
        )


def _named(kind: str, name: str, offered: dict[str, str]) -> str:
    if name not in offered:
        raise UnknownNameError(kind, name, offered)
    return offered[name]


def _offer(given: str, offered: dict[str, str], load: Callable[[str], Course | VehicleDescription]) -> str:
    """Return the name under which a name or file is offered; a file is added."""
    if given in offered:
        return given
    name, path = load(given).name, str(Path(given).resolve())
    if offered.get(name, path) != path:
        raise InvalidValueError("files on offer", f"one by the name {name}", given)
    offered[name] = path
    return name


def _option(course: Course) -> CourseOption:
    """Course as a choice on the page, with its settings."""
    setting = course.setting
    return CourseOption(
        name=course.name,
        title=course.title,
        settings=setting.values if setting is not None else (),
        setting_name=setting.name if setting is not None else None,
        unit=setting.unit if setting is not None else None,
    )
