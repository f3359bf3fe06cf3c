"""Where course files are: bundled ones by name, the user's own by path."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path

from segtrack.errors import FileAccessError, InvalidValueError, UnknownNameError


def _bundled() -> dict[str, Path]:
    root = Path(str(resources.files("segtrack.courses"))) / "bundled"
    return {path.stem: path for path in sorted(root.glob("*.yaml"))}


def bundled_courses() -> tuple[str, ...]:
    """Names of the courses that come with segtrack, in alphabetical order."""
    return tuple(_bundled())


def find_course(course: str | Path) -> Path:
    """The file of a course.

    Args:
        course: Name of a bundled course, or path of a YAML file.

    Raises:
        UnknownNameError: Neither a bundled name nor something that looks like a path.
        FileAccessError: A path with no file.
        InvalidValueError: Neither text nor a path.
    """
    if not isinstance(course, str | Path):
        raise InvalidValueError("course", "a bundled name or the path of a course file", course)
    bundled = _bundled()
    if str(course) in bundled:
        return bundled[str(course)]
    path = Path(course).expanduser()
    if os.path.isfile(path):
        return path.resolve()
    if str(course) and os.path.isdir(path):
        raise FileAccessError("read", path, "is a folder, not a course file")
    if path.suffix in {".yaml", ".yml"} or len(path.parts) > 1:
        raise FileAccessError("read", path, "no such file")
    raise UnknownNameError("course", str(course), bundled)
