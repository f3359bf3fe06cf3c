"""Courses for trials: terrain, start, gates, walls and settings, described in YAML."""

from segtrack.courses.catalogue import bundled_courses, find_course
from segtrack.courses.course import Course, Kind, Setting, Start, Wall, Zone
from segtrack.courses.load import load_course, parse_course

__all__ = [
    "Course",
    "Kind",
    "Setting",
    "Start",
    "Wall",
    "Zone",
    "bundled_courses",
    "find_course",
    "load_course",
    "parse_course",
]
