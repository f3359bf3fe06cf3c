"""Syllabus files: exercises in order, and an operator's progress in them."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, TypeAlias

from pydantic import AfterValidator, Field

from segtrack.courses.course import Kind
from segtrack.courses.course_file import SoilName
from segtrack.courses.load import load_course
from segtrack.courses.result import Result
from segtrack.courses.trial import ScoringSettings
from segtrack.description import (
    Beside,
    Checks,
    Count,
    NonNegative,
    Number,
    Positive,
    Spec,
    Text,
    check,
    check_content,
    find_description,
    load_vehicle,
    parse_yaml,
    read_text,
)
from segtrack.errors import Problem, SegtrackError, SyllabusFileError

Cameras: TypeAlias = Literal["real"]
"""Cameras of an operator, where not every view is theirs: those on the vehicle, with their faults."""
Light: TypeAlias = Literal["dark"]
"""Light, where it is no daylight: the vehicle's own lamps."""
LEAST_VISIBILITY, MOST_VISIBILITY = 0.1, 1e4
"""Range of the visibility in smoke, the distance at which it leaves 5 % of the contrast [m]."""


CONDITION = "exercise"
"""Condition of a result that names its exercise: trials of exercises are not compared with others."""
FIRST_SYLLABUS = "first-day"
"""Default syllabus."""
_MOST = 30


def _course(given: str) -> str:
    try:
        load_course(given)
    except SegtrackError as error:
        raise ValueError(f"must be a course: {error}") from None
    return given


def _vehicle(given: str) -> str:
    try:
        load_vehicle(given)
    except SegtrackError as error:
        raise ValueError(f"must be a vehicle: {error}") from None
    return given


class Exercise(Spec):
    """Exercise: a trial to be passed, on one course with one vehicle."""

    name: Annotated[str, Field(strict=True, pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$")]
    """Lasting name, which results carry."""
    title: Text
    """Title for people."""
    course: Annotated[Beside, AfterValidator(_course)]
    """Bundled course, or path of a course file from the syllabus' folder."""
    setting: Number | None = None
    """Setting of the course; its own if not given."""
    vehicle: Annotated[Beside, AfterValidator(_vehicle)]
    """Bundled vehicle, or path of a vehicle file from the syllabus' folder."""
    friction: Annotated[NonNegative, Field(le=10)] | None = None
    """Coulomb friction of the ground [-]; the course's if not given."""
    soil: SoilName | None = None
    """Soil of the ground; the course's if not given."""
    payload: Annotated[NonNegative, Field(le=1e4)] = 0.0
    """Mass on the vehicle [kg]."""
    cameras: Cameras | None = None
    """`real` for the vehicle's own cameras alone; any view if not given."""
    light: Light | None = None
    """`dark` for the vehicle's own lamps alone; daylight if not given."""
    visibility: Annotated[Number, Field(ge=LEAST_VISIBILITY, le=MOST_VISIBILITY)] | None = None
    """Distance at which smoke leaves 5 % of the contrast [m]; no smoke if not given."""
    complete: Annotated[Count, Field(le=_MOST)]
    """Repetitions that are to be completed."""
    failures: Annotated[int, Field(strict=True, ge=0, le=_MOST)] = 0
    """Repetitions that may fail before them."""
    rate: Positive | None = None
    """Least rate, in the course's unit: repetitions [1/min] or metres [m/min]; any if not given."""
    lesson: bool = False
    """True if the controls are explained, one after another, before its trial."""

    @check
    def _setting_is_offered(self) -> Checks:
        setting = load_course(self.course).setting
        if self.setting is None or (setting is not None and self.setting in setting.values):
            return
        offered = "left out: the course has none" if setting is None else f"one of {list(setting.values)}"
        yield Problem("setting", f"must be {offered}, got {self.setting:g}")

    @property
    def kind(self) -> Kind:
        """Kind of the course, which determines the unit of the rate."""
        return load_course(self.course).kind

    @property
    def repetitions(self) -> int:
        """Largest number of repetitions to try."""
        return self.complete + self.failures

    @property
    def settings(self) -> ScoringSettings:
        """Settings of the exercise's trial, which passes with the last required repetition."""
        return ScoringSettings(
            allowed_failures={self.complete + failed: failed for failed in range(self.failures + 1)}
        )

    def is_passed_by(self, result: Result) -> bool:
        """Return whether a result passes the exercise."""
        passed = result.conditions.get(CONDITION) == self.name and result.outcome == "passed"
        return passed and (self.rate is None or result.rate >= self.rate)


class ExerciseProgress(NamedTuple):
    """Progress of an operator in an exercise.

    Attributes:
        exercise: Exercise of the syllabus.
        tries: Number of trials.
        passed: First trial that passed; None without one.
        best: Best rate of all trials, in the course's unit; 0 without one.
        is_open: True if all earlier exercises are passed.
    """

    exercise: Exercise
    tries: int
    passed: Result | None
    best: float
    is_open: bool


class Syllabus(Spec):
    """Exercises in the order in which they must be passed."""

    title: Text
    """Title for people."""
    exercises: Annotated[tuple[Exercise, ...], Field(min_length=1, max_length=100)]
    """Exercises in their order."""

    @check
    def _named_once(self) -> Checks:
        seen: set[str] = set()
        for number, exercise in enumerate(self.exercises):
            if exercise.name in seen:
                yield Problem(f"exercises[{number}].name", f"is given twice, got {exercise.name!r}")
            seen.add(exercise.name)

    def progress(self, results: Iterable[Result]) -> tuple[ExerciseProgress, ...]:
        """Return the progress in each exercise, from an operator's results."""
        results, rows, is_open = list(results), [], True
        for exercise in self.exercises:
            tried = [result for result in results if result.conditions.get(CONDITION) == exercise.name]
            passed = next(filter(exercise.is_passed_by, tried), None)
            best = max((result.rate for result in tried), default=0.0)
            rows.append(ExerciseProgress(exercise, len(tried), passed, best, is_open))
            is_open = is_open and passed is not None
        return tuple(rows)


def bundled_syllabi() -> dict[str, Path]:
    """Return the files of the bundled syllabi, by name."""
    root = Path(str(resources.files("segtrack.courses"))) / "syllabi"
    return {path.stem: path for path in sorted(root.glob("*.yaml"))}


def load_syllabus(syllabus: str | Path) -> Syllabus:
    """Read and check a syllabus.

    Args:
        syllabus: Name of a bundled syllabus, or path of a YAML file.

    Raises:
        UnknownNameError: No such syllabus.
        FileAccessError: The file cannot be read.
        SyllabusFileError: The file has mistakes; all of them are listed, with their lines.
    """
    path = find_description("syllabus", syllabus, bundled_syllabi())
    content = parse_yaml(read_text(path), path.name, SyllabusFileError)
    return check_content(Syllabus, content, path.name, path.parent, SyllabusFileError)
