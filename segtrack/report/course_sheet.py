"""Sheet of the random courses of a task, each with robot, path and parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path as File
from typing import Any, NamedTuple

import numpy as np
from gymnasium.utils.seeding import np_random
from matplotlib.figure import Figure
from numpy.typing import NDArray
from rich.table import Table

from segtrack.description import Frame, VehicleDescription
from segtrack.envs import EnvironmentOptions, EpisodeCourse, EpisodeWorld, TaskSetup
from segtrack.rendering import (
    Camera,
    ColouredMesh,
    OnLink,
    PosedVehicle,
    View,
    VisiblePart,
    box,
    coloured,
    join,
    look_of,
    read_pose,
)
from segtrack.report.side_view import new_figure
from segtrack.robot import Robot

_COLUMNS, _SIZE, _MARGIN, _INCHES = 4, (600, 400), (60, 40), (3.2, 2.4)
"""Courses beside each other; size of a picture, of which a margin is cut off all around [pixels], and of its
place with the caption [in]."""
_COLOUR = (206.0, 60.0, 54.0)
_WIDTH, _ABOVE, _SPACING = 0.05, 0.02, 0.02
"""Width of the line along the way, its height above the ground, and distance of its points [m]."""
_POLE = 0.4
"""Height of the pole at the goal [m]."""


class SheetCourse(NamedTuple):
    """One course of a sheet.

    Attributes:
        seed: Seed of the environment's reset.
        values: Values of the task's own parameters, and of the parameters that were given.
        picture: Picture of the course (height, width, 3).
    """

    seed: int
    values: Mapping[str, Any]
    picture: NDArray[np.uint8]

    @property
    def caption(self) -> str:
        """Seed and parameter values in words."""
        return ", ".join([f"seed {self.seed}", *(f"{n} {_word(v)}" for n, v in self.values.items())])


@dataclass(frozen=True)
class CourseSheet:
    """Courses of a task, as its environments sample them.

    Attributes:
        task: Name of the task.
        courses: Courses, in the order of their seeds.
    """

    task: str
    courses: tuple[SheetCourse, ...]

    @classmethod
    def of(
        cls,
        task: str,
        count: int,
        *,
        seed: int = 0,
        vehicle: str | File | VehicleDescription = "quince",
        view: View = "oblique",
        parameters: Mapping[str, Any] | None = None,
        on_done: Callable[[], object] = lambda: None,
    ) -> CourseSheet:
        """Sample courses as environments do at resets with consecutive seeds.

        Args:
            task: Name of the task.
            count: Number of courses.
            seed: Seed of the first course.
            vehicle: Vehicle at the start of each course.
            view: View of the pictures.
            parameters: Values or ranges of the environment's parameters.
            on_done: Function called after each picture.

        Raises:
            UnknownNameError: No such task, vehicle, parameter or view.
            InvalidValueError: A value that cannot be, or a terrain without heights.
        """
        setup = TaskSetup.of(task, EnvironmentOptions(vehicle=vehicle))
        given = setup.check_options(parameters)
        shown = dict.fromkeys((*setup.task.parameters, *(parameters or {})))
        world = EpisodeWorld(
            setup.vehicle,
            engine="native",
            track_model="compliant",
            preset=None,
            time_step=None,
            period=setup.control_period,
            gui=False,
        )
        courses = []
        for own in range(seed, seed + count):
            values, course = setup.draw(given, np_random(own)[0])
            world.set_up(course, values)
            camera = Camera(_with_way(world.robot, course), [course.terrain], view=view, size=_SIZE)
            picture = camera.take(fine=True)[_MARGIN[1] : -_MARGIN[1], _MARGIN[0] : -_MARGIN[0]]
            courses.append(SheetCourse(own, {name: values[name] for name in shown}, picture))
            on_done()
        world.close()
        return cls(setup.task.name, tuple(courses))

    def figure(self) -> Figure:
        """Return the pictures side by side, with captions."""
        rows, width = -(-len(self.courses) // _COLUMNS), min(len(self.courses), _COLUMNS)
        figure = new_figure(width * _INCHES[0], rows * _INCHES[1])
        for place, course in enumerate(self.courses, 1):
            axes = figure.add_subplot(rows, width, place)
            axes.imshow(course.picture)
            axes.set_axis_off()
            axes.set_title(course.caption, fontsize=8.0, wrap=True)
        return figure

    def table(self) -> Table:
        """Return the parameter values, a row for each course."""
        names = self.courses[0].values
        table = Table("seed", *names, title=f"Courses of {self.task}")
        for course in self.courses:
            table.add_row(str(course.seed), *(_word(value) for value in course.values.values()))
        return table

    def summary(self) -> dict[str, Any]:
        """Return seeds and values as one JSON-serialisable object."""
        return {"task": self.task, "courses": [{"seed": c.seed, **c.values} for c in self.courses]}


def _word(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, int | float) else str(value)


def _with_way(robot: Robot, course: EpisodeCourse) -> PosedVehicle:
    """Robot at its present pose with the path as part of its look, so that a camera frames both."""
    look, pose = look_of(robot), read_pose(robot)
    way = join(_way(course))
    inside = way._replace(points=_in_frame(pose.body, way.points))
    return PosedVehicle(replace(look, parts=(*look.parts, VisiblePart(inside, OnLink(0)))), pose)


def _in_frame(frame: Frame, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Transform points of the world (n, 3) to a frame [m]."""
    return np.asarray((points - frame.origin) @ frame.rotation)


def _way(course: EpisodeCourse) -> Iterator[ColouredMesh]:
    """Yield a band along the path on the ground, and a pole at the goal."""
    path = course.path
    along = np.linspace(0.0, path.length, max(2, round(path.length / _SPACING)))
    middle = np.array([path.at(s) for s in along.tolist()])
    forward = np.gradient(middle, axis=0)
    left = np.stack([-forward[:, 1], forward[:, 0]], axis=1)
    left *= _WIDTH / 2 / np.linalg.norm(left, axis=1, keepdims=True)
    heights = course.terrain.height_at(*middle.T) + _ABOVE
    sides = [np.column_stack([middle + side, heights]) for side in (-left, left)]
    count = len(along)
    corners = (0, 1, count), (count, 1, count + 1)  # Of two triangles; left points follow those on the right.
    strip = [(i + a, i + b, i + c) for i in range(count - 1) for a, b, c in corners]
    yield coloured(np.concatenate(sides), strip, _COLOUR)
    goal = np.array([*middle[-1], heights[-1] + _POLE / 2])
    yield box((_WIDTH / 2, _WIDTH / 2, _POLE / 2), _COLOUR).moved(np.eye(3), goal)
