"""Command `segtrack log plan`: drives that would tell what no log has told of a vehicle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from segtrack.cli.output import Jobs, JsonFlag, OutFolder, command, counting, finish, path, results_folder
from segtrack.errors import FileAccessError, InvalidValueError, Phrase


@command
def plan(
    vehicle: Annotated[str, typer.Argument(help="Bundled vehicle or vehicle file.", show_default=False)],
    reports: Annotated[
        list[Path] | None,
        typer.Argument(
            parser=path,
            help="report.json of reports on logs of it: what they tested is left out.",
            show_default=False,
        ),
    ] = None,
    uncertain: Annotated[
        str | None,
        typer.Option(
            help="Parameters that are asked for, with their standard deviations: friction=0.05,com_x=0.01; "
            "all if not given. One of 0 is asked for only so.",
            show_default=False,
        ),
    ] = None,
    noise: Annotated[
        str | None,
        typer.Option(
            help="Noise of the log to come: position=0.002,orientation=0.005,belt_speed=0.005 (the default).",
            show_default=False,
        ),
    ] = None,
    jobs: Jobs = None,
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Say which drive (step, slope, turn, brake) would tell wrong values of a vehicle's parameters."""
    from segtrack.description import load_vehicle
    from segtrack.experiments import Workers
    from segtrack.logs.compare import NOISE, parse_stds, plan_count, plan_drives
    from segtrack.logs.fit import PARAMETERS
    from segtrack.report import Outcome
    from segtrack.report.logs import draw_plan, plan_table

    stds = None if uncertain is None else parse_stds("--uncertain", uncertain, PARAMETERS)
    stated = None if noise is None else parse_stds("--noise", noise, NOISE)
    description = load_vehicle(vehicle)
    told = [name for report in reports or () for name in _tested_by(report, description.name)]
    folder = results_folder(out, f"plan-{description.name}")
    with Workers(jobs) as pool, counting("simulating", plan_count(description, stds, told)) as done:
        found = plan_drives(description, stds, noise=stated, told=told, pool=pool, on_done=done)
    files = {"plan.json": found.summary(), "plan.png": draw_plan(found)}
    failed = {test.failed: None for test in found.tests if test.failed}
    notes = [f"not simulated: {reason}" for reason in failed]
    finish(Outcome(plan_table(found), found.summary(), files, notes), folder, as_json)


def _tested_by(report: Path, vehicle: str) -> list[str]:
    """Parameters that a report on a log of a vehicle says its log tests.

    Raises:
        FileAccessError: It cannot be read.
        InvalidValueError: It is no report, or on another vehicle.
    """
    try:
        content = json.loads(report.read_text("utf-8"))
        names, whose = content["maturity"]["tested"], content["vehicle"]
    except OSError as error:
        raise FileAccessError("read", report, error.strerror or str(error)) from None
    except (ValueError, KeyError, TypeError):
        expected = "report.json of `segtrack log report`, of this version"
        raise InvalidValueError("REPORTS", expected, Phrase(str(report))) from None
    if whose != vehicle:
        raise InvalidValueError("REPORTS", f"on logs of {vehicle}", Phrase(f"{report}, on {whose}"))
    return [str(name) for name in names]
