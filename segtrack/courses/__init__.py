"""Courses for trials: terrain, start, gates, walls and settings, described in YAML.

| module | content |
|---|---|
| `course` | a course at one setting |
| `load` | finding and reading a course file, with all its mistakes |
| `pieces` | keys of each apparatus: one row an obstacle of `segtrack.terrain` |
| `file` | keys of the ground and of the rules |
| `ground` | from the keys to terrain and to a course |

`Layout` and `build_ground` are for whatever else describes its ground in YAML.
"""

from segtrack.courses.course import Course, Kind, Setting, Start, Wall, Zone
from segtrack.courses.file import Layout
from segtrack.courses.ground import build_ground
from segtrack.courses.load import bundled_courses, find_course, load_course, parse_course

__all__ = [
    "Course",
    "Kind",
    "Layout",
    "Setting",
    "Start",
    "Wall",
    "Zone",
    "build_ground",
    "bundled_courses",
    "find_course",
    "load_course",
    "parse_course",
]
