"""Course files: bundled ones by name, the user's own by path; every mistake reported at once."""

from __future__ import annotations

import math
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

from segtrack.courses.course import Course
from segtrack.courses.course_file import CourseFile
from segtrack.courses.ground import build_course, gates_of, lay_out
from segtrack.courses.pieces import SETTING
from segtrack.description import (
    MAX_NODES,
    YamlFile,
    check_content,
    check_seen,
    find_description,
    parse_yaml,
    read_text,
)
from segtrack.errors import CourseFileError, InvalidValueError, Problem, finite

MAX_VALUES = 50
"""Most values of a course's setting: the course is checked with each."""


def _bundled() -> dict[str, Path]:
    root = Path(str(resources.files("segtrack.courses"))) / "courses"
    return {path.stem: path for path in sorted(root.glob("*.yaml"))}


def bundled_courses() -> tuple[str, ...]:
    """Return the names of the bundled courses, in alphabetical order."""
    return tuple(_bundled())


def find_course(course: str | Path) -> Path:
    """Return the file of a course; see `find_description`."""
    return find_description("course", course, _bundled())


def load_course(name_or_path: str | Path, setting: float | None = None) -> Course:
    """Read and check a course.

    Args:
        name_or_path: Name of a bundled course, or path of a YAML file.
        setting: Value of the course's setting; by default the file's own.

    Raises:
        UnknownNameError: No such course.
        FileAccessError: The file cannot be read.
        CourseFileError: The file has mistakes, at this or another setting; all of them are listed.
        InvalidValueError: A setting for a course that has none, or one that is not finite.
    """
    path = find_course(name_or_path)
    return parse_course(read_text(path), path.stem, setting, path.name)


def parse_course(text: str, name: str, setting: float | None = None, file: str | None = None) -> Course:
    """Read and check the text of a course file, as `Course.source` holds it.

    Args:
        text: YAML text of the course.
        name: Name of the course.
        setting: Value of the course's setting, see `load_course`.
        file: Name of the file for messages; by default the course's.

    Raises:
        CourseFileError: The text has mistakes; all of them are listed.
        InvalidValueError: See `load_course`.
    """
    file = check_seen("name of a course", name) if file is None else file
    content = parse_yaml(text, file, CourseFileError)
    most = max(1, min(MAX_VALUES, MAX_NODES // max(1, content.nodes)))
    if most < (given := len(_values(content.data))):
        message = f"must be at most {most} long for a course of {content.nodes} keys and values, got {given}"
        raise CourseFileError(file, content.locate([Problem("setting.values", message)]))
    checked = {value: _checked(content, value, file) for value in _values(content.data)}
    value, course = next(iter(checked.items()))
    if course.setting is None and setting is not None:
        raise InvalidValueError(f"setting of course {name}", "left out: it has none", setting)
    if setting is not None:
        value = finite("setting", setting)
        course = checked[value] if value in checked else _checked(content, value, file)
    elif course.setting is not None and course.setting.start is not None:
        value = course.setting.start
        course = checked[value]
    return build_course(course, name, value, text)


def _values(data: Any) -> list[float | None]:
    """Valid values of the setting in a file; [None] for a course without one."""
    if not isinstance(data, dict) or "setting" not in data:
        return [None]
    given = data["setting"].get("values") if isinstance(data["setting"], dict) else None
    values = given if isinstance(given, list) else []
    sound = [value for value in values if type(value) in (int, float) and math.isfinite(value)]
    return list(dict.fromkeys(map(float, sound))) or [1.0]


def _checked(content: YamlFile, value: float | None, file: str) -> CourseFile:
    """Validated content of a file at a value of the setting."""
    if value is not None:
        data = {key: part if key == "setting" else _put(part, value) for key, part in content.data.items()}
        problems = content.problems
        if data == content.data:
            problems += (Problem("setting", f"is used nowhere: write {SETTING} in the place of a number"),)
        content = replace(content, data=data, problems=problems)
    course = check_content(CourseFile, content, file, Path("."), CourseFileError)
    site = lay_out(course)
    if misplaced := list(site.problems()):
        raise CourseFileError(file, misplaced)
    first, *others = gates_of(course, site)
    if not others or others[-1].overlaps(first):
        got = f"{1 + len(others)}, of which it does" if others else "1"
        message = f"must be two or more, of which the last does not overlap the first, got {got}"
        raise CourseFileError(file, [Problem("gates", message)])
    return course


def _put(part: Any, value: float) -> Any:
    """Copy of a part of a file with a value in place of the word `setting`."""
    match part:
        case dict():
            return {key: _put(inner, value) for key, inner in part.items()}
        case list():
            return [_put(inner, value) for inner in part]
        case _:
            whole = int(value) if value.is_integer() else value  # A number of stairs, for example.
            return whole if part == SETTING else part
