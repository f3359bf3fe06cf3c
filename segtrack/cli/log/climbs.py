"""`segtrack log climbs`: a table of trials at steps beside their simulations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from segtrack.cli.log.options import Jobs
from segtrack.cli.options import EngineChoice, TrackModel
from segtrack.cli.output import (
    INTERRUPTED,
    JsonFlag,
    OutFolder,
    command,
    counting,
    results_folder,
    say_written,
    show,
    words,
)
from segtrack.files import write_figure, write_json

if TYPE_CHECKING:
    from segtrack.logs.climbs import ClimbsResult

EXAMPLE = "okada"


@command
def climbs(
    table: Annotated[
        str, typer.Argument(help="CSV or YAML file of trials, or the name of a bundled table.")
    ] = EXAMPLE,
    vehicle: Annotated[
        str | None,
        typer.Option(help="Bundled vehicle or vehicle file, of trials that name none.", show_default=False),
    ] = None,
    uncertain: Annotated[
        str | None,
        typer.Option(
            help="Standard deviations over the table's, as friction=0.05,height=0.002.", show_default=False
        ),
    ] = None,
    track_model: TrackModel = None,
    engine: EngineChoice = None,
    jobs: Jobs = None,
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Simulate trials at steps: which end as the robot's, which are undecided, how high it climbs.

    Columns: height [m], outcome (climbed or failed); front_flippers_deg, rear_flippers_deg, speed [m/s],
    friction, vehicle and another simulation's outcome (simulation) if they are known.
    """
    from segtrack.logs.climbs import CLIMB_INPUTS, ClimbsInterrupted, load_climbs, plan_climbs, run_climbs
    from segtrack.logs.compare.uncertainty.inputs import parse_stds

    stds = {} if uncertain is None else parse_stds("--uncertain", uncertain, CLIMB_INPUTS)
    trials = load_climbs(table)
    plan = plan_climbs(trials, vehicle, stds, engine=engine, track_model=track_model)  # type: ignore[arg-type]
    folder = results_folder(out, f"climbs-{Path(table).stem}")
    interrupted = False
    try:
        with counting("climbing", plan.job_count) as done:
            result = run_climbs(plan, jobs, done)
    except ClimbsInterrupted as stop:
        result, interrupted = stop.result, True
    _tell(result, folder, as_json)
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _tell(result: ClimbsResult, folder: Path, as_json: bool) -> None:
    from segtrack.report.logs.climbs_figure import draw_climbs
    from segtrack.report.logs.climbs_table import climbs_tables

    written = [write_json(folder / "climbs.json", result.summary())]
    if result.trials:
        written.append(write_figure(folder / "climbs.png", draw_climbs(result)))
    show(climbs_tables(result), result.summary(), as_json)
    if not result.finished:
        done, asked = len(result.trials), len(result.table.trials)
        words().print(f"interrupted: {done} of {asked} trials are done", style="red", highlight=False)
    say_written(*written)
