"""`segtrack courses`: which there are, and what is in a course file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from segtrack.cli.output import JsonFlag, command, say_written, show, words
from segtrack.courses import bundled_courses, find_course, load_course
from segtrack.courses.file import CourseFile
from segtrack.files import check_file, picture_suffixes, write_figure

CourseName = Annotated[str, typer.Argument(help="Name of a bundled course, or path of a course file.")]

courses = typer.Typer(help="List, check and draw courses for trials.", invoke_without_command=True)


@courses.callback()
def _list(context: typer.Context, as_json: JsonFlag = False) -> None:
    """List the bundled courses; its commands check and draw course files."""
    if context.invoked_subcommand is not None:
        return
    from segtrack.report.tables import courses_table

    found = {name: load_course(name) for name in bundled_courses()}
    summary = {
        name: {
            "file": str(find_course(name)),
            "title": course.title,
            "description": course.description,
            "kind": course.kind,
            "lane_width": course.lane_width,
            "vehicle": course.vehicle,
            "distance": course.distance,
            "setting": None
            if course.setting is None
            else {
                "name": course.setting.name,
                "unit": course.setting.unit,
                "values": list(course.setting.values),
                "start": course.setting.value,
            },
        }
        for name, course in found.items()
    }
    show(courses_table(found), {"courses": summary}, as_json)


@courses.command()
@command
def validate(file: CourseName) -> None:
    """Check a course file; every mistake is listed with its line."""
    course = load_course(file)
    values = "no setting" if course.setting is None else f"{len(course.setting.values)} settings"
    words().print(
        f"{course.name}: valid, {values}, {len(course.gates)} gates, {len(course.walls)} walls",
        highlight=False,
    )


@courses.command()
@command
def schema() -> None:
    """Print the JSON Schema of course files."""
    typer.echo(json.dumps(CourseFile.model_json_schema(), indent=2))


@courses.command()
@command
def draw(
    file: CourseName,
    setting: Annotated[
        float | None,
        typer.Option(help="Value of what can be raised; the file's own if not given.", show_default=False),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Picture to write.", show_default=False)] = None,
) -> None:
    """Draw a course from above and along its path: heights, walls, start and gates."""
    from segtrack.report.course_figure import draw_course

    course = load_course(file, setting)
    picture = out if out is not None else Path("out") / f"{course.name}.png"
    check_file("--out", picture, picture_suffixes())
    say_written(write_figure(picture, draw_course(course)))
