"""`segtrack preview`: the random courses of a task in one picture."""

from __future__ import annotations

from typing import Annotated, get_args

import typer

from segtrack.cli.learn import Settings, Task, read_settings, task_name
from segtrack.cli.output import JsonFlag, OutFolder, command, counting, finish, results_folder
from segtrack.errors import UnknownNameError


@command
def preview(
    task: Task,
    courses: Annotated[int, typer.Option(help="Number of courses.", min=1, max=100)] = 12,
    view: Annotated[str, typer.Option(help="oblique, side, top or chase.")] = "oblique",
    seed: Annotated[int, typer.Option(help="Seed of everything random.", min=0)] = 0,
    vehicle: Annotated[
        str, typer.Option(help="Name of a bundled vehicle, or path of a vehicle file.")
    ] = "quince",
    settings: Settings = None,
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Draw the courses that a task draws: ground, way and start, with their parameters.

    Course i is that of an environment which is reset with seed + i.
    """
    from segtrack.rendering import View
    from segtrack.report import CourseSheet, Outcome

    if view not in get_args(View):
        raise UnknownNameError("view", view, get_args(View))
    name, parameters = task_name(task), read_settings(settings)
    folder = results_folder(out, f"preview-{name}")
    with counting("drawing", courses) as done:
        sheet = CourseSheet.of(
            name,
            courses,
            seed=seed,
            vehicle=vehicle,
            view=view,  # type: ignore[arg-type]
            parameters=parameters,
            on_done=done,
        )
    finish(Outcome(sheet.table(), sheet.summary(), {"preview.png": sheet.figure()}), folder, as_json)
