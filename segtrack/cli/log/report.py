"""`segtrack log report`: a log beside its simulation, as one page that needs nothing else."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from segtrack.cli.log.options import (
    Jobs,
    MappingFile,
    NumericsOption,
    SettingOption,
    TerrainOption,
    UncertainOption,
    VehicleOption,
    clock_deviations,
    replayed,
)
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
from segtrack.errors import InvalidValueError, MissingPackageError
from segtrack.files import write_json, write_text


@command
def report(
    log: Annotated[Path, typer.Argument(help="CSV, TUM, MATLAB, ROS bag or MCAP.", show_default=False)],
    mapping: MappingFile,
    vehicle: VehicleOption = None,
    terrain: TerrainOption = None,
    setting: SettingOption = None,
    changed: Annotated[
        list[str] | None,
        typer.Option(
            help="What was changed on purpose since the vehicle was fitted, in words; it counts where the "
            "files differ, too. Can be given several times.",
            show_default=False,
        ),
    ] = None,
    uncertain: UncertainOption = None,
    numerics: NumericsOption = True,
    track_model: TrackModel = None,
    engine: EngineChoice = None,
    jobs: Jobs = None,
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Compare a log with its simulation, and write an HTML page with pictures, tables and maturity level."""
    try:
        import jinja2  # noqa: F401  Before the work begins.
    except ImportError:
        raise MissingPackageError("an HTML report", "jinja2", "logs") from None
    from segtrack.logs.compare import CompareInterrupted, Stated, compare, load_stated, simulation_count
    from segtrack.report.logs.page.gather import gather
    from segtrack.report.logs.page.output import report_html, report_summary
    from segtrack.report.logs.page.report_table import report_tables

    if not all(map(str.strip, changed or ())):
        raise InvalidValueError("--changed", "what was changed, in words", "")
    stated = Stated() if uncertain is None else load_stated("--uncertain", uncertain)
    folder = results_folder(out, f"report-{log.stem}")
    mapped, driven = replayed(log, mapping, vehicle, terrain, setting, engine, track_model)
    interrupted = False
    try:
        with counting("simulating", simulation_count(driven, stated, numerics)) as done:
            comparison = compare(
                driven,
                stated=stated,
                clocks=clock_deviations(mapped),
                refine=numerics,
                workers=jobs,
                on_done=done,
            )
    except CompareInterrupted as stop:
        comparison, interrupted = stop.comparison, True
    content = gather(mapped, driven, comparison, changed or ())
    today = date.today().isoformat()
    summary = report_summary(content, today)
    written = [
        write_text(folder / "report.html", report_html(content, today)),
        write_json(folder / "report.json", summary),
    ]
    show(report_tables(content), summary, as_json)
    say_written(*written)
    if interrupted:
        words().print("interrupted: uncertainties are of the simulations that are done", style="red")
        raise typer.Exit(INTERRUPTED)
