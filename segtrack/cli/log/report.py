"""`segtrack log report`: a log beside its simulation, as one page that needs nothing else."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

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
from segtrack.errors import InvalidValueError, MissingPackageError, Phrase
from segtrack.files import write_json, write_text


@command
def report(
    log: Annotated[Path, typer.Argument(help="CSV, TUM, MATLAB, ROS bag or MCAP.", show_default=False)],
    mapping: Annotated[
        Path, typer.Option(help="Mapping file: which channel is which quantity.", show_default=False)
    ],
    vehicle: Annotated[
        str | None, typer.Option(help="Bundled vehicle or vehicle file; the mapping's.", show_default=False)
    ] = None,
    terrain: Annotated[
        str | None, typer.Option(help="Bundled course or terrain file; the mapping's.", show_default=False)
    ] = None,
    changed: Annotated[
        list[str] | None,
        typer.Option(
            help="What was changed on purpose since the vehicle was fitted, in words; it counts where the "
            "files differ, too. Can be given several times.",
            show_default=False,
        ),
    ] = None,
    uncertain: Annotated[
        str | None,
        typer.Option(
            help="Standard deviations: friction=0.05,com_x=0.01, or a YAML file of inputs and data.",
            show_default=False,
        ),
    ] = None,
    numerics: Annotated[
        bool, typer.Option(help="Simulate half and a quarter of the time step, for u_num.")
    ] = True,
    track_model: TrackModel = None,
    engine: EngineChoice = None,
    jobs: Annotated[
        int | None, typer.Option(help="Processes; as many as there are cores if not given.", min=1)
    ] = None,
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Compare a log with its simulation, and write an HTML page with pictures, tables and maturity level."""
    try:
        import jinja2  # noqa: F401  Before the work begins.
    except ImportError:
        raise MissingPackageError("an HTML report", "jinja2", "logs") from None
    from segtrack.logs.compare import CompareInterrupted, Stated, compare, load_stated, simulation_count
    from segtrack.logs.mapping import load_mapping, map_log
    from segtrack.logs.reading import read_log
    from segtrack.logs.replay import ReplaySettings, replay
    from segtrack.report.logs.gather import gather
    from segtrack.report.logs.page import report_html, report_summary
    from segtrack.report.logs.report_table import report_tables

    stated = Stated() if uncertain is None else load_stated("--uncertain", uncertain)
    mapped_by = load_mapping(mapping).with_vehicle(vehicle)
    ground = terrain if terrain is not None else mapped_by.terrain
    for what, given in (("vehicle", mapped_by.vehicle), ("terrain", ground)):
        if given is None:
            raise InvalidValueError(what, f"given by --{what} or the mapping", Phrase("none"))
    assert mapped_by.vehicle is not None and ground is not None
    folder = results_folder(out, f"report-{log.stem}")
    event = mapped_by.event if isinstance(mapped_by.event, float) else None
    settings = ReplaySettings(
        mapped_by.vehicle, ground, engine=engine, track_model=track_model, event=event  # type: ignore[arg-type]
    )  # fmt: skip
    mapped = map_log(read_log(log), mapped_by)
    driven = replay(mapped.motion, settings)
    clocks = {fit.source: fit.offset.margin / 1.96 for fit in mapped.clocks}
    interrupted = False
    try:
        with counting("simulating", simulation_count(driven, stated, numerics)) as done:
            comparison = compare(
                driven, stated=stated, clocks=clocks, refine=numerics, workers=jobs, on_done=done
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
