"""Where course files are: bundled ones by name, the user's own by path."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from segtrack.description.file.catalogue import find_description


def _bundled() -> dict[str, Path]:
    root = Path(str(resources.files("segtrack.courses"))) / "bundled"
    return {path.stem: path for path in sorted(root.glob("*.yaml"))}


def bundled_courses() -> tuple[str, ...]:
    """Names of the courses that come with segtrack, in alphabetical order."""
    return tuple(_bundled())


def find_course(course: str | Path) -> Path:
    """The file of a course; see `find_description`."""
    return find_description("course", course, _bundled())
