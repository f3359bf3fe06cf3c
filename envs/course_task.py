"""Tasks on courses for trials, bundled or in files, by name."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from segtrack.courses import Course, FloorFrame, find_course, parse_course
from segtrack.description import read_text
from segtrack.envs.parameters import OfferedNumber
from segtrack.envs.task import EpisodeCourse, Path, Task
from segtrack.envs.tasks import find_task
from segtrack.errors import InvalidValueError, Phrase
from segtrack.terrain import StaticBody

PREFIX = "course:"
"""Begin of the name of a task on a course."""
_SLOWEST = 0.1
"""Mean speed along the path at which the time is over [m/s]."""


class CourseTask(Task):
    """Drive a course from its start through its gates, as far as they lead away from the start.

    The way back and further rounds are left out: a path that runs over itself has no one nearest point. x
    leads forward from the start. The course's setting is the parameter `setting`; a range of it draws one of
    the values that the file offers.
    """

    parameters = {}

    def __init__(self, course: str | FilePath) -> None:
        """Read a course.

        Args:
            course: Name of a bundled course, or path of a YAML file.

        Raises:
            UnknownNameError: No such course.
            FileAccessError: The file cannot be read.
            CourseFileError: The file has mistakes; all of them are listed.
            InvalidValueError: Its ground is of several frictions or soils.
        """
        file = find_course(course)
        self.name, self._stem, self._source = f"{PREFIX}{course}", file.stem, read_text(file)
        content, way = _read(self._source, self._stem, None)
        setting = content.setting
        if setting is not None:
            values = sorted({*setting.values, setting.value})
            number = OfferedNumber(
                setting.value, values[0], values[-1], setting.unit, setting.name, offered=setting.values
            )
            self.parameters, self.difficulty, self.levels = {"setting": number}, "setting", setting.values
        self.corridor = (content.lane_width or 2 * Task.corridor) / 2
        self.time_limit = content.time_limit or way.path.length / _SLOWEST

    def course(self, values: Mapping[str, Any], reach: float, rng: np.random.Generator) -> EpisodeCourse:
        """Lay out the course at the setting."""
        return _read(self._source, self._stem, values.get("setting"))[1]


def make_task(name: str) -> Task:
    """Make a task by its name, or one on a course by `course:` and the course's name or path.

    Raises:
        UnknownNameError: There is none of that name.
        SegtrackError: Whatever `CourseTask` refuses.
    """
    return CourseTask(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else find_task(name)()


@lru_cache(maxsize=64)
def _read(source: str, name: str, setting: float | None) -> tuple[Course, EpisodeCourse]:
    """Course of a file's text at a setting, and its ground and path with x forward from the start."""
    course = parse_course(source, name, setting)
    kinds = {(ground.friction, ground.soil) for ground in course.terrains}
    if len(kinds) > 1:
        got = Phrase(f"{len(kinds)} kinds")
        raise InvalidValueError(f"ground of course {name}", "of one friction and one soil for a task", got)
    ((friction, soil),) = kinds
    start = course.start
    seen = FloorFrame(0.0, 0.0, -start.yaw).at(-start.x, -start.y)._replace(yaw=-start.yaw)
    solids: Any = chain.from_iterable(ground.solids() for ground in course.terrains)
    parts = tuple(seen.moved(solid, 0.0) for solid in solids)
    places = [seen.at(x, y) for x, y in _way(course)]
    path = Path(np.array([(place.x, place.y) for place in places]))
    return course, EpisodeCourse(StaticBody(parts=parts, name=name, friction=friction, soil=soil), path)


def _way(course: Course) -> Iterator[tuple[float, float]]:
    """Start and gates of a course, as far as they lead away from the start: world x and y [m]."""
    start, far = course.start, 0.0
    yield start.x, start.y
    for gate in course.gates:
        distance = math.dist((start.x, start.y), (gate.x, gate.y))
        if distance <= far:
            return
        far = distance
        yield gate.x, gate.y
