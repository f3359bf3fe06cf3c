"""What can be chosen on the page: names, never paths."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from segtrack.courses import Course, bundled_courses, load_course
from segtrack.description import VehicleDescription, bundled_vehicles, load_vehicle
from segtrack.errors import UnknownNameError
from segtrack.recording.setup import DriveSetup
from segtrack.station.protocol import CourseOption, Options, Setup
from segtrack.terrain import published_soils
from segtrack.world import TRACK_MODELS

FIRST_COURSE = "okada-step"
"""What is driven unless something else is said."""


class Catalogue:
    """Vehicles and courses on offer: those that come with segtrack, and files given at the start.

    Attributes:
        first: What is driven at first.
        options: What the page offers.
    """

    def __init__(self, vehicle: str | None = None, course: str | None = None) -> None:
        """Offer what comes with segtrack, and a vehicle and a course by name or file.

        Raises:
            SegtrackError: There is no such vehicle or course, or its file has mistakes.
        """
        self._vehicles = {name: str(path) for name, path in bundled_vehicles().items()}
        self._courses = {name: name for name in bundled_courses()}
        first = FIRST_COURSE if course is None else _offer(course, self._courses, load_course)
        suggested = self.course(first).vehicle or "quince"
        chosen = suggested if vehicle is None else _offer(vehicle, self._vehicles, load_vehicle)
        self.first = Setup(vehicle=chosen, course=first)
        self.options = self._options()

    def course(self, name: str, setting: float | None = None) -> Course:
        """A course on offer.

        Raises:
            UnknownNameError: It is not on offer.
        """
        return load_course(_named("course", name, self._courses), setting)

    def vehicle(self, name: str) -> VehicleDescription:
        """A vehicle on offer.

        Raises:
            UnknownNameError: It is not on offer.
        """
        return load_vehicle(_named("vehicle", name, self._vehicles))

    def drive_setup(self, setup: Setup) -> DriveSetup:
        """What the simulation takes, names replaced by the files that they stand for.

        Raises:
            SegtrackError: A name that is not on offer, or values that do not go together.
        """
        values = setup.model_dump()
        values["vehicle"] = _named("vehicle", setup.vehicle, self._vehicles)
        values["course"] = _named("course", setup.course, self._courses)
        if setup.soil is not None:
            _named("soil", setup.soil, dict.fromkeys(published_soils(), ""))
        return DriveSetup(**values).resolved()

    def _options(self) -> Options:
        engines = [engine for engine in TRACK_MODELS if engine != "pybullet" or find_spec("pybullet")]
        models = dict.fromkeys(model for engine in engines for model in TRACK_MODELS[engine])
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
    """The name that something given is on offer by; a file joins the others."""
    if given in offered:
        return given
    name = load(given).name
    offered[name] = str(Path(given).resolve())
    return name


def _option(course: Course) -> CourseOption:
    setting = course.setting
    return CourseOption(
        name=course.name,
        title=course.title,
        settings=setting.values if setting is not None else (),
        setting_name=setting.name if setting is not None else None,
        unit=setting.unit if setting is not None else None,
    )
