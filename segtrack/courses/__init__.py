"""Courses for trials: terrain, start, gates, walls and settings, described in YAML."""

from segtrack.courses.course import Course, Kind, Setting, Start, Wall, Zone
from segtrack.courses.load import bundled_courses, load_course

__all__ = [
    "Course",
    "Kind",
    "Setting",
    "Start",
    "Wall",
    "Zone",
    "bundled_courses",
    "load_course",
]
