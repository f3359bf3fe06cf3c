"""`segtrack log turns`: a table of steady turns beside simulated ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from segtrack.cli.log.options import Jobs, VehicleOption
from segtrack.cli.output import (
    JsonFlag,
    OutFolder,
    command,
    counting,
    results_folder,
    say_written,
    show,
    words,
)
from segtrack.errors import InvalidValueError, Phrase
from segtrack.files import write_figure, write_json

EXAMPLE = "maxxii"


@command
def turns(
    log: Annotated[str, typer.Argument(help="The table, or maxxii, which is bundled.")] = EXAMPLE,
    mapping: Annotated[
        Path | None,
        typer.Option(help="Mapping file with rows: steady; the bundled table's own.", show_default=False),
    ] = None,
    vehicle: VehicleOption = None,
    track_model: Annotated[
        list[str],
        typer.Option(help="What drives, or uniform pressure (planar friction); may be repeated."),
    ] = ["uniform pressure", "compliant"],  # noqa: B006
    jobs: Jobs = None,
    out: OutFolder = None,
    as_json: JsonFlag = False,
) -> None:
    """Compare a table of steady turns, a row each and no time, with the same belts simulated."""
    from segtrack.description import load_vehicle
    from segtrack.logs.mapping import map_file
    from segtrack.logs.steady import SteadyTable, compare_turns, simulate_table
    from segtrack.logs.steady.maxxii import DATA
    from segtrack.logs.steady.simulate import UNIFORM, part_count
    from segtrack.report.logs.steady_figure import draw_turns
    from segtrack.report.logs.steady_table import turns_table
    from segtrack.world import resolve

    bundled = log == EXAMPLE and mapping is None
    if mapping is None and not bundled:
        raise InvalidValueError("--mapping", "given with a table of your own", Phrase("none"))
    mapped = map_file(
        DATA / "maxxii_indoor.csv" if bundled else log,
        mapping if mapping is not None else DATA / "maxxii_indoor.yaml",
        vehicle,
    )
    chosen = mapped.mapping
    if not mapped.is_steady:
        raise InvalidValueError(f"rows of mapping {chosen.name}", "steady", chosen.file.rows)
    if chosen.vehicle is None:
        raise InvalidValueError("vehicle", "given by --vehicle or the mapping", Phrase("none"))
    for model in track_model:
        if model != UNIFORM:
            resolve(None, model)
    description, table = load_vehicle(chosen.vehicle), SteadyTable.of(mapped.motion)
    folder = results_folder(out, f"turns-{Path(log).stem}")
    for note in mapped.notes:
        words().print(note, markup=False, highlight=False)
    with counting("turning", part_count(table) * len(track_model)) as done:
        comparisons = [
            compare_turns(
                table, simulate_table(description, table, model, workers=jobs, on_part=done), description
            )
            for model in track_model
        ]
    summary = {"comparisons": [comparison.summary() for comparison in comparisons]}
    written = [
        write_json(folder / "turns.json", summary),
        write_figure(folder / "turns.png", draw_turns(comparisons)),
    ]
    show([turns_table(comparison) for comparison in comparisons], summary, as_json)
    say_written(*written)
