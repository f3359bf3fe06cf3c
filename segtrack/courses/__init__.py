"""Courses for trials: terrain, start, gates, walls and settings, described in YAML.

| module | what |
|---|---|
| `course` | what a course is, at one setting |
| `catalogue` | where course files are |
| `load` | reading one, with all its mistakes |
| `layout`, `file` | its keys: what stands on the floor, and the rules |
| `apparatus` | each apparatus, as solids |
| `ground`, `build` | from the keys to terrain and to a course |

`Layout` and `build_ground` are for whatever else describes its ground in YAML.
"""

from segtrack.courses.catalogue import bundled_courses, find_course
from segtrack.courses.course import Course, Kind, Setting, Start, Wall, Zone
from segtrack.courses.ground import build_ground
from segtrack.courses.layout import Layout
from segtrack.courses.load import load_course, parse_course

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
